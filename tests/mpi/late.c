/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For gba_perf, 4 ranks: 10 barriers into which rank 1 is late, 3 nonblocking ones, 5 of each of
 * two halves, and as many of duplicates of the halves.
 */
#include <time.h>

#include "tests/mpi/test.h"

/* Rank 1 enters 50 ms after the last of the others has got here. */
static void come_late(void)
{
    const struct timespec pause = {.tv_nsec = 50000000};

    if (test_rank != 1) {
        MPI_Send(&test_rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < test_size; i++)
        MPI_Recv(&(int){0}, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm half, copy;
    MPI_Request request;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank / 2, 0, &half);
    MPI_Comm_set_name(half, "a half");
    for (int i = 0; i < 10; i++) {
        come_late();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 5; i++) {
        MPI_Barrier(half);
        MPI_Comm_dup(half, &copy);
        MPI_Barrier(copy);
        MPI_Comm_free(&copy);
    }
    MPI_Comm_free(&half);
    return test_end();
}
