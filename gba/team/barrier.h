/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers of a team: gba_barrier_start, _test, _progress and _wait of gba/team.h. */
#ifndef GBA_TEAM_BARRIER_H
#define GBA_TEAM_BARRIER_H

#include "gba/failover/engine.h"

/* Select the team's fast path. To be called again after each change of the path, and when the
 * device has failed. By the thread that runs the team's barrier. */
void gba_barrier_init(struct gba_team *team);

#endif
