/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of the cores of a process for ThreadSanitizer, alone and with a barrier of processes by
 * core 0. Each core writes a plain word before a barrier and reads the words of all cores after it,
 * as in test_algo_tsan.c. Exit status 0: no error; 66: the sanitizer found a data race.
 */
#include "gba/cores.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "gba/team/barrier.h"
#include "gba/team/watchdog.h"

#define CORES  4u
#define ROUNDS 1000u

static uint64_t data[2][CORES];
static gba_cores_t *cores;
static uint32_t count;
static int wrong[CORES];

static gba_status_t barrier_of_processes(void *ctx)
{
    const uint64_t round = ++*(uint64_t *)ctx;

    for (uint32_t c = 0; c < count; c++)
        wrong[0] |= data[round % 2][c] != round;
    return GBA_OK;
}

gba_status_t gba_params_environment(gba_params_t *params, char *message, size_t len)
{
    (void)params;
    (void)message;
    return 0 == len ? GBA_ERR_PARAM : GBA_OK;
}

/* Of a team, which these cores do not have. */
gba_status_t gba_barrier(gba_team_t *team)
{
    (void)team;
    abort();
}

void gba_barrier_init(struct gba_team *team)
{
    (void)gba_barrier(team);
}

static void *run_core(void *arg)
{
    const uint32_t core = (uint32_t)(uintptr_t)arg;

    for (uint32_t round = 1; round <= ROUNDS; round++) {
        data[round % 2][core] = round;
        wrong[core] |= GBA_OK != gba_cores_barrier(cores, core);
        for (uint32_t c = 0; c < count; c++)
            wrong[core] |= data[round % 2][c] != round;
    }
    return NULL;
}

static int run(bool joined)
{
    uint64_t crossed = 0;
    const gba_cores_attr_t attr = {.cpus = 1, /* yield, for other work */
                                   .barrier = joined ? barrier_of_processes : NULL,
                                   .ctx = &crossed};
    pthread_t threads[CORES] = {0};
    int any = 0;

    if (GBA_OK != gba_cores_create(count, NULL, &attr, &cores))
        abort();
    for (uintptr_t c = 0; c < count; c++)
        if (0 != pthread_create(&threads[c], NULL, run_core, (void *)c))
            abort();
    for (uint32_t c = 0; c < count; c++) {
        pthread_join(threads[c], NULL);
        any |= wrong[c];
    }
    gba_cores_destroy(cores);
    return any;
}

int main(void)
{
    int any = 0;

    for (count = 1; count <= CORES; count++)
        any |= run(false) | run(true);
    puts(any ? "FAILED: left too early" : "all barriers order");
    return any;
}
