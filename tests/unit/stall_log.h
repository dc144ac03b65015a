/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collect the lines of a team's members about a stalled barrier: the missing members, and later its
 * end. Any member may print them, at any time. (log_catch.h has all lines of one thread.)
 */
#ifndef GBA_TESTS_STALL_LOG_H
#define GBA_TESTS_STALL_LOG_H

#include <pthread.h>

#include "gba/gba.h"
#include "tests/suite.h"
#include "tests/unit/log_catch.h"

static struct {
    pthread_mutex_t lock;
    unsigned reported, ended; /* lines of the stall, and lines of its end */
    unsigned wanted;
    char lines[4096]; /* lines that name the missing member */
} stall_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline void stall_log_line(void *ctx, gba_log_level_t level, const char *line)
{
    size_t used;

    (void)ctx;
    if (GBA_LOG_TEAM != level)
        return;
    pthread_mutex_lock(&stall_log.lock);
    if (strstr(line, "has ended") != NULL) {
        stall_log.ended++;
    } else {
        stall_log.reported++;
        used = strlen(stall_log.lines);
        snprintf(stall_log.lines + used, sizeof stall_log.lines - used, "%s\n", line);
    }
    pthread_mutex_unlock(&stall_log.lock);
}

/* Collect from here on, until the next gba_log_set. wanted: the lines that must come before the
 * late member may arrive, because the machine may be slow. */
static inline void stall_log_begin(unsigned wanted)
{
    stall_log.reported = stall_log.ended = 0;
    stall_log.lines[0] = '\0';
    stall_log.wanted = wanted;
    gba_log_set(stall_log_line, NULL, GBA_LOG_WARN);
}

static inline bool stall_log_complete(void)
{
    bool enough;

    pthread_mutex_lock(&stall_log.lock);
    enough = stall_log.reported >= stall_log.wanted;
    pthread_mutex_unlock(&stall_log.lock);
    return enough;
}

/* To be called when all members have ended: checks the number of lines with the missing member, and
 * that as many lines reported the end. */
static inline void expect_lines(unsigned lines)
{
    assert_int_equal(stall_log.reported, lines);
    assert_int_equal(stall_log.ended, lines);
}

static inline void expect_line(const char *text)
{
    if (!log_has(stall_log.lines, text))
        fail_msg("\"%s\" is not in:\n%s", text, stall_log.lines);
}

#endif
