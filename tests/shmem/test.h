/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of all OpenSHMEM test programs, besides program.h: a watchdog, and the proof that
 * no PE leaves a barrier early.
 *
 * The environment: GBA_TEST_SEED (default: 1) and GBA_TEST_SECONDS, the time limit of the watchdog
 * (default 60).
 */
#ifndef GBA_TESTS_SHMEM_TEST_H
#define GBA_TESTS_SHMEM_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/program.h"

#define TEST_PES_MAX 64

extern int test_me, test_pes;

/* shmem_init and the watchdog; shmem_finalize, after a barrier or without one. */
void test_begin(const char *program);
void test_begin_threads(const char *program); /* with SHMEM_THREAD_MULTIPLE */
int test_end(void);
int test_leave(void);

/* An active set as shmem_barrier takes it. */
struct test_set {
    int start, log_stride, size;
};

/* This PE's rank in it, or -1; the PE of a rank. */
int test_set_rank(const struct test_set *set, int pe);
int test_set_pe(const struct test_set *set, int rank);

/*
 * One barrier or sync of the set, proved. Each member puts its number of rounds to all others
 * before it enters. When it has left, the numbers of all others have arrived, and are ahead by one
 * round at most. (A sync does not complete puts, so the test completes them first.) And pSync is
 * unchanged. The set of all PEs uses shmem_barrier_all and shmem_sync_all. slot: the row of counts,
 * 0 to TEST_SLOTS - 1, a different one for each set.
 */
#define TEST_SLOTS 128
void test_round(const struct test_set *set, int slot, bool sync);

/* Before and after a barrier of another kind: the same proof. The puts are not completed. */
void test_enter(const struct test_set *set, int slot);
void test_look(const struct test_set *set, int slot);

#endif
