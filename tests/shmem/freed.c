/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set finds reserved groups only, and then communicators give their groups back: freed [COMMS
 * [ROUNDS]]. The first COMMS communicators have one barrier each, and end after the set's
 * agreement. The set of the first two PEs has ROUNDS barriers after that.
 */
#include <mpi.h>

#include "tests/shmem/test.h"

#define COMMS_MAX  8
#define BEFORE     8 /* barriers of the set, until after its agreement */
#define SLOT_ALL   0
#define SLOT_FIRST 1

int main(int argc, char **argv)
{
    struct test_set all = {0}, set = {.size = 2};
    MPI_Comm comms[COMMS_MAX];
    long count, rounds;

    test_begin("freed");
    count = test_argument(argc, argv, 1, 2);
    rounds = test_argument(argc, argv, 2, 40);
    TEST_CHECK(count <= COMMS_MAX, "more than %d communicators", COMMS_MAX);
    all.size = test_pes;
    for (int i = 0; i < 4; i++)
        test_round(&all, SLOT_ALL, false);
    for (long i = 0; i < count; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        TEST_CHECK(MPI_Barrier(comms[i]) == MPI_SUCCESS, "MPI_Barrier failed");
    }
    for (int i = 0; i < BEFORE && test_set_rank(&set, test_me) >= 0; i++)
        test_round(&set, SLOT_FIRST, false);
    for (long i = 0; i < count; i++)
        MPI_Comm_free(&comms[i]);
    test_round(&all, SLOT_ALL, false);
    for (long i = 0; i < rounds && test_set_rank(&set, test_me) >= 0; i++)
        test_round(&set, SLOT_FIRST, false);
    return test_end();
}
