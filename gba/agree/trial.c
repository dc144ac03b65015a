/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/agree/trial.h"

#include <stdio.h>

/*
 * Barriers in a batch: enough that one late start does not matter, few if barriers are slow. The
 * batches of fast barriers take about BATCH_NS, so that a batch is long against a cache miss or a
 * reading of the clock.
 */
#define BATCH_LEAST 12u
#define BATCH_MOST  256u
#define BATCH_NS    UINT64_C(100000)

/*
 * The expected cost of a first trial: the making of some paths, which takes about FIRST_NS on a
 * host with a core for each process, or the time of FIRST_BARRIERS where barriers are slow: two
 * batches of BATCH_LEAST and some more, of each of 10 candidates. A barrier takes no
 * longer than the average interval between two barriers. So no trial comes in the first
 * SHARE * FIRST_BARRIERS barriers.
 */
#define FIRST_NS       UINT64_C(5000000)
#define FIRST_BARRIERS UINT64_C(350)
#define SHARE          100u /* a trial may cost this part of the time */

#define PAUSE_GROWTH UINT64_C(1024)

bool gba_trial_affordable(uint64_t elapsed, uint64_t barriers, uint64_t last)
{
    uint64_t cost = last;

    if (0 == cost)
        cost = FIRST_NS + elapsed / (barriers > 0 ? barriers : 1) * FIRST_BARRIERS;
    return elapsed / SHARE >= cost;
}

uint32_t gba_trial_batch(uint64_t fastest)
{
    uint64_t barriers = 0 == fastest ? 0 : BATCH_NS * 1000 / fastest;

    if (barriers < BATCH_LEAST)
        return BATCH_LEAST;
    return barriers < BATCH_MOST ? (uint32_t)barriers : BATCH_MOST;
}

bool gba_trial_hopeless(uint64_t cost, uint64_t fastest)
{
    return cost / 2 > fastest;
}

/* The row of a path; NULL: there is none. */
static const struct gba_trial_row *row_find(const struct gba_trial_record *record,
                                            struct gba_choice choice)
{
    for (uint32_t i = 0; i < record->count; i++)
        if (gba_choices_equal(record->rows[i].choice, choice))
            return &record->rows[i];
    return NULL;
}

/* The row of a path. The passes of a trial have the same candidates, so there is room for all. */
static struct gba_trial_row *row_get(struct gba_trial_record *record, struct gba_choice choice)
{
    const struct gba_trial_row *row = row_find(record, choice);
    const uint32_t index = row != NULL ? (uint32_t)(row - record->rows) : record->count;

    if (row == NULL && index < GBA_TRIAL_MOST)
        record->rows[record->count++] = (struct gba_trial_row){.choice = choice};
    return index < GBA_TRIAL_MOST ? &record->rows[index] : NULL;
}

void gba_trial_add(struct gba_trial_record *record, struct gba_choice choice, uint64_t cost)
{
    struct gba_trial_row *row = row_get(record, choice);

    if (row != NULL && !row->lost && row->measured < GBA_TRIAL_PASSES)
        row->cost[row->measured++] = cost;
}

void gba_trial_lose(struct gba_trial_record *record, struct gba_choice choice)
{
    struct gba_trial_row *row = row_get(record, choice);

    if (row != NULL)
        *row = (struct gba_trial_row){.choice = choice, .lost = true};
}

bool gba_trial_lost(const struct gba_trial_record *record, struct gba_choice choice)
{
    const struct gba_trial_row *row = row_find(record, choice);

    return row != NULL && row->lost;
}

uint64_t gba_trial_middle(const uint64_t c[3])
{
    const uint64_t low = c[0] < c[1] ? c[0] : c[1], high = c[0] < c[1] ? c[1] : c[0];

    return c[2] < low ? low : c[2] < high ? c[2] : high;
}

bool gba_trial_median(const struct gba_trial_record *record, struct gba_choice choice,
                      uint64_t *cost)
{
    const struct gba_trial_row *row = row_find(record, choice);
    uint64_t costs[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX}; /* a missing one is the slowest */

    _Static_assert(3 == GBA_TRIAL_PASSES, "the median is that of three");
    if (row == NULL || row->measured < 2)
        return false;
    for (uint32_t i = 0; i < row->measured; i++)
        costs[i] = row->cost[i];
    *cost = gba_trial_middle(costs);
    return true;
}

uint32_t gba_trial_best(const uint64_t *costs, uint32_t count, bool current)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++)
        if (costs[i] < costs[best])
            best = i;
    /* Hysteresis: costs differ by some percent from trial to trial. */
    if (current && costs[best] > costs[0] - costs[0] * 3 / 100)
        return 0;
    return best;
}

uint64_t gba_trial_pause(uint64_t pause, uint64_t after)
{
    return pause < PAUSE_GROWTH * after ? 2 * pause : pause;
}
