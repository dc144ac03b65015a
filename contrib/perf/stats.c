/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics of gba_perf. */
#include "contrib/perf/stats.h"

#include <stdlib.h>

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
