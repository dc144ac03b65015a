/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The figures of a row, from its runs. The figure of a run is the median of its batches. Intervals
 * are computed from runs, because the batches or barriers of one run are not independent.
 */
#include <math.h>
#include <string.h>

#include "contrib/perf/records.h"

const char *const perf_field_names[PERF_FIELDS] = {
    "runs",        "min",       "median",       "median_low",  "median_high", "coverage",
    "ratio",       "ratio_low", "ratio_high",   "ratio_min",   "ratio_equal", "floor",
    "floor_ratio", "spread",    "clock_offset", "clock_error",
};

/* The minimum, the median and its interval of the values that are not NAN. */
struct summary {
    size_t count;
    double min, median, low, high, coverage, spread;
};

static struct summary summarize(double *values, size_t count)
{
    struct summary s = {0, NAN, NAN, NAN, NAN, NAN, NAN};
    size_t low, high;

    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[s.count++] = values[i];
    if (s.count == 0)
        return s;
    s.median = perf_median(values, s.count);
    s.min = values[0];
    perf_median_interval(s.count, PERF_LEVEL, &low, &high, &s.coverage);
    s.low = values[low - 1];
    s.high = values[high - 1];
    /* The third quartile divided by the first. */
    low = (s.count + 3) / 4;
    s.spread = values[s.count - low] / values[low - 1];
    return s;
}

static const struct perf_run *run_of_pair(const struct perf_cell *cell, uint32_t pair)
{
    for (size_t i = 0; cell != NULL && i < cell->run_count; i++)
        if (cell->runs[i].pair == pair)
            return &cell->runs[i];
    return NULL;
}

static void compare(struct perf_row *row, const struct perf_cell *cell,
                    const struct perf_cell *base)
{
    double ratios[PERF_INTERVAL_MAX];
    struct summary s;

    for (size_t i = 0; i < cell->run_count; i++) {
        const struct perf_run *run = run_of_pair(base, cell->runs[i].pair);

        ratios[i] = run != NULL ? cell->runs[i].median / run->median : NAN;
    }
    s = summarize(ratios, cell->run_count);
    row->fields[PERF_RATIO] = s.median;
    row->fields[PERF_RATIO_LOW] = s.low;
    row->fields[PERF_RATIO_HIGH] = s.high;
}

/* The ratio of a run to the next one of the same setting, at least 1: the third quartile of those
 * of both settings. */
static double equal_ratio(const struct perf_cell *cell, const struct perf_cell *base)
{
    double ratios[2 * PERF_INTERVAL_MAX];
    size_t count = 0;

    for (int which = 0; which < 2; which++) {
        const struct perf_cell *one = which == 0 ? cell : base;

        for (size_t i = 1; one != NULL && i < one->run_count; i++)
            ratios[count++] = exp(fabs(log(one->runs[i].median / one->runs[i - 1].median)));
    }
    if (count == 0)
        return NAN;
    (void)perf_median(ratios, count); /* sorts them */
    return ratios[count * 3 / 4];
}

static void add_runs(struct perf_row *row, const struct perf_cell *cell,
                     const struct perf_cell *base)
{
    double medians[PERF_INTERVAL_MAX], others[PERF_INTERVAL_MAX];
    struct summary s;

    for (size_t i = 0; i < cell->run_count; i++)
        medians[i] = cell->runs[i].median;
    s = summarize(medians, cell->run_count);
    row->fields[PERF_RUNS] = (double)s.count;
    row->fields[PERF_MIN] = s.min;
    row->fields[PERF_MEDIAN] = s.median;
    row->fields[PERF_MEDIAN_LOW] = s.low;
    row->fields[PERF_MEDIAN_HIGH] = s.high;
    row->fields[PERF_COVERAGE] = s.coverage;
    row->fields[PERF_SPREAD] = s.spread;
    row->fields[PERF_RATIO_EQUAL] = equal_ratio(cell, base);
    compare(row, cell, base);
    for (size_t i = 0; base != NULL && i < base->run_count; i++)
        others[i] = base->runs[i].median;
    row->fields[PERF_RATIO_MIN] = s.min / summarize(others, base != NULL ? base->run_count : 0).min;
}

/* The floor: the loop with the smallest median of all runs. */
static void add_floor(struct perf_row *row, const struct perf_cell *cell)
{
    double values[PERF_INTERVAL_MAX];

    row->floor = "";
    for (uint32_t loop = 0; loop < PERF_LOOPS && *cell->loops[loop] != 0; loop++) {
        double median;

        for (size_t i = 0; i < cell->run_count; i++)
            values[i] = cell->runs[i].floors[loop];
        median = summarize(values, cell->run_count).median;
        if (row->fields[PERF_FLOOR] <= median)
            continue;
        row->fields[PERF_FLOOR] = median;
        row->floor = cell->loops[loop];
        for (size_t i = 0; i < cell->run_count; i++)
            values[i] = cell->runs[i].median / cell->runs[i].floors[loop];
        row->fields[PERF_FLOOR_RATIO] = summarize(values, cell->run_count).median;
    }
}

void perf_row_init(struct perf_row *row, const struct perf_report *report,
                   const struct perf_cell *cell)
{
    for (int i = 0; i < PERF_FIELDS; i++)
        row->fields[i] = NAN;
    add_runs(row, cell, perf_report_find(report, cell->ranks, cell->call, report->base));
    add_floor(row, cell);
    row->fields[PERF_CLOCK_OFFSET] = cell->clock_offset;
    row->fields[PERF_CLOCK_ERROR] = cell->clock_error;
}

double perf_worst(const struct perf_report *report, uint32_t field)
{
    double max = NAN;
    struct perf_row row;

    for (size_t i = 0; i < report->cell_count; i++) {
        perf_row_init(&row, report, &report->cells[i]);
        max = fmax(max, row.fields[field]);
    }
    return max;
}

bool perf_busy_reason(const struct perf_report *report, size_t i, char *text, size_t size)
{
    const double spread = perf_worst(report, PERF_SPREAD);

    for (size_t n = 0; n < report->note_count; n++)
        if (strcmp(report->notes[n].kind, "busy") == 0 && i-- == 0) {
            (void)snprintf(text, size, "%s", report->notes[n].text);
            return true;
        }
    (void)snprintf(text, size, "equal runs differ by a factor of %.1f (third quartile by first)",
                   spread);
    return i == 0 && spread >= PERF_SPREAD_BAD;
}
