/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that differ by a slip. */
#ifndef GBA_BASE_NEAR_H
#define GBA_BASE_NEAR_H

#include <stdbool.h>
#include <string.h>

/* Whether one name becomes the other by one letter more, less or replaced, or two exchanged. */
static inline bool gba_name_near(const char *a, const char *b)
{
    const size_t a_len = strlen(a), b_len = strlen(b);

    while ('\0' != *a && *a == *b)
        a++, b++;
    if (a_len == b_len)
        return 0 == strcmp(a + 1, b + 1) ||
               (a[0] == b[1] && a[1] == b[0] && 0 == strcmp(a + 2, b + 2));
    return a_len > b_len ? 0 == strcmp(a + 1, b) : 0 == strcmp(a, b + 1);
}

#endif
