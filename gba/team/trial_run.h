/* SPDX-License-Identifier: BSD-3-Clause */
/* The trial of a team: measure other barriers, and take the fastest. See trial_run.c. */
#ifndef GBA_TEAM_TRIAL_RUN_H
#define GBA_TEAM_TRIAL_RUN_H

#include "gba/agree/agree.h"
#include "gba/failover/engine.h"

/*
 * Carry out a trial, or postpone it, and plan the next one. On GBA_OK the team has the same barrier
 * as before or another one, and the texts of its path are those of that barrier.
 * attr, oob: as for gba_team_agree. Returns GBA_OK; GBA_ERR_OOB; GBA_ERR_IO: the runtime lost
 * a connection; or that of the runtime's fallback. On an error the team must not be used any more.
 * Collective over oob: all members are in the end of the same barrier. Blocks.
 */
gba_status_t gba_trial_run(struct gba_team *team, const gba_team_attr_t *attr,
                           const gba_oob_t *oob);

/*
 * Carry out a short trial: the schedules of the team's own path are compared (path_shared.h).
 * Otherwise as gba_trial_run. See trial_short.c.
 */
gba_status_t gba_trial_short(struct gba_team *team, const gba_oob_t *oob);

/* Set the figures for the user: "; measured in us: node dissemination 12.10, ...". */
void gba_trial_figures(struct gba_team *team, const struct gba_trial_candidate *entries,
                       uint32_t count, bool hosts);

#endif
