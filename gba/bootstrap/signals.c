/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In each barrier a member receives one signal for each slot that has a source, and it leaves the
 * barrier only when it has taken all of them. A connection delivers in order, so the signal that a
 * slot takes is that of the current barrier, and nothing else is correct: a signal of another
 * sequence is an error, never an arrival. One word serves both parities (transport.h, 4).
 *
 * The members of a team have taken all signals of a transport when they next agree. Members of a
 * trial may have left a barrier in the middle, and then each signal of that path is dropped
 * (mesh.h), because it carries the epoch of the path.
 */
#include "gba/bootstrap/signals.h"

#include <stdlib.h>

#include "gba/algo/sched.h"
#include "gba/transport/transport.h"

/* The waiting member reads the connection of the signal that it awaits. Once in so many times it
 * reads all connections, to detect members that have died. */
#define READ_ALL 64u

struct lane {
    struct gba_boot_link *source, *target; /* NULL: no signal */
    bool taken;                            /* the signal of the current barrier, or no source */
};

struct signals {
    struct gba_transport base;
    struct gba_boot_mesh *mesh;
    uint64_t epoch;
    uint32_t sequence; /* of the current barrier, or of the last one */
    uint32_t channel, lanes, awaited, reads;
    struct lane lane[];
};

/* A barrier begins: make the connections that are missing. */
static gba_status_t signals_begin(struct gba_transport *transport, uint32_t seq)
{
    struct signals *s = (struct signals *)transport;
    gba_status_t status = s->mesh->failed ? GBA_ERR_IO : GBA_OK;

    s->sequence = seq;
    for (uint32_t slot = 0; slot < s->lanes && GBA_OK == status; slot++) {
        struct lane *lane = &s->lane[slot];

        lane->taken = lane->source == NULL;
        if (lane->source != NULL)
            status = gba_boot_mesh_connect(s->mesh, lane->source);
        if (lane->target != NULL && GBA_OK == status)
            status = gba_boot_mesh_connect(s->mesh, lane->target);
    }
    return status;
}

/* Release: the kernel copies the signal after all that this process wrote before. */
static gba_status_t signals_set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                                uint32_t seq)
{
    struct signals *s = (struct signals *)transport;
    const struct gba_boot_signal signal = {
        .channel = s->channel, .slot = slot, .sequence = seq, .epoch = s->epoch};
    gba_status_t status = s->mesh->failed ? GBA_ERR_IO : GBA_OK;

    (void)peer; /* the schedule has one peer for each slot */
    if (seq != s->sequence)
        status = signals_begin(transport, seq);
    return GBA_OK == status ? gba_boot_mesh_send(s->mesh, s->lane[slot].target, &signal) : status;
}

/* Whether the signal of the current barrier is there. A failure is that of the mesh. */
static bool lane_take(struct signals *s, struct lane *lane)
{
    const struct gba_boot_signal expected = {.channel = s->channel,
                                             .slot = (uint32_t)(lane - s->lane),
                                             .sequence = s->sequence,
                                             .epoch = s->epoch};

    if (!lane->taken)
        lane->taken = GBA_OK == gba_boot_mesh_take(s->mesh, lane->source, &expected);
    return lane->taken;
}

/* Acquire: the kernel copied the signal before. Makes no system call. A failure is returned by
 * progress. */
static uint32_t signals_load(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    struct signals *s = (struct signals *)transport;

    (void)parity;
    s->awaited = slot;
    return lane_take(s, &s->lane[slot]) && !s->mesh->failed ? s->sequence : s->sequence - 1;
}

static gba_status_t signals_sent(struct gba_transport *transport)
{
    struct signals *s = (struct signals *)transport;

    if (s->mesh->failed)
        return GBA_ERR_IO;
    for (uint32_t slot = 0; slot < s->lanes; slot++) {
        const struct lane *lane = &s->lane[slot];

        if ((lane->target != NULL && 0 != lane->target->out_len) ||
            (lane->source != NULL && 0 != lane->source->out_len))
            return GBA_INPROGRESS;
    }
    return GBA_OK;
}

/* Send and receive. A source whose connection is not made yet has to be accepted. */
static gba_status_t lane_progress(struct signals *s, struct lane *lane, bool reads)
{
    struct gba_boot_link *links[] = {lane->source, lane->target};

    for (unsigned i = 0; i < 2; i++) {
        if (links[i] == NULL)
            continue;
        if (GBA_BOOT_LINK_NONE == links[i]->state)
            gba_boot_mesh_accept(s->mesh);
        if (0 != links[i]->out_len && GBA_ERR_IO == gba_boot_mesh_flush(s->mesh, links[i]))
            return GBA_ERR_IO;
    }
    if (!reads || lane->taken || lane->source == NULL)
        return GBA_OK;
    if (GBA_OK != gba_boot_mesh_receive(s->mesh, lane->source))
        return GBA_ERR_IO;
    /* Nothing more will come: this fails unless the signal is there, even if the algorithm awaits
     * another one first. */
    if (GBA_BOOT_LINK_CLOSED == lane->source->state)
        (void)lane_take(s, lane);
    return s->mesh->failed ? GBA_ERR_IO : GBA_OK;
}

static gba_status_t signals_progress(struct gba_transport *transport)
{
    struct signals *s = (struct signals *)transport;
    bool all = 0 == ++s->reads % READ_ALL;
    gba_status_t status = s->mesh->failed ? GBA_ERR_IO : GBA_OK;

    for (uint32_t slot = 0; slot < s->lanes && GBA_OK == status; slot++)
        status = lane_progress(s, &s->lane[slot], all || slot == s->awaited);
    return status;
}

static void signals_destroy(struct gba_transport *transport)
{
    free(transport);
}

static const struct gba_transport_ops signals_ops = {.name = "tcp",
                                                     .set = signals_set,
                                                     .begin = signals_begin,
                                                     .load = signals_load,
                                                     .sent = signals_sent,
                                                     .progress = signals_progress,
                                                     .destroy = signals_destroy};

/* Set the connection of a member of the group. Returns false if out of memory. */
static bool lane_end(struct gba_boot_mesh *mesh, const gba_remote_group_t *group, uint32_t number,
                     struct gba_boot_link **link)
{
    if (GBA_SCHED_NONE == number)
        return true;
    *link = gba_boot_mesh_link(mesh, group->ranks == NULL ? number : group->ranks[number]);
    return *link != NULL;
}

gba_status_t gba_boot_signals_open(void *ctx, const gba_remote_group_t *group,
                                   struct gba_transport **transport)
{
    const struct gba_schedule *schedule = group->schedule;
    uint32_t lanes = schedule->slots(group->size, group->radix);
    struct signals *s = calloc(1, sizeof *s + lanes * sizeof s->lane[0]);

    if (s == NULL)
        return GBA_ERR_NOMEM;
    s->base.ops = &signals_ops;
    s->mesh = ctx;
    s->epoch = group->epoch;
    s->sequence = group->sequence;
    s->channel = group->channel;
    s->lanes = lanes;
    for (uint32_t slot = 0; slot < lanes; slot++) {
        struct gba_sched_link link = schedule->link(group->rank, group->size, group->radix, slot);

        s->lane[slot].taken = true; /* no barrier has begun */
        if (!lane_end(s->mesh, group, link.source, &s->lane[slot].source) ||
            !lane_end(s->mesh, group, link.target, &s->lane[slot].target)) {
            free(s);
            return GBA_ERR_NOMEM;
        }
    }
    *transport = &s->base;
    return GBA_OK;
}
