/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The statistics of gba_perf: a histogram that drops no sample, percentiles, and the confidence
 * interval of a median. Pure. Not thread-safe on one histogram.
 */
#ifndef CONTRIB_PERF_STATS_H
#define CONTRIB_PERF_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Buckets of a logarithmic histogram: values below 64 ns have a bucket each; each further power of
 * two has 32, so a bucket is at most 1/32 of its value wide. The last bucket has everything from
 * 2^40 ns (18 minutes) on.
 */
#define PERF_SUB_BITS    5
#define PERF_VALUE_BITS  40
#define PERF_BUCKETS     (((PERF_VALUE_BITS - PERF_SUB_BITS + 1) << PERF_SUB_BITS) + 1)
#define PERF_LAST_BUCKET (PERF_BUCKETS - 1)

/* Percentiles are given in hundredths of a percent: 5000 is the median, 9999 is p99.99. */
#define PERF_PERCENTILE_ALL 10000u

/* The longest series whose median gets a confidence interval. */
#define PERF_INTERVAL_MAX 1000u

struct perf_histogram {
    uint64_t count;
    uint64_t min, max; /* ns, exact; unspecified while count is 0 */
    uint64_t buckets[PERF_BUCKETS];
};

/* The bucket of a value in ns: 0 to PERF_LAST_BUCKET. */
uint32_t perf_bucket(uint64_t ns);

/* The smallest value of a bucket, in ns. bucket: 0 to PERF_BUCKETS. The values of bucket b are
 * below perf_bucket_low(b + 1). */
uint64_t perf_bucket_low(uint32_t bucket);

/* Make an empty histogram. */
void perf_histogram_init(struct perf_histogram *histogram);

/* Count a value in ns. */
void perf_histogram_add(struct perf_histogram *histogram, uint64_t ns);

/* Add all that another histogram has counted. */
void perf_histogram_merge(struct perf_histogram *histogram, const struct perf_histogram *other);

/*
 * A percentile by nearest rank: the smallest value that is not exceeded by at least that part of
 * the samples. The result is the middle of its bucket, limited to the exact minimum and maximum.
 * percentile: 1 to 9999, in hundredths of a percent. Returns false, and stores nothing, if the
 * histogram has too few samples: none, or, above the median, so few that not one is expected above
 * the percentile.
 */
bool perf_histogram_percentile(const struct perf_histogram *histogram, uint32_t percentile,
                               double *ns);

/* The median of count values; of an even count the mean of the middle two. Sorts the values.
 * count: at least 1. */
double perf_median(double *values, size_t count);

/*
 * A confidence interval of the median of a distribution of any shape, from order statistics. The
 * median lies between the low-th and the high-th smallest of count independent samples, counted
 * from 1, with the probability *coverage. The interval is the narrowest symmetrical one whose
 * coverage reaches level, or the widest one if count is too small. count: 1 to PERF_INTERVAL_MAX.
 * level: a probability below 1.
 */
void perf_median_interval(size_t count, double level, size_t *low, size_t *high, double *coverage);

#endif
