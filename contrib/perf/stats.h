/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics of gba_perf: a median, and its confidence interval. Pure. */
#ifndef CONTRIB_PERF_STATS_H
#define CONTRIB_PERF_STATS_H

#include <stddef.h>

/* The longest series whose median gets a confidence interval. */
#define PERF_INTERVAL_MAX 1000u

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
