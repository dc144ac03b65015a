/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work in progress on a communicator: several nonblocking barriers at once, blocking ones between
 * them, the communicator freed meanwhile, and communicators that are never freed.
 */
#include <stdlib.h>

#include "tests/mpi/test.h"

#define WORDS   50000 /* more than the eager limit of any transport */
#define WINDOW  8
#define REPEATS 20
#define LEAKED  5

static int next(void)
{
    return (test_rank + 1) % test_size;
}

static int previous(void)
{
    return (test_rank + test_size - 1) % test_size;
}

/* `count` nonblocking barriers in progress, and a blocking one after every second of them. */
static void mix(MPI_Comm comm, int count, uint32_t id)
{
    MPI_Request requests[WINDOW];
    uint64_t rounds[WINDOW];
    struct test_proof proof;

    test_step("nonblocking and blocking barriers mixed");
    test_proof_begin(&proof, comm, "barrier and ibarrier mixed", 1, id);
    for (int i = 0; i < count; i++) {
        test_proof_enter(&proof);
        rounds[i] = proof.round;
        MPI_Ibarrier(comm, &requests[i]);
        if (i % 2 == 1) {
            test_proof_enter(&proof);
            MPI_Barrier(comm);
            test_proof_look(&proof, proof.round, WINDOW + 1);
        }
    }
    /* In any order: the last one first. */
    for (int i = count - 1; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        test_proof_look(&proof, rounds[i], 2 * WINDOW);
    }
    test_proof_end(&proof);
}

/* MPI_Comm_free only marks the communicator: the work in progress completes normally. */
static void freed_with_work(bool used_before)
{
    int *out = malloc(WORDS * sizeof out[0]), *in = malloc(WORDS * sizeof in[0]);
    int root = test_rank == 0 ? 4711 : 0, one = 1, sum = 0;
    MPI_Request requests[5];
    MPI_Comm comm;

    TEST_CHECK(out != NULL && in != NULL, "no memory");
    for (int i = 0; i < WORDS; i++) {
        out[i] = test_rank * WORDS + i;
        in[i] = -1;
    }
    test_step("a communicator freed with work outstanding");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (used_before)
        MPI_Barrier(comm);
    MPI_Irecv(in, WORDS, MPI_INT, previous(), 5, comm, &requests[0]);
    MPI_Isend(out, WORDS, MPI_INT, next(), 5, comm, &requests[1]);
    MPI_Ibcast(&root, 1, MPI_INT, 0, comm, &requests[2]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[3]);
    if (used_before)
        MPI_Barrier(comm);
    MPI_Ibarrier(comm, &requests[4]);
    MPI_Comm_free(&comm);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    TEST_CHECK(root == 4711 && sum == test_size, "wrong values from a freed communicator");
    for (int i = 0; i < WORDS; i++)
        TEST_CHECK(in[i] == previous() * WORDS + i, "message on a freed communicator is damaged");
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Comm leaked;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    for (int i = 0; i < REPEATS; i++) {
        mix(MPI_COMM_WORLD, 1 + i % WINDOW, (uint32_t)i + 1);
        freed_with_work(i % 2 == 0);
    }
    /* A nonblocking barrier that comes first on its communicator. */
    MPI_Comm_dup(MPI_COMM_WORLD, &leaked);
    mix(leaked, WINDOW, 100);
    for (int i = 0; i < LEAKED; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &leaked);
        MPI_Barrier(leaked);
        MPI_Comm_split(leaked, test_rank % 2, 0, &leaked);
        MPI_Barrier(leaked);
    }
    return test_end();
}
