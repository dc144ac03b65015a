/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decisions of a trial: the barriers to measure, the number of barriers in a batch, the barrier
 * to take, and the time of the next trial. Pure. trial_run.c carries a trial out.
 *
 * All members make the same decisions. Their inputs are the count of barriers, the terms that rank
 * 0 has sent, and costs that all members have reduced to one value.
 */
#ifndef GBA_AGREE_TRIAL_H
#define GBA_AGREE_TRIAL_H

#include "gba/agree/software.h"

/* The most candidates of a trial: software barriers, the current barrier, and groups of all and of
 * the leaders. */
#define GBA_TRIAL_MOST (GBA_CHOICES_MOST + 3u)

/* The passes of a trial, each at another time, so that no placement of the processes on the cores
 * decides alone. */
#define GBA_TRIAL_PASSES 3u

/* What a trial has found so far, the same on all members: of each path the costs of the passes that
 * have measured it, ps, or that a member gave it up. */
struct gba_trial_record {
    uint32_t passes, count;
    struct gba_trial_row {
        struct gba_choice choice;
        bool lost; /* a member gave it up: no further pass makes it, and it has no costs */
        uint32_t measured;
        uint64_t cost[GBA_TRIAL_PASSES];
    } rows[GBA_TRIAL_MOST];
};

/*
 * Whether a trial costs less than 1% of the elapsed time. Called by rank 0, which sends the result.
 * elapsed: ns since the last trial, or since the team took its path. barriers: in that time. last:
 * ns that the last trial took; 0: there was none.
 */
bool gba_trial_affordable(uint64_t elapsed, uint64_t barriers, uint64_t last);

/* The barriers in a batch. fastest: the lowest cost so far, ps; 0: not known. */
uint32_t gba_trial_batch(uint64_t fastest);

/* Whether a candidate of this cost is too slow to be measured again. Both in ps. */
bool gba_trial_hopeless(uint64_t cost, uint64_t fastest);

/* Record the cost of a path in the current pass. No effect on a path that is lost. */
void gba_trial_add(struct gba_trial_record *record, struct gba_choice choice, uint64_t cost);

/* A member has given a path up: forget its costs, for good. */
void gba_trial_lose(struct gba_trial_record *record, struct gba_choice choice);

/* Whether a member has given a path up. */
bool gba_trial_lost(const struct gba_trial_record *record, struct gba_choice choice);

/* The median of three costs. */
uint64_t gba_trial_middle(const uint64_t costs[3]);

/* The cost of a path: the median of the passes, if at least two of three have measured it. Returns
 * false if the path has no cost. cost: set on true. */
bool gba_trial_median(const struct gba_trial_record *record, struct gba_choice choice,
                      uint64_t *cost);

/*
 * The candidate to take. costs: ps of a barrier at the slowest member. count: 1 or more. current:
 * costs[0] is that of the current barrier, which the others must beat by the hysteresis of 3%.
 * Returns the index of the fastest candidate.
 */
uint32_t gba_trial_best(const uint64_t *costs, uint32_t count, bool current);

/* Barriers until the next trial, after one has ended: twice as many each time, up to 1024 times
 * `after`. pause: the last value, at first `after`. after: the parameter trial_after, 1 or more. */
uint64_t gba_trial_pause(uint64_t pause, uint64_t after);

#endif
