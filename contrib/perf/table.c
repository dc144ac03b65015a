/* SPDX-License-Identifier: BSD-3-Clause */
/* The report as tables: latencies, overlap, single barriers, and the precision of the figures. */
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

static void put_name(FILE *file, const struct perf_cell *cell)
{
    fprintf(file, "%6u  %-16s %-20s", cell->ranks, cell->call, cell->setting);
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
        perf_row_init(&row, report, &report->cells[i]);
        put_name(file, &report->cells[i]);
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

static void overlaps(const struct perf_report *report, FILE *file)
{
    bool titled = false;
    struct perf_row row;

    for (size_t i = 0; i < report->cell_count; i++) {
        perf_row_init(&row, report, &report->cells[i]);
        if (isnan(row.fields[PERF_OVERLAP]))
            continue;
        if (!titled)
            fprintf(file,
                    "\nOverlap of MPI_Ibarrier with computation, percent: in one piece, and "
                    "with MPI_Test between 8 pieces.\n%6s  %-16s %-20s %9s %9s\n",
                    "ranks", "call", "setting", "one piece", "MPI_Test");
        titled = true;
        put_name(file, &report->cells[i]);
        put(file, row.fields[PERF_OVERLAP], 9, 1);
        put(file, row.fields[PERF_OVERLAP_TEST], 9, 1);
        fputc('\n', file);
    }
}

static void put_last(FILE *file, const struct perf_last *last, double part)
{
    char text[PERF_NAME_BYTES + 32];

    (void)snprintf(text, sizeof text, "%u (%s) %.0f%%", last->rank, last->host, 100 * part);
    fprintf(file, "  %-20s", text);
}

static void single_barriers(const struct perf_report *report, FILE *file)
{
    static const char *const titles[PERF_KINDS] = {
        "Single calls: ns from the entry to the exit of a rank, all ranks, in time slices",
        "From the last entry to the last exit, ns",
        "Entry skew: from the first entry to the last one, ns; the rank that is most often last",
        "Exit skew: from the first exit to the last one, ns; the rank that is most often last",
    };
    struct perf_row row;

    for (int kind = 0; kind < PERF_KINDS; kind++) {
        bool titled = false;

        for (size_t i = 0; i < report->cell_count; i++) {
            perf_row_init(&row, report, &report->cells[i]);
            if (!(row.fields[PERF_FIELD_COUNT(kind)] > 0))
                continue;
            if (!titled)
                fprintf(file, "\n%s.\n%6s  %-16s %-20s %9s %9s %9s %9s %9s %9s %9s\n", titles[kind],
                        "ranks", "call", "setting", "min", "p50", "p90", "p99", "p99.9", "p99.99",
                        "max");
            titled = true;
            put_name(file, &report->cells[i]);
            for (int j = 1; j < PERF_KIND_FIELDS; j++)
                put(file, row.fields[PERF_FIELD_COUNT(kind) + j], 9, 0);
            if (kind >= PERF_ENTRY && row.last[kind - PERF_ENTRY] != NULL)
                put_last(
                    file, row.last[kind - PERF_ENTRY],
                    row.fields[kind == PERF_ENTRY ? PERF_LAST_ENTRY_PART : PERF_LAST_EXIT_PART]);
            fputc('\n', file);
        }
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
                "Clocks: at most %.0f ns apart, known to %.0f ns; a skew below that error "
                "is meaningless.\n",
                offset, error);
    else if (!isnan(error))
        fprintf(file, "Clocks: all ranks read the same clock.\n");
    if (!isnan(perf_worst(report, PERF_TIMER)))
        fprintf(file, "Timer: a reading takes %.0f ns, which every single call includes.\n",
                perf_worst(report, PERF_TIMER));
    if (fewest_runs(report) < 5)
        fprintf(file, "Runs: some settings have %.0f; a median of fewer than 5 is unreliable.\n",
                fewest_runs(report));
    if (perf_worst(report, PERF_LATE) > 0.1)
        fprintf(file, "Time slices: up to %.0f%% began before all ranks were ready.\n",
                100 * perf_worst(report, PERF_LATE));
}

void perf_write_busy(const struct perf_report *report, const char *end, FILE *file)
{
    char text[256];

    for (size_t i = 0; perf_busy_reason(report, i, text, sizeof text); i++) {
        if (0 == i)
            fprintf(file, "%sTHIS MACHINE IS TOO BUSY: THESE FIGURES ARE MEANINGLESS%s", end, end);
        fprintf(file, "- %s%s", text, end);
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
    if (perf_is_program(report)) {
        perf_write_program(report, file);
    } else {
        latencies(report, file);
        overlaps(report, file);
        single_barriers(report, file);
    }
    precision(report, file);
    perf_write_busy(report, "\n", file);
}
