/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of gba-switchd. */
#include "sim/switch/core/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum gba_switchd_level most = GBA_SWITCHD_INFO;

static const char *const names[] = {
    [GBA_SWITCHD_ERROR] = "error",
    [GBA_SWITCHD_WARNING] = "warning",
    [GBA_SWITCHD_INFO] = "info",
    [GBA_SWITCHD_DEBUG] = "debug",
};

void gba_switchd_log_level(enum gba_switchd_level level)
{
    most = level;
}

bool gba_switchd_log_parse(const char *name, enum gba_switchd_level *level)
{
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            *level = (enum gba_switchd_level)i;
            return true;
        }
    }
    return false;
}

void gba_switchd_log(enum gba_switchd_level level, const char *format, ...)
{
    /* Priorities of syslog, by level. */
    static const int priority[] = {3, 4, 6, 7};
    char line[512];
    va_list args;

    if (level > most)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (getenv("JOURNAL_STREAM") != NULL)
        fprintf(stderr, "<%d>%s\n", priority[level], line);
    else
        fprintf(stderr, "gba-switchd: %s: %s\n", names[level], line);
}
