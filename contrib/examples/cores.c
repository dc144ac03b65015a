/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers of all OpenMP threads of all ranks, verified, and their time beside the usual three. */
#include <gba/gba.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static gba_status_t barrier_of_ranks(void *comm)
{
    return MPI_Barrier(*(MPI_Comm *)comm) == MPI_SUCCESS ? GBA_OK : GBA_ERR_OOB;
}

int main(int argc, char **argv)
{
    const long threads = argc > 1 ? atol(argv[1]) : omp_get_max_threads();
    const long rounds = argc > 2 ? atol(argv[2]) : 1000;
    double took[2] = {0, 0}, us = 1e6 / (double)(rounds * threads); /* mean of the threads */
    MPI_Comm all = MPI_COMM_WORLD, host; /* the proof sees the ranks of a host */
    gba_cores_attr_t attr = {.barrier = barrier_of_ranks, .ctx = &all};
    long early = 0, *entry; /* the round that each thread has entered */
    gba_cores_t *cores;
    MPI_Win win;
    int rank, ranks;

    if (threads < 1 || rounds < 1)
        return puts("usage: mpirun -np 2 cores [THREADS [ROUNDS]], numbers from 1") < 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &(int){0});
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank);
    MPI_Comm_size(host, &ranks);
    MPI_Win_allocate_shared(threads * (MPI_Aint)sizeof(long), 1, MPI_INFO_NULL, host, &entry, &win);
    MPI_Win_shared_query(win, 0, &(MPI_Aint){0}, &(int){0}, &entry); /* one array */
    attr.cpus = (uint32_t)(1 + (omp_get_num_procs() - 1) / ranks);
    if (gba_cores_create((uint32_t)threads, NULL, &attr, &cores) != GBA_OK)
        MPI_Abort(all, 2);
#pragma omp parallel num_threads(threads) reduction(+ : early, took)
    for (long round = 1, me = omp_get_thread_num(); round <= 2 * rounds; round++) {
        took[round % 2] -= omp_get_wtime();
        __atomic_store_n(&entry[rank * threads + me], round, __ATOMIC_RELAXED);
        if (round % 2 == 0) {
            early += gba_cores_barrier(cores, (uint32_t)me) != GBA_OK;
        } else {
#pragma omp barrier
            if (me == 0)
                MPI_Barrier(all);
#pragma omp barrier
        }
        took[round % 2] += omp_get_wtime();
        for (long t = 0; t < ranks * threads; t++)
            early += __atomic_load_n(&entry[t], __ATOMIC_RELAXED) < round;
    }
    gba_cores_destroy(cores);
    if (rank == 0 || early > 0)
        printf("%s: %d ranks of %ld threads; gba_cores %.2f us, omp + MPI_Barrier + omp %.2f us\n",
               early > 0 ? "LEFT EARLY" : "verified", ranks, threads, took[0] * us, took[1] * us);
    MPI_Win_free(&win);
    MPI_Finalize();
    return early > 0;
}
