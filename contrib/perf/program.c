/* SPDX-License-Identifier: BSD-3-Clause */
/* The report about a program of the user. */
#include "contrib/perf/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LITTLE       0.02   /* of a run */
#define SEEN         0.0005 /* of a run: the table has other calls than barriers from then on */
#define PROGRAM_RUNS 5      /* of a setting; fewer show nothing */

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

        if (strcmp(b->setting, setting) != 0 || b->ranks == 0)
            continue;
        sums[0] += isnan(b->time) ? 0 : b->time;
        sums[1] += isnan(b->wait) ? 0 : b->wait;
    }
    if (wait != NULL)
        *wait = sums[1] / (double)cell->run_count;
    return sums[0] / (double)cell->run_count;
}

/* --- The verdict */

static bool is_setting(const struct perf_cell *cell)
{
    return strcmp(cell->call, "program") == 0;
}

/* Write how many runs failed, if any did. Returns false if the runs ended differently. */
static bool compare_ends(const struct perf_report *report, FILE *out)
{
    const int first = cell_of(report, "program", report->base)->runs[0].status;
    bool same = true, all = true, any = false;
    const char *between = "";

    for (size_t i = 0; i < report->cell_count; i++)
        for (size_t j = 0; is_setting(&report->cells[i]) && j < report->cells[i].run_count; j++) {
            const int status = report->cells[i].runs[j].status;

            same = same && status == first;
            all = all && status != 0;
            any = any || status != 0;
        }
    if (any)
        fprintf(out, "The program %s: ", all ? "failed in all runs" : "ended differently");
    for (size_t i = 0; any && i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];
        size_t failed = 0;
        int status = 0;

        for (size_t j = 0; j < cell->run_count; j++)
            if (cell->runs[j].status != 0 && failed++ == 0)
                status = cell->runs[j].status;
        if (!is_setting(cell))
            continue;
        fprintf(out, "%s%zu of %zu failed with %s", between, failed, cell->run_count,
                cell->setting);
        if (failed > 0)
            fprintf(out, " (exit status %d)", status);
        between = ", ";
    }
    if (any)
        fputs(". ", out);
    return same;
}

/* The median seconds of a run with a setting. */
static double run_seconds(const struct perf_report *report, const struct perf_cell *cell)
{
    struct perf_row row;

    perf_row_init(&row, report, cell);
    return row.fields[PERF_MEDIAN] / 1e9;
}

/* Whether the time that a setting saves in barriers is spent in another call instead. */
static void compare_calls(const struct perf_report *report, const struct perf_cell *cell, FILE *out)
{
    const struct perf_cell *base = cell_of(report, "program", report->base);
    const double seconds = run_seconds(report, cell), base_seconds = run_seconds(report, base);
    const double saved = perf_barriers_time(report, base->setting, NULL) * base_seconds -
                         perf_barriers_time(report, cell->setting, NULL) * seconds;

    for (size_t i = 0; i < report->barrier_count; i++) {
        const struct perf_barriers *b = &report->barriers[i];
        double more = b->time / (double)cell->run_count * seconds;

        if (b->ranks != 0 || strcmp(b->setting, cell->setting) != 0)
            continue;
        for (size_t j = 0; j < report->barrier_count; j++)
            if (report->barriers[j].ranks == 0 && strcmp(report->barriers[j].call, b->call) == 0 &&
                strcmp(report->barriers[j].setting, base->setting) == 0)
                more -= report->barriers[j].time / (double)base->run_count * base_seconds;
        if (saved > LITTLE * base_seconds && more > saved / 2)
            fprintf(out,
                    "With %s barriers take %.3g s less than with %s, but %s takes %.3g s more: "
                    "the waiting has moved there. ",
                    cell->setting, saved, report->base, b->call, more);
    }
}

static void compare_times(const struct perf_report *report, FILE *out)
{
    const struct perf_cell *base = cell_of(report, "program", report->base);

    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];
        double ratio, low, high;
        struct perf_row row;

        if (!is_setting(cell) || cell == base)
            continue;
        if (cell->run_count < PROGRAM_RUNS || base->run_count < PROGRAM_RUNS) {
            fprintf(out, "Fewer than %d runs show no difference between %s and %s. ", PROGRAM_RUNS,
                    cell->setting, report->base);
            continue;
        }
        compare_calls(report, cell, out);
        perf_row_init(&row, report, cell);
        ratio = row.fields[PERF_RATIO];
        low = row.fields[PERF_RATIO_LOW];
        high = row.fields[PERF_RATIO_HIGH];
        if ((high < 1 || low > 1) && fabs(log(ratio)) > log(row.fields[PERF_RATIO_EQUAL]))
            fprintf(
                out, "With %s the program takes %.1f%% %s time than with %s (%.1f%% to %.1f%%). ",
                cell->setting, 100 * fabs(1 - ratio), ratio < 1 ? "less" : "more", report->base,
                100 * fabs(1 - (ratio < 1 ? high : low)), 100 * fabs(1 - (ratio < 1 ? low : high)));
        else
            fprintf(out,
                    "The runs show no difference between %s and %s (ratio %.3f to %.3f; equal runs "
                    "differ by %.1f%%). ",
                    cell->setting, report->base, low, high,
                    100 * (row.fields[PERF_RATIO_EQUAL] - 1));
    }
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

/* Whether `rank` causes the waiting in a row, in each run: it is the last one more often than
 * chance has it, and causes more than half of what an even share leaves to the others. */
static bool is_late(const struct perf_barriers *row, uint32_t rank, size_t runs)
{
    const double chance = 1. / row->ranks;

    for (size_t i = 0; i < row->late_count; i++) {
        const struct perf_late *late = &row->lates[i];

        if (late->rank != rank || !(late->lasts > chance) ||
            !(late->caused > (1 + chance) / 2 * late->wait))
            return false;
    }
    return row->late_count >= PROGRAM_RUNS && row->late_count == runs;
}

/* The rank that is late in all runs with all settings on the communicators of `longest`; -1: none.
 */
static int late_rank(const struct perf_report *report, const struct perf_barriers *longest)
{
    const uint32_t rank = longest->lates[0].rank;
    size_t settings = 0, rows = 0;

    for (size_t i = 0; i < report->cell_count; i++)
        settings += is_setting(&report->cells[i]);
    for (size_t i = 0; i < report->barrier_count; i++) {
        const struct perf_barriers *b = &report->barriers[i];

        if (strcmp(b->call, longest->call) != 0 || strcmp(b->name, longest->name) != 0 ||
            b->ranks != longest->ranks)
            continue;
        if (!is_late(b, rank, cell_of(report, "program", b->setting)->run_count))
            return -1;
        rows++;
    }
    return rows == settings ? (int)rank : -1;
}

static void compare_barriers(const struct perf_report *report, bool busy, FILE *out)
{
    const struct perf_barriers *longest = longest_waiting(report);
    double wait, cost = perf_barriers_time(report, report->base, &wait) - wait;
    int rank = -1;

    if (!(cost + wait > 0)) {
        fputs("No barrier was seen: the program makes none, is linked statically, or does not "
              "reach MPI_Finalize.",
              out);
        return;
    }
    fprintf(out, "Barriers cost %.3g%% of the run with %s, late ranks %.3g%%", 100 * cost,
            report->base, 100 * wait);
    if (!busy && cost < LITTLE)
        fputs(": the plugin cannot help much", out);
    else if (!busy)
        fprintf(out, ": the plugin can save at most %.3g%%", 100 * cost);
    if (!busy && longest != NULL && wait > LITTLE && wait > cost)
        rank = late_rank(report, longest);
    if (rank >= 0)
        fprintf(out, "; balance rank %d", rank);
    fputc('.', out);
}

void perf_verdict(const struct perf_report *report, char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    char reason[256];
    bool busy = false;

    *text = 0;
    if (out == NULL)
        return;
    if (compare_ends(report, out)) {
        for (size_t i = 0; perf_busy_reason(report, i, reason, sizeof reason); i++) {
            fprintf(out, "%s%s", busy ? ", " : "This machine was too busy to compare: ", reason);
            busy = true;
        }
        if (busy)
            fputs(". ", out);
        else
            compare_times(report, out);
        compare_barriers(report, busy, out);
    }
    fclose(out);
    if (*text != 0 && text[strlen(text) - 1] == ' ')
        text[strlen(text) - 1] = 0;
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
    const struct perf_late *late = perf_barriers_worst(b);

    if (b->ranks == 0 && b->time / runs < SEEN)
        return;
    fprintf(file, "%-12s %-24s %-16s %6.0f %5u %9.0f", b->setting, b->call, b->name,
            ceil(b->comms / runs - 0.01), b->ranks, b->calls / runs);
    put_percent(file, b->time / runs);
    put_percent(file, b->wait / runs);
    put_percent(file, (b->time - b->wait) / runs);
    if (b->wait > 0)
        fprintf(file, "  %u (%s), %.0f%%, %.0f%%, %s", late->rank, late->host, 100 * late->lasts,
                100 * late->caused / late->wait, late->site);
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
    fputs("\nBarriers and other collectives of a run, percent of its time from start to end on all "
          "ranks; of barriers\nthe waiting for the last rank to enter, and the barrier itself from "
          "then on; the rank for which the others\nwaited longest in a run.\n",
          file);
    fprintf(file, "%-12s %-24s %-16s %6s %5s %9s %8s %8s %8s  %s\n", "setting", "call",
            "communicator", "number", "ranks", "calls", "time", "waiting", "barrier",
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
    const struct perf_late *late = perf_barriers_worst(b);

    gba_json_begin(json, NULL, '{');
    gba_json_string(json, "setting", b->setting);
    gba_json_string(json, "call", b->call);
    gba_json_string(json, "communicator", b->name);
    gba_json_value(json, "ranks", "%u", b->ranks);
    perf_json_number(json, "communicators", b->comms / runs);
    perf_json_number(json, "calls", b->calls / runs);
    perf_json_number(json, "part", b->time / runs);
    perf_json_number(json, "waiting_part", b->wait / runs);
    gba_json_value(json, "late_rank", "%u", late->rank);
    perf_json_number(json, "late_in", late->lasts);
    perf_json_number(json, "late_waiting_part", late->caused);
    gba_json_string(json, "late_host", late->host);
    gba_json_string(json, "late_site", late->site);
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
