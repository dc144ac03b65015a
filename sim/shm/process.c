/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes as the owners of ports. A process number alone is not unique, because it is
 * reused. Together with the start time of the process it is unique while the host runs, for all
 * processes that read that time on the same clock (gba_sim_clock_id).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/shm/find.h"
#include "sim/shm/process.h"

struct process_stat {
    char state;
    long threads;
    uint64_t start; /* clock ticks since the start of the host */
};

/* Fields 3, 20 and 22 of /proc/PID/stat, see proc(5). */
static bool process_stat_read(uint64_t pid, struct process_stat *stat)
{
    char path[40], text[1024]; /* at most 52 numbers of 20 digits, most of them short */
    const char *rest;
    ssize_t len;
    int file;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    len = read(file, text, sizeof text - 1);
    close(file);
    if (len <= 0)
        return false;
    text[len] = '\0';
    /* The program name is in parentheses and may contain any character: search for the last one. */
    rest = strrchr(text, ')');
    return rest != NULL && 3 == sscanf(rest + 1,
                                       " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
                                       "%*d %*d %*d %ld %*d %" SCNu64,
                                       &stat->state, &stat->threads, &stat->start);
}

struct gba_sim_process gba_sim_process_self(void)
{
    struct gba_sim_process self = {.pid = (uint64_t)getpid()};
    struct process_stat stat;

    if (process_stat_read(self.pid, &stat))
        self.start = stat.start;
    return self;
}

bool gba_sim_process_alive(struct gba_sim_process process)
{
    struct process_stat stat;

    if (0 == process.start || !process_stat_read(process.pid, &stat))
        return 0 == kill((pid_t)process.pid, 0) || ESRCH != errno;
    /* A killed process is dead, even if its parent has not waited for it. A process whose main
     * thread has ended looks the same, except that other threads remain. */
    if (('Z' == stat.state || 'X' == stat.state) && stat.threads <= 1)
        return false;
    return stat.start == process.start;
}

uint64_t gba_sim_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
