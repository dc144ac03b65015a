/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Ibarrier: what it costs to start one and wait for it, and how much of its time is left for
 * computation. Ours and Open MPI's own (libnbc) by turns, in one process: a communicator that has
 * seen no blocking barrier has made no agreement, so its nonblocking ones are Open MPI's.
 *
 *   ibarrier_cost [PAIRS]
 *
 * Prints a line for each pair: start and wait of ours and of Open MPI's in ns, then both overlaps
 * in percent.
 *
 * Overlap: with a computation of twice the time of start and wait between the two, the part of that
 * time which the whole does not take longer than the computation alone; as in the OSU benchmarks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "gba/base/order.h"

#define BATCH    500 /* short, so that the neighbours of a pair are neighbours in time */
#define PAIRS    15
#define CALIBRES 20000000 /* turns of the calibration: some 10 ms */

static double turn_ns; /* of compute() */

static void compute(long turns)
{
    for (; turns > 0; turns--)
        gba_fence_compiler();
}

static double now_ns(void)
{
    return MPI_Wtime() * 1e9;
}

/* The mean of a batch in ns, with so many turns of computation in each; the slowest rank's. */
static double batch(MPI_Comm comm, long turns)
{
    double began, mine, all;
    MPI_Request request;

    MPI_Allreduce(MPI_IN_PLACE, &turns, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD); /* together */
    began = now_ns();
    for (int i = 0; i < BATCH; i++) {
        MPI_Ibarrier(comm, &request);
        compute(turns);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    mine = (now_ns() - began) / BATCH;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static double compute_alone(long turns)
{
    double began = now_ns(), mine, all;

    for (int i = 0; i < BATCH; i++)
        compute(turns);
    mine = (now_ns() - began) / BATCH;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static double overlap(MPI_Comm comm, double pure)
{
    long turns = (long)(2 * pure / turn_ns);
    double alone = compute_alone(turns), both = batch(comm, turns);
    double part = 1 - (both - alone) / pure;

    return 100 * (part < 0 ? 0 : part > 1 ? 1 : part);
}

int main(int argc, char **argv)
{
    long pairs = argc > 1 ? strtol(argv[1], NULL, 0) : PAIRS;
    MPI_Comm ours, theirs;
    double began;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &ours);
    MPI_Comm_dup(MPI_COMM_WORLD, &theirs);
    MPI_Barrier(ours);
    began = now_ns();
    compute(CALIBRES);
    turn_ns = (now_ns() - began) / CALIBRES;
    MPI_Bcast(&turn_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    (void)batch(ours, 0); /* connections, caches */
    (void)batch(theirs, 0);
    for (long i = 0; i < pairs; i++) {
        double a = batch(ours, 0), b = batch(theirs, 0);
        double c = overlap(ours, a), d = overlap(theirs, b);

        if (rank == 0)
            printf("cost %.1f %.1f %.2f %.2f\n", a, b, c, d);
    }
    MPI_Comm_free(&ours);
    MPI_Comm_free(&theirs);
    MPI_Finalize();
    return 0;
}
