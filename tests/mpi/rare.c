/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that call MPI rarely: what a rank owes the others is done in few calls, however much time
 * is between them. The ranks take turns: a turn ends when all ranks have called MPI_Test, and
 * between two turns passes more time than any that the component waits for.
 *
 *   rare MODE CALLS [ROUNDS]
 *
 * 1: ROUNDS nonblocking barriers of a communicator, in the first of which the ranks agree on a path
 *    (agree_after=0); each is complete on all ranks after at most CALLS turns
 * 2: as 1, but the ranks have agreed before
 * 3: a device that dies after ROUNDS barriers and releases only rank 0
 *    (die_after=ROUNDS&die_release=1), which then tests a receive; all other ranks leave the
 *    barrier within CALLS turns
 */
#include "tests/mpi/test.h"

#include <stdio.h>
#include <time.h>

/* ns. More than the longest pause between two readings of the registers with retry_after=1. */
#define PAUSE 20000000

static struct test_proof turns;
static long most; /* calls that a request needed */

/* Test the request in `calls` turns. Returns whether it is complete. */
static bool complete(MPI_Request *request, long calls)
{
    const struct timespec pause = {.tv_nsec = PAUSE};
    int done = 0;

    for (long i = 0; i < calls; i++) {
        test_proof_enter(&turns);
        test_proof_await(&turns, turns.round);
        nanosleep(&pause, NULL);
        if (done)
            continue;
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        most = i + 1 > most ? i + 1 : most;
    }
    return done;
}

static void barriers(bool agreed, long calls, long rounds)
{
    MPI_Request request;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (agreed)
        MPI_Barrier(comm);
    for (long i = 0; i < rounds; i++) {
        test_step("a nonblocking barrier that is tested rarely");
        MPI_Ibarrier(comm, &request);
        TEST_CHECK(complete(&request, calls), "rank %d: barrier %ld is incomplete after %ld calls",
                   test_rank, i + 1, calls);
    }
    MPI_Comm_free(&comm);
}

static void answer(long calls, long rounds)
{
    MPI_Request request;
    int token = 0;

    for (long i = 0; i < rounds; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    test_step("the barrier in which the device dies");
    if (test_rank != 0)
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    test_proof_enter(&turns);
    test_proof_await(&turns, turns.round);
    if (test_rank == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Irecv(&token, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    }
    test_step("a released rank that tests rarely");
    TEST_CHECK(complete(&request, calls) || test_rank == 0,
               "rank %d is in the barrier after %ld calls of the released rank", test_rank, calls);
    if (test_rank == 1)
        MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (test_rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    long mode, calls, rounds;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    mode = test_argument(argc, argv, 1, 1);
    calls = test_argument(argc, argv, 2, 1);
    rounds = test_argument(argc, argv, 3, 1);
    test_proof_begin(&turns, MPI_COMM_WORLD, "turns", 0, 1);
    if (mode == 3)
        answer(calls, rounds);
    else
        barriers(mode == 2, calls, rounds);
    if (mode != 3 || test_rank != 0)
        printf("rank %d: %ld calls at most\n", test_rank, most);
    test_proof_end(&turns);
    return test_end();
}
