/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/shmem/test.h"

#include <pthread.h>
#include <shmem.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int test_me, test_pes;

static const char *name;
static uint64_t seed;

/* Symmetric, since the program's own variables are. entered[slot][pe]: rounds that pe has begun. */
static long entered[TEST_SLOTS][TEST_PES_MAX];
static long rounds[TEST_SLOTS];
static long sync_words[TEST_SLOTS][2][SHMEM_BARRIER_SYNC_SIZE];

static void *watchdog(void *arg)
{
    const char *text = getenv("GBA_TEST_SECONDS");

    (void)arg;
    sleep(NULL == text ? 60 : (unsigned)atoi(text));
    fprintf(stderr, "FAIL %s: PE %d: hangs\n", name, test_me);
    _exit(1);
}

void test_begin(const char *program)
{
    const char *text = getenv("GBA_TEST_SEED");
    pthread_t thread;

    name = program;
    seed = NULL == text ? 1 : strtoull(text, NULL, 0);
    for (int i = 0; i < TEST_SLOTS; i++)
        for (int j = 0; j < SHMEM_BARRIER_SYNC_SIZE; j++)
            sync_words[i][0][j] = sync_words[i][1][j] = SHMEM_SYNC_VALUE;
    if (0 != pthread_create(&thread, NULL, watchdog, NULL))
        test_fail("no thread");
    shmem_init();
    test_me = shmem_my_pe();
    test_pes = shmem_n_pes();
    TEST_CHECK(test_pes <= TEST_PES_MAX, "more than %d PEs", TEST_PES_MAX);
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

void test_fail(const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "FAIL %s: PE %d: %s\n", name, test_me, text);
    _exit(1); /* oshrun ends the others */
}

long test_argument(int argc, char **argv, int index, long value_default)
{
    char *end;
    long value;

    if (index >= argc)
        return value_default;
    value = strtol(argv[index], &end, 0);
    TEST_CHECK(*end == '\0' && value >= 1, "argument %d is \"%s\", and should be a number from 1",
               index, argv[index]);
    return value;
}

uint64_t test_seed(uint64_t purpose)
{
    return seed * UINT64_C(1000003) + purpose;
}

/* Splitmix64, after Steele, Lea and Flood, "Fast splittable pseudorandom number generators". */
uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

void test_delay(uint64_t *state)
{
    uint64_t random = test_random(state);

    if (random % 8 == 0)
        usleep((useconds_t)(random >> 8) % 1000);
    else if (random % 8 < 3)
        for (uint64_t i = (random >> 8) % 20000; i > 0; i--)
            __asm__ __volatile__("" ::: "memory");
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
