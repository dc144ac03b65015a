/* SPDX-License-Identifier: BSD-3-Clause */
/* The report as tables: latencies, and the precision of the figures. */
#include <math.h>
#include <string.h>

#include "contrib/perf/program.h"
#include "contrib/perf/records.h"

/* Print a figure, or "-". columns: width. */
static void put(FILE *file, double value, int columns, int decimals)
{
    if (isnan(value))
        fprintf(file, " %*s", columns, "-");
    else
        fprintf(file, " %*.*f", columns, decimals, value);
}

static void latencies(const struct perf_report *report, FILE *file)
{
    struct perf_row row;

    fprintf(file,
            "\nBatches: ns for one call; runs of all settings interleaved. \"x base\" is the "
            "median of the ratios of\nruns of the same pair, with its interval; the \"min\" "
            "beside it is the ratio of the minima. \"floor\" is the fastest bare loop, which is "
            "named.\n");
    fprintf(file, "%6s  %-16s %-20s %9s %9s %19s %7s %15s %7s %9s %8s %s\n", "ranks", "call",
            "setting", "min", "median", "interval", "x base", "interval", "min", "floor", "x floor",
            "floor is");
    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];

        perf_row_init(&row, report, cell);
        fprintf(file, "%6u  %-16s %-20s", cell->ranks, cell->call, cell->setting);
        put(file, row.fields[PERF_MIN], 9, 0);
        put(file, row.fields[PERF_MEDIAN], 9, 0);
        put(file, row.fields[PERF_MEDIAN_LOW], 9, 0);
        put(file, row.fields[PERF_MEDIAN_HIGH], 9, 0);
        put(file, row.fields[PERF_RATIO], 7, 3);
        put(file, row.fields[PERF_RATIO_LOW], 7, 3);
        put(file, row.fields[PERF_RATIO_HIGH], 7, 3);
        put(file, row.fields[PERF_RATIO_MIN], 7, 3);
        put(file, row.fields[PERF_FLOOR], 9, 0);
        put(file, row.fields[PERF_FLOOR_RATIO], 8, 2);
        fprintf(file, " %s\n", row.floor);
    }
}

/* The smallest number of runs of a cell that has runs. */
static double fewest_runs(const struct perf_report *report)
{
    double fewest = INFINITY;

    for (size_t i = 0; i < report->cell_count; i++)
        if (report->cells[i].run_count > 0)
            fewest = fmin(fewest, (double)report->cells[i].run_count);
    return fewest;
}

static void precision(const struct perf_report *report, FILE *file)
{
    double offset = perf_worst(report, PERF_CLOCK_OFFSET),
           error = perf_worst(report, PERF_CLOCK_ERROR);

    fputc('\n', file);
    if (error > 0)
        fprintf(file,
                "Clocks: at most %.0f ns apart, known to %.0f ns; waiting below that error "
                "is meaningless.\n",
                offset, error);
    else if (!isnan(error))
        fprintf(file, "Clocks: all ranks read the same clock.\n");
    if (fewest_runs(report) < 5)
        fprintf(file, "Runs: some settings have %.0f; a median of fewer than 5 is unreliable.\n",
                fewest_runs(report));
}

/* Write why the figures are meaningless, or nothing. */
static void put_busy(const struct perf_report *report, FILE *file)
{
    char text[256];

    for (size_t i = 0; perf_busy_reason(report, i, text, sizeof text); i++) {
        if (0 == i)
            fputs("\nTHIS MACHINE IS TOO BUSY: THESE FIGURES ARE MEANINGLESS\n", file);
        fprintf(file, "- %s\n", text);
    }
}

void perf_write_table(const struct perf_report *report, FILE *file)
{
    for (size_t i = 0; i < report->note_count; i++) {
        const struct perf_note *note = &report->notes[i];

        if (strcmp(note->kind, "command") == 0)
            fprintf(file, "%s\n", note->text);
        else if (strcmp(note->kind, "machine") == 0)
            fprintf(file, "%s: %s\n", note->key, note->text);
        else if (strcmp(note->kind, "setting") == 0)
            fprintf(file, "setting %s%s: %s\n", note->key,
                    strcmp(note->key, report->base) == 0 ? " (base)" : "", note->text);
        else if (strcmp(note->kind, "path") == 0)
            fprintf(file, "path of %s\n", note->text);
    }
    if (perf_is_program(report))
        perf_write_program(report, file);
    else
        latencies(report, file);
    precision(report, file);
    put_busy(report, file);
}
