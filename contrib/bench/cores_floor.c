/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cores_floor [THREADS [PAIRS [BARRIERS]]]
 *
 * Barriers of the threads of a process against their floor: a counter and a release word, with
 * sched_yield if there are more threads than CPUs. The two are interleaved, and each pair gives one
 * ratio.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/base/order.h"
#include "gba/gba.h"

#define THREADS_MAX 64u
#define PAIRS_MAX   99u

static struct {
    _Alignas(128) gba_word_t arrived;
    _Alignas(128) gba_word_t release;
} line;
static gba_cores_t *cores;
static uint32_t threads = 2, pairs = 9, barriers = 100000;
static long cpus;
static double took[2][PAIRS_MAX]; /* by core 0: ns for a barrier of the floor, and of gba_cores */

static void floor_barrier(uint64_t round)
{
    if (gba_word_add_acq_rel(&line.arrived, 1) + 1 == round * threads) {
        gba_word_store_release(&line.release, round);
        return;
    }
    while (gba_word_load_acquire(&line.release) < round) {
        if ((long)threads > cpus)
            sched_yield();
        else
            gba_cpu_pause();
    }
}

static void *run(void *arg)
{
    const uint32_t core = (uint32_t)(uintptr_t)arg;
    uint64_t round = 0;

    for (uint32_t batch = 0; batch < 2 * pairs; batch++) {
        uint64_t began;

        floor_barrier(++round);
        (void)gba_cores_barrier(cores, core);
        began = gba_clock_ns();
        for (uint32_t i = 0; i < barriers; i++)
            if (0 == batch % 2)
                floor_barrier(++round);
            else if (GBA_OK != gba_cores_barrier(cores, core))
                exit(1);
        if (0 == core)
            took[batch % 2][batch / 2] = (double)(gba_clock_ns() - began) / barriers;
    }
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    uint32_t *const numbers[] = {&threads, &pairs, &barriers};
    pthread_t thread[THREADS_MAX];
    double ratio[PAIRS_MAX];

    if (argc > 1 && 0 == strcmp(argv[1], "--help"))
        return puts("usage: cores_floor [THREADS [PAIRS [BARRIERS]]]") < 0;
    for (int i = 1; i < argc && i <= 3; i++)
        *numbers[i - 1] = (uint32_t)strtoul(argv[i], NULL, 10);
    if (threads < 1 || threads > THREADS_MAX || pairs < 1 || pairs > PAIRS_MAX || barriers < 1) {
        fprintf(stderr, "cores_floor: at most %u threads, %u pairs\n", THREADS_MAX, PAIRS_MAX);
        return 2;
    }
    cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (GBA_OK != gba_cores_create(threads, NULL, NULL, &cores))
        return 1;
    for (uintptr_t i = 0; i < threads; i++)
        if (0 != pthread_create(&thread[i], NULL, run, (void *)i))
            return 1;
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (uint32_t i = 0; i < pairs; i++)
        ratio[i] = took[1][i] / took[0][i];
    for (int i = 0; i < 3; i++)
        qsort(i < 2 ? took[i] : ratio, pairs, sizeof(double), ascending);
    printf("%u threads: floor %.1f (%.1f) ns, gba_cores %.1f (%.1f) ns; median (least) of %u "
           "pairs; ratio %.2f (%.2f)\n",
           threads, took[0][pairs / 2], took[0][0], took[1][pairs / 2], took[1][0], pairs,
           ratio[pairs / 2], ratio[0]);
    return 0;
}
