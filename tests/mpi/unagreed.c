/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators with few barriers: MPI_COMM_WORLD with 5 nonblocking ones, a copy of it with 7,
 * which is freed, and a split with 3 and a blocking one. Another copy makes none.
 */
#include "tests/mpi/test.h"

static void nonblocking(MPI_Comm comm, int count, int slot)
{
    struct test_proof proof;

    test_proof_begin(&proof, comm, "nonblocking barriers", slot, 1);
    for (int i = 0; i < count; i++)
        test_proof_ibarrier(&proof);
    test_proof_end(&proof);
}

int main(int argc, char **argv)
{
    MPI_Comm dup, split, idle;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    test_step("nonblocking barriers");
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_dup(MPI_COMM_WORLD, &idle);
    MPI_Comm_split(MPI_COMM_WORLD, 0, test_rank, &split);
    nonblocking(MPI_COMM_WORLD, 5, 0);
    nonblocking(dup, 7, 1);
    nonblocking(split, 3, 2);
    MPI_Barrier(split);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&split);
    MPI_Comm_free(&idle);
    return test_end();
}
