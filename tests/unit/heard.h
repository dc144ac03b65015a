/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hear what the members of a team say of a barrier that does not end: who is missing, and later
 * that it has ended. Any of them may, at any time. (All that is logged by one thread: log_catch.h.)
 */
#ifndef GBA_TESTS_HEARD_H
#define GBA_TESTS_HEARD_H

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
    unsigned told, ended; /* lines of the one kind, and of the other */
    unsigned wanted;
    char lines[4096]; /* those that tell who is missing */
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
        heard.told++;
        used = strlen(heard.lines);
        snprintf(heard.lines + used, sizeof heard.lines - used, "%s\n", line);
    }
    pthread_mutex_unlock(&heard.lock);
}

/* From here on, until the next gba_log_set. wanted: how many lines there must be before the one
 * that is late may come: the machine may be slow. */
static inline void hear_begin(unsigned wanted)
{
    heard.told = heard.ended = 0;
    heard.lines[0] = '\0';
    heard.wanted = wanted;
    gba_log_set(hear, NULL, GBA_LOG_WARN);
}

static inline bool heard_enough(void)
{
    bool enough;

    pthread_mutex_lock(&heard.lock);
    enough = heard.told >= heard.wanted;
    pthread_mutex_unlock(&heard.lock);
    return enough;
}

/* When all members have ended: so many lines told who is missing, and as many that it has ended. */
static inline void expect_lines(unsigned lines)
{
    assert_int_equal(heard.told, lines);
    assert_int_equal(heard.ended, lines);
}

static inline void expect_line(const char *text)
{
    if (NULL == strstr(heard.lines, text))
        fail_msg("\"%s\" is not in:\n%s", text, heard.lines);
}

#endif
