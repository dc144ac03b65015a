/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics of gba_perf. */
#include "contrib/perf/stats.h"

#include <stdlib.h>
#include <string.h>

#define SUB_COUNT (1u << PERF_SUB_BITS)

uint32_t perf_bucket(uint64_t ns)
{
    uint32_t shift;

    if (ns < SUB_COUNT)
        return (uint32_t)ns;
    if (ns >> PERF_VALUE_BITS != 0)
        return PERF_LAST_BUCKET;
    shift = 63u - (uint32_t)__builtin_clzll(ns) - PERF_SUB_BITS;
    return ((shift + 1) << PERF_SUB_BITS) + (uint32_t)(ns >> shift) - SUB_COUNT;
}

uint64_t perf_bucket_low(uint32_t bucket)
{
    uint32_t octave = bucket >> PERF_SUB_BITS;

    if (octave == 0)
        return bucket;
    if (bucket > PERF_LAST_BUCKET)
        return UINT64_MAX;
    return (uint64_t)(SUB_COUNT + bucket % SUB_COUNT) << (octave - 1);
}

void perf_histogram_init(struct perf_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    histogram->min = UINT64_MAX;
}

void perf_histogram_add(struct perf_histogram *histogram, uint64_t ns)
{
    histogram->count++;
    histogram->buckets[perf_bucket(ns)]++;
    if (ns < histogram->min)
        histogram->min = ns;
    if (ns > histogram->max)
        histogram->max = ns;
}

void perf_histogram_merge(struct perf_histogram *histogram, const struct perf_histogram *other)
{
    histogram->count += other->count;
    for (uint32_t i = 0; i < PERF_BUCKETS; i++)
        histogram->buckets[i] += other->buckets[i];
    if (other->min < histogram->min)
        histogram->min = other->min;
    if (other->max > histogram->max)
        histogram->max = other->max;
}

/* The middle of a bucket. A bucket that is 1 ns wide has just one value. */
static double bucket_middle(const struct perf_histogram *histogram, uint32_t bucket)
{
    double min = (double)histogram->min, max = (double)histogram->max, middle;

    if (bucket == PERF_LAST_BUCKET)
        return max;
    middle = ((double)perf_bucket_low(bucket) + (double)perf_bucket_low(bucket + 1) - 1) / 2;
    return middle < min ? min : middle > max ? max : middle;
}

bool perf_histogram_percentile(const struct perf_histogram *histogram, uint32_t percentile,
                               double *ns)
{
    uint64_t above = histogram->count * (PERF_PERCENTILE_ALL - percentile), rank, seen = 0;
    uint32_t bucket = 0;

    if (histogram->count == 0 ||
        (percentile > PERF_PERCENTILE_ALL / 2 && above < PERF_PERCENTILE_ALL))
        return false;
    rank = (histogram->count * percentile + PERF_PERCENTILE_ALL - 1) / PERF_PERCENTILE_ALL;
    for (; bucket < PERF_LAST_BUCKET; bucket++) {
        seen += histogram->buckets[bucket];
        if (seen >= rank)
            break;
    }
    *ns = bucket_middle(histogram, bucket);
    return true;
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

double perf_median(double *values, size_t count)
{
    qsort(values, count, sizeof values[0], ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

void perf_median_interval(size_t count, double level, size_t *low, size_t *high, double *coverage)
{
    double term = 1, below; /* of the binomial distribution with probability 1/2 */

    for (size_t i = 0; i < count; i++)
        term /= 2;
    below = term;
    *low = 1;
    *coverage = count > 1 ? 1 - 2 * below : 0;
    /* Narrow the interval by one step on each side while its coverage is sufficient. */
    while (2 * (*low + 1) <= count) {
        term = term * (double)(count - *low + 1) / (double)*low;
        below += term;
        if (1 - 2 * below < level)
            break;
        ++*low;
        *coverage = 1 - 2 * below;
    }
    *high = count + 1 - *low;
}
