/* SPDX-License-Identifier: BSD-3-Clause */
/* The report about a program of the user. */
#include "contrib/perf/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LITTLE 0.02 /* of a run */

static const struct perf_cell *cell_of(const struct perf_report *report, const char *call,
                                       const char *setting)
{
    return perf_report_find(report, report->cells[0].ranks, call, setting);
}

bool perf_is_program(const struct perf_report *report)
{
    const struct perf_cell *base =
        report->cell_count > 0 ? cell_of(report, "program", report->base) : NULL;

    return base != NULL && base->run_count > 0;
}

double perf_barriers_time(const struct perf_report *report, const char *setting, double *wait)
{
    const struct perf_cell *cell = cell_of(report, "program", setting);
    double sums[2] = {0, 0};

    for (size_t i = 0; i < report->barrier_count; i++) {
        const struct perf_barriers *b = &report->barriers[i];

        if (strcmp(b->setting, setting) != 0)
            continue;
        sums[0] += isnan(b->time) ? 0 : b->time;
        sums[1] += isnan(b->wait) ? 0 : b->wait;
    }
    if (wait != NULL)
        *wait = sums[1] / (double)cell->run_count;
    return sums[0] / (double)cell->run_count;
}

/* --- The verdict */

/* A run that ended unlike the first one of the base, or NULL. */
static const struct perf_cell *ended_differently(const struct perf_report *report, int *status,
                                                 int *base_status)
{
    *base_status = cell_of(report, "program", report->base)->runs[0].status;
    for (size_t i = 0; i < report->cell_count; i++)
        for (size_t j = 0; j < report->cells[i].run_count; j++) {
            *status = report->cells[i].runs[j].status;
            if (strcmp(report->cells[i].call, "program") == 0 && *status != *base_status)
                return &report->cells[i];
        }
    return NULL;
}

/* The row of the base with the longest waiting, or NULL. */
static const struct perf_barriers *longest_waiting(const struct perf_report *report)
{
    const struct perf_barriers *most = NULL;

    for (size_t i = 0; i < report->barrier_count; i++)
        if (strcmp(report->barriers[i].setting, report->base) == 0 &&
            report->barriers[i].wait > (most != NULL ? most->wait : 0))
            most = &report->barriers[i];
    return most;
}

static void compare_times(const struct perf_report *report, FILE *out)
{
    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];
        struct perf_row row;
        double low, high;

        if (strcmp(cell->call, "program") != 0 || strcmp(cell->setting, report->base) == 0)
            continue;
        perf_row_init(&row, report, cell);
        low = row.fields[PERF_RATIO_LOW];
        high = row.fields[PERF_RATIO_HIGH];
        if (high < 1)
            fprintf(out,
                    "With %s the program takes %.1f%% less time than with %s (%.1f%% to %.1f%%). ",
                    cell->setting, 100 * (1 - row.fields[PERF_RATIO]), report->base,
                    100 * (1 - high), 100 * (1 - low));
        else if (low > 1)
            fprintf(out,
                    "With %s the program takes %.1f%% more time than with %s (%.1f%% to %.1f%%). ",
                    cell->setting, 100 * (row.fields[PERF_RATIO] - 1), report->base,
                    100 * (low - 1), 100 * (high - 1));
        else
            fprintf(out, "The runs show no difference between %s and %s (ratio %.3f to %.3f). ",
                    cell->setting, report->base, low, high);
    }
}

void perf_verdict(const struct perf_report *report, char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    const struct perf_barriers *longest = longest_waiting(report);
    int status, base_status;
    const struct perf_cell *other = ended_differently(report, &status, &base_status);
    double wait, cost = perf_barriers_time(report, report->base, &wait) - wait;

    *text = 0;
    if (out == NULL)
        return;
    if (other == NULL && base_status != 0)
        fprintf(out, "All runs ended with exit status %d. ", base_status);
    if (other != NULL) {
        fprintf(out, "The program ended differently: exit status %d with %s, %d with %s.", status,
                other->setting, base_status, report->base);
    } else {
        compare_times(report, out);
        if (cost + wait > 0) {
            fprintf(out, "Barriers cost %.3g%% of the run with %s, late ranks %.3g%%: ", 100 * cost,
                    report->base, 100 * wait);
            fprintf(out,
                    cost < LITTLE ? "the plugin cannot help much"
                                  : "the plugin can save at most %.3g%%",
                    100 * cost);
            if (longest != NULL && wait > LITTLE && wait > cost)
                fprintf(out, "; balance rank %u", longest->late);
            fputc('.', out);
        } else {
            fputs("No barrier was seen: the program makes none, is linked statically, or does not "
                  "reach "
                  "MPI_Finalize.",
                  out);
        }
    }
    fclose(out);
}

/* --- The table, and JSON */

static void put_percent(FILE *file, double part)
{
    if (isnan(part))
        fprintf(file, " %8s", "-");
    else
        fprintf(file, " %8.2f", 100 * part);
}

static void put_barriers(const struct perf_report *report, const struct perf_barriers *b,
                         FILE *file)
{
    const double runs = (double)cell_of(report, "program", b->setting)->run_count;

    fprintf(file, "%-12s %-17s %-16s %6.0f %5u %9.0f", b->setting, b->call, b->name,
            ceil(b->comms / runs - 0.01), b->ranks, b->calls / runs);
    put_percent(file, b->wait / runs);
    put_percent(file, (b->time - b->wait) / runs);
    if (b->wait > 0)
        fprintf(file, "  %u (%s), %.0f%%, %.0f%%, %s", b->late, b->host, 100 * b->lasts,
                fmin(100, 100 * b->caused * runs / b->wait), b->site);
    fputc('\n', file);
}

void perf_write_program(const struct perf_report *report, FILE *file)
{
    char verdict[1024];
    struct perf_row row;
    const double *f = row.fields;

    fputs(
        "\nSeconds from start to end (program), and from MPI_Init to MPI_Finalize (mpi), with the "
        "interval of the\nmedian. \"x base\" is the median of the ratios of runs of the same "
        "pair.\n",
        file);
    fprintf(file, "%5s  %-8s %-12s %9s %9s %9s %8s %7s %7s %7s\n", "ranks", "time", "setting",
            "median", "low", "high", "interval", "x base", "low", "high");
    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];

        perf_row_init(&row, report, cell);
        fprintf(file, "%5u  %-8s %-12s %9.3f %9.3f %9.3f %7.0f%% %7.3f %7.3f %7.3f\n", cell->ranks,
                cell->call, cell->setting, f[PERF_MEDIAN] / 1e9, f[PERF_MEDIAN_LOW] / 1e9,
                f[PERF_MEDIAN_HIGH] / 1e9, 100 * f[PERF_COVERAGE], f[PERF_RATIO], f[PERF_RATIO_LOW],
                f[PERF_RATIO_HIGH]);
    }
    fputs(
        "\nBarriers of a run, percent of the time from MPI_Init to MPI_Finalize of all ranks: "
        "waiting "
        "for the last\nrank to enter, and the barrier itself from then on; the rank for which the "
        "others waited longest.\n",
        file);
    fprintf(file, "%-12s %-17s %-16s %6s %5s %9s %8s %8s  %s\n", "setting", "call", "communicator",
            "number", "ranks", "calls", "waiting", "barrier",
            "rank, last in, part of the waiting, call site");
    for (size_t i = 0; i < report->barrier_count; i++)
        put_barriers(report, &report->barriers[i], file);
    perf_verdict(report, verdict, sizeof verdict);
    fprintf(file, "\nVerdict: %s\n", verdict);
}

void perf_json_number(struct gba_json *json, const char *name, double value)
{
    if (isnan(value) || isinf(value))
        gba_json_string(json, name, NULL);
    else
        gba_json_value(json, name, "%.10g", value);
}

static void put_row(const struct perf_report *report, const struct perf_barriers *b,
                    struct gba_json *json)
{
    const double runs = (double)cell_of(report, "program", b->setting)->run_count;

    gba_json_begin(json, NULL, '{');
    gba_json_string(json, "setting", b->setting);
    gba_json_string(json, "call", b->call);
    gba_json_string(json, "communicator", b->name);
    gba_json_value(json, "ranks", "%u", b->ranks);
    perf_json_number(json, "communicators", b->comms / runs);
    perf_json_number(json, "calls", b->calls / runs);
    perf_json_number(json, "part", b->time / runs);
    perf_json_number(json, "waiting_part", b->wait / runs);
    gba_json_value(json, "late_rank", "%u", b->late);
    perf_json_number(json, "late_in", b->lasts);
    perf_json_number(json, "late_waiting_part", b->caused);
    gba_json_string(json, "late_host", b->host);
    gba_json_string(json, "late_site", b->site);
    gba_json_end(json);
}

void perf_write_program_json(const struct perf_report *report, struct gba_json *json)
{
    char verdict[1024];

    perf_verdict(report, verdict, sizeof verdict);
    gba_json_string(json, "verdict", verdict);
    gba_json_begin(json, "barriers", '[');
    for (size_t i = 0; i < report->barrier_count; i++)
        put_row(report, &report->barriers[i], json);
    gba_json_end(json);
    gba_json_begin(json, "exit_status", '{');
    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];

        if (strcmp(cell->call, "program") != 0)
            continue;
        gba_json_begin(json, cell->setting, '[');
        for (size_t j = 0; j < cell->run_count; j++)
            gba_json_value(json, NULL, "%d", cell->runs[j].status);
        gba_json_end(json);
    }
    gba_json_end(json);
}
