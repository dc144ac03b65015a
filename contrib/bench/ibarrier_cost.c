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
 * All times are the means of a batch, of the slowest rank. The median of PAIRS is what counts.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/order.h"

#define BATCH_NS \
    3e5 /* shorter than a turn of the scheduler; neighbours of a pair are near in time */
#define FIRST    200 /* barriers: connections, caches, and how many make a batch */
#define PAIRS    101
#define PIECES   8
#define CALIBRES 20000000 /* turns of the calibration: some 10 ms */

static const char usage[] = "usage: mpirun -np N ibarrier_cost [PAIRS]\n"
                            "Measures MPI_Ibarrier of the plugin and of libnbc by turns, PAIRS "
                            "times (101); rank 0 prints a line\n"
                            "for each: start and wait in ns, and the overlap with computation. "
                            "contrib/bench/ibarrier runs it.\n";

static double turn_ns; /* of compute() */

/* A contestant. */
struct contestant {
    const char *whose;
    MPI_Comm comm;
    int count; /* of barriers in a batch */
};

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
static double batch(const struct contestant *c, long turns, int pieces)
{
    double began;
    MPI_Request request;
    int flag;

    (void)slowest(0); /* together */
    began = now_ns();
    for (int i = 0; i < c->count; i++) {
        MPI_Ibarrier(c->comm, &request);
        compute(turns);
        for (int piece = 1; piece < pieces; piece++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            compute(turns);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return slowest((now_ns() - began) / c->count);
}

/* The same computation by itself. */
static double compute_alone(const struct contestant *c, long turns, int pieces)
{
    double began;

    (void)slowest(0);
    began = now_ns();
    for (int i = 0; i < c->count; i++)
        for (int piece = 0; piece < pieces; piece++)
            compute(turns);
    return slowest((now_ns() - began) / c->count);
}

/* Percent. left: ns. */
static double overlap(const struct contestant *c, double pure, int pieces, double *left)
{
    long turns = (long)(pure / turn_ns / pieces) + 1; /* pure is the same on all ranks */
    double alone = compute_alone(c, turns, pieces), both = batch(c, turns, pieces);
    double part = (pure + alone - both) / (pure < alone ? pure : alone);

    *left = both - alone;
    return 100 * (part < 0 ? 0 : part > 1 ? 1 : part);
}

static void contestant_init(struct contestant *c, const char *whose)
{
    c->whose = whose;
    c->count = FIRST;
    (void)batch(c, 0, 1);
    c->count = (int)(BATCH_NS / batch(c, 0, 1)) + 1;
}

static void measure(const struct contestant *c, int rank)
{
    double pure = batch(c, 0, 1), left_one, left_tested;
    double one = overlap(c, pure, 1, &left_one);
    double tested = overlap(c, pure, PIECES, &left_tested);

    if (rank == 0)
        printf("ibarrier %s %.1f %.2f %.1f %.2f %.1f\n", c->whose, pure, one, left_one, tested,
               left_tested);
}

int main(int argc, char **argv)
{
    long pairs = argc > 1 ? strtol(argv[1], NULL, 0) : PAIRS;
    struct contestant ours, theirs;
    double began;
    int rank;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &ours.comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &theirs.comm);
    MPI_Barrier(ours.comm);
    began = now_ns();
    compute(CALIBRES);
    turn_ns = slowest((now_ns() - began) / CALIBRES);
    contestant_init(&ours, "ours");
    contestant_init(&theirs, "libnbc");
    for (long i = 0; i < pairs; i++) {
        measure(&ours, rank);
        measure(&theirs, rank);
    }
    MPI_Comm_free(&ours.comm);
    MPI_Comm_free(&theirs.comm);
    MPI_Finalize();
    return 0;
}
