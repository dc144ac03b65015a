/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of gba-switchd. */
#include "sim/switch/core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum gba_switchd_level most = GBA_SWITCHD_INFO;
static bool to_file;

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

bool gba_switchd_log_open(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
    bool good = fd >= 0 && dup2(fd, STDERR_FILENO) >= 0;

    if (good)
        to_file = true;
    else
        gba_switchd_log(GBA_SWITCHD_ERROR, "--log-file %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return good;
}

/* The local time, for a file. */
static void print_time(void)
{
    time_t now = time(NULL);
    char text[32] = "";
    struct tm local;

    if (localtime_r(&now, &local) != NULL)
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z ", &local);
    fputs(text, stderr);
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
    if (to_file)
        print_time();
    if (getenv("JOURNAL_STREAM") != NULL && !to_file)
        fprintf(stderr, "<%d>%s\n", priority[level], line);
    else
        fprintf(stderr, "gba-switchd: %s: %s\n", names[level], line);
}
