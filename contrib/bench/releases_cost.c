/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What contrib/bench/releases compares: the barriers of one component by every call of MPI.
 *
 *   mpirun -np N releases_cost
 *
 * Prints "cost CALL NS" for each: blocking (MPI_Barrier), pure (MPI_Ibarrier and MPI_Wait with
 * nothing between them), overall (the same, with a computation of the length of pure between them),
 * persistent (MPI_Start and MPI_Wait of MPI_Barrier_init; Open MPI 4.1: MPIX_Barrier_init). Each is
 * the median of short batches of the slowest rank.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES  21  /* odd, so that the median is one of them */
#define BATCH_NS 2e6 /* the length of a batch */
#define FIRST    500 /* barriers before the first batch: agreement, caches */
#define MOST     20000
#define CALIBRES 5000000

static const char usage[] = "usage: mpirun -np N releases_cost\n"
                            "Prints the median times of blocking, nonblocking and persistent "
                            "barriers, in ns. contrib/bench/releases runs it.\n";

/* One barrier; turns: of the computation in it. */
typedef void barrier_t(MPI_Request *persistent, long turns);

static void compute(long turns)
{
    for (; turns > 0; turns--)
        __asm__ volatile("" ::: "memory");
}

static void blocking(MPI_Request *persistent, long turns)
{
    (void)persistent, (void)turns;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void nonblocking(MPI_Request *persistent, long turns)
{
    MPI_Request request;

    (void)persistent;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    compute(turns);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void started(MPI_Request *persistent, long turns)
{
    (void)turns;
    MPI_Start(persistent);
    MPI_Wait(persistent, MPI_STATUS_IGNORE);
}

static bool persistent_init(MPI_Request *request)
{
#if OMPI_MAJOR_VERSION >= 5
    return MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, request) == MPI_SUCCESS;
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
    return MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, request) == MPI_SUCCESS;
#else
    (void)request;
    return false;
#endif
}

static double slowest(double mine)
{
    double all;

    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* ns of one of so many barriers. */
static double batch(barrier_t *barrier, MPI_Request *request, long turns, int count)
{
    double began;

    (void)slowest(0); /* together */
    began = MPI_Wtime();
    for (int i = 0; i < count; i++)
        barrier(request, turns);
    return slowest((MPI_Wtime() - began) * 1e9 / count);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double measure(const char *call, barrier_t *barrier, MPI_Request *request, long turns)
{
    double times[BATCHES], once;
    int count, rank;

    (void)batch(barrier, request, turns, FIRST);
    once = batch(barrier, request, turns, FIRST);
    count = BATCH_NS / once < MOST ? (int)(BATCH_NS / once) + 1 : MOST;
    for (int i = 0; i < BATCHES; i++)
        times[i] = batch(barrier, request, turns, count);
    qsort(times, BATCHES, sizeof times[0], compare);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("cost %s %.0f\n", call, times[BATCHES / 2]);
    return times[BATCHES / 2];
}

int main(int argc, char **argv)
{
    MPI_Request request;
    double began, turn_ns, pure;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    MPI_Init(&argc, &argv);
    began = MPI_Wtime();
    compute(CALIBRES);
    turn_ns = slowest((MPI_Wtime() - began) * 1e9 / CALIBRES);
    (void)measure("blocking", blocking, NULL, 0);
    pure = measure("pure", nonblocking, NULL, 0);
    (void)measure("overall", nonblocking, NULL, (long)(pure / turn_ns));
    if (persistent_init(&request)) {
        (void)measure("persistent", started, &request, 0);
        MPI_Request_free(&request);
    }
    MPI_Finalize();
    return 0;
}
