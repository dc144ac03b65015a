/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that waits in MPI_Barrier progresses all other work: each of these tests ends only if the
 * rank that is in the barrier already does its part there.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/limit.h"
#include "tests/mpi/test.h"

#define WORDS     (2 * 1024 * 1024) /* 8 MiB: a rendezvous on every transport */
#define REPEATS   10
#define HEADSTART 1000 /* microseconds: the other rank is in the barrier by then */

#define CHAIN         20000 /* messages */
#define CHAIN_SECONDS 20

static int *data;

static void fill(int value)
{
    for (int i = 0; i < WORDS; i++)
        data[i] = value;
}

static void look(int value)
{
    for (int i = 0; i < WORDS; i++)
        TEST_CHECK(data[i] == value, "word %d is %d, not %d", i, data[i], value);
}

/* The sender waits in the barrier while the receiver needs the rest of its message. */
static void sender_waits(int value)
{
    MPI_Request request = MPI_REQUEST_NULL;

    test_step("a message whose sender waits in the barrier");
    fill(test_rank == 0 ? value : 0);
    if (test_rank == 0) {
        MPI_Isend(data, WORDS, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    } else if (test_rank == 1) {
        usleep(HEADSTART);
        MPI_Recv(data, WORDS, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        look(value);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The receiver waits in the barrier while the sender cannot end its MPI_Ssend. */
static void receiver_waits(int value)
{
    MPI_Request request = MPI_REQUEST_NULL;

    test_step("a message whose receiver waits in the barrier");
    fill(test_rank == 0 ? value : 0);
    if (test_rank == 1) {
        MPI_Irecv(data, WORDS, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
    } else if (test_rank == 0) {
        usleep(HEADSTART);
        MPI_Ssend(data, WORDS, MPI_INT, 1, 2, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (test_rank == 1)
        look(value);
}

/* Rank 0 has joined a nonblocking allreduce that the others need the result of. */
static void collective_waits(int value)
{
    int mine = value + test_rank, sum = 0, expected = 0;
    MPI_Request request;

    test_step("a nonblocking collective whose member waits in the barrier");
    if (test_rank != 0)
        usleep(HEADSTART);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (test_rank != 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < test_size; i++)
        expected += value + i;
    TEST_CHECK(sum == expected, "the sum is %d, not %d", sum, expected);
}

/* Rank 1 puts into the memory of rank 0, and reads it back, while that waits in the barrier. */
static void target_waits(int value)
{
    int *memory, back = 0;
    MPI_Win window;

    test_step("one-sided access to a rank that waits in the barrier");
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    if (test_rank == 1) {
        usleep(HEADSTART);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        MPI_Get(&back, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
        TEST_CHECK(back == value, "read back %d, not %d", back, value);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
}

/*
 * Rank 1 is in the barrier for longer than the time after which it would sleep. Rank 0 sends one
 * message after the other, each of which needs an answer of rank 1. A rank that looks for messages
 * now and then only needs 40 seconds for them; Open MPI's barrier takes 10 ms on one host.
 */
static void chain_waits(void)
{
    static MPI_Request requests[CHAIN];
    static int numbers[CHAIN];
    double began;

    test_step("a chain of messages to a rank that waits in the barrier");
    for (int i = 0; i < CHAIN && test_rank == 1; i++)
        MPI_Irecv(&numbers[i], 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[i]);
    if (test_rank == 0) {
        sleep(2);
        began = MPI_Wtime();
        for (int i = 0; i < CHAIN; i++)
            MPI_Ssend(&i, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        TEST_CHECK(MPI_Wtime() - began < test_limit(CHAIN_SECONDS), "took %.1f s",
                   MPI_Wtime() - began);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 1)
        MPI_Waitall(CHAIN, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < CHAIN && test_rank == 1; i++)
        TEST_CHECK(numbers[i] == i, "message %d has %d", i, numbers[i]);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    data = malloc(WORDS * sizeof data[0]);
    TEST_CHECK(data != NULL && test_size >= 2, "needs memory and 2 ranks");
    MPI_Barrier(
        MPI_COMM_WORLD); /* the first barrier agrees on a path, and is not a part of this test */
    for (int i = 1; i <= REPEATS; i++) {
        sender_waits(i);
        receiver_waits(-i);
        collective_waits(i);
        target_waits(i);
    }
    chain_waits();
    free(data);
    return test_end();
}
