/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers of all OpenMP threads of all ranks, verified, and their time beside the usual three:
 *     mpirun -np 2 cores [THREADS [ROUNDS]] */
#include <gba/gba.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCHES = 6 };

static gba_status_t barrier_of_ranks(void *ctx)
{
    return MPI_Barrier(*(MPI_Comm *)ctx) == MPI_SUCCESS ? GBA_OK : GBA_ERR_OOB;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : omp_get_max_threads();
    long rounds = argc > 2 ? atol(argv[2]) : 1000, early = 0, all_early, *entered;
    MPI_Comm all = MPI_COMM_WORLD, host; /* the proof sees the ranks of a host */
    double least[2] = {1e9, 1e9};
    gba_cores_t *cores;
    MPI_Win window;
    int provided, rank, ranks;

    if (threads < 1 || rounds < 1) {
        puts("usage: cores [THREADS [ROUNDS]], numbers from 1");
        return strcmp(argv[1], "--help") != 0;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank);
    MPI_Comm_size(host, &ranks);
    MPI_Win_allocate_shared((rank == 0 ? ranks * threads : 0) * (MPI_Aint)sizeof(long),
                            sizeof(long), MPI_INFO_NULL, host, &entered, &window);
    MPI_Win_shared_query(window, 0, &(MPI_Aint){0}, &(int){0}, &entered);
    gba_cores_attr_t attr = {.barrier = barrier_of_ranks,
                             .ctx = &all,
                             .cpus = (uint32_t)(sysconf(_SC_NPROCESSORS_ONLN) / ranks)};
    attr.cpus += attr.cpus == 0;
    if (gba_cores_create((uint32_t)threads, NULL, &attr, &cores) != GBA_OK)
        MPI_Abort(all, 2);
#pragma omp parallel num_threads(threads) reduction(+ : early)
    for (long batch = 0, round = 0; batch < BATCHES; batch++) {
        const double begun = MPI_Wtime();
        const int me = omp_get_thread_num();

        for (long i = 0; i < rounds; i++) {
            __atomic_store_n(&entered[rank * threads + me], ++round, __ATOMIC_RELAXED);
            if (batch % 2 == 0) {
                early += gba_cores_barrier(cores, (uint32_t)me) != GBA_OK;
            } else {
#pragma omp barrier
                if (me == 0)
                    MPI_Barrier(all);
#pragma omp barrier
            }
            for (int t = 0; t < ranks * threads; t++)
                early += __atomic_load_n(&entered[t], __ATOMIC_RELAXED) < round;
        }
        if (me == 0 && MPI_Wtime() - begun < least[batch % 2])
            least[batch % 2] = MPI_Wtime() - begun;
    }
    gba_cores_destroy(cores);
    MPI_Allreduce(&early, &all_early, 1, MPI_LONG, MPI_SUM, all);
    if (rank == 0)
        printf("%s: %d ranks of %d threads; gba_cores %.2f us, omp + MPI_Barrier + omp %.2f us\n",
               all_early ? "LEFT EARLY" : "verified", ranks, threads,
               1e6 * least[0] / (double)rounds, 1e6 * least[1] / (double)rounds);
    MPI_Win_free(&window);
    MPI_Comm_free(&host);
    MPI_Finalize();
    return all_early != 0;
}
