/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The failure notifications of one round of a failed device, in a simulated team: the facts of
 * gba/failover/facts.h, and a network that delivers in a random order. For the benchmark and its
 * unit test.
 */
#ifndef GBA_BENCH_NOTIFICATIONS_H
#define GBA_BENCH_NOTIFICATIONS_H

#include <stdbool.h>
#include <stdlib.h>

#include "gba/failover/facts.h"

struct parcel {
    gba_notification_t notification;
    uint32_t to;
};

struct team_of {
    uint32_t size, complete;
    struct gba_facts **facts;
    bool *done; /* has completed the round */
    struct parcel *parcels;
    uint64_t sent, flying;
};

/* ceil(log2(size)) */
static inline uint32_t log2_of(uint32_t size)
{
    uint32_t log2 = 0;

    while (UINT64_C(1) << log2 < size)
        log2++;
    return log2;
}

/* The most notifications of one round. */
static inline uint64_t notifications_bound(uint32_t size)
{
    return (4 * (uint64_t)log2_of(size) + 1) * size;
}

static inline void parcel_post(struct team_of *team, uint32_t to, const gba_notification_t *n)
{
    if (team->flying == notifications_bound(team->size))
        abort();
    team->parcels[team->flying++] = (struct parcel){*n, to};
    team->sent++;
}

/* Send all notifications that a member owes now. */
static inline void member_posts(struct team_of *team, uint32_t rank)
{
    const struct gba_extra_peers none = {0};
    gba_notification_t n;
    uint32_t to;

    while (GBA_OK == gba_facts_next(team->facts[rank], 1, team->done[rank], &none, &n, &to))
        parcel_post(team, to, &n);
}

static inline void member_takes(struct team_of *team, const struct parcel *parcel)
{
    struct gba_facts *facts = team->facts[parcel->to];
    const gba_notification_t *n = &parcel->notification;

    if (GBA_OK != gba_facts_take(facts, n))
        abort();
    if (team->done[parcel->to]) {
        if (!n->completed && gba_facts_answer(facts, n->member, 1))
            parcel_post(team, n->member,
                        &(gba_notification_t){.round = 1,
                                              .first_bypassed = UINT64_MAX,
                                              .member = parcel->to,
                                              .members = 1,
                                              .completed = 1});
        return;
    }
    if (gba_facts_complete(facts, 1)) {
        team->done[parcel->to] = true;
        team->complete++;
    }
    member_posts(team, parcel->to);
}

/*
 * The number of notifications of a round in which the device has released the first `released`
 * members, and all others find it failed. Aborts if a member does not complete the round.
 */
static inline uint64_t notifications_count(uint32_t size, uint32_t released, unsigned seed)
{
    struct team_of team = {.size = size, .complete = released};

    team.facts = calloc(size, sizeof(struct gba_facts *));
    team.done = calloc(size, sizeof *team.done);
    team.parcels = calloc(notifications_bound(size), sizeof *team.parcels);
    if (team.facts == NULL || team.done == NULL || team.parcels == NULL)
        abort();
    for (uint32_t rank = 0; rank < size; rank++) {
        team.facts[rank] = malloc(gba_facts_bytes(size));
        if (team.facts[rank] == NULL)
            abort();
        gba_facts_init(team.facts[rank], rank, size);
        team.done[rank] = rank < released;
    }
    for (uint32_t rank = released; rank < size; rank++)
        member_posts(&team, rank);
    while (team.flying > 0) {
        uint64_t i = (uint64_t)rand_r(&seed) % team.flying;
        struct parcel parcel = team.parcels[i];

        team.parcels[i] = team.parcels[--team.flying];
        member_takes(&team, &parcel);
    }
    if (team.complete != size)
        abort();
    for (uint32_t rank = 0; rank < size; rank++)
        free(team.facts[rank]);
    free(team.facts);
    free(team.done);
    free(team.parcels);
    return team.sent;
}

#endif
