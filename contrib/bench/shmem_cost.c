/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barriers of OpenSHMEM among all PEs, and what of their time is the quiet that comes before
 * them: shmem_quiet alone, with nothing to complete, in the same program by turns.
 *
 *   shmem_cost     PE 0 prints "shmem BARRIER_ALL SYNC_ALL QUIET", medians in ns
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCHES  51    /* of each; odd, so that the median is one of them */
#define BATCH_NS 2.5e6 /* about as long as one is to take */
#define FIRST    1000  /* the first barriers agree on the path; the rest warms caches up */

enum { BARRIER_ALL, SYNC_ALL, QUIET, CALLS };
static void (*const calls[CALLS])(void) = {shmem_barrier_all, shmem_sync_all, shmem_quiet};

static long counts[CALLS]; /* of a batch; symmetric: PE 0 decides for all */

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns for one call. */
static double batch(int call, long count)
{
    double began = now_ns();

    for (long i = 0; i < count; i++)
        calls[call]();
    return (now_ns() - began) / (double)count;
}

static void counts_choose(void)
{
    long mine[CALLS];

    for (int call = 0; call < CALLS; call++) {
        (void)batch(call, FIRST);
        mine[call] = (long)(BATCH_NS / batch(call, FIRST)) + 1;
    }
    shmem_barrier_all();
    for (int pe = 0; shmem_my_pe() == 0 && pe < shmem_n_pes(); pe++)
        shmem_long_put(counts, mine, CALLS, pe);
    shmem_barrier_all();
}

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

int main(void)
{
    static double ns[CALLS][BATCHES];

    shmem_init();
    counts_choose();
    for (int i = 0; i < BATCHES; i++) {
        for (int call = 0; call < CALLS; call++) {
            shmem_barrier_all(); /* together: a quiet ends at another time on each PE */
            ns[call][i] = batch(call, counts[call]);
        }
    }
    for (int call = 0; call < CALLS; call++)
        qsort(ns[call], BATCHES, sizeof ns[call][0], ascending);
    if (shmem_my_pe() == 0)
        printf("shmem %.1f %.1f %.1f\n", ns[BARRIER_ALL][BATCHES / 2], ns[SYNC_ALL][BATCHES / 2],
               ns[QUIET][BATCHES / 2]);
    shmem_finalize();
    return 0;
}
