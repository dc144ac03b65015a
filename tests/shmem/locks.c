/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock that every PE takes by polling: locks [ROUNDS [MODE]]
 *
 * In each round, between two barriers, every PE takes the lock once, by shmem_test_lock in a loop,
 * and adds 1 to a counter on every PE. A PE stops polling when the counter shows that all PEs have
 * had the lock.
 *
 * MODE 1, the default: the loop calls Open MPI's progress. MODE 2: it does not, as in programs of
 * users. Then the PE that serves the lock progresses nothing, because its own atomics complete at
 * once. If another PE has taken the lock first, that PE cannot release it, and the job hangs, with
 * every barrier, but rarely. README.md of the component, "Locks", explains it.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <shmem.h>

#include "tests/shmem/test.h"

static long lock;
static int counter;

static void take(void)
{
    for (int pe = 0; pe < test_pes; pe++)
        shmem_int_add(&counter, 1, pe);
    shmem_clear_lock(&lock);
    shmem_int_wait_until(&counter, SHMEM_CMP_GE, test_pes);
}

int main(int argc, char **argv)
{
    volatile int *seen = &counter;
    void (*progress)(void) = NULL; /* it returns a number in some releases, which is not used */
    long rounds;

    test_begin("locks");
    rounds = test_argument(argc, argv, 1, 1000);
    if (1 == test_argument(argc, argv, 2, 1)) {
        *(void **)&progress = dlsym(RTLD_DEFAULT, "opal_progress");
        TEST_CHECK(progress != NULL, "Open MPI has no opal_progress");
    }
    for (long i = 0; i < rounds; i++) {
        lock = 0;
        counter = 0;
        shmem_barrier_all();
        while (*seen < test_pes) {
            if (0 == shmem_test_lock(&lock))
                take();
            if (progress != NULL)
                progress();
        }
        shmem_barrier_all();
        TEST_CHECK(*seen == test_pes, "round %ld: the counter is %d", i, *seen);
    }
    return test_end();
}
