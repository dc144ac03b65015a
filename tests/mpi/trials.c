/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No rank leaves a barrier early around trials of other barriers, on one new communicator after
 * another, because the trials of a communicator become rare.
 *
 *   trials [COMMUNICATORS [ROUNDS]]
 */
#include "tests/mpi/test.h"

int main(int argc, char **argv)
{
    long comms, rounds;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    comms = test_argument(argc, argv, 1, 20);
    rounds = test_argument(argc, argv, 2, 60);
    for (long i = 0; i < comms; i++) {
        struct test_proof proof;
        MPI_Comm comm;

        test_step("barriers of a new communicator");
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        test_proof_begin(&proof, comm, "trials", 0, (uint32_t)i + 1);
        for (long round = 0; round < rounds; round++)
            test_proof_barrier(&proof);
        test_proof_end(&proof);
        MPI_Comm_free(&comm);
    }
    return test_end();
}
