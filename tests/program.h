/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of the test programs of MPI and of OpenSHMEM: failure reports, arguments, and
 * seeded random numbers. Each kind has its own test.h besides.
 *
 * A program that detects an error prints one line "FAIL ..." and ends the job. The watchdog ends a
 * program that hangs in the same way. So exit status 0 means that there was no error.
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

/* The file NAME-NUMBER in the directory: make it, and wait for it without a call of MPI. */
void test_file_make(const char *directory, const char *name, int number);
void test_file_await(const char *directory, const char *name, int number);

/* For program.c: print that line by the means of MPI or of OpenSHMEM, and end the job. */
void test_abort(const char *text) __attribute__((noreturn));

/* For program.c: the directory of the program's source, "mpi" or "shmem". */
extern const char test_directory[];

/* Argument `index` as a number of at least 1, or the default if there is no such argument. */
long test_argument(int argc, char **argv, int index, long value_default);

/* A variable of the environment as a number, or the default if it is empty or unset. */
uint64_t test_environment(const char *name, uint64_t value_default);

/*
 * Random numbers, from a state that starts as test_seed(purpose). `purpose` separates the uses of
 * one program: the same number on all members gives the same sequence on all. test_begin sets the
 * seed of the job.
 */
extern uint64_t test_seed_job;
uint64_t test_seed(uint64_t purpose);
uint64_t test_random(uint64_t *state);

/* A random order of 0 to count - 1. */
void test_shuffle(int *order, int count, uint64_t *state);

/* Wait: often not at all, else up to a millisecond, spinning or asleep. */
void test_delay(uint64_t *state);

#endif
