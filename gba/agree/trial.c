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

static struct gba_choice *list_add(struct gba_choice *list, uint32_t *count, int32_t hierarchy,
                                   int32_t algorithm)
{
    struct gba_choice *choice = &list[(*count)++];

    *choice = (struct gba_choice){.hierarchy = hierarchy, .algorithm = algorithm};
    return choice;
}

/* With a radix of n or more there is one round, in which each member signals all others. Beyond 8
 * members that takes too long (gba/algo/README.md). */
uint32_t gba_trial_radices(const struct gba_info *info, uint32_t n, uint8_t list[GBA_RADICES_MOST])
{
    static const uint8_t radices[] = {4, 8, 3};
    uint32_t count = 0;

    if (n <= 2)
        return 0; /* dissemination is the same */
    if (info->terms.radix >= GBA_RADIX_MIN || info->oversubscribed) {
        list[count++] = gba_terms_radix(&info->terms);
        return count;
    }
    for (uint32_t i = 0; i < sizeof radices; i++)
        if (radices[i] < n)
            list[count++] = radices[i];
    if (n <= 8)
        list[count++] = (uint8_t)n;
    return count;
}

/* The algorithms among n members, flat or among the leaders. radix: with two members it is
 * dissemination. tree: with two members it has twice the way of dissemination, for as many
 * messages. */
static void list_algorithms(struct gba_choice *list, uint32_t *count, int32_t hierarchy,
                            const struct gba_info *info, uint32_t n)
{
    const int32_t algorithm = info->terms.algorithm;
    const bool any = GBA_ALGORITHM_AUTO == algorithm;
    uint8_t radices[GBA_RADICES_MOST];
    const uint32_t several = gba_trial_radices(info, n, radices);

    if (any || GBA_ALGORITHM_V1 == algorithm || (GBA_ALGORITHM_V2 == algorithm && n <= 2))
        list_add(list, count, hierarchy, GBA_ALGORITHM_V1);
    for (uint32_t i = 0; i < several && (any || GBA_ALGORITHM_V2 == algorithm); i++)
        list_add(list, count, hierarchy, GBA_ALGORITHM_V2)->radix = radices[i];
    if ((any && n > 2) || GBA_ALGORITHM_TREE == algorithm)
        list_add(list, count, hierarchy, GBA_ALGORITHM_TREE)->radix = gba_terms_radix(&info->terms);
}

uint32_t gba_trial_list(const struct gba_info *info, bool fallback,
                        struct gba_choice list[GBA_CHOICES_MOST])
{
    const struct gba_terms *terms = &info->terms;
    const bool any_algorithm = GBA_ALGORITHM_AUTO == terms->algorithm;
    const bool any_hierarchy = GBA_HIERARCHY_AUTO == terms->hierarchy;
    uint32_t count = 0;

    if (1 == info->hosts) {
        if (!any_algorithm)
            return 0; /* an algorithm leaves no choice on one host */
        if (GBA_HIERARCHY_FLAT != terms->hierarchy)
            list_add(list, &count, GBA_HIERARCHY_NODE, GBA_ALGORITHM_AUTO);
        if (GBA_HIERARCHY_NODE != terms->hierarchy) {
            list_algorithms(list, &count, GBA_HIERARCHY_FLAT, info, info->size);
            list_add(list, &count, GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V3);
        }
    } else {
        /* central (v3) reads the memory of other hosts, so it is not a candidate. */
        if (GBA_ALGORITHM_V3 == terms->algorithm)
            return 0;
        if (GBA_HIERARCHY_FLAT != terms->hierarchy)
            list_algorithms(list, &count, GBA_HIERARCHY_NODE, info, info->hosts);
        /* With one member on each host both hierarchies are the same. */
        if (GBA_HIERARCHY_FLAT == terms->hierarchy || (any_hierarchy && info->hosts < info->size))
            list_algorithms(list, &count, GBA_HIERARCHY_FLAT, info, info->size);
    }
    if (any_algorithm && any_hierarchy && fallback)
        list[count++] = (struct gba_choice){.fallback = true};
    return count;
}

void gba_trial_name(const struct gba_choice *choice, bool hosts, char name[GBA_TRIAL_NAME])
{
    static const char *const algorithms[] = {"counter", "dissemination", "radix", "central",
                                             "tree"};
    const bool node = GBA_HIERARCHY_NODE == choice->hierarchy;
    const char *const prefix = !hosts ? "" : node ? "node " : "flat ";

    if (choice->fallback)
        snprintf(name, GBA_TRIAL_NAME, "fallback");
    else if (choice->group)
        snprintf(name, GBA_TRIAL_NAME, node ? "node device" : "device");
    else if (GBA_ALGORITHM_V2 == choice->algorithm)
        snprintf(name, GBA_TRIAL_NAME, "%sradix %u", prefix, choice->radix);
    else
        snprintf(name, GBA_TRIAL_NAME, "%s%s", prefix, algorithms[choice->algorithm]);
}

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
        if (gba_choices_equal(record->at[i].choice, choice))
            return &record->at[i];
    return NULL;
}

/* The row of a path. The passes of a trial have the same candidates, so there is room for all. */
static struct gba_trial_row *row_get(struct gba_trial_record *record, struct gba_choice choice)
{
    const struct gba_trial_row *row = row_find(record, choice);
    const uint32_t at = row != NULL ? (uint32_t)(row - record->at) : record->count;

    if (row == NULL && at < GBA_TRIAL_MOST)
        record->at[record->count++] = (struct gba_trial_row){.choice = choice};
    return at < GBA_TRIAL_MOST ? &record->at[at] : NULL;
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

bool gba_trial_median(const struct gba_trial_record *record, struct gba_choice choice,
                      uint64_t *cost)
{
    const struct gba_trial_row *row = row_find(record, choice);
    const uint64_t *c;
    uint64_t low, high;

    _Static_assert(3 == GBA_TRIAL_PASSES, "the median is that of three");
    if (row == NULL || row->measured < 2)
        return false;
    c = row->cost;
    low = c[0] < c[1] ? c[0] : c[1];
    high = c[0] < c[1] ? c[1] : c[0];
    if (2 == row->measured)
        *cost = high; /* the missing one counts as the slowest */
    else
        *cost = c[2] < low ? low : c[2] < high ? c[2] : high;
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
