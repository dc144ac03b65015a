/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Ibarrier: what it costs to start one and wait for it, and how much of its time is left for
 * computation. Ours and Open MPI's own (libnbc) by turns, in one process: a communicator that has
 * seen no blocking barrier has made no agreement, so its nonblocking ones are Open MPI's.
 *
 *   ibarrier_cost [PAIRS]
 *
 * Prints "ibarrier WHOSE PURE ONE LEFT_ONE TESTED LEFT_TESTED" for each, PAIRS times: PURE is start
 * and wait with nothing between them, in ns. Overlap as in the usual benchmarks of nonblocking
 * collectives: t_cpu is a computation of the length of PURE by itself, t_ovrl the whole with the
 * computation between start and wait, and
 *
 *   overlap = 100 * max(0, min(1, (PURE + t_cpu - t_ovrl) / min(PURE, t_cpu)))
 *
 * ONE with the computation in one piece, without any call of MPI, TESTED with MPI_Test between
 * eight pieces of it, in percent. LEFT is what is left of the barrier then, t_ovrl - t_cpu, in ns.
 *
 * All times are the means of a batch, of the slowest rank.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "gba/base/order.h"

#define BATCH    500 /* short, so that the neighbours of a pair are neighbours in time */
#define PAIRS    15
#define PIECES   8
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

static double slowest(double mine)
{
    double all;

    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* ns of one barrier with so many turns of computation in it, in that many pieces. */
static double batch(MPI_Comm comm, long turns, int pieces)
{
    double began;
    MPI_Request request;
    int flag;

    (void)slowest(0); /* together */
    began = now_ns();
    for (int i = 0; i < BATCH; i++) {
        MPI_Ibarrier(comm, &request);
        compute(turns);
        for (int piece = 1; piece < pieces; piece++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            compute(turns);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return slowest((now_ns() - began) / BATCH);
}

/* The same computation by itself. */
static double compute_alone(long turns, int pieces)
{
    double began;

    (void)slowest(0);
    began = now_ns();
    for (int i = 0; i < BATCH; i++)
        for (int piece = 0; piece < pieces; piece++)
            compute(turns);
    return slowest((now_ns() - began) / BATCH);
}

/* Percent; left: ns. */
static double overlap(MPI_Comm comm, double pure, int pieces, double *left)
{
    long turns = (long)(pure / turn_ns / pieces) + 1; /* pure is the same on all ranks */
    double alone = compute_alone(turns, pieces), both = batch(comm, turns, pieces);
    double part = (pure + alone - both) / (pure < alone ? pure : alone);

    *left = both - alone;
    return 100 * (part < 0 ? 0 : part > 1 ? 1 : part);
}

static void measure(MPI_Comm comm, const char *whose, int rank)
{
    double pure = batch(comm, 0, 1), left_one, left_tested;
    double one = overlap(comm, pure, 1, &left_one);
    double tested = overlap(comm, pure, PIECES, &left_tested);

    if (rank == 0)
        printf("ibarrier %s %.1f %.2f %.1f %.2f %.1f\n", whose, pure, one, left_one, tested,
               left_tested);
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
    turn_ns = slowest((now_ns() - began) / CALIBRES);
    (void)batch(ours, 0, 1); /* connections, caches */
    (void)batch(theirs, 0, 1);
    for (long i = 0; i < pairs; i++) {
        measure(ours, "ours", rank);
        measure(theirs, "libnbc", rank);
    }
    MPI_Comm_free(&ours);
    MPI_Comm_free(&theirs);
    MPI_Finalize();
    return 0;
}
