/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of contrib/demo: plain MPI, independent of barrier plugins. It makes communicators of
 * several kinds and runs barriers on each.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 1000 /* barriers on each communicator */

static const char usage[] =
    "usage: mpirun -np N demo    makes communicators of several kinds, 1000 barriers on each\n";

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

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    MPI_Init(&argc, &argv);
    show_paths();
    MPI_Finalize();
    return 0;
}
