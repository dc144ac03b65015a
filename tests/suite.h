/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of cmocka tests: TEST(name) { ... } for each, in the order in which they run, and
 * TEST_MAIN() at the end of the file.
 */
#ifndef GBA_TESTS_SUITE_H
#define GBA_TESTS_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct CMUnitTest suite[64];
static size_t suite_count;

static inline void suite_add(struct CMUnitTest test)
{
    if (suite_count == sizeof suite / sizeof suite[0])
        abort(); /* more tests than there is room for */
    suite[suite_count++] = test;
}

/* A test. It is in the suite by its definition, because constructors run in the order of a file. */
#define TEST(name) TEST_WITH(name, NULL, NULL, NULL)

/* A test between two functions of cmocka, all with the same initial state. */
#define TEST_WITH(name, setup, teardown, initial)                              \
    static void name(void **state);                                            \
    __attribute__((constructor)) static void name##_add(void)                  \
    {                                                                          \
        suite_add((struct CMUnitTest){#name, name, setup, teardown, initial}); \
    }                                                                          \
    static void name(__attribute__((unused)) void **state)

/* Run the tests. setup, teardown: functions of cmocka for all of them together, or NULL. Returns
 * how many failed. */
#define SUITE_RUN(setup, teardown) \
    _cmocka_run_group_tests(__BASE_FILE__, suite, suite_count, setup, teardown)

/* main, with statements that are executed before the tests. */
#define TEST_MAIN(...)                \
    int main(void)                    \
    {                                 \
        __VA_ARGS__;                  \
        return SUITE_RUN(NULL, NULL); \
    }

#endif
