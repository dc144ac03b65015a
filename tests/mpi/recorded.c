/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For gba_perf, 3 ranks: what the library in the program has to tell apart, and must not disturb. A
 * receive of any message is pending until the end; communicators have members with and without rank
 * 1; two threads begin theirs in different orders; an intercommunicator.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/mpi/test.h"

static void barriers(MPI_Comm comm, const char *name, int count)
{
    MPI_Comm_set_name(comm, name);
    for (int i = 0; i < count; i++)
        MPI_Barrier(comm);
}

static MPI_Comm copies[2];

/* The barriers of the second copy begin later on even ranks, and earlier on odd ones. */
static void *second(void *argument)
{
    usleep(test_rank % 2 == 0 ? 50000 : 0);
    barriers(copies[1], "b", 20);
    return argument;
}

static void use_threads(void)
{
    pthread_t thread;

    MPI_Comm_dup(MPI_COMM_WORLD, &copies[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[1]);
    if (pthread_create(&thread, NULL, second, NULL) != 0)
        test_fail("no thread");
    usleep(test_rank % 2 == 0 ? 0 : 50000);
    barriers(copies[0], "a", 10);
    pthread_join(thread, NULL);
    MPI_Comm_free(&copies[0]);
    MPI_Comm_free(&copies[1]);
}

int main(int argc, char **argv)
{
    MPI_Comm part, copy, between;
    MPI_Request pending;
    char nothing[256] = "";
    int status;

    test_begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    MPI_Irecv(nothing, sizeof nothing, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &pending);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, test_rank, &part);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    barriers(part, test_rank % 2 == 0 ? "even" : "odd", 1);
    MPI_Barrier(MPI_COMM_WORLD);
    barriers(copy, "copy", 1);
    MPI_Intercomm_create(part, 0, copy, test_rank % 2 == 0 ? 1 : 0, 1, &between);
    barriers(between, "between", 3);
    use_threads();
    MPI_Comm_free(&between);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&part);
    status = test_end();
    for (size_t i = 0; i < sizeof nothing; i++)
        if (nothing[i] != 0) {
            fprintf(stderr, "a message of somebody else was received\n");
            return 1;
        }
    return status;
}
