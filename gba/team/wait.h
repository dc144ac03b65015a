/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a barrier: spin, yield or sleep, as set by the parameter `wait`. */
#ifndef GBA_TEAM_WAIT_H
#define GBA_TEAM_WAIT_H

#include "gba/failover/engine.h"

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
