/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time from the last rank's arrival at MPI_Barrier until the other ranks, which sleep by then,
 * have left it, and the processor time of a rank that waits. All ranks are on one host, because
 * they compare clocks.
 *
 *   mpirun -np N wakeup [LATE_MS [ROUNDS]]     default: 1300 ms late, 15 rounds
 *
 * With coll_gba_barrier_wait at "auto" ranks sleep after a second, with "sleep" much earlier.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char usage[] = "usage: mpirun -np N wakeup [LATE_MS [ROUNDS]]\n"
                            "Rank 0 comes LATE_MS (1300) late to each of ROUNDS (15) barriers. "
                            "Prints how long the other ranks,\n"
                            "which sleep by then, take to leave, and the processor time of rank 1 "
                            "while it waits. N: at least 2,\n"
                            "all on one host.\n";

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* The processor time of this process. */
static double used_us(void)
{
    struct rusage times;

    getrusage(RUSAGE_SELF, &times);
    return (double)(times.ru_utime.tv_sec + times.ru_stime.tv_sec) * 1e6 +
           (double)(times.ru_utime.tv_usec + times.ru_stime.tv_usec);
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

int main(int argc, char **argv)
{
    int rank, size, late_ms = 1300, rounds = 15, count = 0;
    double *left, *sample, used = 0, waited = 0;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        late_ms = atoi(argv[1]);
    if (argc > 2)
        rounds = atoi(argv[2]);
    left = calloc((size_t)size, sizeof *left);
    sample = calloc((size_t)size * (size_t)(rounds > 0 ? rounds : 1), sizeof *sample);
    if (left == NULL || sample == NULL || size < 2 || late_ms < 1 || rounds < 1) {
        fputs(usage, stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
        free(sample);
        free(left);
        return 2;
    }
    for (int round = 0; round < rounds; round++) {
        double mine, before;

        MPI_Barrier(MPI_COMM_WORLD);
        if (0 == rank)
            usleep(1000 * (unsigned)late_ms);
        before = used_us();
        mine = now_us(); /* of rank 0: when it arrives */
        waited -= mine;
        MPI_Barrier(MPI_COMM_WORLD);
        used += used_us() - before;
        waited += now_us();
        if (0 != rank)
            mine = now_us();
        MPI_Gather(&mine, 1, MPI_DOUBLE, left, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int r = 1; 0 == rank && r < size; r++)
            sample[count++] = left[r] - left[0];
    }
    if (1 == rank)
        MPI_Send((double[]){used, waited}, 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        double rank1[2];

        MPI_Recv(rank1, 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        qsort(sample, (size_t)count, sizeof *sample, compare);
        printf("%d wake-ups: least %.1f us, median %.1f us, most %.1f us\n", count, sample[0],
               sample[count / 2], sample[count - 1]);
        printf("rank 1: %.1f ms of processor time in %.1f s of waiting, %.2f%%\n", rank1[0] / 1e3,
               rank1[1] / 1e6, 100 * rank1[0] / rank1[1]);
    }
    free(left);
    free(sample);
    MPI_Finalize();
    return 0;
}
