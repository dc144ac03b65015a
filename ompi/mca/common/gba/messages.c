/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of an exchange (gba/algo/exchange.h), through the PML of Open MPI, with a tag of
 * their own. Open MPI's own collectives, nonblocking ones included, do not serve here. Those of MPI
 * match by the order of the calls on the communicator, and an agreement makes its calls in
 * progress, between any calls of the user. Those of OpenSHMEM need symmetric memory and a pSync of
 * their own.
 *
 * Memory. The number of the PML's requests may be limited. A message for which there is none is
 * posted later. Those that are in transit end without it, and give theirs back.
 */
#include "gba/algo/exchange.h"
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/report.h"
#include "ompi/mca/common/gba/transport.h"
#include "ompi/mca/pml/pml.h"

struct gba_common_exchange {
    struct gba_exchange *exchange;
    struct gba_common_messages to; /* on the first tag */
    struct lane {
        ompi_request_t *request; /* NULL: none is in transit */
        bool receives;
        int peer;
        size_t bytes;
    } lane[GBA_EXCHANGE_LANES];
    uint32_t used; /* lanes, from the first one to the last one that may have a request */
};

static gba_status_t message_fail(const struct gba_common_exchange *m, const struct lane *lane,
                                 int code)
{
    gba_common_alert("an agreement over messages (tag %d): cannot %s rank %d: error %d",
                     m->to.tag[0], lane->receives ? "receive from" : "send to", lane->peer, code);
    return GBA_ERR_OOB;
}

/* The PML has posted the message of a lane, or has returned an error. */
static gba_status_t message_posted(const struct gba_common_exchange *m, struct lane *lane, int rc)
{
    if (OMPI_SUCCESS == rc)
        return GBA_OK;
    lane->request = NULL;
    /* No request for one more message. */
    if (OMPI_ERR_OUT_OF_RESOURCE == rc || OMPI_ERR_TEMP_OUT_OF_RESOURCE == rc)
        return GBA_INPROGRESS;
    return message_fail(m, lane, rc);
}

/* A lane that is about to get a request. */
static struct lane *lane_take(struct gba_common_exchange *m, uint32_t number, uint32_t rank,
                              bool receives, size_t bytes)
{
    m->lane[number] = (struct lane){.receives = receives,
                                    .peer = (int)(m->to.ranks == NULL ? rank : m->to.ranks[rank]),
                                    .bytes = bytes};
    if (m->used <= number)
        m->used = number + 1;
    return &m->lane[number];
}

static gba_status_t message_receive(void *ctx, uint32_t number, uint32_t from, void *buffer,
                                    size_t bytes)
{
    struct gba_common_exchange *m = ctx;
    struct lane *lane = lane_take(m, number, from, true, bytes);

    return message_posted(m, lane,
                          MCA_PML_CALL(irecv(buffer, bytes, MPI_BYTE, lane->peer, m->to.tag[0],
                                             m->to.comm, &lane->request)));
}

static gba_status_t message_send(void *ctx, uint32_t number, uint32_t to, const void *buffer,
                                 size_t bytes)
{
    struct gba_common_exchange *m = ctx;
    struct lane *lane = lane_take(m, number, to, false, bytes);

    return message_posted(
        m, lane,
        MCA_PML_CALL(isend(buffer, bytes, MPI_BYTE, lane->peer, m->to.tag[0],
                           MCA_PML_BASE_SEND_STANDARD, m->to.comm, &lane->request)));
}

/* Check a message in transit, and free its request if it is complete. */
static gba_status_t lane_test(const struct gba_common_exchange *m, struct lane *lane)
{
    size_t bytes;
    int rc;

    if (!gba_common_message_complete(&lane->request, &rc, &bytes))
        return GBA_INPROGRESS;
    return OMPI_SUCCESS == rc && (!lane->receives || bytes == lane->bytes)
               ? GBA_OK
               : message_fail(m, lane, rc);
}

static gba_status_t messages_test(void *ctx)
{
    struct gba_common_exchange *m = ctx;
    gba_status_t status = GBA_OK, one;

    for (uint32_t i = 0; i < m->used && GBA_ERR_OOB != status; i++) {
        one = m->lane[i].request == NULL ? GBA_OK : lane_test(m, &m->lane[i]);
        if (GBA_OK != one)
            status = one;
    }
    if (GBA_OK == status)
        m->used = 0;
    return status;
}

static const struct gba_mail mail = {message_receive, message_send, messages_test};

gba_status_t gba_common_exchange_open(struct gba_common_module *module,
                                      const struct gba_common_messages *to)
{
    struct gba_common_exchange *m;

    if (module->exchange != NULL)
        return GBA_OK;
    m = calloc(1, sizeof *m);
    if (m == NULL)
        return GBA_ERR_NOMEM;
    m->to = *to;
    m->exchange = gba_exchange_create(module->rank, module->size, &mail, m);
    if (m->exchange == NULL) {
        free(m);
        return GBA_ERR_NOMEM;
    }
    module->exchange = m;
    return GBA_OK;
}

void gba_common_exchange_close(struct gba_common_module *module)
{
    struct gba_common_exchange *m = module->exchange;

    module->exchange = NULL;
    if (m == NULL)
        return;
    for (uint32_t i = 0; i < GBA_EXCHANGE_LANES; i++)
        if (m->lane[i].request != NULL)
            return;
    gba_exchange_destroy(m->exchange);
    free(m);
}

static struct gba_exchange *exchange_of(void *ctx)
{
    return ((struct gba_common_module *)ctx)->exchange->exchange;
}

static gba_status_t oob_min(void *ctx, uint64_t *words, uint32_t count)
{
    return gba_exchange_min(exchange_of(ctx), words, count);
}

static gba_status_t oob_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    return gba_exchange_allgather(exchange_of(ctx), in, out, bytes);
}

static gba_status_t oob_reserve(void *ctx, size_t bytes)
{
    return gba_exchange_reserve(exchange_of(ctx), bytes);
}

static gba_status_t oob_test(void *ctx)
{
    return gba_exchange_test(exchange_of(ctx));
}

const gba_oob_t gba_common_oob = {.min = oob_min,
                                  .allgather = oob_allgather,
                                  .reserve = oob_reserve,
                                  .test = oob_test,
                                  .name_member = gba_common_name_member};

gba_status_t gba_common_min(struct gba_common_module *m, uint64_t *words, uint32_t count)
{
    gba_status_t status = oob_min(m, words, count);

    if (GBA_OK == status)
        while (GBA_INPROGRESS == (status = oob_test(m)))
            (void)opal_progress();
    return status;
}
