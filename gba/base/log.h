/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log lines of libgba. An error is logged once, where it is first known; callers pass the status
 * on.
 */
#ifndef GBA_BASE_LOG_H
#define GBA_BASE_LOG_H

#include "gba/gba.h"

extern gba_log_level_t gba_log_limit;

void gba_log_line(gba_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The arguments are evaluated only if the line is wanted. */
#define gba_log(level, ...)                                \
    do {                                                   \
        if (__builtin_expect((level) <= gba_log_limit, 0)) \
            gba_log_line((level), __VA_ARGS__);            \
    } while (0)

#endif
