/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement of one call: warm-up, batches, and barriers that are timed one by one.
 *
 * A batch is a series of calls without a reading of the clock between them. Its time is that of the
 * slowest rank. Batches of the floor and of the call take turns, because the load of a machine
 * changes. All ranks make the same number of calls in a batch.
 */
#include "contrib/perf/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX  100000u
#define WARMUP_MIN 10u

static void (*delayed_run)(void);

/* Random numbers, the same on all ranks (splitmix64). */
static uint64_t shared_random(void)
{
    static uint64_t state;
    uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

void perf_imbalance(void)
{
    int64_t late = perf_options.imbalance_rank, until;

    if (perf_options.imbalance_ns == 0)
        return;
    if (late < 0)
        late = (int64_t)(shared_random() % (uint64_t)perf_job.size);
    if (late != perf_job.rank)
        return;
    until = perf_now() + perf_options.imbalance_ns;
    while (perf_now() < until)
        ;
}

static void run_late(void)
{
    perf_imbalance();
    delayed_run();
}

double perf_batch(void (*run)(void), uint32_t count)
{
    int64_t began;

    /* Two barriers, because the ranks leave the first one at different times. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    began = perf_now();
    for (uint32_t i = 0; i < count; i++)
        run();
    return (double)(perf_now() - began) / count;
}

double perf_print_series(const char *name, const char *call, double *series, uint32_t count)
{
    double median;

    MPI_Allreduce(MPI_IN_PLACE, series, (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (perf_job.rank == 0) {
        printf("%s %s", name, call);
        for (uint32_t i = 0; i < count; i++)
            printf(" %.1f", series[i]);
        putchar('\n');
    }
    median = perf_median(series, count);
    return median;
}

/* The number of calls in a batch, the same on all ranks. */
static uint32_t batch_count(void (*run)(void))
{
    double once = perf_largest(perf_batch(run, WARMUP_MIN)), count;

    once = perf_largest(perf_batch(run, once * 100 < perf_options.batch_us * 1e3 ? 100 : 1));
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
