/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of the plot, for plot.gp. Each setting is a block: the data, and two empty lines, which
 * separate the indices of gnuplot. The file `style` has commands and variables.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/perf/program.h"
#include "contrib/perf/records.h"
#include "gba/base/plot.h"

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

/* RANKS MEDIAN LOW HIGH FLOOR BUSY, in s */
static void latency(const struct perf_report *report, const char *setting, const char *call,
                    FILE *file)
{
    struct perf_row row;

    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];

        if (strcmp(cell->call, call) != 0 || strcmp(cell->setting, setting) != 0)
            continue;
        perf_row_init(&row, report, cell);
        fprintf(file, "%u %g %g %g %g %d\n", cell->ranks, row.fields[PERF_MEDIAN] / 1e9,
                row.fields[PERF_MEDIAN_LOW] / 1e9, row.fields[PERF_MEDIAN_HIGH] / 1e9,
                row.fields[PERF_FLOOR] / 1e9, row.fields[PERF_SPREAD] >= PERF_SPREAD_BAD);
    }
}

/* TIME PART, in s: the part of the samples that took longer. */
static void distribution(const struct perf_report *report, const char *setting, const char *call,
                         FILE *file)
{
    const struct perf_cell *cell = largest(report, setting, call);
    const struct perf_histogram *h = cell != NULL ? &cell->histograms[PERF_SAMPLE] : NULL;
    uint64_t seen = 0;

    for (uint32_t i = 0; h != NULL && i < PERF_BUCKETS; i++) {
        if (h->buckets[i] == 0)
            continue;
        fprintf(file, "%g %g\n", fmax((double)perf_bucket_low(i), 1) / 1e9,
                (double)(h->count - seen) / (double)h->count);
        seen += h->buckets[i];
    }
}

/* "NAME" ENTRY-P50 ENTRY-P99 EXIT-P50 EXIT-P99, in s; 0 cannot be drawn on a logarithmic axis. */
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
        fprintf(file, " %g", fmax(row.fields[fields[i]], 1) / 1e9);
    fputc('\n', file);
}

/* "NAME" REST WAITING BARRIER, in s, of a program of the user. */
static void program(const struct perf_report *report, const char *setting, const char *call,
                    FILE *file)
{
    const struct perf_cell *whole = largest(report, setting, "program");
    double time, wait, seconds;
    struct perf_row row;

    (void)call;
    if (whole == NULL)
        return;
    perf_row_init(&row, report, whole);
    seconds = row.fields[PERF_MEDIAN] / 1e9;
    time = perf_barriers_time(report, setting, &wait);
    fprintf(file, "\"%s\" %g %g %g\n", setting, seconds * (1 - time), seconds * wait,
            seconds * (time - wait));
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
        block(report, report->notes[i].key, report->cells[0].call, file);
        if (block != skew && block != program)
            fputs("\n\n", file);
    }
    good = !ferror(file);
    return fclose(file) == 0 && good;
}

/* A file of records may be of anybody: gnuplot gets no character that it reads in a text. */
static void make_plain(struct perf_report *report)
{
    gba_plot_plain(report->base);
    for (size_t i = 0; i < report->note_count; i++) {
        gba_plot_plain(report->notes[i].key);
        gba_plot_plain(report->notes[i].text);
    }
    for (size_t i = 0; i < report->cell_count; i++) {
        gba_plot_plain(report->cells[i].setting);
        gba_plot_plain(report->cells[i].call);
    }
    for (size_t i = 0; i < report->barrier_count; i++)
        gba_plot_plain(report->barriers[i].setting);
}

/* Below the picture: machine and date, and why it is too busy. */
static void caption(const struct perf_report *report, FILE *file)
{
    const char *between = "";

    fputs("caption = \"", file);
    for (size_t i = 0; i < report->note_count; i++) {
        if (strcmp(report->notes[i].kind, "machine") != 0)
            continue;
        fprintf(file, "%s%s: %s", between, report->notes[i].key, report->notes[i].text);
        between = strcmp(report->notes[i].key, "software") == 0 ? "\\n" : "; ";
    }
    fputs("\"\nbusy = \"", file);
    perf_write_busy(report, "\\n", file);
    fputs("\"\n", file);
}

/* The variables height, count, names, lines, all, marks, about, caption and busy; axis and labels
 * of latency. */
static bool style(const struct perf_report *report, FILE *file)
{
    const char *call = report->cells[0].call;
    struct gba_plot_end *ends = calloc(report->note_count + 1, sizeof *ends);
    size_t count = 0, settings = 0, marks = 0;
    unsigned other = GBA_PLOT_RUNTIME, height;
    bool all = false;
    double low = INFINITY, high = 0, first = INFINITY, last = 0, most = 0;
    char names[4096] = "", lines[1024] = "";
    struct gba_plot_end floor = {.name = "floor"};

    if (ends == NULL)
        return false;
    for (size_t n = 0; n < report->note_count; n++) {
        const char *setting = report->notes[n].key;
        struct gba_plot_end end = {.name = setting};
        struct perf_row row;

        if (strcmp(report->notes[n].kind, "setting") != 0)
            continue;
        settings++;
        end.line = gba_plot_line(setting);
        if (GBA_PLOT_BLACK == end.line)
            end.line = other = other < GBA_PLOT_LINES ? other + 1 : GBA_PLOT_RUNTIME + 1;
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", setting);
        (void)snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%u ", end.line);
        for (size_t i = 0; i < report->cell_count; i++) {
            const struct perf_cell *cell = &report->cells[i];

            if (strcmp(cell->call, call) != 0 || strcmp(cell->setting, setting) != 0)
                continue;
            perf_row_init(&row, report, cell);
            all = all || cell->histograms[PERF_SAMPLE].count > 0;
            if (!(row.fields[PERF_MEDIAN] > 0))
                continue;
            marks += row.fields[PERF_SPREAD] >= PERF_SPREAD_BAD;
            first = fmin(first, cell->ranks);
            last = fmax(last, cell->ranks);
            end.x = cell->ranks;
            end.y = row.fields[PERF_MEDIAN] / 1e9;
            high = fmax(high, fmax(end.y, row.fields[PERF_MEDIAN_HIGH] / 1e9));
            low = fmin(low, fmin(end.y, row.fields[PERF_MEDIAN_LOW] / 1e9));
            most = fmax(most, row.fields[PERF_RUNS]);
            if (0 == count && row.fields[PERF_FLOOR] > 0) {
                floor.x = end.x;
                floor.y = row.fields[PERF_FLOOR] / 1e9;
                low = fmin(low, floor.y);
            }
        }
        if (end.y > 0)
            ends[count++] = end;
    }
    if (floor.y > 0)
        ends[count++] = floor;
    height = all && !perf_is_program(report) ? 1300 : 560;
    gba_plot_style(file, height);
    fprintf(file,
            "height = %u.\ncount = %zu\nnames = \"%s\"\nlines = \"%s\"\nall = %d\nmarks = %zu\n"
            "about = \"Latency of %s by ranks: median of the runs%s%s\"\n",
            height, settings, names, lines, all, marks, call,
            most > 1 ? ", bars: 95% interval" : "",
            floor.y > 0 ? "; dotted: the floor, a bare loop" : "");
    caption(report, file);
    if (count > 0 && !perf_is_program(report)) {
        for (size_t i = 0; i < count; i++)
            if (ends[i].x >= last)
                ends[i].x = 1.1 * last; /* the bars are off the edges */
        fprintf(file, "set xrange [%g:%g]\nset xtics ()\n", first / 1.1, 1.1 * last);
        for (size_t i = 0; i < report->cell_count; i++)
            fprintf(file, "set xtics add (%u)\n", report->cells[i].ranks);
        gba_plot_ends(file, ends, count, low, high);
    }
    free(ends);
    return true;
}

bool perf_write_plot(struct perf_report *report, const char *directory)
{
    char path[4096];
    bool good;
    FILE *file;

    if (report->cell_count == 0) {
        fprintf(stderr, "gba_perf_report: the records have no measurement\n");
        return false;
    }
    make_plain(report);
    (void)snprintf(path, sizeof path, "%s/style", directory);
    file = fopen(path, "w");
    good = file != NULL && style(report, file);
    if (file == NULL || fclose(file) != 0 || !good) {
        fprintf(stderr, "gba_perf_report: cannot write %s\n", path);
        return false;
    }
    if (perf_is_program(report))
        return write_file(report, directory, "program", program);
    return write_file(report, directory, "latency", latency) &&
           write_file(report, directory, "distribution", distribution) &&
           write_file(report, directory, "skew", skew);
}
