/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a split barrier hides: each step of a rank is work of unequal length, a barrier, and work
 * that needs nothing of the others. The first way is MPI_Barrier between both. The second way
 * starts MPI_Ibarrier, does the second work with an MPI_Test now and then, and waits.
 *
 *     mpirun --mca coll gba_barrier -np 4 ./overlap [STEPS [US]]
 *
 * STEPS of each way (500). US: microseconds of the second work; the first has none to twice as
 * many (200). Prints the mean time that a rank waits in each step, both ways.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void work(double seconds)
{
    const double end = MPI_Wtime() + seconds;

    while (MPI_Wtime() < end)
        ;
}

/* The length of the first work, between 0 and 2, another one for each rank and step. */
static double unequal(int rank, int step)
{
    const uint64_t mixed = ((uint64_t)rank << 32 | (uint32_t)step) * 0x9E3779B97F4A7C15u;

    return (double)((mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9u >> 11) * 0x1p-52;
}

/* One step. Returns the seconds in calls of MPI. */
static double step(int split, double seconds)
{
    MPI_Request request;
    double waited = -MPI_Wtime(), begin;
    int ended = 0;

    if (split)
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    waited += MPI_Wtime();
    for (int slice = 0; slice < 10; slice++) {
        work(seconds / 10);
        begin = MPI_Wtime();
        if (split && !ended)
            MPI_Test(&request, &ended, MPI_STATUS_IGNORE);
        waited += MPI_Wtime() - begin;
    }
    begin = MPI_Wtime();
    if (split && !ended)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    return waited + MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    char none[] = "", *end = none;
    const double given = argc > 1 ? strtod(argv[1], &end) : 500;
    const double us = argc > 2 && '\0' == *end ? strtod(argv[2], &end) : 200, seconds = us * 1e-6;
    const int steps = given >= 1 && given <= 1000000 ? (int)given : 0;
    double waited[2] = {0, 0}, sum[2];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 3 || '\0' != *end || 0 == steps || !(us >= 0 && us <= 1000000)) {
        if (0 == rank)
            fputs("usage: overlap [STEPS [US]], 1 to 1000000 and 0 to 1000000\n", stderr);
        MPI_Finalize();
        return 2;
    }
    for (int i = -10; i < 2 * steps; i++) { /* the first ten are not counted */
        work(seconds * unequal(rank, i / 2));
        if (i < 0)
            (void)step(i & 1, seconds);
        else
            waited[i & 1] += step(i & 1, seconds);
    }
    MPI_Reduce(waited, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank)
        printf(
            "us of waiting in a step: MPI_Barrier %.1f, MPI_Ibarrier %.1f: the work hides %.0f%%\n",
            sum[0] * 1e6 / size / steps, sum[1] * 1e6 / size / steps, 100 * (1 - sum[1] / sum[0]));
    MPI_Finalize();
    return 0;
}
