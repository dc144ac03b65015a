/* SPDX-License-Identifier: BSD-3-Clause */
#include "contrib/examples/pool.h"

#include <gba/gba.h>
#include <getopt.h>
#include <sched.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Tests, with a yield after each, before a core waits in OpenSHMEM: some hundred microseconds. */
#define TESTS 200

double pool_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void pool_jitter(uint64_t dice, int us)
{
    struct timespec t = {0, 0};

    if (us == 0 || dice % 2 == 0)
        return;
    t.tv_nsec = (long)(dice / 2 % (uint64_t)us) * 1000;
    nanosleep(&t, NULL);
}

int pool_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int word_set(const struct pool_option *row, const char *text, char *message, size_t len)
{
    size_t used;

    for (long i = 0; row->words[i]; i++)
        if (strcmp(text, row->words[i]) == 0) {
            *row->value = i;
            return 0;
        }
    used = (size_t)snprintf(message, len, "--%s %.80s: %s", row->name, text, row->words[0]);
    for (long i = 1; row->words[i] && used < len; i++)
        used += (size_t)snprintf(message + used, len - used, "%s%s",
                                 row->words[i + 1] ? ", " : " or ", row->words[i]);
    if (used < len)
        snprintf(message + used, len - used, " is allowed");
    return -1;
}

/* Returns 0, or -1 with the error in message. */
static int option_set(const struct pool_option *row, const char *text, char *message, size_t len)
{
    const gba_param_t number = {.type = GBA_PARAM_INT, .min = row->min, .max = row->max};
    char option[32];
    int value = 1;

    if (row->words)
        return word_set(row, text, message, len);
    if (row->max > 0 && !gba_param_set(&number, &value, text)) {
        snprintf(option, sizeof option, "--%s", row->name);
        gba_param_refuse(&number, option, text, message, len);
        return -1;
    }
    *row->value = value;
    return 0;
}

int pool_options(const struct pool_option *rows, int count, int argc, char **argv,
                 const char *program, const char *usage)
{
    struct option options[POOL_OPTIONS_MAX + 1] = {{NULL, 0, NULL, 0}};
    const int me = shmem_my_pe();
    char message[240];
    int id;

    for (id = 0; id < count; id++)
        options[id] = (struct option){rows[id].name, rows[id].max > 0 || rows[id].words, NULL, id};
    opterr = me == 0;
    while ((id = getopt_long(argc, argv, "", options, NULL)) >= 0 && id < count)
        if (option_set(&rows[id], optarg, message, sizeof message) != 0) {
            if (me == 0)
                fprintf(stderr, "%s: %s\n", program, message);
            return -1;
        }
    if (id < 0 && optind == argc)
        return 0;
    if (me == 0)
        fputs(usage, stderr);
    return -1;
}

/* Before options are parsed, because only PE 0 prints what is wrong with them. */
void pool_shmem_init(int argc, char **argv, int cores)
{
    static const char name[] = "--cores";
    int provided;

    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], name, sizeof name - 1) == 0)
            cores = atoi(argv[i][sizeof name - 1] == '=' ? argv[i] + sizeof name
                         : i + 1 < argc                  ? argv[i + 1]
                                                         : "1");
    if (cores > 1)
        shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    else
        shmem_init();
}

/* Reports the cores that wait for long. */
static void *watch(void *arg)
{
    struct pool *pool = arg;
    struct timespec next;

    pthread_mutex_lock(&pool->lock);
    while (pool->count >= 0) {
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_sec++;
        pthread_cond_timedwait(&pool->ends, &pool->lock, &next);
        for (int i = 0; i < pool->count; i++) {
            struct pool_core *core = &pool->core[i];

            if (!core->what || core->reported || pool_now() - core->since < pool->stuck_after)
                continue;
            fprintf(stderr, "%s: PE %d, core %d: waits for %s of PE %d for %.0f s\n", pool->program,
                    pool->me, i, core->what, core->from, pool_now() - core->since);
            core->reported = 1;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void *run(void *arg)
{
    struct pool_core *core = arg;
    struct pool *pool = core->pool;

    for (;;) {
        pool_meet(pool, core->index);
        if (!pool->job)
            return NULL;
        pool->job(pool->arg, core->index);
        pool_meet(pool, core->index);
    }
}

int pool_init(struct pool *pool, const char *program, int cores)
{
    gba_cores_attr_t attr = {.name = NULL};
    gba_params_t params;
    int provided;
    char text[128];

    memset(pool, 0, sizeof *pool);
    pool->program = program;
    pool->me = shmem_my_pe();
    shmem_query_thread(&provided);
    if (cores > 1 && provided != SHMEM_THREAD_MULTIPLE) {
        fprintf(stderr, "%s: --cores %d: 1 is allowed without SHMEM_THREAD_MULTIPLE\n", program,
                cores);
        return -1;
    }
    gba_params_default(&params);
    if (gba_params_environment(&params, text, sizeof text) != GBA_OK) {
        fprintf(stderr, "%s: %s\n", program, text);
        return -1;
    }
    pool->stuck_after = params.stuck_after;
    snprintf(text, sizeof text, "%s: PE %d", program, pool->me);
    attr.name = text;
    attr.cpus = 1; /* several PEs may share a host: cores yield to each other */
    if (gba_cores_create((uint32_t)cores, NULL, &attr, &pool->cores) != GBA_OK)
        return -1;
    pool->count = cores;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_mutex_init(&pool->progress, NULL);
    pthread_cond_init(&pool->ends, NULL);
    if (pool->stuck_after > 0 && pthread_create(&pool->watch, NULL, watch, pool) != 0)
        pool->stuck_after = 0; /* no reports */
    for (int i = 1; i < cores; i++) {
        pool->core[i] = (struct pool_core){.pool = pool, .index = i};
        if (pthread_create(&pool->core[i].thread, NULL, run, &pool->core[i]) != 0) {
            /* The threads that there are wait for the others, and other PEs for this one. */
            fprintf(stderr, "%s: PE %d: no thread for core %d\n", program, pool->me, i);
            shmem_global_exit(2);
        }
    }
    return 0;
}

void pool_fini(struct pool *pool)
{
    if (pool->count == 0)
        return; /* not started */
    pool->job = NULL;
    if (pool->count > 1)
        pool_meet(pool, 0);
    for (int i = 1; i < pool->count; i++)
        pthread_join(pool->core[i].thread, NULL);
    gba_cores_destroy(pool->cores);
    pthread_mutex_lock(&pool->lock);
    pool->count = -1;
    pthread_cond_signal(&pool->ends);
    pthread_mutex_unlock(&pool->lock);
    if (pool->stuck_after > 0)
        pthread_join(pool->watch, NULL);
    memset(pool, 0, sizeof *pool);
}

void pool_meet(struct pool *pool, int core)
{
    (void)gba_cores_barrier(pool->cores, (uint32_t)core); /* threads alone: no error is possible */
}

void pool_run(struct pool *pool, void (*job)(void *arg, int core), void *arg)
{
    pool->job = job;
    pool->arg = arg;
    pool_meet(pool, 0);
    job(arg, 0);
    pool_meet(pool, 0);
}

/* A core has waited for some time, or, if what is NULL, waits no longer. */
static void wait_note(struct pool *pool, struct pool_core *core, int from, const char *what)
{
    pthread_mutex_lock(&pool->lock);
    if (!what && core->reported)
        fprintf(stderr, "%s: PE %d, core %d: the wait for PE %d has ended after %.0f s\n",
                pool->program, pool->me, core->index, from, pool_now() - core->since);
    core->what = what;
    core->from = from;
    core->since = pool_now();
    core->reported = 0;
    pthread_mutex_unlock(&pool->lock);
}

/* shmem_long_test does not move messages (Open MPI 4.1), and shmem_long_wait_until does, but keeps
 * its CPU. So a core that has waited for some time calls it if no other core of the PE does: one
 * moves the messages of all. */
void pool_await(struct pool *pool, int core, long *word, long value, int from, const char *what)
{
    int tests = 0;

    while (!shmem_long_test(word, SHMEM_CMP_GE, value)) {
        if (++tests < TESTS) {
            sched_yield();
            continue;
        }
        if (tests == TESTS)
            wait_note(pool, &pool->core[core], from, what);
        if (pthread_mutex_trylock(&pool->progress) == 0) {
            shmem_long_wait_until(word, SHMEM_CMP_GE, value);
            pthread_mutex_unlock(&pool->progress);
        } else {
            sched_yield();
        }
    }
    if (tests >= TESTS)
        wait_note(pool, &pool->core[core], from, NULL);
}
