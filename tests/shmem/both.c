/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with barriers of MPI and of OpenSHMEM in turn: both [ROUNDS [COMMS]]
 *
 * COMMS: that many communicators, and then three sets.
 */
#include <mpi.h>
#include <shmem.h>

#include "tests/shmem/test.h"

#define COMMS_MAX 8

static void mpi_round(const struct test_set *all, int slot, MPI_Comm comm)
{
    test_enter(all, slot);
    shmem_quiet();
    TEST_CHECK(MPI_Barrier(comm) == MPI_SUCCESS, "MPI_Barrier failed");
    test_look(all, slot);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS_MAX] = {MPI_COMM_WORLD};
    struct test_set sets[] = {{0}, {0}, {0, 1, 2}}, all = {0};
    long rounds, count;

    test_begin("both");
    rounds = test_argument(argc, argv, 1, 200);
    count = test_argument(argc, argv, 2, 1);
    TEST_CHECK(count <= COMMS_MAX, "more than %d communicators", COMMS_MAX);
    all.size = sets[0].size = test_pes;
    sets[1].size = test_pes - 1;
    for (int i = 1; i < count; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (long i = 0; i < rounds; i++) {
        for (int j = 0; j < count; j++)
            mpi_round(&all, j, comms[j]);
        /* With two PEs the set of all PEs is the only set. */
        for (int j = 0; j < (test_pes == 2 ? 1 : 3); j++)
            if (test_set_rank(&sets[j], test_me) >= 0)
                test_round(&sets[j], COMMS_MAX + j, false);
    }
    for (int i = 1; i < count; i++)
        MPI_Comm_free(&comms[i]);
    return test_end();
}
