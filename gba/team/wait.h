/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a barrier in a blocking call: spin first, yield the core when other processes need
 * it, and sleep in a long wait, as set by the parameter `wait`. */
#ifndef GBA_TEAM_WAIT_H
#define GBA_TEAM_WAIT_H

#include "gba/failover/engine.h"

/*
 * Spins before the first call of the runtime's progress, with a core for each process: about 5 us,
 * which is long against a barrier. After it progress follows each look, as in a barrier of Open
 * MPI: other ranks may need one round trip after the other of this rank.
 */
#define GBA_WAIT_SPINS 200

/*
 * With fewer cores than processes, a call of progress costs as much as a turn, so the first calls
 * come every GBA_WAIT_YIELDS turns only. The calls after these, or after one that has served
 * another process, come in each turn. A barrier that lasts for 32 turns waits for a process that
 * does something else.
 */
#define GBA_WAIT_RARE_CALLS 4u

/* A process that is served often needs something again at once: after a call of progress that has
 * served one, others follow without a look at the barrier until so many have served none or a time
 * has passed, twice that of a message on one host, and at most so many in all. */
#define GBA_WAIT_IDLE_CALLS 16u
#define GBA_WAIT_IDLE_NS    1000u
#define GBA_WAIT_CALLS_MOST 1000u

/* `auto` sleeps after this time, in which the runtime has served no other process: the latency of
 * waking is then small against the wait. */
#define GBA_WAIT_SLEEP_AFTER_NS 1000000000u

/* `sleep` sleeps earlier: after at most two barriers of an oversubscribed host. */
#define GBA_WAIT_SLEEP_SOON_NS 50000u

/* No wait sleeps within this time after the runtime has served another process, which may need
 * something again soon. */
#define GBA_WAIT_AWAKE_NS 10000000u

/* A wait reads the count of what its thread has read (traffic.h) if it is longer than this: the
 * reading takes 5 us. */
#define GBA_WAIT_TRAFFIC_NS 1000000u

/* The longest sleep, and thus the interval of progress. A test with its progress takes about 10 us;
 * up to 37 us were measured with cold caches on a busy machine, which is below 2% of the interval.
 */
#define GBA_WAIT_SLEEP_NS 2000000u

/* Whether a thread yields its core between two tests. wait: gba_wait_t. oversubscribed: threads
 * that wait share cores. */
static inline bool gba_wait_yields(int wait, bool oversubscribed)
{
    return GBA_WAIT_YIELD == wait ||
           (oversubscribed && (GBA_WAIT_AUTO == wait || GBA_WAIT_SLEEP == wait));
}

/* Time before the first sleep, ns; 0: never sleep. */
static inline uint64_t gba_wait_sleep_after(int wait)
{
    if (GBA_WAIT_AUTO == wait)
        return GBA_WAIT_SLEEP_AFTER_NS;
    return GBA_WAIT_SLEEP == wait ? GBA_WAIT_SLEEP_SOON_NS : 0;
}

/* What a wait does for processes that need something of this one, and when it may sleep. Zero but
 * for `after` before the first call of gba_service_turn. */
struct gba_service {
    uint64_t after;      /* ns without service before a sleep, gba_wait_sleep_after; 0: no sleep */
    uint64_t began, now; /* times of the first and the last turn, ns; 0: not read */
    uint64_t served;     /* when the runtime last served another process, ns; 0: not yet */
    uint64_t awake;      /* the same, or when it may have */
    uint64_t read;       /* see traffic.h */
    uint32_t calls;      /* of the runtime's progress */
    bool sleeps;         /* in the next turn */
};

/* The tests between two calls of the runtime's progress. first: those before the first call. */
static inline uint32_t gba_service_tests(const struct gba_service *service, bool yields,
                                         uint32_t first)
{
    const uint32_t rare = yields ? GBA_WAIT_RARE_CALLS : 1;

    return 0 != service->served || service->calls >= rare ? 1 : first;
}

/*
 * Call the runtime's progress, see gba_runtime_t; again while it serves others. progress: may be
 * NULL. parks: the wait sleeps from its beginning, unless it serves others. listens: progress
 * brings what the wait itself needs, so it is called once. Reads the clock if the wait may sleep or
 * has served. By the waiting thread.
 */
void gba_service_turn(struct gba_service *service, int (*progress)(void *), void *arg, bool parks,
                      bool listens);

#endif
