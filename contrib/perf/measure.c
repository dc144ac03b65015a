/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement of one call: warm-up, batches, and barriers that are timed one by one. Batches of
 * the floor and of the call are interleaved, because the load of a machine changes.
 */
#include "contrib/perf/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX  100000u
#define WARMUP_MIN 10u

static void (*delayed_run)(void);

static void run_late(void)
{
    perf_imbalance();
    delayed_run();
}

/* The number of calls in a batch, the same on all ranks. */
static uint32_t batch_count(void (*run)(void))
{
    double once = perf_largest(perf_batch(run, WARMUP_MIN)), count;

    if (once * 100 < perf_options.batch_us * 1e3)
        once = perf_largest(perf_batch(run, 100));
    count = perf_options.batch_us * 1e3 / (once > 1 ? once : 1) + 1;
    return count < COUNT_MAX ? (uint32_t)count : COUNT_MAX;
}

void perf_measure_batches(const struct perf_call *call)
{
    bool floor = perf_job.one_host && !call->no_floor;
    double *series = perf_alloc(perf_options.batches, sizeof *series);
    double *floors = perf_alloc(perf_options.batches, sizeof *floors), latency;
    uint32_t floor_count = floor ? batch_count(perf_floor_run) : 0, count;
    void (*run)(void) = call->run;

    if (perf_options.imbalance_ns > 0) {
        delayed_run = run;
        run = run_late;
    }
    count = batch_count(run);
    for (uint32_t i = 0; i < perf_options.batches; i++) {
        if (floor)
            floors[i] = perf_batch(perf_floor_run, floor_count);
        series[i] = perf_batch(run, count);
    }
    latency = perf_print_series("batch", call->name, series, perf_options.batches);
    if (floor)
        (void)perf_print_series("floor", call->name, floors, perf_options.batches);
    if (perf_options.samples > 0)
        perf_measure_slices(call, latency);
    free(series);
    free(floors);
}

void perf_measure(const struct perf_call *call)
{
    uint32_t warmup = perf_options.warmup / (call->heavy ? 10 : 1);

    if (call->init != NULL && !call->init()) {
        if (perf_job.rank == 0)
            printf("missing %s\n", call->name);
        return;
    }
    /* The first blocking barriers of the plugin choose a path. */
    for (uint32_t i = 0; i < perf_options.warmup && call->nonblocking; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (uint32_t i = 0; i < (warmup > WARMUP_MIN ? warmup : WARMUP_MIN); i++)
        call->run();
    perf_measure_batches(call);
    if (call->nonblocking)
        perf_measure_overlap(batch_count(call->run));
    if (call->fini != NULL)
        call->fini();
}
