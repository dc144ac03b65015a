/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of the plot, for plot.gp: a row for each number of ranks of the first call and each
 * setting, or for each setting with a program of the user. Times are in s. */
#include <string.h>

#include "contrib/perf/program.h"
#include "contrib/perf/records.h"

/* SETTING RANKS MEDIAN LOW HIGH FLOOR BUSY; the setting is a number from 1 on. */
static void latency(const struct perf_report *report, const char *setting, int number, FILE *file)
{
    struct perf_row row;

    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];

        if (strcmp(cell->call, report->cells[0].call) != 0 || strcmp(cell->setting, setting) != 0)
            continue;
        perf_row_init(&row, report, cell);
        fprintf(file, "%d %u %g %g %g %g %d\n", number, cell->ranks, row.fields[PERF_MEDIAN] / 1e9,
                row.fields[PERF_MEDIAN_LOW] / 1e9, row.fields[PERF_MEDIAN_HIGH] / 1e9,
                row.fields[PERF_FLOOR] / 1e9, row.fields[PERF_SPREAD] >= PERF_SPREAD_BAD);
    }
}

/* NAME REST WAITING BARRIER */
static void program(const struct perf_report *report, const char *setting, FILE *file)
{
    const struct perf_cell *whole =
        perf_report_find(report, report->cells[0].ranks, "program", setting);
    double time, wait, seconds;
    struct perf_row row;

    if (whole == NULL)
        return;
    perf_row_init(&row, report, whole);
    seconds = row.fields[PERF_MEDIAN] / 1e9;
    time = perf_barriers_time(report, setting, &wait);
    fprintf(file, "%s %g %g %g\n", setting, seconds * (1 - time), seconds * wait,
            seconds * (time - wait));
}

void perf_write_plot(const struct perf_report *report, FILE *file)
{
    int number = 0;

    for (size_t i = 0; i < report->note_count; i++) {
        if (strcmp(report->notes[i].kind, "setting") != 0)
            continue;
        number++;
        if (perf_is_program(report))
            program(report, report->notes[i].key, file);
        else
            latency(report, report->notes[i].key, number, file);
    }
}
