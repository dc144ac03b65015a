/* SPDX-License-Identifier: BSD-3-Clause */
/* Catch the lines that the library logs, for tests of its messages; or drop them, for other tests.
 */
#ifndef GBA_TESTS_LOG_CATCH_H
#define GBA_TESTS_LOG_CATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/gba.h"

static unsigned log_lines;
static char log_last[1024];

static inline void log_catch(void *ctx, gba_log_level_t level, const char *line)
{
    (void)ctx;
    (void)level;
    log_lines++;
    snprintf(log_last, sizeof log_last, "%s", line);
}

/* Catch the lines of stalled barriers alone. ctx: a uint64_t that becomes 1 with the first one. */
static inline void log_stalled(void *ctx, gba_log_level_t level, const char *line)
{
    if (strstr(line, "stalled") == NULL)
        return;
    log_catch(NULL, level, line);
    __atomic_store_n((uint64_t *)ctx, 1, __ATOMIC_RELEASE);
}

static inline void log_drop(void *ctx, gba_log_level_t level, const char *line)
{
    (void)ctx;
    (void)level;
    (void)line;
}

/* Whether the lines have the text. Where it says "stalled for 4 s" they may have more seconds, on a
 * machine that is busy, but not fewer. */
static inline bool log_has(const char *lines, const char *text)
{
    static const char stalled[] = "stalled for ";
    const char *number = strstr(text, stalled);
    unsigned long least;
    char *rest, *end;
    size_t before;

    if (number == NULL)
        return strstr(lines, text) != NULL;
    number += strlen(stalled);
    before = (size_t)(number - text);
    least = strtoul(number, &rest, 10);
    for (const char *at = lines; (at = strstr(at, stalled)) != NULL;) {
        at += strlen(stalled);
        if ((size_t)(at - lines) >= before && 0 == strncmp(at - before, text, before) &&
            strtoul(at, &end, 10) >= least && 0 == strncmp(end, rest, strlen(rest)))
            return true;
    }
    return false;
}

static inline void log_forget(void)
{
    log_lines = 0;
    log_last[0] = '\0';
}

/* Checks that there is exactly one line since log_forget or the last check, without a newline, and
 * that it has this text. */
#define assert_logged(what)                                     \
    do {                                                        \
        assert_int_equal(log_lines, 1);                         \
        if (!log_has(log_last, (what)))                         \
            fail_msg("\"%s\" is not in: %s", (what), log_last); \
        assert_null(strchr(log_last, '\n'));                    \
        log_lines = 0;                                          \
    } while (0)

#define assert_silent()                       \
    do {                                      \
        if (0 != log_lines)                   \
            fail_msg("logged: %s", log_last); \
    } while (0)

#endif
