/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/shmem/test.h"

#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/limit.h"

const char test_directory[] = "shmem";

int test_me, test_pes;

static const char *name;

/* Symmetric, because it is a global variable. entered[slot][pe]: rounds that pe has begun. */
static long entered[TEST_SLOTS][TEST_PES_MAX];
static long rounds[TEST_SLOTS];
static long sync_words[TEST_SLOTS][2][SHMEM_BARRIER_SYNC_SIZE];

static void *watchdog(void *arg)
{
    (void)arg;
    sleep(test_limit((unsigned)test_environment("GBA_TEST_SECONDS", 60)));
    fprintf(stderr, "FAIL %s: PE %d: hangs\n", name, test_me);
    _exit(1);
}

static void begin(const char *program, int level)
{
    pthread_t thread;
    int provided;

    name = program;
    test_seed_job = test_environment("GBA_TEST_SEED", 1);
    for (int i = 0; i < TEST_SLOTS; i++)
        for (int j = 0; j < SHMEM_BARRIER_SYNC_SIZE; j++)
            sync_words[i][0][j] = sync_words[i][1][j] = SHMEM_SYNC_VALUE;
    if (0 != pthread_create(&thread, NULL, watchdog, NULL))
        test_fail("no thread");
    (void)shmem_init_thread(level, &provided);
    test_me = shmem_my_pe();
    test_pes = shmem_n_pes();
    TEST_CHECK(provided >= level, "no thread level %d", level);
    TEST_CHECK(test_pes <= TEST_PES_MAX, "more than %d PEs", TEST_PES_MAX);
}

void test_begin(const char *program)
{
    begin(program, SHMEM_THREAD_SINGLE);
}

void test_begin_threads(const char *program)
{
    begin(program, SHMEM_THREAD_MULTIPLE);
}

int test_end(void)
{
    shmem_barrier_all();
    return test_leave();
}

int test_leave(void)
{
    if (0 == test_me)
        printf("%s: right\n", name);
    fflush(stdout);
    shmem_finalize();
    return 0;
}

void test_abort(const char *text)
{
    fprintf(stderr, "FAIL %s: PE %d: %s\n", name, test_me, text);
    _exit(1); /* oshrun ends the others */
}

int test_set_pe(const struct test_set *set, int rank)
{
    return set->start + (rank << set->log_stride);
}

int test_set_rank(const struct test_set *set, int pe)
{
    for (int rank = 0; rank < set->size; rank++)
        if (test_set_pe(set, rank) == pe)
            return rank;
    return -1;
}

static void set_wait(const struct test_set *set, long *words, bool sync)
{
    bool all = set->start == 0 && set->log_stride == 0 && set->size == test_pes;

    if (sync) {
        shmem_quiet();
        all ? shmem_sync_all() : shmem_sync(set->start, set->log_stride, set->size, words);
    } else {
        all ? shmem_barrier_all() : shmem_barrier(set->start, set->log_stride, set->size, words);
    }
}

void test_enter(const struct test_set *set, int slot)
{
    long round = ++rounds[slot];

    for (int rank = 0; rank < set->size; rank++)
        shmem_long_p(&entered[slot][test_me], round, test_set_pe(set, rank));
}

void test_look(const struct test_set *set, int slot)
{
    long round = rounds[slot];

    for (int rank = 0; rank < set->size; rank++) {
        int pe = test_set_pe(set, rank);
        long seen = *(volatile long *)&entered[slot][pe];

        TEST_CHECK(seen >= round && seen <= round + 1,
                   "set %d: left round %ld when PE %d was in round %ld", slot, round, pe, seen);
    }
}

void test_round(const struct test_set *set, int slot, bool sync)
{
    long *words;

    test_enter(set, slot);
    words = sync_words[slot][rounds[slot] % 2];
    set_wait(set, words, sync);
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
        TEST_CHECK(words[i] == SHMEM_SYNC_VALUE, "pSync[%d] is %ld after round %ld", i, words[i],
                   rounds[slot]);
    test_look(set, slot);
}
