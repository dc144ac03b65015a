/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The overlap of a nonblocking barrier with computation, as the usual benchmarks of nonblocking
 * collectives define it. `pure` is the time of start and wait without computation, `work` that of a
 * computation of the same length alone, `overall` that of start, computation and wait.
 *
 *   overlap = 100 * max(0, min(1, (pure + work - overall) / min(pure, work)))
 *
 * It is measured with the computation in one piece, without a call of MPI (overlap), and with
 * MPI_Test between eight pieces (overlap_test).
 */
#include <stdio.h>
#include <stdlib.h>

#include "contrib/perf/measure.h"
#include "gba/base/order.h"

#define PIECES          8
#define CALIBRATE_TURNS 2000000 /* some ms */

static long turns; /* of one piece */
static int pieces;

static void compute(void)
{
    for (long i = turns; i > 0; i--)
        gba_fence_compiler();
}

static void run_pure(void)
{
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run_work(void)
{
    for (int i = 0; i < pieces; i++)
        compute();
}

static void run_overall(void)
{
    MPI_Request request;
    int flag;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    compute();
    for (int i = 1; i < pieces; i++) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        compute();
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Returns the overlap in percent. *overall: in ns. */
static double overlap(uint32_t count, double turn_ns, int parts, double *overall)
{
    double pure = perf_largest(perf_batch(run_pure, count)), work, part;

    pieces = parts;
    turns = (long)(pure / turn_ns / parts) + 1; /* pure is the same on all ranks */
    work = perf_largest(perf_batch(run_work, count));
    *overall = perf_largest(perf_batch(run_overall, count));
    part = (pure + work - *overall) / (pure < work ? pure : work);
    return 100 * (part < 0 ? 0 : part > 1 ? 1 : part);
}

static double turn_time(void)
{
    turns = CALIBRATE_TURNS;
    pieces = 1;
    return perf_largest(perf_batch(run_work, 1)) / CALIBRATE_TURNS;
}

void perf_measure_overlap(uint32_t count)
{
    double *overall = perf_alloc(perf_options.batches, sizeof *overall), unused;
    double *one = perf_alloc(perf_options.batches, sizeof *one);
    double *tested = perf_alloc(perf_options.batches, sizeof *tested);
    double turn_ns = turn_time();

    for (uint32_t i = 0; i < perf_options.batches; i++) {
        one[i] = overlap(count, turn_ns, 1, &overall[i]);
        tested[i] = overlap(count, turn_ns, PIECES, &unused);
    }
    (void)perf_print_series("batch", "ibarrier_overall", overall, perf_options.batches);
    if (perf_job.rank == 0) {
        printf("figure ibarrier_overall overlap %.2f\n", perf_median(one, perf_options.batches));
        printf("figure ibarrier_overall overlap_test %.2f\n",
               perf_median(tested, perf_options.batches));
    }
    free(overall);
    free(one);
    free(tested);
}
