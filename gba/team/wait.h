/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a barrier in a blocking call: spin first, yield the core when other processes need
 * it, and sleep in a long wait, as set by the parameter `wait`. */
#ifndef GBA_TEAM_WAIT_H
#define GBA_TEAM_WAIT_H

#include "gba/failover/engine.h"

/*
 * Spins between two calls of the runtime's progress, with a core for each process: about 5 us. That
 * is long against a barrier, and short against the latency of any message.
 */
#define GBA_WAIT_SPINS 200

/* `auto` sleeps after this time: the latency of waking is then small against the wait. */
#define GBA_WAIT_SLEEP_AFTER_NS 1000000000u

/* `sleep` sleeps earlier: after at most two barriers of an oversubscribed host. */
#define GBA_WAIT_SLEEP_SOON_NS 50000u

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

/* The steps that the wait calls, as gba_barrier_test and gba_barrier_progress. A table, because
 * both are on a higher floor. */
struct gba_wait_steps {
    gba_status_t (*test)(struct gba_team *team);
    gba_status_t (*progress)(struct gba_team *team);
};

/* The number of tests in one attempt of the team's path, 1 or more; see gba_path_ops.attempt. */
uint32_t gba_wait_spins(const struct gba_team *team);

/*
 * Wait for the current round, which an attempt did not complete. progress: the runtime's progress,
 * called now and then with `arg`; may be NULL. Returns the first result of a step that is not
 * GBA_INPROGRESS. Blocks. By the thread that runs the team's barrier. Acquire on GBA_OK.
 */
gba_status_t gba_wait(struct gba_team *team, const struct gba_wait_steps *steps,
                      void (*progress)(void *), void *arg);

#endif
