/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of the cores of two processes, which are threads of this one, for ThreadSanitizer. Each
 * core writes a plain word before a barrier and reads the words of all cores of both processes
 * after it, as in test_algo_tsan.c. Exit status 0: no error; 66: the sanitizer found a data race.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "gba/gba.h"
#include "gba/team/barrier.h"

#define CORES     4u
#define PROCESSES 2u
#define ROUNDS    1000u

static uint64_t data[2][PROCESSES][CORES];
static gba_cores_t *cores[PROCESSES];
static uint32_t count, processes;
static pthread_barrier_t members;
static int wrong[PROCESSES][CORES];

/* cores.c calls these only for a team, or without parameters. */
gba_status_t gba_barrier_wait(gba_team_t *team, void (*progress)(void *), void *arg)
{
    (void)team;
    (void)progress;
    (void)arg;
    abort();
}

gba_status_t gba_barrier_progress(gba_team_t *team)
{
    return gba_barrier_wait(team, NULL, NULL);
}

gba_status_t gba_team_count(gba_team_t *team)
{
    return gba_barrier_wait(team, NULL, NULL);
}

gba_path_t gba_team_path(const gba_team_t *team)
{
    (void)team;
    abort();
}

void gba_barrier_init(struct gba_team *team)
{
    (void)gba_barrier_wait(team, NULL, NULL);
}

void gba_params_default(gba_params_t *params)
{
    (void)params;
    abort();
}

gba_status_t gba_params_environment(gba_params_t *params, char *message, size_t len)
{
    (void)params;
    return gba_barrier_wait(NULL, NULL, message + len);
}

static gba_status_t barrier_of_members(void *ctx)
{
    (void)ctx;
    pthread_barrier_wait(&members);
    return GBA_OK;
}

static void *run_core(void *arg)
{
    const uintptr_t id = (uintptr_t)arg;
    const uint32_t process = (uint32_t)id / CORES, core = (uint32_t)id % CORES;

    for (uint32_t round = 1; round <= ROUNDS; round++) {
        data[round % 2][process][core] = round;
        wrong[process][core] |= GBA_OK != gba_cores_barrier(cores[process], core);
        for (uint32_t p = 0; p < processes; p++)
            for (uint32_t c = 0; c < count; c++)
                wrong[process][core] |= data[round % 2][p][c] != round;
    }
    return NULL;
}

static int run(void)
{
    const gba_params_t params = {.wait = GBA_WAIT_AUTO};
    const gba_cores_attr_t attr = {.params = &params,
                                   .cpus = 1, /* yield: other work uses the machine */
                                   .barrier = processes > 1 ? barrier_of_members : NULL};
    pthread_t threads[PROCESSES][CORES] = {{0}};
    int any = 0;

    for (uintptr_t p = 0; p < processes; p++) {
        if (GBA_OK != gba_cores_create(count, NULL, &attr, &cores[p]))
            abort();
        for (uintptr_t c = 0; c < count; c++)
            if (0 != pthread_create(&threads[p][c], NULL, run_core, (void *)(p * CORES + c)))
                abort();
    }
    for (uint32_t p = 0; p < processes; p++) {
        for (uint32_t c = 0; c < count; c++) {
            pthread_join(threads[p][c], NULL);
            any |= wrong[p][c];
        }
        gba_cores_destroy(cores[p]);
    }
    return any;
}

int main(void)
{
    int any = 0;

    pthread_barrier_init(&members, NULL, PROCESSES);
    for (processes = 1; processes <= PROCESSES; processes++)
        for (count = 1; count <= CORES; count++)
            any |= run();
    puts(any ? "FAILED: left too early" : "all barriers order");
    return any;
}
