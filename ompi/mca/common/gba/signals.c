/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signals of a software barrier (gba/signal/signal_ops.h) as messages of Open MPI's
 * point-to-point layer (PML), for communicators and active sets on several hosts.
 *
 * In each barrier a member gets one message from each of its sources, one for each slot, and it
 * leaves the barrier only when it has got all of them. So the n-th message of a source is of the
 * n-th barrier, and to count them is enough: a signal of the barrier under way is there when the
 * receive that was posted for it is complete. That holds on a communicator, too, whose user has
 * allowed messages to overtake each other: two messages from a source, in any order, say that it
 * has sent two.
 *
 * The owner gives a tag that nothing else uses at the same time. For a communicator that cannot be
 * a tag of Open MPI's collectives, not even that of its barriers: while a nonblocking barrier of
 * ours is under way, any other collective may run, and coll/sync, for one, has a barrier in each.
 *
 * What lives how long. Receives are all complete when a barrier is. A send is given back to the PML
 * as soon as it is under way (as MPI_Request_free does), and what it sends is a constant, so
 * nothing of ours is needed for it any more: whoever frees the communicator right after the barrier
 * has nothing to wait for. The PML completes it by itself, in MPI_Finalize at the latest, where no
 * member gets through before all have come, hence have got their messages. With the parameter
 * async_mpi_finalize nobody waits there; then a member leaves a barrier only when its sends are
 * complete, too, as it is with Open MPI's own barriers.
 */
#include "ompi/mca/common/gba/gba_common.h"

#include <string.h>

#include "gba/base/order.h"
#include "gba/signal/signal_ops.h"
#include "gba/soft/sched.h"
#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "ompi/runtime/params.h"

/* The first of Open MPI's own; all others are below it. */
#if defined(MCA_COLL_BASE_TAG_BLOCKING_BASE)
#define TAG_FIRST MCA_COLL_BASE_TAG_BLOCKING_BASE
#else
#define TAG_FIRST MCA_COLL_BASE_TAG_ALLGATHER
#endif
_Static_assert(GBA_COMMON_TAG_SIGNALS > TAG_FIRST && GBA_COMMON_TAG_SIGNALS < MPI_ANY_TAG &&
                   GBA_COMMON_TAG_NOTICES > TAG_FIRST && GBA_COMMON_TAG_NOTICES < MPI_ANY_TAG &&
                   GBA_COMMON_TAG_SIGNALS != GBA_COMMON_TAG_NOTICES &&
                   GBA_COMMON_TAG_INTERIM > TAG_FIRST && GBA_COMMON_TAG_INTERIM < MPI_ANY_TAG &&
                   GBA_COMMON_TAG_INTERIM != GBA_COMMON_TAG_NOTICES &&
                   GBA_COMMON_TAG_INTERIM != GBA_COMMON_TAG_SIGNALS,
               "these tags are ours alone");

/* A message is the low byte of the sequence, which tells a stray one from ours. */
#define FOUR(n)    (n), (n) + 1, (n) + 2, (n) + 3
#define SIXTEEN(n) FOUR(n), FOUR((n) + 4), FOUR((n) + 8), FOUR((n) + 12)
#define SIXTY4(n)  SIXTEEN(n), SIXTEEN((n) + 16), SIXTEEN((n) + 32), SIXTEEN((n) + 48)
static const uint8_t low_byte[256] = {SIXTY4(0), SIXTY4(64), SIXTY4(128), SIXTY4(192)};

/* One slot: who sends to it here, and to whose this member sends. */
struct lane {
    int source, target;      /* ranks in the communicator */
    ompi_request_t *request; /* the receive, while it is posted, else NULL */
    ompi_request_t *sending; /* the send, while it must be waited for, else NULL */
    uint8_t byte;            /* what it got */
};

struct pml_signals {
    struct gba_signals base;
    struct ompi_communicator_t *comm;
    const char *label;
    int tag;
    uint32_t sequence; /* of the barrier under way, or of the last one */
    uint32_t lanes;
    bool failed; /* for good */
    struct lane lane[];
};

static gba_status_t signals_fail(struct pml_signals *s, const char *what, int peer, int code)
{
    /* Once: what comes after it is a consequence. */
    if (!s->failed)
        opal_output(0, "%s: a barrier over messages (tag %d): %s rank %d: error %d", s->label,
                    s->tag, what, peer, code);
    s->failed = true;
    return GBA_ERR_IO;
}

/* Post the receives of a barrier that begins. */
static gba_status_t signals_begin(struct pml_signals *s, uint32_t seq)
{
    s->sequence = seq;
    for (uint32_t i = 0; i < s->lanes; i++) {
        struct lane *lane = &s->lane[i];
        int rc = MCA_PML_CALL(
            irecv(&lane->byte, 1, MPI_BYTE, lane->source, s->tag, s->comm, &lane->request));

        if (OMPI_SUCCESS != rc) {
            lane->request = NULL;
            return signals_fail(s, "cannot receive from", lane->source, rc);
        }
    }
    return GBA_OK;
}

/*
 * Release: what this process wrote before is ordered by the PML, which must hand over the message
 * after what it carries.
 */
static gba_status_t pml_set(struct gba_signals *signals, uint32_t peer, uint32_t slot, uint32_t seq)
{
    struct pml_signals *s = (struct pml_signals *)signals;
    int target = s->lane[slot].target, rc;
    ompi_request_t *request;

    (void)peer; /* the schedule has one for each slot */
    if (s->failed)
        return GBA_ERR_IO;
    rc = MCA_PML_CALL(isend(&low_byte[seq & 0xff], 1, MPI_BYTE, target, s->tag,
                            MCA_PML_BASE_SEND_STANDARD, s->comm, &request));
    if (OMPI_SUCCESS != rc)
        return signals_fail(s, "cannot send to", target, rc);
    if (ompi_async_mpi_finalize)
        s->lane[slot].sending = request;
    else
        ompi_request_free(&request);
    /* After the first signal, since others wait for that, and nobody for our receives. */
    return seq == s->sequence ? GBA_OK : signals_begin(s, seq);
}

/* The receive of a lane is complete: see what it is, and give it back. */
static void lane_take(struct pml_signals *s, struct lane *lane)
{
    size_t bytes;
    int8_t ahead;
    int rc;

    /* Acquire: another thread may have completed it. Pairs with the PML's write barrier. */
    gba_fence_acquire();
    rc = lane->request->req_status.MPI_ERROR;
    bytes = lane->request->req_status._ucount;
    /* The source is a barrier ahead at most; and of two messages the later one may come first. */
    ahead = (int8_t)(uint8_t)(lane->byte - low_byte[s->sequence & 0xff]);
    ompi_request_free(&lane->request);
    lane->request = NULL;
    if (OMPI_SUCCESS != rc)
        (void)signals_fail(s, "cannot receive from", lane->source, rc);
    else if (1 != bytes || ahead < -1 || ahead > 1) /* without a byte, that of the barrier before */
        (void)signals_fail(s, "a message that is no signal of this barrier, from", lane->source,
                           lane->byte);
}

/* The send of a lane, if it is still there. Returns whether there is nothing to wait for. */
static bool lane_sent(struct pml_signals *s, struct lane *lane)
{
    int rc;

    if (OPAL_LIKELY(NULL == lane->sending))
        return true;
    if (!REQUEST_COMPLETE(lane->sending))
        return false;
    gba_fence_acquire(); /* as above */
    rc = lane->sending->req_status.MPI_ERROR;
    ompi_request_free(&lane->sending);
    lane->sending = NULL;
    if (OMPI_SUCCESS != rc)
        (void)signals_fail(s, "cannot send to", lane->target, rc);
    return true;
}

/* Acquire. Only asked for in the barrier under way, so the parity tells nothing new. */
static uint32_t pml_mine(struct gba_signals *signals, uint32_t slot, uint32_t parity)
{
    struct pml_signals *s = (struct pml_signals *)signals;
    struct lane *lane = &s->lane[slot];

    (void)parity;
    if (NULL != lane->request && REQUEST_COMPLETE(lane->request))
        lane_take(s, lane);
    /* A lane is sent over before it is asked for, in each round of all schedules with messages. */
    return lane_sent(s, lane) && NULL == lane->request && !s->failed ? s->sequence
                                                                     : s->sequence - 1;
}

/* The waiter calls opal_progress anyway; here it only learns that there is nothing to wait for. */
static gba_status_t pml_progress(struct gba_signals *signals)
{
    return ((struct pml_signals *)signals)->failed ? GBA_ERR_IO : GBA_OK;
}

static void pml_destroy(struct gba_signals *signals)
{
    struct pml_signals *s = (struct pml_signals *)signals;

    for (uint32_t i = 0; i < s->lanes; i++)
        if (NULL != s->lane[i].request || NULL != s->lane[i].sending)
            return; /* after a failure only: the PML may still write there, so it is the PML's */
    free(s);
}

static const struct gba_signal_ops pml_ops = {.name = "pml",
                                              .set = pml_set,
                                              .mine = pml_mine,
                                              .progress = pml_progress,
                                              .destroy = pml_destroy};

static int rank_of(const struct gba_common_messages *messages, const gba_remote_group_t *group,
                   uint32_t number)
{
    uint32_t member = NULL == group->ranks ? number : group->ranks[number];

    return (int)(NULL == messages->ranks ? member : messages->ranks[member]);
}

static gba_status_t pml_open(void *ctx, const gba_remote_group_t *group,
                             struct gba_signals **signals)
{
    const struct gba_common_messages *messages = ctx;
    uint32_t lanes = 0, size = group->size, slot = 0;
    struct pml_signals *s;

    for (uint32_t distance = 1; distance < size; distance *= group->radix)
        lanes += gba_sched_lanes(distance, size, group->radix);
    s = calloc(1, sizeof *s + lanes * sizeof s->lane[0]);
    if (NULL == s)
        return GBA_ERR_NOMEM;
    s->base.ops = &pml_ops;
    s->comm = messages->comm;
    s->tag = messages->tag[group->channel];
    s->label = messages->label;
    s->sequence = group->sequence;
    s->lanes = lanes;
    for (uint32_t distance = 1; distance < size; distance *= group->radix) {
        uint32_t most = gba_sched_lanes(distance, size, group->radix);

        for (uint32_t lane = 1; lane <= most; lane++, slot++) {
            uint32_t far = lane * distance;

            s->lane[slot].target = rank_of(messages, group, gba_sched_peer(group->rank, far, size));
            s->lane[slot].source =
                rank_of(messages, group, gba_sched_source(group->rank, far, size));
        }
    }
    *signals = &s->base;
    return GBA_OK;
}

void gba_common_remote_init(gba_remote_t *remote, struct gba_common_messages *messages)
{
    *remote = (gba_remote_t){.ctx = messages, .pulls = false, .open = pml_open};
}
