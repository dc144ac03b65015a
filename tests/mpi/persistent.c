/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent barriers: several at once, started in a different order on each rank, among blocking
 * and nonblocking ones; freed while inactive, in a different order on each rank; more than a device
 * has groups; and those whose communicator is freed. "persistent kept" leaves out the last kind,
 * which libnbc does not support.
 */
#include "tests/mpi/test.h"

#include <stdio.h>
#include <string.h>

#define WINDOW 6   /* persistent barriers at once */
#define ROUNDS 40  /* of each of them */
#define CHURN  100 /* initialized one after the other: more than 32 groups */
#define FIRST  8   /* proof slots from here on */

static uint64_t mine; /* random numbers of this rank */

struct window {
    struct test_proof proofs[WINDOW];
    MPI_Request requests[WINDOW];
};

static void window_begin(struct window *window, MPI_Comm comm, uint32_t id)
{
    for (int i = 0; i < WINDOW; i++) {
        test_proof_begin(&window->proofs[i], comm, "a persistent barrier", FIRST + i,
                         id + (uint32_t)i);
        TEST_CHECK(test_barrier_init(comm, &window->requests[i]), "MPI_Barrier_init failed");
    }
}

/* Each one of the window once, in this rank's own order. */
static void window_round(struct window *window, int round)
{
    int order[WINDOW];
    MPI_Request once;

    test_shuffle(order, WINDOW, &mine);
    for (int i = 0; i < WINDOW; i++)
        test_proof_enter(&window->proofs[i]);
    if (round % 3 == 0)
        MPI_Startall(WINDOW, window->requests);
    for (int i = 0; i < WINDOW && round % 3 != 0; i++)
        MPI_Start(&window->requests[order[i]]);
    if (round % 2 == 0)
        MPI_Ibarrier(window->proofs[0].comm, &once);
    if (round % 4 == 0)
        MPI_Barrier(window->proofs[0].comm);
    test_shuffle(order, WINDOW, &mine);
    for (int i = 0; i < WINDOW && round % 5 != 0; i++) {
        MPI_Wait(&window->requests[order[i]], MPI_STATUS_IGNORE);
        test_proof_look(&window->proofs[order[i]], window->proofs[order[i]].round, 1);
    }
    if (round % 5 == 0)
        MPI_Waitall(WINDOW, window->requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < WINDOW; i++) {
        test_proof_look(&window->proofs[i], window->proofs[i].round, 1);
        TEST_CHECK(window->requests[i] != MPI_REQUEST_NULL, "a persistent request became null");
    }
    if (round % 2 == 0)
        MPI_Wait(&once, MPI_STATUS_IGNORE);
}

static void window_end(struct window *window)
{
    int order[WINDOW];

    test_shuffle(order, WINDOW, &mine);
    for (int i = 0; i < WINDOW; i++) {
        MPI_Request_free(&window->requests[order[i]]);
        TEST_CHECK(window->requests[order[i]] == MPI_REQUEST_NULL, "a request outlived its end");
    }
    for (int i = 0; i < WINDOW; i++)
        test_proof_end(&window->proofs[i]);
}

static void several(MPI_Comm comm, uint32_t id)
{
    struct window window;

    window_begin(&window, comm, id);
    for (int i = 0; i < ROUNDS; i++)
        window_round(&window, i);
    window_end(&window);
}

static void one_after_the_other(void)
{
    struct test_proof proof;
    MPI_Request request;

    for (int i = 0; i < CHURN; i++) {
        test_proof_begin(&proof, MPI_COMM_WORLD, "one of many", FIRST, 2000 + (uint32_t)i);
        test_barrier_init(MPI_COMM_WORLD, &request);
        /* Freed without ever having been started, some of them. */
        for (int round = 0; round < i % 4; round++)
            test_proof_start(&proof, &request);
        MPI_Request_free(&request);
        test_proof_end(&proof);
    }
}

/* MPI_Comm_free only marks the communicator, as long as a reference exists. */
static void communicator_gone(void)
{
    struct test_proof proof;
    MPI_Request request;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    test_proof_begin(&proof, MPI_COMM_WORLD, "its communicator freed", FIRST, 3000);
    test_barrier_init(comm, &request);
    test_proof_enter(&proof);
    MPI_Start(&request);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    test_proof_look(&proof, proof.round, 1);
    MPI_Request_free(&request);
    test_proof_end(&proof);
}

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Comm pair;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    mine = test_seed(1 + (uint64_t)test_rank);
    if (!test_barrier_init(MPI_COMM_WORLD, &request)) {
        if (test_rank == 0)
            puts("skipped: this Open MPI has no persistent barriers");
        return test_end();
    }
    test_step("several persistent barriers");
    several(MPI_COMM_WORLD, 1000);
    test_step("persistent barriers of halves");
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, -test_rank, &pair);
    several(pair, 4000);
    MPI_Comm_free(&pair);
    test_step("one persistent barrier after the other");
    one_after_the_other();
    if (argc < 2 || strcmp(argv[1], "kept") != 0) {
        test_step("a persistent barrier without a communicator");
        communicator_gone();
    }
    MPI_Request_free(&request);
    return test_end();
}
