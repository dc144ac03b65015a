/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Very many barriers back to back; the ranks take turns to check them.
 *
 *   many [COUNT]
 */
#include <stdio.h>

#include "tests/mpi/test.h"

int main(int argc, char **argv)
{
    struct test_proof proof;
    double begin;
    long count;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    count = test_argument(argc, argv, 1, 1000000);
    test_step("barriers back to back");
    test_proof_begin(&proof, MPI_COMM_WORLD, "world", 0, 1);
    begin = MPI_Wtime();
    for (long i = 0; i < count; i++) {
        test_proof_enter(&proof);
        MPI_Barrier(MPI_COMM_WORLD);
        /* Checking all other ranks costs more than the barrier, so the ranks do it in turn. */
        if (i % test_size == test_rank)
            test_proof_look(&proof, proof.round, 1);
    }
    if (test_rank == 0)
        printf("%ld barriers, %.2f us each\n", count, (MPI_Wtime() - begin) / (double)count * 1e6);
    test_proof_end(&proof);
    return test_end();
}
