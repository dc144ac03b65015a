/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank leaves a barrier only when its own signals have left the rank: whatever it does next, it
 * delays no other rank.
 *
 *   queued DIRECTORY [MODE]
 *
 * Rank 0 posts more data to rank 1 than the connection takes, so its signal waits behind that data.
 * Rank 1 reads nothing before all of it is posted. When rank 0 has left the barrier it calls no
 * function of MPI until every other rank has left, too. The ranks inform each other by files in
 * DIRECTORY, which all of them share. So the test depends on no delay: if a signal is still queued,
 * rank 0 waits until the watchdog ends the job.
 *
 * MODE 1, the default: MPI_Barrier. 2: MPI_Ibarrier and MPI_Wait. 3: the same after the death of
 * the device, in a communicator that makes nonblocking barriers only. 4: MPI_Barrier after
 * nonblocking barriers that detect the death of the device, and before an agreement.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/mpi/test.h"

/* Together 64 MiB; the buffers of a TCP connection grow to some 10 MiB. Eager: ob1 keeps a copy of
 * each message or a reference to it until the connection takes it. */
#define MESSAGES 2048
#define BYTES    32768

/* Nonblocking barriers in mode 3 from the first one on: more than the device completes, and those
 * that detect its death. */
#define BARRIERS 20

/* The same in mode 4. The device completes five rounds with `die_after=5`, and after two more all
 * members know that they leave it. */
#define DETECTED 6

static const char *directory;

static void file_name(char *name, size_t len, const char *what, int rank)
{
    snprintf(name, len, "%s/queued-%s-%d", directory, what, rank);
}

static void file_make(const char *what)
{
    char name[512];
    FILE *file;

    file_name(name, sizeof name, what, test_rank);
    file = fopen(name, "w");
    TEST_CHECK(file != NULL, "cannot make %s", name);
    fclose(file);
}

/* Without a call of MPI. */
static void file_await(const char *what, int rank)
{
    char name[512];

    file_name(name, sizeof name, what, rank);
    while (access(name, F_OK) != 0)
        usleep(1000);
}

static void barrier(int mode)
{
    MPI_Request request;

    if (mode == 1 || mode == 4) {
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void sender(int mode)
{
    static char data[BYTES];
    static MPI_Request requests[MESSAGES];

    test_step("posting");
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
    file_make("posted");
    test_step("the barrier, as the sender");
    barrier(mode);
    test_step("waiting outside MPI until all have left the barrier");
    for (int rank = 1; rank < test_size; rank++)
        file_await("left", rank);
    test_step("the end of the sends");
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

static void receiver(int mode)
{
    static char data[BYTES];

    test_step("waiting for the sender");
    file_await("posted", 0);
    test_step("the barrier");
    barrier(mode);
    file_make("left");
    test_step("the receives");
    for (int i = 0; test_rank == 1 && i < MESSAGES; i++)
        MPI_Recv(data, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int mode = (int)test_argument(argc, argv, 2, 1);

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    TEST_CHECK(argc > 1, "no directory");
    directory = argv[1];
    MPI_Barrier(MPI_COMM_WORLD); /* the ranks agree on a path, and connect */
    for (int i = 0; i < (mode == 4 ? DETECTED : BARRIERS); i++)
        barrier(mode == 4 ? 3 : mode);
    if (test_rank == 0)
        sender(mode);
    else
        receiver(mode);
    return test_end();
}
