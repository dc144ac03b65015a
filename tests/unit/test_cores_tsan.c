/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of the cores of a process, and of the cores of several ones, which are threads of this
 * one and share the work of a team, for ThreadSanitizer. Each core writes a plain word before a
 * barrier and reads the words of all cores of all processes after it, as in test_algo_tsan.c. Exit
 * status 0: no error; 66: the sanitizer found a data race.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/path/crew.h"
#include "gba/team/barrier.h"

#define CORES     4u
#define PROCESSES 4u
#define ROUNDS    1000u

static uint64_t data[2][PROCESSES][CORES];
static gba_cores_t *cores[PROCESSES];
static uint32_t count, processes;
static int wrong[PROCESSES][CORES];

/* A team on one host, with radix (v2) of degree 3, or central (v3). */
static gba_team_t teams[PROCESSES];
static struct gba_shm shm[PROCESSES];
static gba_word_t sleepers, slot[PROCESSES][PROCESSES][GBA_SLOT_SIZE / sizeof(gba_word_t)];
static enum { PLAIN, RADIX, CENTRAL, KINDS } kind;

gba_status_t gba_barrier_wait(gba_team_t *team, void (*progress)(void *), void *arg)
{
    (void)progress;
    (void)arg;
    gba_crew_start(team->crew, team->crew->step.seq + 1);
    while (GBA_OK != gba_crew_test(team->crew))
        sched_yield();
    return GBA_OK;
}

void gba_barrier_init(struct gba_team *team)
{
    const ptrdiff_t p = team - teams;

    if (team->crew == NULL)
        return;
    shm[p] = (struct gba_shm){.base = {.ops = &gba_shm_ops},
                              .slots = slot[0][0],
                              .row = sizeof slot[0] / sizeof slot[0][0][0],
                              .mine = slot[p][0],
                              .sleepers = &sleepers};
    team->crew->shm = &shm[p];
    team->crew->algorithm = CENTRAL == kind ? &gba_shm_central : &gba_shm_radix;
    gba_algo_init(&team->crew->step, (uint32_t)p, processes, CENTRAL == kind ? processes : 3, 0);
}

gba_path_t gba_team_path(const gba_team_t *team)
{
    (void)team;
    return GBA_PATH_SOFTWARE;
}

gba_status_t gba_params_environment(gba_params_t *params, char *message, size_t len)
{
    (void)params;
    (void)message;
    return 0 == len ? GBA_ERR_PARAM : GBA_OK;
}

/* cores.c does not call these here. */
gba_status_t gba_barrier_progress(gba_team_t *team)
{
    (void)team;
    abort();
}

gba_status_t gba_team_count(gba_team_t *team)
{
    return gba_barrier_progress(team);
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
    const gba_cores_attr_t attr = {.cpus = 1, .share = true}; /* 1: yield, for other work */
    pthread_t threads[PROCESSES][CORES] = {{0}};
    int any = 0;

    memset(slot, 0, sizeof slot);
    for (uint32_t p = 0; p < processes; p++)
        if (GBA_OK != gba_cores_create(count, PLAIN == kind ? NULL : &teams[p], &attr, &cores[p]))
            abort();
    for (uintptr_t p = 0; p < processes; p++)
        for (uintptr_t c = 0; c < count; c++)
            if (0 != pthread_create(&threads[p][c], NULL, run_core, (void *)(p * CORES + c)))
                abort();
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

    for (kind = PLAIN; kind < KINDS; kind++)
        for (processes = 1; processes <= (PLAIN == kind ? 1 : PROCESSES); processes += 3)
            for (count = 1; count <= CORES; count++)
                any |= run();
    puts(any ? "FAILED: left too early" : "all barriers order");
    return any;
}
