/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of the plot, for plot.gp. Each setting is a block: a line with its name, the data, and
 * two empty lines, which separate the indices of gnuplot.
 */
#include <math.h>
#include <string.h>

#include "contrib/perf/program.h"
#include "contrib/perf/records.h"

typedef void block_t(const struct perf_report *report, const char *setting, const char *call,
                     FILE *file);

/* The cell with the largest number of ranks of the call. Its distribution is drawn. */
static const struct perf_cell *largest(const struct perf_report *report, const char *setting,
                                       const char *call)
{
    const struct perf_cell *found = NULL;

    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];

        if (strcmp(cell->call, call) == 0 && strcmp(cell->setting, setting) == 0 &&
            (found == NULL || cell->ranks > found->ranks))
            found = cell;
    }
    return found;
}

/* RANKS MEDIAN LOW HIGH FLOOR */
static void latency(const struct perf_report *report, const char *setting, const char *call,
                    FILE *file)
{
    struct perf_row row;

    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];

        if (strcmp(cell->call, call) != 0 || strcmp(cell->setting, setting) != 0)
            continue;
        perf_row_init(&row, report, cell);
        fprintf(file, "%u %g %g %g %g\n", cell->ranks, row.fields[PERF_MEDIAN],
                row.fields[PERF_MEDIAN_LOW], row.fields[PERF_MEDIAN_HIGH], row.fields[PERF_FLOOR]);
    }
}

/* NS PART: the part of the samples that took longer. */
static void distribution(const struct perf_report *report, const char *setting, const char *call,
                         FILE *file)
{
    const struct perf_cell *cell = largest(report, setting, call);
    const struct perf_histogram *h = cell != NULL ? &cell->histograms[PERF_SAMPLE] : NULL;
    uint64_t seen = 0;

    for (uint32_t i = 0; h != NULL && i < PERF_BUCKETS; i++) {
        if (h->buckets[i] == 0)
            continue;
        fprintf(file, "%llu %g\n",
                (unsigned long long)(perf_bucket_low(i) > 0 ? perf_bucket_low(i) : 1),
                (double)(h->count - seen) / (double)h->count);
        seen += h->buckets[i];
    }
}

/* "NAME" ENTRY-P50 ENTRY-P99 EXIT-P50 EXIT-P99; 0 cannot be drawn on a logarithmic axis. */
static void skew(const struct perf_report *report, const char *setting, const char *call,
                 FILE *file)
{
    static const uint32_t fields[] = {
        PERF_FIELD_PERCENTILE(PERF_ENTRY, 0), PERF_FIELD_PERCENTILE(PERF_ENTRY, 2),
        PERF_FIELD_PERCENTILE(PERF_EXIT, 0), PERF_FIELD_PERCENTILE(PERF_EXIT, 2)};
    const struct perf_cell *cell = largest(report, setting, call);
    struct perf_row row;

    if (cell == NULL)
        return;
    perf_row_init(&row, report, cell);
    fprintf(file, "\"%s\"", setting);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        fprintf(file, " %g", fmax(row.fields[fields[i]], 1));
    fputc('\n', file);
}

/* "NAME" REST WAITING BARRIER, in s, of a program of the user. */
static void program(const struct perf_report *report, const char *setting, const char *call,
                    FILE *file)
{
    const struct perf_cell *whole = largest(report, setting, "program");
    const struct perf_cell *inside = largest(report, setting, "mpi");
    struct perf_row row, mpi;
    double time = 0, wait = 0;

    (void)call;
    if (whole == NULL)
        return;
    perf_row_init(&row, report, whole);
    if (inside != NULL) { /* else the program made no MPI, or did not reach its end */
        perf_row_init(&mpi, report, inside);
        time = perf_barriers_time(report, setting, &wait) * mpi.fields[PERF_MEDIAN] / 1e9;
        wait *= mpi.fields[PERF_MEDIAN] / 1e9;
    }
    fprintf(file, "\"%s\" %g %g %g\n", setting, row.fields[PERF_MEDIAN] / 1e9 - time, wait,
            time - wait);
}

static bool write_file(const struct perf_report *report, const char *directory, const char *name,
                       block_t *block)
{
    char path[4096];
    bool good;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "gba_perf_report: cannot write %s\n", path);
        return false;
    }
    for (size_t i = 0; i < report->note_count; i++) {
        if (strcmp(report->notes[i].kind, "setting") != 0)
            continue;
        if (block != skew && block != program)
            fprintf(file, "\"%s\"\n", report->notes[i].key);
        block(report, report->notes[i].key, report->cells[0].call, file);
        if (block != skew && block != program)
            fputs("\n\n", file);
    }
    good = !ferror(file);
    return fclose(file) == 0 && good;
}

bool perf_write_plot(const struct perf_report *report, const char *directory)
{
    if (report->cell_count == 0) {
        fprintf(stderr, "gba_perf_report: the records have no measurement\n");
        return false;
    }
    if (perf_is_program(report))
        return write_file(report, directory, "program", program);
    return write_file(report, directory, "latency", latency) &&
           write_file(report, directory, "distribution", distribution) &&
           write_file(report, directory, "skew", skew);
}
