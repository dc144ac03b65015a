/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collect the lines of a team's members about a stalled barrier: the missing members, and later its
 * end. Any member may print them, at any time. (log_catch.h has all lines of one thread.)
 */
#ifndef GBA_TESTS_STALL_LOG_H
#define GBA_TESTS_STALL_LOG_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gba/gba.h"

static struct {
    pthread_mutex_t lock;
    unsigned reported, ended; /* lines of the stall, and lines of its end */
    unsigned wanted;
    char lines[4096]; /* lines that name the missing member */
} heard = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline void hear(void *ctx, gba_log_level_t level, const char *line)
{
    size_t used;

    (void)ctx;
    if (GBA_LOG_TEAM != level)
        return;
    pthread_mutex_lock(&heard.lock);
    if (NULL != strstr(line, "has ended")) {
        heard.ended++;
    } else {
        heard.reported++;
        used = strlen(heard.lines);
        snprintf(heard.lines + used, sizeof heard.lines - used, "%s\n", line);
    }
    pthread_mutex_unlock(&heard.lock);
}

/* Collect from here on, until the next gba_log_set. wanted: the lines that must come before the
 * late member may arrive, because the machine may be slow. */
static inline void hear_begin(unsigned wanted)
{
    heard.reported = heard.ended = 0;
    heard.lines[0] = '\0';
    heard.wanted = wanted;
    gba_log_set(hear, NULL, GBA_LOG_WARN);
}

static inline bool heard_enough(void)
{
    bool enough;

    pthread_mutex_lock(&heard.lock);
    enough = heard.reported >= heard.wanted;
    pthread_mutex_unlock(&heard.lock);
    return enough;
}

/* To be called when all members have ended: checks the number of lines with the missing member, and
 * that as many lines reported the end. */
static inline void expect_lines(unsigned lines)
{
    assert_int_equal(heard.reported, lines);
    assert_int_equal(heard.ended, lines);
}

static inline void expect_line(const char *text)
{
    if (NULL == strstr(heard.lines, text))
        fail_msg("\"%s\" is not in:\n%s", text, heard.lines);
}

#endif
