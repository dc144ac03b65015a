/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/log.h"

#include <stdarg.h>
#include <stdio.h>

/* Longer lines are cut. The longest message fits: a device path of 255 bytes and the error. */
#define LINE_MAX_BYTES 640

gba_log_level_t gba_log_limit = GBA_LOG_WARN;

static gba_log_fn_t log_fn;
static void *log_ctx;

void gba_log_set(gba_log_fn_t fn, void *ctx, gba_log_level_t level)
{
    log_fn = fn;
    log_ctx = ctx;
    gba_log_limit = level;
}

void gba_log_text(gba_log_level_t level, const char *line)
{
    gba_log(level, "%s", line);
}

void gba_log_line(gba_log_level_t level, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (log_fn != NULL)
        log_fn(log_ctx, level, line);
    else
        fprintf(stderr, "gba: %s\n", line); /* one call: lines do not mix */
}
