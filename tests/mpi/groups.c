/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More live communicators than the device has groups: the later ones take another path, and a freed
 * group is used again. The component prints the path of each (coll_gba_barrier_verbose 1), and the
 * runner checks these lines: the communicators are named "early N" and "again N".
 *
 *   groups [COMMUNICATORS] [FREED]
 */
#include <stdio.h>

#include "tests/mpi/test.h"

static void name(MPI_Comm comm, const char *kind, long number)
{
    char text[MPI_MAX_OBJECT_NAME];

    snprintf(text, sizeof text, "%s %ld", kind, number);
    MPI_Comm_set_name(comm, text);
}

static void make(MPI_Comm *comms, struct test_proof *proofs, const char *kind, long from, long to)
{
    for (long i = from; i < to; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        name(comms[i], kind, i);
        test_proof_begin(&proofs[i], comms[i], kind, (int)i, (uint32_t)kind[0]);
        test_proof_barrier(&proofs[i]);
    }
}

int main(int argc, char **argv)
{
    struct test_proof proofs[TEST_SLOTS];
    MPI_Comm comms[TEST_SLOTS];
    long count, freed;
    int one = 1, all;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    count = test_argument(argc, argv, 1, 40);
    freed = test_argument(argc, argv, 2, 16);
    TEST_CHECK(count <= TEST_SLOTS && freed <= count, "too many communicators");

    test_step("more communicators than groups");
    make(comms, proofs, "early", 0, count);
    for (int round = 0; round < 20; round++)
        for (long i = count - 1; i >= 0; i--)
            test_proof_barrier(&proofs[i]);

    for (long i = 0; i < freed; i++) {
        test_proof_end(&proofs[i]);
        MPI_Comm_free(&comms[i]);
    }
    /* A group is free when the last member has left it, and MPI_Comm_free does not synchronise. */
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    make(comms, proofs, "again", 0, freed);
    for (int round = 0; round < 20; round++)
        for (long i = 0; i < count; i++)
            test_proof_barrier(&proofs[i]);
    for (long i = 0; i < count; i++) {
        test_proof_end(&proofs[i]);
        MPI_Comm_free(&comms[i]);
    }
    return test_end();
}
