/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GBA_TESTS_LIMIT_H
#define GBA_TESTS_LIMIT_H

#include <stdlib.h>

/* A time limit of a test: `seconds` on a quiet machine, times $GBA_TEST_FACTOR (tests/load.sh). */
static inline unsigned test_limit(unsigned seconds)
{
    const char *factor = getenv("GBA_TEST_FACTOR");
    int value = factor != NULL ? atoi(factor) : 1;

    return seconds * (unsigned)(value > 1 ? value : 1);
}

#endif
