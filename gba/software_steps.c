/* SPDX-License-Identifier: BSD-3-Clause */
/* Software barriers of a team: start and test. The agreement is in software.c. */
#include "gba/software.h"

gba_status_t gba_software_start(struct gba_software *software)
{
    uint32_t sequence = ++software->sequence; /* unsigned: wraps */

    switch (software->kind) {
    case GBA_SOFTWARE_NODE:
        gba_software_node_start(software);
        return GBA_OK;
    case GBA_SOFTWARE_FLAT:
        return software->algorithm->start(&software->soft, software->signals, sequence);
    default:
        software->phase = software->leader ? GBA_PHASE_GATHER : GBA_PHASE_MEMBER;
        if (NULL != software->segment.base) {
            gba_word_store_relaxed(software->mark, sequence);
            gba_node_gather(&software->node, sequence);
        }
        return GBA_OK;
    }
}

/* The barrier among the leaders of nodes. */
static gba_status_t leaders_start(struct gba_software *software)
{
    if (software->split)
        return gba_islands_start(software);
    if (NULL == software->state)
        return software->algorithm->start(&software->soft, software->signals, software->sequence);
    gba_send_arrival(software->state); /* its sequence goes with the software's */
    return GBA_OK;
}

static gba_status_t leaders_test(struct gba_software *software)
{
    if (software->split)
        return gba_islands_test(software);
    if (NULL == software->state)
        return software->algorithm->test(&software->soft, software->signals);
    return gba_poll_release(software->state);
}

/* A node's leader, one phase after the other as far as it gets. */
static gba_status_t leader_test(struct gba_software *software)
{
    bool alone = NULL == software->segment.base;
    gba_status_t status;

    if (GBA_PHASE_GATHER == software->phase) {
        if (!alone && !gba_node_gathered(&software->node))
            return GBA_INPROGRESS;
        /* Acquire in gathered, release in the signals or in the arrival: what the node wrote is
         * part of what its leader tells the others. */
        software->phase = GBA_PHASE_LEADERS;
        status = leaders_start(software);
        if (GBA_OK != status)
            return status;
    }
    status = leaders_test(software);
    if (GBA_OK == status && !alone)
        gba_node_release(&software->node);
    return status;
}

gba_status_t gba_software_test(struct gba_software *software)
{
    switch (software->kind) {
    case GBA_SOFTWARE_NODE:
        return gba_node_test(&software->node);
    case GBA_SOFTWARE_FLAT:
        return software->algorithm->test(&software->soft, software->signals);
    default:
        return software->leader ? leader_test(software) : gba_node_test(&software->node);
    }
}

gba_status_t gba_software_progress(struct gba_software *software)
{
    struct gba_signals *signals = software->signals;

    if (NULL == signals || NULL == signals->ops->progress)
        return GBA_OK;
    return signals->ops->progress(signals);
}

gba_word_t *gba_software_awaited(struct gba_software *software)
{
    switch (software->kind) {
    case GBA_SOFTWARE_NODE:
        return software->node.release;
    case GBA_SOFTWARE_FLAT:
        if (software->signals != &software->shm.base)
            return NULL;
        return gba_shm_awaited(&software->shm, software->algorithm, &software->soft);
    default:
        if (!software->leader)
            return software->node.release;
        return GBA_PHASE_GATHER == software->phase ? software->node.arrived : NULL;
    }
}

/* The place of a member in an ascending list, or UINT32_MAX. */
static uint32_t place_in(const uint32_t *ranks, uint32_t count, uint32_t member)
{
    for (uint32_t i = 0; i < count && ranks[i] <= member; i++)
        if (ranks[i] == member)
            return i;
    return UINT32_MAX;
}

/* Of a member on another node: its leader arrives at the group when all of the node have. */
static enum gba_arrived node_arrived(const struct gba_software *software,
                                     const gba_group_state_t *group, uint32_t member)
{
    uint32_t node;

    /* While it gathers, a leader's picture is that of its node: one of them is to speak for all. */
    if (NULL == software->state || software->phase < GBA_PHASE_LEADERS)
        return GBA_ARRIVED_UNKNOWN;
    node = place_in(software->leaders, software->nodes, member);
    if (UINT32_MAX == node)
        return GBA_ARRIVED_UNKNOWN;
    if (software->phase > GBA_PHASE_LEADERS)
        return GBA_ARRIVED_YES; /* all of the island have; the mask is that of the second round */
    if (NULL == group)
        return GBA_ARRIVED_UNKNOWN;
    return group->arrived_mask[node / 64] >> (node % 64) & 1 ? GBA_ARRIVED_YES : GBA_ARRIVED_NO;
}

enum gba_arrived gba_software_arrived(const struct gba_software *software,
                                      const gba_group_state_t *group, uint32_t member)
{
    uint32_t local, seen;

    if (member == software->rank)
        return GBA_ARRIVED_YES;
    local = place_in(software->locals, software->segment.members, member);
    if (UINT32_MAX == local)
        return node_arrived(software, group, member);
    /* With v1 and v2 the first thing that a member does is to signal its neighbour, in slot 0. */
    if (GBA_SOFTWARE_FLAT == software->kind && !software->algorithm->pulls)
        local = gba_sched_peer(local, 1, software->segment.members);
    seen = gba_shm_peek(&software->shm, local);
    return GBA_SEQ_REACHED(seen, software->sequence) ? GBA_ARRIVED_YES : GBA_ARRIVED_NO;
}

const char *gba_software_stands_for(const struct gba_software *software, uint32_t member)
{
    if (GBA_SOFTWARE_HYBRID != software->kind ||
        UINT32_MAX != place_in(software->locals, software->segment.members, member))
        return "";
    if (software->split && UINT32_MAX == place_in(software->leaders, software->nodes, member))
        return " or another on its island";
    return " or another on its host";
}

uint32_t gba_software_late_source(const struct gba_software *software)
{
    struct gba_signals *signals = software->remote;
    uint32_t word, peer;

    if (!gba_software_listens(software))
        return UINT32_MAX;
    if (software->algorithm->pulls) {
        if (software->soft.seen >= software->soft.size)
            return UINT32_MAX;
        peer = gba_sched_peer(software->soft.rank, software->soft.seen, software->soft.size);
        return GBA_SOFTWARE_HYBRID == software->kind ? software->leaders[peer] : peer;
    }
    word = signals->ops->mine(signals, 0, gba_signal_parity(software->sequence));
    return GBA_SEQ_REACHED(word, software->sequence) ? UINT32_MAX : software->source;
}
