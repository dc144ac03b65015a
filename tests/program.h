/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the test programs of MPI and of OpenSHMEM share: how they fail, their arguments, and seeded
 * randomness. Each kind has its own test.h besides.
 *
 * A program that finds something wrong prints one line "FAIL ..." and ends the job; one that hangs
 * is ended by its watchdog in the same way. So exit status 0 means that all was right.
 *
 * With --help as its only argument each program prints the comment at the top of its source.
 */
#ifndef GBA_TESTS_PROGRAM_H
#define GBA_TESTS_PROGRAM_H

#include <stdint.h>

/* Print one line and end the job. Thread-safe. */
void test_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#define TEST_CHECK(condition, ...)  \
    do {                            \
        if (!(condition))           \
            test_fail(__VA_ARGS__); \
    } while (0)

/* For program.c: that line, in the words of MPI or of OpenSHMEM, and the end of the job. */
void test_abort(const char *text) __attribute__((noreturn));

/* For program.c: the directory of the program's source, "mpi" or "shmem". */
extern const char test_directory[];

/* Argument `index` as a number of at least 1, or the default if there are not so many. */
long test_argument(int argc, char **argv, int index, long value_default);

/* A variable of the environment as a number, or the default if it is empty or not there. */
uint64_t test_environment(const char *name, uint64_t value_default);

/*
 * Random numbers, from a state that starts as test_seed(purpose). `purpose` tells the uses of one
 * program apart: the same number on all members gives the same sequence on all. The seed of the job
 * is set by test_begin.
 */
extern uint64_t test_seed_job;
uint64_t test_seed(uint64_t purpose);
uint64_t test_random(uint64_t *state);

/* Wait: often not at all, else up to a millisecond, computing or asleep. */
void test_delay(uint64_t *state);

#endif
