/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a plugin costs those who never use it: the life of a process and of communicators.
 *
 *   lifecycle_cost life           MPI_Init and MPI_Finalize, with nothing between them. Each rank
 *                                 prints "life INIT FINALIZE BOTH CPU" in us: from before the first
 *                                 to after the second by CLOCK_MONOTONIC, and the processor time
 *                                 of the process until then
 *   lifecycle_cost dups [COUNT]   rank 0 prints "dups PLAIN BARRIER" in ns: the median time of
 *                                 MPI_Comm_dup + MPI_Comm_free, and with an MPI_Barrier between
 *                                 them; COUNT communicators of each kind
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define BATCH       20 /* communicators: a batch is shorter than a turn of the scheduler */
#define COUNT       2000
#define BATCHES_MAX 5000

static const char usage[] =
    "usage: mpirun -np N lifecycle_cost life\n"
    "       mpirun -np N lifecycle_cost dups [COUNT]\n"
    "life: each rank prints the times of MPI_Init and MPI_Finalize, in us.\n"
    "dups: rank 0 prints the median time of MPI_Comm_dup + MPI_Comm_free, without and with a "
    "barrier, in ns,\n"
    "      of COUNT communicators of each kind, 1 to 100000 (2000).\n";

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double cpu_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static void life(int *argc, char ***argv)
{
    double began = now_us(), inited, over;

    MPI_Init(argc, argv);
    inited = now_us();
    MPI_Finalize();
    over = now_us();
    printf("life %.1f %.1f %.1f %.1f\n", inited - began, over - inited, over - began, cpu_us());
}

/* ns for one communicator. MPI_Comm_dup is collective, so the ranks begin together. */
static double dups_batch(bool barrier)
{
    double began = now_us();
    MPI_Comm comm;

    for (int i = 0; i < BATCH; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (barrier)
            MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    return (now_us() - began) * 1e3 / BATCH;
}

static void dups(long count)
{
    static double plain[BATCHES_MAX], barrier[BATCHES_MAX];
    long batches = (count + BATCH - 1) / BATCH;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)dups_batch(false); /* connections, caches */
    for (long i = 0; i < batches; i++)
        plain[i] = dups_batch(false);
    /* Not by turns: what a barrier leaves in the caches is not to be paid for by those without. */
    for (long i = 0; i < batches; i++)
        barrier[i] = dups_batch(true);
    qsort(plain, (size_t)batches, sizeof plain[0], ascending);
    qsort(barrier, (size_t)batches, sizeof barrier[0], ascending);
    if (rank == 0)
        printf("dups %.0f %.0f\n", plain[batches / 2], barrier[batches / 2]);
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : COUNT;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    if (argc > 1 && strcmp(argv[1], "life") == 0) {
        life(&argc, &argv);
        return 0;
    }
    if (argc < 2 || strcmp(argv[1], "dups") != 0 || count < 1 || count > BATCHES_MAX * BATCH) {
        fputs(usage, stderr);
        return 2;
    }
    MPI_Init(&argc, &argv);
    dups(count);
    MPI_Finalize();
    return 0;
}
