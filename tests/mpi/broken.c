/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong barriers and collectives, to show that the tests detect them: preloaded into a test program
 * (LD_PRELOAD), which must then fail. GBA_TEST_BROKEN names the fault:
 *
 *   early      sometimes one rank does not wait in MPI_Barrier
 *   iearly     the same for MPI_Ibarrier
 *   hang       one rank never leaves a barrier
 *   stall      MPI_Barrier on the world waits without any progress of MPI; GBA_TEST_BROKEN_FILE is
 *              a file of 8 zero bytes
 *   values     collectives with a result change its first word on one rank; GBA_TEST_BROKEN_CALL
 *              names the collective, such as MPI_Scan
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gba/base/order.h"

#define EARLY_EVERY 20 /* barriers of this process; the first ones are right */
#define HANG_AT     10

static bool broken(const char *how)
{
    const char *mode = getenv("GBA_TEST_BROKEN");

    return mode != NULL && strcmp(mode, how) == 0;
}

static int world_rank(void)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* A central counter; the waiting rank calls no function of MPI. */
static int barrier_stall(int size)
{
    static gba_word_t *counter;
    static uint64_t goal;

    if (counter == NULL) {
        const char *file = getenv("GBA_TEST_BROKEN_FILE");
        int fd = file == NULL ? -1 : open(file, O_RDWR | O_CLOEXEC);

        counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (counter == MAP_FAILED)
            PMPI_Abort(MPI_COMM_WORLD, 77);
        close(fd);
    }
    goal += (uint64_t)size;
    gba_word_add_relaxed(counter, 1);
    while (gba_word_load_acquire(counter) < goal)
        gba_cpu_pause();
    return MPI_SUCCESS;
}

static bool skips(void)
{
    static gba_word_t barriers;

    return (gba_word_add_relaxed(&barriers, 1) + (uint64_t)world_rank()) % EARLY_EVERY ==
           EARLY_EVERY - 1;
}

int MPI_Barrier(MPI_Comm comm)
{
    static gba_word_t barriers;
    MPI_Request request;
    int size;

    PMPI_Comm_size(comm, &size);
    if (size > 1 && broken("hang") && gba_word_add_relaxed(&barriers, 1) == HANG_AT &&
        world_rank() == 0)
        for (;;)
            pause();
    if (comm == MPI_COMM_WORLD && broken("stall"))
        return barrier_stall(size);
    if (!broken("early"))
        return PMPI_Barrier(comm);
    /* All ranks arrive, because the others would wait forever otherwise; but not all wait. The
     * request leaks: Open MPI does not allow freeing a request of a collective. */
    PMPI_Ibarrier(comm, &request);
    return skips() ? MPI_SUCCESS : PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    int result = PMPI_Ibarrier(comm, request);

    /* A null request is complete. The rest of the barrier progresses by itself. */
    if (broken("iearly") && skips())
        *request = MPI_REQUEST_NULL;
    return result;
}

/* After the call `name`: change its result. */
static int spoil(const char *name, int result, void *buffer)
{
    const char *which = getenv("GBA_TEST_BROKEN_CALL");

    if (broken("values") && which != NULL && strcmp(which, name) == 0 && world_rank() == 1)
        *(int *)buffer ^= 1;
    return result;
}

#define SPOIL(name, parameters, arguments, buffer)              \
    int name parameters                                         \
    {                                                           \
        return spoil(#name, P##name arguments, (void *)buffer); \
    }

SPOIL(MPI_Scan, (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (out, in, n, type, op, comm), in)
SPOIL(MPI_Alltoall,
      (const void *out, int n, MPI_Datatype type, void *in, int in_n, MPI_Datatype in_type,
       MPI_Comm comm),
      (out, n, type, in, in_n, in_type, comm), in)
SPOIL(MPI_Scatter,
      (const void *out, int n, MPI_Datatype type, void *in, int in_n, MPI_Datatype in_type,
       int root, MPI_Comm comm),
      (out, n, type, in, in_n, in_type, root, comm), in)
SPOIL(MPI_Reduce_scatter_block,
      (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (out, in, n, type, op, comm), in)
