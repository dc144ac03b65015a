/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba_perf_shmem: the barriers of OpenSHMEM among all PEs. Open MPI completes the puts of a PE
 * before each barrier (shmem_quiet). `quiet` measures that part alone, with no put to complete.
 * `sync` is shmem_sync on the active set of all PEs.
 */
#include <shmem.h>

#include "contrib/perf/measure.h"

const char perf_program[] = "gba_perf_shmem";

static long work[2][SHMEM_BARRIER_SYNC_SIZE]; /* symmetric, used alternately */
static unsigned int turn;

void perf_init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    shmem_init();
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        work[0][i] = work[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
}

void perf_fini(void)
{
    shmem_finalize();
}

static void sync_set(void)
{
    shmem_sync(0, 0, perf_job.size, work[turn++ % 2]);
}

static void atomic(const struct perf_service *service)
{
    static long word; /* symmetric */

    (void)service;
    (void)shmem_long_fadd(&word, 1, perf_job.size - 1);
}

static const struct perf_service services[] = {{.name = "served_atomic", .run = atomic},
                                               {.name = NULL}};

const struct perf_call perf_calls[] = {
    {.name = "barrier_all", .run = shmem_barrier_all},
    {.name = "sync_all", .run = shmem_sync_all},
    {.name = "sync", .run = sync_set},
    {.name = "quiet", .run = shmem_quiet, .no_floor = true},
    {.name = "served", .services = services},
    {.name = NULL},
};
