/* SPDX-License-Identifier: BSD-3-Clause */
/* When the members of a team agree again, and the terms that rank 0 sends then. See schedule.c. */
#ifndef GBA_AGREE_SCHEDULE_H
#define GBA_AGREE_SCHEDULE_H

#include "gba/agree/trial.h"
#include "gba/failover/engine.h"

/* Barriers until a team without a group renegotiates for the first time; schedule.c has the reason.
 */
#define GBA_BACKOFF_FIRST UINT64_C(64)

/* Measure the device of rank 0 before an agreement that may request a group of it, if its time
 * matters: with `offload` fastest. As gba_round_trip_measure. */
void gba_schedule_measure(const gba_team_attr_t *attr, gba_due_t due);

/* Fill in the terms of rank 0. Not collective. */
void gba_schedule_terms(struct gba_team *team, const gba_team_attr_t *attr, gba_due_t due,
                        struct gba_terms *terms);

/*
 * The team has no group, for this reason. If the reason can pass, its members renegotiate in
 * `backoff` barriers; also if its device died and rank 0 has others (died). All members call this
 * with the same arguments after the same number of barriers.
 */
void gba_renegotiation_plan(struct gba_team *team, gba_status_t reason, bool died,
                            uint64_t backoff);

/* Cancel the next renegotiation. */
void gba_renegotiation_cancel(struct gba_team *team);

/*
 * The team has taken a path that a trial may replace: the first trial is due in trial_after
 * barriers. All members call this after the same number of barriers. choice: the path.
 */
void gba_trial_plan(struct gba_team *team, struct gba_choice choice);

/* Cancel the next trial. */
void gba_trial_cancel(struct gba_team *team);

#endif
