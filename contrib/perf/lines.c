/* SPDX-License-Identifier: BSD-3-Clause */
#include "contrib/perf/lines.h"

#define OVERLAP_MOST 64 /* more than any core has */

/* The slope of a loop's times above `base`, over the ranks above `first`. */
static double slope(enum perf_loop loop, double base, double first,
                    const struct perf_loop_time *times, size_t count)
{
    double xx = 0, xy = 0;

    for (size_t i = 0; i < count; i++) {
        const double x = (double)times[i].ranks - first;

        if (times[i].loop != loop)
            continue;
        xx += x * x;
        xy += x * (times[i].ns - base);
    }
    return xx > 0 ? xy / xx : 0;
}

struct perf_lines perf_lines_fit(double store, const struct perf_loop_time *times, size_t count)
{
    struct perf_lines lines = {.store_next = slope(PERF_ONE_ROUND, store, 2, times, count),
                               .load = slope(PERF_PULL, store, 2, times, count),
                               .atomic = slope(PERF_COUNTER, store, 1, times, count)};
    const double own = slope(PERF_LEADER, 2 * store, 2, times, count);

    if (0 == lines.load)
        lines.load_overlap = 0;
    else if (own * OVERLAP_MOST <= lines.load)
        lines.load_overlap = OVERLAP_MOST;
    else
        lines.load_overlap = own < lines.load ? (uint32_t)(lines.load / own + 0.5) : 1;
    return lines;
}
