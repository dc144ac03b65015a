/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls that do not wait: broadcast, minimum and allgather among the members of a
 * communicator, by messages of the PML with a tag of their own. Open MPI's own nonblocking
 * collectives do not serve here. They match by the order of the calls on the communicator, and an
 * agreement makes its calls in progress, between any calls of the user.
 *
 * The algorithm: a binomial tree with root 0. The messages go up the tree and then down, whatever
 * the call is. The parent of rank r is r without its lowest bit. The ranks below a member are
 * consecutive, so the blocks of an allgather need no copy.
 *
 * Matching. A member sends up again only when it has received the last message down, and sends down
 * only when it has received from all ranks below it. So between two members at most one message is
 * in transit in each direction. This also holds on a communicator whose user has allowed messages
 * to overtake each other.
 *
 * Synchronisation. A member receives the result only after all members have started the call. The
 * call is complete at a member when its sends have left the process, so a member that makes no
 * further call of MPI delays no other one.
 *
 * Memory. The number of the PML's requests may be limited. A message for which there is none is
 * posted later. Those that are in transit end without it, and give theirs back.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include "ompi/mca/pml/pml.h"

#include <string.h>

/* The number of children, that of the bits of the distance to the last rank below this one. */
static uint32_t children(const struct gba_coll_exchange *x)
{
    uint32_t count = 0;

    while (count < 31 && x->rank + (UINT32_C(1) << count) < x->size && 0 == (x->rank >> count & 1))
        count++;
    return count;
}

/* The rank of child `i`, which is below children(). In 64 bits, since clang's analyzer does not
 * know that bound. */
static uint32_t child_of(const struct gba_coll_exchange *x, uint32_t i)
{
    return (uint32_t)(x->rank + (UINT64_C(1) << i));
}

/* The number of ranks of a member's subtree if `bits` of its lowest bits are 0. */
static uint32_t subtree(const struct gba_coll_exchange *x, uint32_t rank, uint32_t bits)
{
    const uint32_t most = x->size - rank;

    return bits >= 31 || most < UINT32_C(1) << bits ? most : UINT32_C(1) << bits;
}

/* The PML has no request for one more message. */
static bool is_temporary(int rc)
{
    return OMPI_ERR_OUT_OF_RESOURCE == rc || OMPI_ERR_TEMP_OUT_OF_RESOURCE == rc;
}

static gba_status_t exchange_fail(struct gba_coll_exchange *x, const char *what, int peer, int code)
{
    if (!x->failed)
        gba_common_alert("an agreement over messages (tag %d): %s rank %d: error %d",
                         GBA_COMMON_TAG_AGREEMENT, what, peer, code);
    x->failed = true;
    return GBA_ERR_OOB;
}

static gba_status_t message_receive(struct gba_coll_exchange *x, uint32_t lane, uint32_t peer,
                                    void *buffer, size_t bytes)
{
    int rc = MCA_PML_CALL(irecv(buffer, bytes, MPI_BYTE, (int)peer, GBA_COMMON_TAG_AGREEMENT,
                                x->comm, &x->lane[lane].request));

    if (OMPI_SUCCESS != rc) {
        x->lane[lane].request = NULL;
        return is_temporary(rc) ? GBA_INPROGRESS /* to be posted later */
                                : exchange_fail(x, "cannot receive from", (int)peer, rc);
    }
    x->posted++;
    x->lane[lane].receives = true;
    x->lane[lane].peer = (int)peer;
    x->lane[lane].bytes = bytes;
    return GBA_OK;
}

static gba_status_t message_send(struct gba_coll_exchange *x, uint32_t lane, uint32_t peer,
                                 const void *buffer, size_t bytes)
{
    int rc = MCA_PML_CALL(isend(buffer, bytes, MPI_BYTE, (int)peer, GBA_COMMON_TAG_AGREEMENT,
                                MCA_PML_BASE_SEND_STANDARD, x->comm, &x->lane[lane].request));

    if (OMPI_SUCCESS != rc) {
        x->lane[lane].request = NULL;
        return is_temporary(rc) ? GBA_INPROGRESS
                                : exchange_fail(x, "cannot send to", (int)peer, rc);
    }
    x->posted++;
    x->lane[lane].receives = false;
    x->lane[lane].peer = (int)peer;
    x->lane[lane].bytes = bytes;
    return GBA_OK;
}

/* The part of the buffer that goes up from a member with that subtree. */
static char *up_part(const struct gba_coll_exchange *x, uint32_t rank, uint32_t ranks,
                     size_t *bytes)
{
    char *buffer = x->buffer;

    *bytes = x->bytes;
    switch (x->kind) {
    case GBA_COLL_ALLGATHER:
        *bytes = ranks * x->bytes;
        return buffer + rank * x->bytes;
    case GBA_COLL_BCAST: /* from below only if the source is there */
        if (0 == x->root || x->root < rank || x->root - rank >= ranks)
            *bytes = 0;
        return buffer;
    default:
        return buffer;
    }
}

/* Each of the following steps posts the messages that it has not posted yet. Returns GBA_OK if all
 * are posted, GBA_INPROGRESS or GBA_ERR_OOB. */

/* Post the receives from the children. */
static gba_status_t up_receive(struct gba_coll_exchange *x)
{
    gba_status_t status = GBA_OK;
    size_t bytes;

    for (uint32_t i = x->posted; i < children(x) && GBA_OK == status; i++) {
        uint32_t child = child_of(x, i);
        void *part = up_part(x, child, subtree(x, child, i), &bytes);

        status =
            message_receive(x, i, child, GBA_COLL_MIN == x->kind ? &x->lane[i].value : part, bytes);
    }
    return status;
}

/* All children have sent: send to the parent, and post the receive of the result. */
static gba_status_t up_send(struct gba_coll_exchange *x)
{
    const uint32_t count = children(x), parent = x->rank & (x->rank - 1);
    uint32_t bits = 0;
    gba_status_t status = GBA_OK;
    size_t bytes;
    void *part;

    if (GBA_COLL_MIN == x->kind)
        for (uint32_t i = 0; i < count; i++)
            if (x->lane[i].value < x->least)
                x->least = x->lane[i].value;
    if (0 == x->rank)
        return GBA_OK;
    while (0 == (x->rank >> bits & 1))
        bits++;
    part = up_part(x, x->rank, subtree(x, x->rank, bits), &bytes);
    if (0 == x->posted)
        status = message_send(x, 0, parent, part, bytes);
    if (GBA_OK != status)
        return status;
    bytes = GBA_COLL_ALLGATHER == x->kind ? x->size * x->bytes : x->bytes;
    return message_receive(x, 1, parent, x->buffer, bytes);
}

/* The result is known: send it to the children. */
static gba_status_t down_send(struct gba_coll_exchange *x)
{
    const size_t bytes = GBA_COLL_ALLGATHER == x->kind ? x->size * x->bytes : x->bytes;
    gba_status_t status = GBA_OK;

    for (uint32_t i = x->posted; i < children(x) && GBA_OK == status; i++)
        status = message_send(x, i, child_of(x, i), x->buffer, bytes);
    return status;
}

/* Check the messages in transit, and free the requests of those that are complete. Returns GBA_OK
 * if none is left, GBA_INPROGRESS or GBA_ERR_OOB. */
static gba_status_t lanes_test(struct gba_coll_exchange *x)
{
    gba_status_t status = x->failed ? GBA_ERR_OOB : GBA_OK;

    for (uint32_t i = 0; i < GBA_COLL_EXCHANGE_LANES; i++) {
        struct gba_coll_lane *lane = &x->lane[i];
        size_t bytes;
        int rc;

        if (NULL == lane->request)
            continue;
        if (!REQUEST_COMPLETE(lane->request)) {
            if (GBA_OK == status)
                status = GBA_INPROGRESS;
            continue;
        }
        /* Acquire: another thread may have completed it. Pairs with the PML's write barrier. */
        gba_fence_acquire();
        rc = lane->request->req_status.MPI_ERROR;
        bytes = lane->receives ? lane->request->req_status._ucount : lane->bytes;
        (void)ompi_request_free(&lane->request);
        lane->request = NULL;
        if (OMPI_SUCCESS != rc || bytes != lane->bytes)
            status = exchange_fail(x, lane->receives ? "cannot receive from" : "cannot send to",
                                   lane->peer, rc);
    }
    return status;
}

void gba_coll_exchange_init(struct gba_coll_exchange *x, ompi_communicator_t *comm)
{
    memset(x, 0, sizeof *x);
    x->comm = comm;
    x->rank = (uint32_t)ompi_comm_rank(comm);
    x->size = (uint32_t)ompi_comm_size(comm);
}

void gba_coll_exchange_min(struct gba_coll_exchange *x, int64_t mine)
{
    x->kind = GBA_COLL_MIN;
    x->least = mine;
    x->buffer = &x->least;
    x->bytes = sizeof x->least;
    x->phase = GBA_COLL_UP_RECEIVE;
}

void gba_coll_exchange_bcast(struct gba_coll_exchange *x, void *buffer, size_t bytes, uint32_t root)
{
    x->kind = GBA_COLL_BCAST;
    x->buffer = buffer;
    x->bytes = bytes;
    x->root = root;
    x->phase = GBA_COLL_UP_RECEIVE;
}

void gba_coll_exchange_allgather(struct gba_coll_exchange *x, const void *in, void *out,
                                 size_t bytes)
{
    x->kind = GBA_COLL_ALLGATHER;
    x->buffer = out;
    x->bytes = bytes;
    memcpy((char *)out + x->rank * bytes, in, bytes);
    x->phase = GBA_COLL_UP_RECEIVE;
}

/* A step with this result: if it has posted all of its messages, the next one follows. */
static gba_status_t phase_end(struct gba_coll_exchange *x, gba_status_t status, int next)
{
    if (GBA_OK == status) {
        x->phase = next;
        x->posted = 0;
    }
    return status;
}

gba_status_t gba_coll_exchange_test(struct gba_coll_exchange *x)
{
    gba_status_t status = lanes_test(x);

    while (GBA_OK == status && GBA_COLL_IDLE != x->phase) {
        switch (x->phase) {
        case GBA_COLL_UP_RECEIVE:
            status = phase_end(x, up_receive(x), GBA_COLL_UP_SEND);
            break;
        case GBA_COLL_UP_SEND:
            status = phase_end(x, up_send(x), GBA_COLL_DOWN_SEND);
            break;
        case GBA_COLL_DOWN_SEND:
            status = phase_end(x, down_send(x), GBA_COLL_DOWN_SENT);
            break;
        default:
            x->phase = GBA_COLL_IDLE;
            break;
        }
        if (GBA_OK == status)
            status = lanes_test(x);
    }
    return status;
}

bool gba_coll_exchange_in_transit(const struct gba_coll_exchange *x)
{
    for (uint32_t i = 0; i < GBA_COLL_EXCHANGE_LANES; i++)
        if (NULL != x->lane[i].request)
            return true;
    return false;
}
