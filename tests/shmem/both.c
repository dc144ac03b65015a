/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of both worlds: barriers of MPI and of OpenSHMEM in turn: both [ROUNDS] */
#include <mpi.h>
#include <shmem.h>

#include "tests/shmem/test.h"

int main(int argc, char **argv)
{
    struct test_set all = {0};
    long rounds;

    test_begin("both");
    rounds = test_argument(argc, argv, 1, 200);
    all.size = test_pes;
    for (long i = 0; i < rounds; i++) {
        test_round(&all, 0, false);
        TEST_CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Barrier failed");
    }
    return test_end();
}
