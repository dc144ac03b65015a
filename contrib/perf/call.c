/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement of one call: warm-up, and batches. Batches of the floor and of the call are
 * interleaved, because the load of a machine changes.
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
    perf_imbalance(-1);
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

/* The batches of the loops of which the fastest is the floor. */
struct floors {
    const struct perf_floor *loops;
    uint32_t count[PERF_FLOORS];
    double *series[PERF_FLOORS];
};

static void floors_init(struct floors *f, bool measured)
{
    static const struct perf_floor none = {NULL, NULL};

    f->loops = measured ? perf_floors() : &none;
    for (int k = 0; f->loops[k].name != NULL; k++) {
        f->count[k] = batch_count(f->loops[k].run);
        f->series[k] = perf_alloc(perf_options.batches, sizeof *f->series[k]);
    }
}

static void floors_fini(struct floors *f, const char *call)
{
    char name[64];

    for (int k = 0; f->loops[k].name != NULL; k++) {
        (void)snprintf(name, sizeof name, "%s %s", call, f->loops[k].name);
        perf_print_series("floor", name, f->series[k], perf_options.batches);
        free(f->series[k]);
    }
}

static void measure_batches(const struct perf_call *call)
{
    double *series = perf_alloc(perf_options.batches, sizeof *series);
    void (*run)(void) = call->run;
    struct floors floors;
    uint32_t count;

    if (perf_options.imbalance_ns > 0) {
        delayed_run = run;
        run = run_late;
    }
    floors_init(&floors, !call->no_floor);
    count = batch_count(run);
    for (uint32_t i = 0; i < perf_options.batches; i++) {
        for (int k = 0; floors.loops[k].name != NULL; k++)
            floors.series[k][i] = perf_batch(floors.loops[k].run, floors.count[k]);
        series[i] = perf_batch(run, count);
    }
    perf_print_series("batch", call->name, series, perf_options.batches);
    floors_fini(&floors, call->name);
    free(series);
}

void perf_measure(const struct perf_call *call)
{
    uint32_t warmup = perf_options.warmup / (call->heavy ? 10 : 1);

    if (call->services != NULL) {
        perf_measure_served(call->services);
        return;
    }
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
    measure_batches(call);
    if (call->fini != NULL)
        call->fini();
}
