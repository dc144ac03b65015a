/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No thread of any PE leaves a barrier of all threads of all PEs early: gba_cores, with
 * shmem_barrier_all as the barrier of the processes.
 *
 *   cores [THREADS [ROUNDS [LATE]]]
 *
 * Core 1 of PE 1 arrives LATE seconds late at the last round.
 */
#include <pthread.h>
#include <shmem.h>
#include <unistd.h>

#include "gba/gba.h"
#include "tests/shmem/test.h"

#define THREADS 16

static long entered[TEST_PES_MAX][THREADS]; /* symmetric */
static long mine[THREADS];
static long threads, rounds, late;
static gba_cores_t *cores;

/* What the cores of this PE have entered goes to all PEs. */
static gba_status_t barrier_of_pes(void *ctx)
{
    (void)ctx;
    for (int pe = 0; pe < test_pes; pe++)
        shmem_putmem(entered[test_me], mine, sizeof mine, pe);
    shmem_barrier_all();
    return GBA_OK;
}

static void *run(void *arg)
{
    const long core = (long)arg;

    for (long round = 1; round <= rounds; round++) {
        if (late > 0 && round == rounds && test_me == 1 && core == 1)
            sleep((unsigned)late);
        mine[core] = round;
        TEST_CHECK(gba_cores_barrier(cores, (uint32_t)core) == GBA_OK, "PE %d, core %ld", test_me,
                   core);
        /* The next round's puts may already be here. */
        for (int pe = 0; pe < test_pes; pe++)
            for (long c = 0; c < threads; c++)
                TEST_CHECK(__atomic_load_n(&entered[pe][c], __ATOMIC_RELAXED) >= round,
                           "PE %d, core %ld left round %ld before PE %d, core %ld had entered",
                           test_me, core, round, pe, c);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const gba_cores_attr_t attr = {.cpus = 1, .barrier = barrier_of_pes};
    pthread_t thread[THREADS] = {0};

    test_begin_threads("cores");
    threads = test_argument(argc, argv, 1, 3);
    rounds = test_argument(argc, argv, 2, 100);
    late = argc > 3 ? test_argument(argc, argv, 3, 1) : 0;
    TEST_CHECK(threads <= THREADS, "at most %d threads", THREADS);
    TEST_CHECK(gba_cores_create((uint32_t)threads, NULL, &attr, &cores) == GBA_OK, "no cores");
    for (long c = 1; c < threads; c++)
        TEST_CHECK(pthread_create(&thread[c], NULL, run, (void *)c) == 0, "no thread");
    run((void *)0);
    for (long c = 1; c < threads; c++)
        pthread_join(thread[c], NULL);
    gba_cores_destroy(cores);
    return test_end();
}
