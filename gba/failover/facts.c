/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/failover/facts.h"

#include <string.h>

void gba_facts_init(struct gba_facts *facts, uint32_t rank, uint32_t size)
{
    memset(facts, 0, gba_facts_bytes(size));
    facts->rank = rank;
    facts->size = size;
    facts->first_bypassed = UINT64_MAX;
}

void gba_facts_bypass(struct gba_facts *facts, uint64_t round)
{
    if (facts->first_bypassed > round)
        facts->first_bypassed = round;
}

/* Whether `count` members from `first` on, except this member, have arrived at `round`. */
static bool range_arrived(const struct gba_facts *facts, uint32_t first, uint32_t count,
                          uint64_t round)
{
    for (uint32_t member = first; member < first + count; member++)
        if (member != facts->rank && facts->members[member].arrived < round)
            return false;
    return true;
}

bool gba_facts_complete(const struct gba_facts *facts, uint64_t round)
{
    return facts->completed >= round || range_arrived(facts, 0, facts->size, round);
}

enum gba_arrived gba_facts_arrived(const struct gba_facts *facts, uint32_t member, uint64_t round)
{
    if (facts->members[member].arrived >= round)
        return GBA_ARRIVED_YES;
    return gba_graph_adjacent(facts->rank, member, facts->size) ? GBA_ARRIVED_NO
                                                                : GBA_ARRIVED_UNKNOWN;
}

gba_status_t gba_facts_take(struct gba_facts *facts, const gba_notification_t *notification)
{
    const uint64_t first = notification->member, end = first + notification->members;

    if (first >= facts->size || 0 == notification->members || end > facts->size)
        return GBA_ERR_PARAM;
    if (facts->first_bypassed > notification->first_bypassed)
        facts->first_bypassed = notification->first_bypassed;
    if (notification->completed) {
        if (facts->completed < notification->round)
            facts->completed = notification->round;
        return GBA_OK;
    }
    for (uint64_t member = first; member < end; member++)
        if (facts->members[member].arrived < notification->round)
            facts->members[member].arrived = notification->round;
    return GBA_OK;
}

bool gba_facts_answer(struct gba_facts *facts, uint32_t member, uint64_t round)
{
    if (facts->members[member].sent >= round)
        return false;
    facts->members[member].sent = round;
    return true;
}

/* The next neighbour, in the graph of the team and then among the extra peers; or
 * GBA_GRAPH_END. */
static uint32_t neighbour_next(struct gba_facts *facts, const struct gba_extra_peers *extra)
{
    uint32_t member = gba_graph_next(facts->rank, facts->size, &facts->neighbour_cursor);

    while (GBA_GRAPH_END == member && 0 != extra->size) {
        member = gba_graph_next(extra->index, extra->size, &facts->extra_cursor);
        if (GBA_GRAPH_END == member)
            break;
        member = extra->ranks[member];
        if (gba_graph_adjacent(facts->rank, member, facts->size))
            member = GBA_GRAPH_END; /* sent already, as a neighbour */
    }
    return member;
}

/* The members of this member's subtree, if all of them have arrived at `round`; else 1. */
static uint32_t subtree_arrived(const struct gba_facts *facts, uint64_t round)
{
    uint32_t members = gba_tree_members(facts->rank, facts->size);

    return range_arrived(facts, facts->rank, members, round) ? members : 1;
}

/* Whether all members of the subtree have arrived, and the parent has not been notified. */
static bool subtree_due(const struct gba_facts *facts, uint64_t round)
{
    uint32_t members = gba_tree_members(facts->rank, facts->size);

    return 0 != facts->rank && facts->subtree_sent < round &&
           range_arrived(facts, facts->rank, members, round);
}

void gba_facts_widen(struct gba_facts *facts)
{
    if (facts->further_allowed + 1 < facts->size)
        facts->further_allowed++;
}

/* The next further member, or GBA_GRAPH_END. */
static uint32_t further_next(struct gba_facts *facts)
{
    uint32_t member;

    while (facts->further_passed < facts->further_allowed) {
        member = (uint32_t)(((uint64_t)facts->rank + ++facts->further_passed) % facts->size);
        if (!gba_graph_adjacent(facts->rank, member, facts->size))
            return member;
        if (facts->further_allowed + 1 < facts->size)
            facts->further_allowed++; /* sent already, as a neighbour */
    }
    return GBA_GRAPH_END;
}

gba_status_t gba_facts_next(struct gba_facts *facts, uint64_t round, bool completed,
                            const struct gba_extra_peers *extra, gba_notification_t *notification,
                            uint32_t *to)
{
    const uint32_t parent = gba_tree_parent(facts->rank);

    if (facts->sending_round != round || facts->sending_completed != completed) {
        facts->sending_round = round;
        facts->sending_completed = completed;
        facts->neighbour_cursor = facts->extra_cursor = 0;
        facts->further_allowed = facts->further_passed = 0;
    }
    do
        *to = neighbour_next(facts, extra);
    while (GBA_GRAPH_END != *to && completed && !gba_facts_answer(facts, *to, round));
    if (GBA_GRAPH_END == *to) {
        if (completed)
            return GBA_ERR_BUSY;
        *to = subtree_due(facts, round) ? parent : further_next(facts);
        if (GBA_GRAPH_END == *to)
            return GBA_ERR_BUSY;
    }
    *notification = (gba_notification_t){.round = round,
                                         .first_bypassed = facts->first_bypassed,
                                         .member = facts->rank,
                                         .members = completed ? 1 : subtree_arrived(facts, round),
                                         .completed = completed};
    if (!completed && *to == parent && subtree_due(facts, round))
        facts->subtree_sent = round;
    return GBA_OK;
}
