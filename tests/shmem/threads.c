/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two active sets with two members or more in common, each in its own thread:
 *
 *     threads [ROUNDS [BEFORE [APART]]]
 *
 * They have the same size and stride, so only the set itself distinguishes their messages. APART:
 * the second begins that many PEs behind the first. With 2 they have an edge of their trees in
 * common. Needs APART + 3 PEs or more, and SHMEM_THREAD_MULTIPLE.
 */
#include <pthread.h>
#include <shmem.h>

#include "tests/shmem/test.h"

/* Barriers in a single thread first: each set agrees on its path. With 1 the sets exist, and agree
 * in two threads at once. */
#define BEFORE 12

static struct test_set sets[2];
static long rounds;

static void run(int slot, long count)
{
    uint64_t mine = test_seed(3000 + 2 * (uint64_t)test_me + (uint64_t)slot);

    for (long i = 0; i < count; i++) {
        test_delay(&mine);
        test_round(&sets[slot], slot, i % 4 == 0);
    }
}

static void *second(void *arg)
{
    (void)arg;
    run(1, rounds);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int apart;

    test_begin_threads("threads");
    rounds = test_argument(argc, argv, 1, 300);
    apart = (int)test_argument(argc, argv, 3, 1);
    TEST_CHECK(test_pes >= 3 + apart, "%d PEs, and it needs %d", test_pes, 3 + apart);
    for (int slot = 0; slot < 2; slot++)
        sets[slot] = (struct test_set){slot * apart, 0, test_pes - apart};
    for (int i = 0; i < 6; i++)
        shmem_barrier_all();
    for (long i = test_argument(argc, argv, 2, BEFORE); i > 0; i--)
        for (int slot = 0; slot < 2; slot++)
            if (test_set_rank(&sets[slot], test_me) >= 0)
                run(slot, 1);
    shmem_barrier_all();
    if (test_set_rank(&sets[1], test_me) >= 0)
        TEST_CHECK(0 == pthread_create(&thread, NULL, second, NULL), "no thread");
    if (test_set_rank(&sets[0], test_me) >= 0)
        run(0, rounds);
    if (test_set_rank(&sets[1], test_me) >= 0)
        pthread_join(thread, NULL);
    return test_end();
}
