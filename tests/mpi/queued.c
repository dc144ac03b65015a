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
#include "tests/mpi/test.h"

/* Together 64 MiB; the buffers of a TCP connection grow to some 10 MiB. Eager: ob1 keeps a copy of
 * each message or a reference to it until the connection takes it. */
#define MESSAGES 2048
#define BYTES    32768

/* Barriers after the first one. In mode 3: more than the device completes, and those that detect
 * its death. With `die_after=21` in modes 1 and 2 the next one is the fatal one, and notifications
 * of the death wait behind the data. */
#define BARRIERS 20

/* The same in mode 4. The device completes five rounds with `die_after=5`, and after two more all
 * members know that they leave it. */
#define DETECTED 6

static const char *directory;

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
    test_file_make(directory, "posted", test_rank);
    test_step("the barrier, as the sender");
    barrier(mode);
    test_step("waiting outside MPI until all have left the barrier");
    for (int rank = 1; rank < test_size; rank++)
        test_file_await(directory, "left", rank);
    test_step("the end of the sends");
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

static void receiver(int mode)
{
    static char data[BYTES];

    test_step("waiting for the sender");
    test_file_await(directory, "posted", 0);
    test_step("the barrier");
    barrier(mode);
    test_file_make(directory, "left", test_rank);
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
    MPI_Barrier(MPI_COMM_WORLD); /* after a death the ranks agree on another path */
    return test_end();
}
