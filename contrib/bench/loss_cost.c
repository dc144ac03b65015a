/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mean time of MPI_Barrier on a device that loses arrivals and releases: a lost one is a rare
 * and long barrier, which a median does not show.
 *
 *   mpirun -np N loss_cost     prints "latency NS", the mean of all barriers of half a second
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define FIRST \
    2000 /* barriers: the agreement, caches, and what the component learns of the rounds */
#define SECONDS 0.5
#define MOST    1000000

static const char usage[] = "usage: mpirun -np N loss_cost\n"
                            "Prints the mean time of MPI_Barrier, in ns. contrib/bench/loss runs "
                            "it with and without losses.\n";

static double time_barriers(int barriers)
{
    const double begin = MPI_Wtime();

    for (int i = 0; i < barriers; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / barriers;
}

int main(int argc, char **argv)
{
    double mean;
    int rank, barriers;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)time_barriers(FIRST);
    mean = time_barriers(FIRST);
    barriers = mean > SECONDS / MOST ? (int)(SECONDS / mean) + 1 : MOST;
    MPI_Bcast(&barriers, 1, MPI_INT, 0, MPI_COMM_WORLD);
    mean = time_barriers(barriers);
    if (rank == 0)
        printf("latency %.0f\n", mean * 1e9);
    MPI_Finalize();
    return 0;
}
