/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No rank leaves a barrier before all have entered it: every rank is late at random, and in each
 * round one rank is later than the others.
 *
 *   early_exit [ROUNDS [FILE]]
 *
 * With FILE the rounds are repeated until rank 0 has found that file before they
 * begin. A script makes the file after a fault, so all rounds of the last repetition follow the
 * fault.
 */
#include <unistd.h>

#include "tests/mpi/test.h"

#define LATE_USEC 2000

/* mine: the random numbers of this rank; ours: those of all ranks. */
static void run(struct test_proof *proof, long rounds, uint64_t *mine, uint64_t *ours)
{
    for (long i = 0; i < rounds; i++) {
        uint64_t late = test_random(ours) % (uint64_t)(2 * test_size);

        test_delay(mine);
        if (late == (uint64_t)test_rank)
            usleep(LATE_USEC);
        if (i % 7 == 3)
            test_proof_ibarrier(proof);
        else
            test_proof_barrier(proof);
    }
}

int main(int argc, char **argv)
{
    struct test_proof proof;
    uint64_t mine, ours;
    long rounds;
    int last = 1;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    rounds = test_argument(argc, argv, 1, 300);
    mine = test_seed((uint64_t)test_rank + 1); /* of each rank */
    ours = test_seed(0);                       /* of all ranks */

    test_step("barriers with delays");
    test_proof_begin(&proof, MPI_COMM_WORLD, "world", 0, 1);
    do {
        if (argc > 2) {
            last = access(argv[2], F_OK) == 0;
            MPI_Bcast(&last, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
        run(&proof, rounds, &mine, &ours);
    } while (last == 0);
    test_proof_end(&proof);
    test_referee(MPI_COMM_WORLD, (int)rounds);
    return test_end();
}
