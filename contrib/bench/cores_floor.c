/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cores_floor [THREADS [PAIRS [BARRIERS [MEMBERS]]]]
 *
 * Barriers of the threads of a process against their floor: a counter and a release word, with
 * sched_yield if there are more threads than CPUs. With MEMBERS, which are processes with as many
 * threads each: cores that share the work against core 0 alone; set GBA_SW_ALGORITHM to radix or
 * central. The two are interleaved, and each pair gives one ratio.
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
#include "gba/bootstrap.h"
#include "gba/gba.h"

#define THREADS_MAX 64u
#define PAIRS_MAX   99u
#define MEMBERS_MAX 256u

static struct {
    _Alignas(128) gba_word_t arrived;
    _Alignas(128) gba_word_t release;
} line;
static gba_cores_t *cores[2]; /* of even batches, or NULL: the floor; of odd ones */
static uint32_t threads = 2, pairs = 9, barriers = 100000, members;
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
        (void)gba_cores_barrier(cores[1], core);
        began = gba_clock_ns();
        for (uint32_t i = 0; i < barriers; i++)
            if (cores[batch % 2] == NULL)
                floor_barrier(++round);
            else if (GBA_OK != gba_cores_barrier(cores[batch % 2], core))
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

/* Start the other member processes, and make two teams of all members. Returns the rank of the
 * process; UINT32_MAX: an error. */
static uint32_t join_members(void)
{
    gba_bootstrap_uid_t uid;
    gba_bootstrap_attr_t join = {.kind = GBA_BOOTSTRAP_UID, .uid = &uid, .size = members};
    gba_bootstrap_root_t *root;
    gba_bootstrap_t *bootstrap;
    gba_params_t params;
    char message[256];
    bool joined;

    gba_params_default(&params);
    joined = GBA_OK == gba_params_environment(&params, message, sizeof message) &&
             GBA_OK == gba_bootstrap_uid_get(&uid, &root, message, sizeof message);
    params.trial_after = 0;
    for (uint32_t i = 1; i < members && 0 == join.rank; i++)
        join.rank = 0 == fork() ? i : 0;
    joined = joined && GBA_OK == gba_bootstrap_init(&join, &bootstrap, message, sizeof message);
    for (int i = 0; i < 2 && joined; i++) {
        const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
        const gba_team_attr_t attr = {.name = "bench",
                                      .params = &params,
                                      .id = gba_bootstrap_team_id(),
                                      .device_status = GBA_ERR_NO_DEVICE,
                                      .oversubscribed = members * threads > (uint32_t)cpus};
        const gba_cores_attr_t share = {.cpus = threads, .share = 1 == i};
        gba_team_t *team;

        joined = GBA_OK == gba_team_create(&attr, oob, &team) &&
                 GBA_OK == gba_cores_create(threads, team, &share, &cores[i]);
        if (joined && 1 == i && 0 == oob->rank)
            puts(gba_team_why(team));
    }
    return joined ? join.rank : UINT32_MAX;
}

int main(int argc, char **argv)
{
    uint32_t *const numbers[] = {&threads, &pairs, &barriers, &members};
    pthread_t thread[THREADS_MAX];
    double ratio[PAIRS_MAX];
    uint32_t rank = 0;

    if (argc > 1 && 0 == strcmp(argv[1], "--help"))
        return puts("usage: cores_floor [THREADS [PAIRS [BARRIERS [MEMBERS]]]]") < 0;
    for (int i = 1; i < argc && i <= 4; i++)
        *numbers[i - 1] = (uint32_t)strtoul(argv[i], NULL, 10);
    if (threads < 1 || threads > THREADS_MAX || pairs < 1 || pairs > PAIRS_MAX || barriers < 1 ||
        members > MEMBERS_MAX) {
        fprintf(stderr, "cores_floor: at most %u threads, %u pairs, %u members\n", THREADS_MAX,
                PAIRS_MAX, MEMBERS_MAX);
        return 2;
    }
    cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (members > 0)
        rank = join_members();
    else if (GBA_OK != gba_cores_create(threads, NULL, NULL, &cores[1]))
        return 1;
    if (UINT32_MAX == rank)
        return 1;
    for (uintptr_t i = 0; i < threads; i++)
        if (0 != pthread_create(&thread[i], NULL, run, (void *)i))
            return 1;
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    if (0 != rank)
        return 0;
    for (uint32_t i = 0; i < pairs; i++)
        ratio[i] = took[1][i] / took[0][i];
    for (int i = 0; i < 3; i++)
        qsort(i < 2 ? took[i] : ratio, pairs, sizeof(double), ascending);
    printf("%u threads: %s %.1f (%.1f) ns, %s %.1f (%.1f) ns; median (least) of %u pairs; ratio "
           "%.2f (%.2f)\n",
           threads, members > 0 ? "core 0 alone" : "floor", took[0][pairs / 2], took[0][0],
           members > 0 ? "shared" : "gba_cores", took[1][pairs / 2], took[1][0], pairs,
           ratio[pairs / 2], ratio[0]);
    return 0;
}
