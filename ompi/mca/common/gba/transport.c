/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signals of a software barrier (gba/transport/transport.h) as messages of Open MPI's
 * point-to-point layer (PML), for communicators and active sets on several hosts.
 *
 * In each barrier a member receives one message from each of its sources, one for each slot. It
 * leaves the barrier only when it has received all of them. So the n-th message of a source belongs
 * to the n-th barrier, and counting is sufficient: a signal of the current barrier has arrived when
 * the receive posted for it is complete. This also holds on a communicator whose user has allowed
 * messages to overtake each other: two messages from a source, in any order, state that it has sent
 * two.
 *
 * Members of a trial can leave a barrier in the middle (gba_remote_group_t.epoch). Then a message
 * of that path comes later, and may be received for another path. So each message carries the epoch
 * of its path. The receiver drops a message of another path and posts its receive again. A member
 * cancels the receives of a path that it gives up, so they take no message of another path.
 *
 * The owner provides a tag that no other traffic uses at the same time. On a communicator this
 * cannot be a tag of Open MPI's collectives, not even that of its barriers. While our nonblocking
 * barrier is in progress, any other collective may run, and coll/sync, for one, runs a barrier in
 * each.
 *
 * Lifetimes. All receives and sends are complete when a barrier is, as with Open MPI's own
 * barriers. Most sends are complete when the PML returns, because the message is eager. A send that
 * is not complete waits behind other traffic of the same connection, or for the connection itself,
 * and only calls of this process advance it. If a member left the barrier before that and computed
 * for an hour, other members would wait in the barrier for an hour.
 */
#include "ompi/mca/common/gba/transport.h"
#include "ompi/mca/common/gba/report.h"

#include <string.h>

#include "gba/transport/transport.h"
#include "gba/algo/sched.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"

/* The first of Open MPI's own tags; all its other tags are below it. */
#if defined(MCA_COLL_BASE_TAG_BLOCKING_BASE)
#define TAG_FIRST MCA_COLL_BASE_TAG_BLOCKING_BASE
#else
#define TAG_FIRST MCA_COLL_BASE_TAG_ALLGATHER
#endif
_Static_assert(GBA_COMMON_TAG_NOTIFICATIONS > TAG_FIRST &&
                   GBA_COMMON_TAG_TRANSPORT > GBA_COMMON_TAG_NOTIFICATIONS &&
                   GBA_COMMON_TAG_DEGRADED > GBA_COMMON_TAG_TRANSPORT &&
                   GBA_COMMON_TAG_AGREEMENT > GBA_COMMON_TAG_DEGRADED &&
                   GBA_COMMON_TAG_AGREEMENT < MPI_ANY_TAG,
               "these tags are ours alone");

struct message {
    uint64_t epoch;    /* see gba_remote_group_t */
    uint32_t sequence; /* distinguishes a stray message from ours */
    uint32_t unused;   /* 0 */
};

/* One slot: the source of its signal, and the target of this member's signal. */
struct lane {
    int source, target;      /* ranks in the communicator; negative: no signal */
    ompi_request_t *request; /* the receive, while it is posted, else NULL */
    ompi_request_t *sending; /* the send, while it is incomplete, else NULL */
    struct message in, out;  /* in: of the last receive; out: of the last send */
};

struct pml_transport {
    struct gba_transport base;
    struct ompi_communicator_t *comm;
    int tag;
    uint64_t epoch;
    uint32_t sequence; /* of the current barrier, or of the last one */
    uint32_t lanes;
    uint32_t unsent; /* lanes whose `sending` is not NULL */
    bool failed;     /* permanently */
    struct lane lane[];
};

static gba_status_t transport_fail(struct pml_transport *s, const char *what, int peer, int code)
{
    /* Once: later errors are consequences of the first. */
    if (!s->failed)
        gba_common_alert("a barrier over messages (tag %d): %s rank %d: error %d", s->tag, what,
                         peer, code);
    s->failed = true;
    return GBA_ERR_IO;
}

static gba_status_t lane_receive(struct pml_transport *s, struct lane *lane)
{
    int rc = MCA_PML_CALL(
        irecv(&lane->in, sizeof lane->in, MPI_BYTE, lane->source, s->tag, s->comm, &lane->request));

    if (OMPI_SUCCESS == rc)
        return GBA_OK;
    lane->request = NULL;
    return transport_fail(s, "cannot receive from", lane->source, rc);
}

/* Post the receives of a new barrier. */
static gba_status_t transport_begin(struct pml_transport *s, uint32_t seq)
{
    gba_status_t status = GBA_OK;

    s->sequence = seq;
    for (uint32_t i = 0; i < s->lanes && GBA_OK == status; i++)
        if (s->lane[i].source >= 0)
            status = lane_receive(s, &s->lane[i]);
    return status;
}

/* Check the send of a lane; if it is complete, free it. */
static void lane_sent(struct pml_transport *s, struct lane *lane)
{
    int rc;

    if (!gba_common_message_complete(&lane->sending, &rc, NULL))
        return;
    s->unsent--;
    if (OMPI_SUCCESS != rc)
        (void)transport_fail(s, "cannot send to", lane->target, rc);
}

/*
 * Release: the PML orders what this process wrote before; it must deliver the message after the
 * data that the message announces.
 */
static gba_status_t pml_set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                            uint32_t seq)
{
    struct pml_transport *s = (struct pml_transport *)transport;
    struct lane *lane = &s->lane[slot];
    ompi_request_t *request;
    int rc;

    (void)peer; /* the schedule has one peer for each slot */
    if (s->failed)
        return GBA_ERR_IO;
    lane->out = (struct message){.epoch = s->epoch, .sequence = seq};
    rc = MCA_PML_CALL(isend(&lane->out, sizeof lane->out, MPI_BYTE, lane->target, s->tag,
                            MCA_PML_BASE_SEND_STANDARD, s->comm, &request));
    if (OMPI_SUCCESS != rc)
        return transport_fail(s, "cannot send to", lane->target, rc);
    lane->sending = request;
    s->unsent++;
    lane_sent(s, lane);
    /* After the first signal, because other members wait for the signal, and none for our receives.
     */
    return seq == s->sequence ? GBA_OK : transport_begin(s, seq);
}

/* The receives come before the messages: a member that waits first has nothing else to do. */
static gba_status_t pml_begin(struct gba_transport *transport, uint32_t seq)
{
    struct pml_transport *s = (struct pml_transport *)transport;

    return s->failed ? GBA_ERR_IO : transport_begin(s, seq);
}

/* Check the receive of a lane; if it is complete, free the request and check the message. */
static void lane_received(struct pml_transport *s, struct lane *lane)
{
    int32_t ahead;
    size_t bytes;
    int rc;

    if (!gba_common_message_complete(&lane->request, &rc, &bytes))
        return;
    /* The source is one barrier ahead at most. Of two messages the later one may come first. */
    ahead = (int32_t)(lane->in.sequence - s->sequence);
    if (OMPI_SUCCESS != rc)
        (void)transport_fail(s, "cannot receive from", lane->source, rc);
    else if (sizeof lane->in != bytes)
        (void)transport_fail(s, "unexpected message from", lane->source, (int)bytes);
    else if (lane->in.epoch != s->epoch)
        (void)lane_receive(s, lane);
    else if (ahead < -1 || ahead > 1)
        (void)transport_fail(s, "unexpected message from", lane->source, ahead);
}

/* Acquire. Called only for the current barrier, so the parity adds nothing. */
static uint32_t pml_load(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    struct pml_transport *s = (struct pml_transport *)transport;
    struct lane *lane = &s->lane[slot];

    (void)parity;
    if (lane->request != NULL)
        lane_received(s, lane);
    return lane->request == NULL && !s->failed ? s->sequence : s->sequence - 1;
}

/* A lane sends once per barrier, and no barrier ends before this returns GBA_OK: `sending` is NULL
 * when the next barrier needs it. */
static gba_status_t pml_sent(struct gba_transport *transport)
{
    struct pml_transport *s = (struct pml_transport *)transport;

    for (uint32_t i = 0; i < s->lanes && 0 != s->unsent; i++)
        if (s->lane[i].sending != NULL)
            lane_sent(s, &s->lane[i]);
    if (s->failed)
        return GBA_ERR_IO;
    return 0 == s->unsent ? GBA_OK : GBA_INPROGRESS;
}

/* The waiting caller calls opal_progress anyway; here it learns only whether the transport has
 * failed. */
static gba_status_t pml_progress(struct gba_transport *transport)
{
    return ((struct pml_transport *)transport)->failed ? GBA_ERR_IO : GBA_OK;
}

/* Cancel or complete a request. Returns whether the PML accesses its buffer no more. */
static bool request_end(ompi_request_t **request, bool cancels)
{
    int ignored;

    if (*request != NULL && cancels)
        (void)ompi_request_cancel(*request);
    return *request == NULL || gba_common_message_complete(request, &ignored, NULL);
}

/* In the middle of a barrier a receive can be posted, and a send incomplete. What the PML still
 * accesses then is leaked. */
static void pml_destroy(struct gba_transport *transport)
{
    struct pml_transport *s = (struct pml_transport *)transport;
    bool ended = true;

    for (uint32_t i = 0; i < s->lanes; i++) {
        ended &= request_end(&s->lane[i].request, true);
        ended &= request_end(&s->lane[i].sending, false);
        if (s->lane[i].sending != NULL)
            (void)ompi_request_free(&s->lane[i].sending); /* as after MPI_Request_free */
    }
    if (ended)
        free(s);
}

static const struct gba_transport_ops pml_ops = {.name = "pml",
                                                 .set = pml_set,
                                                 .begin = pml_begin,
                                                 .load = pml_load,
                                                 .sent = pml_sent,
                                                 .progress = pml_progress,
                                                 .destroy = pml_destroy};

static int rank_of(const struct gba_common_messages *messages, const gba_remote_group_t *group,
                   uint32_t number)
{
    uint32_t member;

    if (GBA_SCHED_NONE == number)
        return -1;
    member = group->ranks == NULL ? number : group->ranks[number];
    return (int)(messages->ranks == NULL ? member : messages->ranks[member]);
}

static gba_status_t pml_open(void *ctx, const gba_remote_group_t *group,
                             struct gba_transport **transport)
{
    const struct gba_common_messages *messages = ctx;
    const struct gba_schedule *schedule = group->schedule;
    uint32_t lanes = schedule->slots(group->size, group->radix);
    struct pml_transport *s;

    s = calloc(1, sizeof *s + lanes * sizeof s->lane[0]);
    if (s == NULL)
        return GBA_ERR_NOMEM;
    s->base.ops = &pml_ops;
    s->comm = messages->comm;
    s->tag = messages->tag[group->channel];
    s->epoch = group->epoch;
    s->sequence = group->sequence;
    s->lanes = lanes;
    for (uint32_t slot = 0; slot < lanes; slot++) {
        struct gba_sched_link link = schedule->link(group->rank, group->size, group->radix, slot);

        s->lane[slot].source = rank_of(messages, group, link.source);
        s->lane[slot].target = rank_of(messages, group, link.target);
    }
    *transport = &s->base;
    return GBA_OK;
}

void gba_common_remote_init(gba_remote_t *remote, struct gba_common_messages *messages)
{
    *remote = (gba_remote_t){.ctx = messages, .pulls = false, .open = pml_open};
}
