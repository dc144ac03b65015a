/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of the record "barriers". Communicators of the same name and size, and runs, are
 * added. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/perf/program.h"

/* The time from MPI_Init to MPI_Finalize of a run, as a part of its time from start to end. */
static double mpi_part(const struct perf_report *report, const char *setting, uint32_t pair)
{
    double times[2] = {NAN, NAN};

    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];
        const struct perf_run *run = cell->run_count > 0 ? &cell->runs[cell->run_count - 1] : NULL;

        if (run != NULL && run->pair == pair && strcmp(cell->setting, setting) == 0)
            times[strcmp(cell->call, "mpi") == 0] = run->median;
    }
    return times[1] / times[0];
}

/* The row of the same barriers, which is added if there is none; NULL: out of memory. */
static struct perf_barriers *row_get(struct perf_report *report, const struct perf_barriers *one)
{
    struct perf_barriers *all = report->barriers;

    for (struct perf_barriers *b = all; b < all + report->barrier_count; b++)
        if (strcmp(b->setting, one->setting) == 0 && strcmp(b->call, one->call) == 0 &&
            strcmp(b->name, one->name) == 0 && b->ranks == one->ranks)
            return b;
    all = realloc(all, (report->barrier_count + 1) * sizeof *all);
    if (all == NULL)
        return NULL;
    report->barriers = all;
    all += report->barrier_count++;
    *all = *one;
    return all;
}

/* The late rank of the run that is read; NULL: out of memory. */
static struct perf_late *late_get(struct perf_barriers *row, uint32_t pair)
{
    struct perf_late *lates = row->lates;

    if (row->late_count > 0 && lates[row->late_count - 1].pair == pair)
        return &lates[row->late_count - 1];
    lates = realloc(lates, (row->late_count + 1) * sizeof *lates);
    if (lates == NULL)
        return NULL;
    row->lates = lates;
    lates += row->late_count++;
    *lates = (struct perf_late){.pair = pair};
    return lates;
}

bool perf_barriers_read(struct perf_report *report, const char *setting, uint32_t pair,
                        const char *rest)
{
    const double part = mpi_part(report, setting, pair);
    struct perf_barriers one = {.comms = 0}, *row;
    double comms, calls, time, wait;
    struct perf_late late = {.pair = pair}, *run;

    if (sscanf(rest, "%63s %63s %u %lf %lf %lf %lf %u %63s %lf %lf %255[^\n]", one.call, one.name,
               &one.ranks, &comms, &calls, &time, &wait, &late.rank, late.host, &late.lasts,
               &late.caused, late.site) < 11)
        return false;
    (void)snprintf(one.setting, sizeof one.setting, "%s", setting);
    row = row_get(report, &one);
    run = row != NULL ? late_get(row, pair) : NULL;
    if (run == NULL)
        return false;
    row->comms += comms;
    row->calls += calls;
    row->time += time * part;
    row->wait += wait * part;
    late.caused *= part;
    late.wait = run->wait + wait * part;
    if (run->wait == 0 || late.caused > run->caused)
        *run = late;
    else
        run->wait = late.wait;
    return true;
}

const struct perf_late *perf_barriers_worst(const struct perf_barriers *row)
{
    const struct perf_late *worst = row->lates;

    for (size_t i = 1; i < row->late_count; i++)
        if (row->lates[i].caused > worst->caused)
            worst = &row->lates[i];
    return worst;
}
