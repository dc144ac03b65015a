/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of libgba. The function that detects an error logs it, once. Its callers only pass the
 * status on.
 */
#ifndef GBA_BASE_LOG_H
#define GBA_BASE_LOG_H

#include "gba/gba.h"

extern gba_log_level_t gba_log_limit;

void gba_log_line(gba_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Log a line (format and arguments as printf). The arguments are evaluated only if the level is
 * enabled. Thread-safe if the function of gba_log_set is. */
#define gba_log(level, ...)                                \
    do {                                                   \
        if (__builtin_expect((level) <= gba_log_limit, 0)) \
            gba_log_line((level), __VA_ARGS__);            \
    } while (0)

#endif
