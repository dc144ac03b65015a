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

#include "gba/agree/info.h"

/* The most software barriers of gba_trial_list, and the most candidates of a trial: those, the
 * current barrier, and groups of all and of the leaders. */
#define GBA_CHOICES_MOST 7u
#define GBA_TRIAL_MOST   (GBA_CHOICES_MOST + 3u)

/* The passes of a trial, each at another time, so that no placement of the processes on the cores
 * decides alone. */
#define GBA_TRIAL_PASSES 3u

/* The costs of the passes so far, ps; UINT64_MAX: not measured, or not usable. The same on all
 * members. */
struct gba_trial_record {
    uint32_t passes, count;
    struct {
        struct gba_choice choice;
        uint64_t cost[GBA_TRIAL_PASSES];
    } at[GBA_TRIAL_MOST];
};

/*
 * List the software barriers, and, with `fallback`, the runtime's. The list can contain the current
 * barrier. Returns the number of candidates, 0 to GBA_CHOICES_MOST. Parameters that leave no choice
 * give fewer than 2.
 */
uint32_t gba_trial_list(const struct gba_info *info, bool fallback,
                        struct gba_choice list[GBA_CHOICES_MOST]);

/* The name of a candidate for the user: "counter", "node radix". hosts: several hosts. Never NULL.
 */
const char *gba_trial_name(const struct gba_choice *choice, bool hosts);

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

/* Record the cost of a path in the current pass. */
void gba_trial_add(struct gba_trial_record *record, struct gba_choice choice, uint64_t cost);

/* The cost of a path: the median of the passes, so a path needs two of three. */
uint64_t gba_trial_median(const struct gba_trial_record *record, struct gba_choice choice);

/*
 * The candidate to take. costs: ps of a barrier at the slowest member; [0] is the current barrier;
 * UINT64_MAX: the candidate cannot be used. count: 1 or more. Returns the index of the fastest
 * candidate, or 0 if no candidate is faster than the current barrier by the hysteresis of 3%.
 */
uint32_t gba_trial_best(const uint64_t *costs, uint32_t count);

/* Barriers until the next trial, after one has ended: twice as many each time, up to 1024 times
 * `after`. pause: the last value, at first `after`. after: the parameter trial_after, 1 or more. */
uint64_t gba_trial_pause(uint64_t pause, uint64_t after);

#endif
