/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A batch of a trial: some barriers on the path of a candidate, and the vote of all members on it.
 * time, min, vote and measure are collective, and block. By one thread of a team.
 */
#ifndef GBA_TEAM_TRIAL_BATCH_H
#define GBA_TEAM_TRIAL_BATCH_H

#include "gba/agree/agree.h"
#include "gba/failover/engine.h"

#define GBA_TRIAL_PS 1000 /* of a nanosecond */

struct gba_trial {
    struct gba_team *team;
    const gba_team_attr_t *attr;
    const gba_oob_t *oob;
    struct gba_info *info; /* of the agreement */
    struct gba_trial_candidates candidates;
    bool current;          /* candidates.entries[0] is the team's own path */
    gba_status_t lost;     /* why that is destroyed, or GBA_OK */
    struct gba_team probe; /* makes the barriers of a batch, on the path of a candidate */
};

/* The result of a batch: of a member before the vote, and of all after it. */
struct gba_trial_vote {
    gba_status_t reason; /* why the batch is not complete, or GBA_OK */
    uint64_t cost;       /* of the slowest member */
};

/* Initialise a team whose barriers are those of a trial on this path: without failover, shared work
 * of cores, and anything due. deadline: of its barriers, ns; 0: none. */
void gba_trial_probe(struct gba_team *probe, const struct gba_team *team,
                     struct gba_path_base *path, gba_path_t kind, uint64_t deadline);

/* Make barriers of the probe; without a path they are the runtime's. cost: set to that of one of
 * the last `barriers`, ps, at this member. Returns the result of the last barrier made: the first
 * one that fails is the last. */
gba_status_t gba_trial_time(struct gba_team *probe, uint32_t warm, uint32_t barriers,
                            uint64_t *cost);

/* The minima of words of all members. Also a fence. Returns GBA_OK or an error of the exchange. */
gba_status_t gba_trial_min(const struct gba_team *team, const gba_oob_t *oob, uint64_t *words,
                           uint32_t count);

/* Set the vote to the lowest status and the highest cost of all members. Also a fence. Returns
 * GBA_OK or an error of the exchange. */
gba_status_t gba_trial_vote(const struct gba_trial *t, struct gba_trial_vote *vote);

/* Remove a candidate, by its index, from the trial. Keeps its path. */
void gba_trial_remove(struct gba_trial *t, uint32_t i);

/* Measure a batch of a candidate. completed: set to whether all members have completed it; if not,
 * the list does not have the candidate any more. Returns GBA_OK, GBA_ERR_OOB, or the error of the
 * runtime's barrier. */
gba_status_t gba_trial_measure(struct gba_trial *t, uint32_t i, uint32_t barriers, bool *completed);

#endif
