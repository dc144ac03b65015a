/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor of a barrier of more processes than cores, in MPI processes: the bare loop of a central
 * counter with sched_yield, as in shm_floor, but by ranks that have called MPI_Init. What it takes
 * longer than in shm_floor is what the switch between two large processes costs: those of shm_floor
 * are forks of one small one and share most of their pages, so the caches hold all of them at once.
 *
 *   mpirun -np N mpi_floor     prints "latency NS", the median of batches
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/order.h"

#define BATCHES 51 /* odd, so that the median is one of them */

static const char usage[] = "usage: mpirun -np N mpi_floor\n"
                            "Prints the median time of a barrier by a central counter and "
                            "sched_yield among MPI processes, in ns.\n";

struct counter {
    _Alignas(128) gba_word_t arrived;
    _Alignas(128) gba_word_t release;
};

static uint64_t round_now;

static double time_batch(struct counter *counter, uint64_t size, int barriers)
{
    const double begin = MPI_Wtime();

    for (int i = 0; i < barriers; i++) {
        round_now++;
        if (gba_word_add_acq_rel(&counter->arrived, 1) + 1 == round_now * size)
            gba_word_store_release(&counter->release, round_now);
        else
            while (gba_word_load_acquire(&counter->release) < round_now)
                sched_yield();
    }
    return (MPI_Wtime() - begin) / barriers;
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

int main(int argc, char **argv)
{
    struct counter *counter;
    double batch[BATCHES];
    MPI_Aint bytes;
    MPI_Win window;
    int rank, size, unit, barriers;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate_shared(rank == 0 ? 4096 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                            &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &counter);
    if (rank == 0) {
        gba_word_store_relaxed(&counter->arrived, 0);
        gba_word_store_relaxed(&counter->release, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    barriers = (int)(0.005 / time_batch(counter, (uint64_t)size, 1000)) + 1; /* about 5 ms */
    MPI_Bcast(&barriers, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BATCHES; i++)
        batch[i] = time_batch(counter, (uint64_t)size, barriers);
    qsort(batch, BATCHES, sizeof batch[0], compare);
    if (rank == 0)
        printf("latency %.0f\n", batch[BATCHES / 2] * 1e9);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
