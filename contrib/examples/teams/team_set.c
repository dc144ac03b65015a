/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams over active sets. An active set of OpenSHMEM 1.4 is (PE_start, logPE_stride, PE_size): its
 * stride is a power of two. A team with such a stride synchronises by shmem_sync. The standard has
 * no call for other strides. A team with another stride synchronises by its own dissemination over
 * atomics (Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988). Every team
 * has this dissemination, to agree on the place of a new team.
 *
 * Places. shmem_sync needs a pSync at the same address on all PEs of the set, which no other set
 * uses at the same time. Only all PEs of the job together can allocate symmetric memory, and only
 * the PEs of the parent take part in a split. So all pSyncs are allocated at the start, and a new
 * team takes one that is free on all PEs of its parent. Teams without a common PE may have the same
 * pSync.
 *
 * One pSync for each team is enough: the standard allows consecutive shmem_sync on the same active
 * set to use the same pSync. Another set may use it only when all PEs have left. So team_destroy
 * ends with an exchange. A PE that has left this exchange knows that all PEs have entered it, and
 * so have left every earlier shmem_sync.
 */
#include "team_impl.h"

#include <limits.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdlib.h>

/* 2^20 PEs. */
#define ROUNDS_MAX 20

/*
 * A word is sequence << 32 | mask. Each word is written by one PE only, for one round of the
 * dissemination. A PE can be one exchange ahead of the PE that it writes to, but not two. So two
 * alternating words prevent that a mask is overwritten before it is read.
 */
struct place {
    long psync[SHMEM_BARRIER_SYNC_SIZE];
    unsigned long long word[2][ROUNDS_MAX];
};

static struct place *places; /* symmetric: [TEAMS_MAX] */
static uint32_t free_places; /* on this PE; bit i: places[i] */

static int world_pe(const struct team *team, int pe)
{
    return team->start + pe * team->stride;
}

/*
 * All PEs of the team enter before one leaves, and get the AND of all their masks. With
 * dissemination a mask may be included twice, which does not change an AND. The word limits the
 * number of exchanges of one team to 2^32 - 1.
 */
static uint32_t exchange(struct team *team, uint32_t mask)
{
    struct place *place = &places[team->slot];
    unsigned long long *word = place->word[++team->sequence % 2];
    const unsigned long long tag = (unsigned long long)team->sequence << 32;

    /* Make the earlier stores of this PE as visible as shmem_sync does; pairs with the last
     * line. */
    atomic_thread_fence(memory_order_seq_cst);
    for (int round = 0, distance = 1; distance < team->n_pes; round++, distance *= 2) {
        const int peer = (team->my_pe + distance) % team->n_pes;

        shmem_ulonglong_atomic_set(&word[round], tag | mask, world_pe(team, peer));
        shmem_ulonglong_wait_until(&word[round], SHMEM_CMP_GE, tag);
        mask &= (uint32_t)word[round];
    }
    atomic_thread_fence(memory_order_seq_cst);
    return mask;
}

static int is_power_of_two(int value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

/* An active set is ascending; the order of its PEs does not matter for the synchronisation. */
static int step_of(const struct team *team)
{
    return team->stride > 0 ? team->stride : -team->stride;
}

static void set_sync(struct team *team)
{
    const int step = step_of(team), last = world_pe(team, team->n_pes - 1);
    int log_step = 0;

    if (!is_power_of_two(step)) {
        exchange(team, UINT32_MAX);
        return;
    }
    while (1 << log_step < step)
        log_step++;
    shmem_sync(team->start < last ? team->start : last, log_step, team->n_pes,
               places[team->slot].psync);
}

static const char *set_sync_name(const struct team *team)
{
    return is_power_of_two(step_of(team)) ? "shmem_sync" : "dissemination";
}

/*
 * Teams of different colors that are made in one split take the same place. Its words are all zero
 * on all PEs of the parent: each had the place free when it entered the exchange.
 */
static int set_make(struct team *parent, struct team *team, int color)
{
    const uint32_t mask = exchange(parent, team ? free_places : 0);
    int slot = 0;

    if (!team || mask == 0)
        return -1;
    while (!(mask & 1u << slot))
        slot++;
    team->slot = slot;
    if (color >= 0)
        free_places &= ~(1u << slot);
    return 0;
}

/* After the exchange no word of this team is in transit to this PE, so the place can be cleared. */
static void set_destroy(struct team *team)
{
    struct place *place = &places[team->slot];

    exchange(team, UINT32_MAX);
    for (int round = 0; round < ROUNDS_MAX; round++)
        place->word[0][round] = place->word[1][round] = 0;
    free_places |= 1u << team->slot;
}

static const struct team_ops set_ops = {set_make, set_sync, set_destroy, set_sync_name};

int team_set_init(struct team *world)
{
    *world = (struct team){.ops = &set_ops, .stride = 1, .slot = 0};
    world->my_pe = shmem_my_pe();
    world->n_pes = shmem_n_pes();
    places = world->n_pes <= 1 << ROUNDS_MAX ? shmem_malloc(TEAMS_MAX * sizeof *places) : NULL;
    if (!places)
        return -1;
    for (int i = 0; i < TEAMS_MAX; i++) {
        for (int j = 0; j < SHMEM_BARRIER_SYNC_SIZE; j++)
            places[i].psync[j] = SHMEM_SYNC_VALUE;
        for (int round = 0; round < ROUNDS_MAX; round++)
            places[i].word[0][round] = places[i].word[1][round] = 0;
    }
    free_places = UINT32_MAX & ~1u;
    shmem_barrier_all(); /* before a PE uses a pSync or a word of another PE */
    return 0;
}

void team_set_fini(void)
{
    shmem_free(places); /* begins with a barrier over all PEs, so no PE uses it any more */
    places = NULL;
}
