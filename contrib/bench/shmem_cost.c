/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barriers of OpenSHMEM among all PEs, and what of their time is the quiet that comes before
 * them: shmem_quiet alone, with nothing to complete, in the same program by turns.
 *
 *   shmem_cost     PE 0 prints "shmem BARRIER_ALL SYNC_ALL QUIET", the medians of its batches in
 *                  ns, and "least ...", the least of them
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCHES 201  /* of each; odd, so that the median is one of them */
#define COUNT   300  /* calls in a batch: of two PEs shorter than a turn of the scheduler */
#define SETTLE  10   /* barriers before a batch: a quiet ends at another time on each PE */
#define FIRST   1000 /* the first barriers agree on the path; the rest warms caches up */

enum { BARRIER_ALL, SYNC_ALL, QUIET, CALLS };
static void (*const calls[CALLS])(void) = {shmem_barrier_all, shmem_sync_all, shmem_quiet};

static const char usage[] = "usage: oshrun -np N shmem_cost\n"
                            "PE 0 prints the median and the least times of shmem_barrier_all, "
                            "shmem_sync_all and shmem_quiet, in ns.\n";

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns for one call. */
static double batch(int call)
{
    double began;

    for (int i = 0; i < SETTLE; i++)
        shmem_barrier_all();
    began = now_ns();
    for (int i = 0; i < COUNT; i++)
        calls[call]();
    return (now_ns() - began) / COUNT;
}

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

int main(int argc, char **argv)
{
    static double ns[CALLS][BATCHES];

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    shmem_init();
    for (int i = 0; i < FIRST; i++)
        shmem_barrier_all();
    for (int i = 0; i < BATCHES; i++)
        for (int call = 0; call < CALLS; call++)
            ns[call][i] = batch(call);
    for (int call = 0; call < CALLS; call++)
        qsort(ns[call], BATCHES, sizeof ns[call][0], ascending);
    if (shmem_my_pe() == 0) {
        printf("shmem %.1f %.1f %.1f\n", ns[BARRIER_ALL][BATCHES / 2], ns[SYNC_ALL][BATCHES / 2],
               ns[QUIET][BATCHES / 2]);
        printf("least %.1f %.1f %.1f\n", ns[BARRIER_ALL][0], ns[SYNC_ALL][0], ns[QUIET][0]);
    }
    shmem_finalize();
    return 0;
}
