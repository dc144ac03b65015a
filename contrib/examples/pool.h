/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cores of a PE: threads that run one job together. They meet in gba_cores_barrier of libgba,
 * which needs no plugin. With more than one core the program needs SHMEM_THREAD_MULTIPLE.
 */
#ifndef EXAMPLES_POOL_H
#define EXAMPLES_POOL_H

#include <gba/cores.h>
#include <pthread.h>
#include <stdint.h>

#define POOL_CORES_MAX 64

struct pool {
    const char *program; /* for messages */
    int count, me;
    double stuck_after;             /* seconds; 0: never. Set by GBA_STUCK_AFTER */
    pthread_mutex_t lock, progress; /* progress: of the core that waits in OpenSHMEM */
    pthread_cond_t ends;
    pthread_t watch; /* reports long waits */
    gba_cores_t *cores;
    void (*job)(void *arg, int core); /* NULL: end */
    void *arg;
    struct pool_core {
        struct pool *pool;
        int index;
        pthread_t thread;
        /* Its long wait, under the lock: */
        const char *what; /* NULL: none */
        int from;
        double since;
        int reported;
    } core[POOL_CORES_MAX];
};

/* An option: a number from min to max, one of some words (NULL ends them), whose index is the
 * value, or, without either, a switch. */
struct pool_option {
    const char *name;
    long *value;
    long min, max;
    const char *const *words;
};

#define POOL_OPTIONS_MAX 16

/* Read the command line, after shmem_init. All PEs have the same arguments, so all return the same:
 * 0, or -1 with a message on PE 0. */
int pool_options(const struct pool_option *rows, int count, int argc, char **argv,
                 const char *program, const char *usage);

/* Initialise OpenSHMEM for the cores of the option --cores, or for that number without it. */
void pool_shmem_init(int argc, char **argv, int cores);

/* Start the cores, 1 to POOL_CORES_MAX. The calling thread is core 0. Returns 0, or -1 with a
 * message. */
int pool_init(struct pool *pool, const char *program, int cores);
void pool_fini(struct pool *pool);

/* Run the job on all cores, and wait until all have ended it. Called by core 0. */
void pool_run(struct pool *pool, void (*job)(void *arg, int core), void *arg);

/* Meet the other cores, within a job. */
void pool_meet(struct pool *pool, int core);

/*
 * Wait until a word of symmetric memory, which PE `from` stores, has reached the value. After
 * stuck_after seconds another thread prints a line with the PEs and the core. what: of the word,
 * for that line.
 */
void pool_await(struct pool *pool, int core, long *word, long value, int from, const char *what);

/* Seconds since some time in the past. */
double pool_now(void);

/* A random pause of less than `us` microseconds, or none. dice: a random number. */
void pool_jitter(uint64_t dice, int us);

/* For qsort of doubles. */
int pool_compare(const void *a, const void *b);

#endif
