/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of an exchange (exchange.h), through the PML of Open MPI, with a tag of their own.
 * Open MPI's own collectives, nonblocking ones included, do not serve here. They match by the order
 * of the calls on the communicator, and an agreement makes its calls in progress, between any calls
 * of the user.
 *
 * Memory. The number of the PML's requests may be limited. A message for which there is none is
 * posted later. Those that are in transit end without it, and give theirs back.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include "ompi/mca/pml/pml.h"

struct gba_coll_messages {
    struct gba_coll_exchange *exchange;
    ompi_communicator_t *comm;
    bool failed; /* permanently */
    struct lane {
        ompi_request_t *request; /* NULL: none is in transit */
        bool receives;
        int peer;
        size_t bytes;
    } lane[GBA_COLL_LANES];
};

static gba_status_t messages_fail(gba_coll_messages_t *m, const struct lane *lane, int code)
{
    if (!m->failed)
        gba_common_alert("an agreement over messages (tag %d): cannot %s rank %d: error %d",
                         GBA_COMMON_TAG_AGREEMENT, lane->receives ? "receive from" : "send to",
                         lane->peer, code);
    m->failed = true;
    return GBA_ERR_OOB;
}

/* The PML has posted the message of a lane, or has returned an error. */
static gba_status_t message_posted(gba_coll_messages_t *m, struct lane *lane, int rc)
{
    if (OMPI_SUCCESS == rc)
        return GBA_OK;
    lane->request = NULL;
    /* No request for one more message. */
    if (OMPI_ERR_OUT_OF_RESOURCE == rc || OMPI_ERR_TEMP_OUT_OF_RESOURCE == rc)
        return GBA_INPROGRESS;
    return messages_fail(m, lane, rc);
}

static gba_status_t message_receive(void *ctx, uint32_t number, uint32_t from, void *buffer,
                                    size_t bytes)
{
    gba_coll_messages_t *m = ctx;
    struct lane *lane = &m->lane[number];

    *lane = (struct lane){.receives = true, .peer = (int)from, .bytes = bytes};
    return message_posted(m, lane,
                          MCA_PML_CALL(irecv(buffer, bytes, MPI_BYTE, lane->peer,
                                             GBA_COMMON_TAG_AGREEMENT, m->comm, &lane->request)));
}

static gba_status_t message_send(void *ctx, uint32_t number, uint32_t to, const void *buffer,
                                 size_t bytes)
{
    gba_coll_messages_t *m = ctx;
    struct lane *lane = &m->lane[number];

    *lane = (struct lane){.receives = false, .peer = (int)to, .bytes = bytes};
    return message_posted(
        m, lane,
        MCA_PML_CALL(isend(buffer, bytes, MPI_BYTE, lane->peer, GBA_COMMON_TAG_AGREEMENT,
                           MCA_PML_BASE_SEND_STANDARD, m->comm, &lane->request)));
}

/* Check a message in transit, and free its request if it is complete. */
static gba_status_t lane_test(gba_coll_messages_t *m, struct lane *lane)
{
    size_t bytes;
    int rc;

    if (!REQUEST_COMPLETE(lane->request))
        return GBA_INPROGRESS;
    /* Acquire: another thread may have completed it. Pairs with the PML's write barrier. */
    gba_fence_acquire();
    rc = lane->request->req_status.MPI_ERROR;
    bytes = lane->receives ? lane->request->req_status._ucount : lane->bytes;
    (void)ompi_request_free(&lane->request);
    lane->request = NULL;
    return OMPI_SUCCESS == rc && bytes == lane->bytes ? GBA_OK : messages_fail(m, lane, rc);
}

static gba_status_t messages_test(void *ctx)
{
    gba_coll_messages_t *m = ctx;
    gba_status_t status = GBA_OK;

    for (uint32_t i = 0; i < GBA_COLL_LANES; i++)
        if (NULL != m->lane[i].request && GBA_INPROGRESS == lane_test(m, &m->lane[i]))
            status = GBA_INPROGRESS;
    return m->failed ? GBA_ERR_OOB : status;
}

static const struct gba_coll_mail mail = {message_receive, message_send, messages_test};

gba_coll_messages_t *gba_coll_messages_open(ompi_communicator_t *comm)
{
    gba_coll_messages_t *m = calloc(1, sizeof *m);

    if (NULL == m)
        return NULL;
    m->comm = comm;
    m->exchange = gba_coll_exchange_create((uint32_t)ompi_comm_rank(comm),
                                           (uint32_t)ompi_comm_size(comm), &mail, m);
    if (NULL != m->exchange)
        return m;
    free(m);
    return NULL;
}

void gba_coll_messages_close(gba_coll_messages_t *m)
{
    if (NULL == m)
        return;
    for (uint32_t i = 0; i < GBA_COLL_LANES; i++)
        if (NULL != m->lane[i].request)
            return;
    gba_coll_exchange_destroy(m->exchange);
    free(m);
}

struct gba_coll_exchange *gba_coll_messages_exchange(gba_coll_messages_t *m)
{
    return m->exchange;
}
