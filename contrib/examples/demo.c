/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of contrib/demo: plain MPI, independent of barrier plugins.
 *
 *   demo           makes communicators of several kinds and runs barriers on each
 *   demo latency   prints "latency NS": the median time of one MPI_Barrier on MPI_COMM_WORLD
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS  1000 /* barriers on each communicator */
#define BATCHES 51   /* timed batches; odd, so that the median is one of them */

static const char usage[] =
    "usage: mpirun -np N demo            makes communicators of several kinds, 1000 barriers on "
    "each\n"
    "       mpirun -np N demo latency    prints the median time of one MPI_Barrier, in ns\n";

static void run_barriers(MPI_Comm comm, const char *name)
{
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    /* Open MPI 5.0.7 keeps the names of the predefined ones in memory of their first length. */
    if (comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF)
        MPI_Comm_set_name(comm, name);
    for (int i = 0; i < ROUNDS; i++)
        MPI_Barrier(comm);
    if (rank == 0) {
        printf("%s, %d rank%s: %d barriers done\n", name, size, size == 1 ? "" : "s", ROUNDS);
        fflush(stdout);
    }
}

static void show_paths(void)
{
    MPI_Comm dup, split, node, pair;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run_barriers(MPI_COMM_WORLD, "MPI_COMM_WORLD");

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    run_barriers(dup, "a duplicate");

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &split);
    run_barriers(split, rank % 2 == 0 ? "the even ranks" : "the odd ranks");

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    run_barriers(node, "the ranks of this host");

    /* Communicators without some of the ranks. */
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
    if (pair != MPI_COMM_NULL) {
        run_barriers(pair, "ranks 0 and 1");
        MPI_Comm_free(&pair);
    }

    /* A communicator of one rank: Open MPI calls no plugin for its barriers. */
    if (rank == 0)
        run_barriers(MPI_COMM_SELF, "rank 0 alone (MPI_COMM_SELF)");

    MPI_Comm_free(&node);
    MPI_Comm_free(&split);
    MPI_Comm_free(&dup);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double time_batch(int barriers)
{
    const double begin = MPI_Wtime();

    for (int i = 0; i < barriers; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

static void show_latency(void)
{
    double batch[BATCHES];
    int rank, barriers;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    time_batch(1000); /* the first barrier chooses the path; the rest warms caches up */

    /* Batches of about 5 ms, as long on every rank: all of it takes about a quarter second. */
    barriers = (int)(0.005 / (time_batch(1000) / 1000)) + 1;
    MPI_Bcast(&barriers, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BATCHES; i++)
        batch[i] = time_batch(barriers) / barriers;
    qsort(batch, BATCHES, sizeof batch[0], compare_doubles);
    if (rank == 0)
        printf("latency %.0f\n", batch[BATCHES / 2] * 1e9);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "latency") == 0)
        show_latency();
    else
        show_paths();
    MPI_Finalize();
    return 0;
}
