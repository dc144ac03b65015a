/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parse /proc/PID/stat: "PID (NAME) STATE ..., NUM_THREADS ITREALVALUE STARTTIME ...". A process
 * whose first thread has ended is a zombie with other threads. */
static bool stat_parse(const char *line, char *state, int *threads, uint64_t *start)
{
    const char *after = strrchr(line, ')'); /* a name can have spaces and brackets */

    return after != NULL && sscanf(after + 1,
                                   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                   "%*s %*s %*s %d %*s %" SCNu64,
                                   state, threads, start) == 3;
}

/* Read the file of the process. Returns false if there is none, or it is not readable. */
static bool stat_read(uint32_t number, char *state, int *threads, struct gba_process *process)
{
    char path[64], line[1024];
    FILE *file;
    bool good;

    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", number);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    good = fgets(line, sizeof(line), file) != NULL &&
           stat_parse(line, state, threads, &process->start);
    fclose(file);
    return good;
}

static bool has_ended(char state)
{
    return 'Z' == state || 'X' == state;
}

/* Find a thread that has not ended. state: of the first thread; receives that of the one found, or
 * "R" in doubt. */
static uint32_t thread_find(uint32_t number, char *state)
{
    struct gba_process process;
    char path[64], other = '\0';
    uint32_t found = number, thread;
    const struct dirent *entry;
    int threads;
    DIR *list;

    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", number);
    list = opendir(path);
    if (list == NULL) {
        *state = 'R';
        return number;
    }
    while (found == number && (entry = readdir(list)) != NULL) {
        thread = (uint32_t)strtoul(entry->d_name, NULL, 10); /* 0: "." */
        if (thread != 0 && stat_read(thread, &other, &threads, &process) && !has_ended(other)) {
            found = thread;
            *state = other;
        }
    }
    closedir(list);
    return found;
}

uint32_t gba_process_thread(uint32_t number)
{
    struct gba_process process;
    struct stat task;
    char path[64], state = '\0';
    int threads = 0;

    /* Each thread is a link of that directory. Threads of the kernel, of which a large machine has
     * thousands, are processes of one: this saves reading their files. */
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", number);
    if (0 == stat(path, &task) && (2 == task.st_nlink || 3 == task.st_nlink))
        return number;
    if (!stat_read(number, &state, &threads, &process) || !has_ended(state) || threads < 2)
        return number;
    return thread_find(number, &state);
}

void gba_process_read(uint32_t number, struct gba_process *process)
{
    char state = '\0';
    int threads = 0;

    *process = (struct gba_process){.state = GBA_PROCESS_UNKNOWN};
    if (number == 0 || number > INT32_MAX)
        return;
    if (!stat_read(number, &state, &threads, process)) { /* it may have ended in the meantime */
        if (kill((pid_t)number, 0) != 0 && errno == ESRCH)
            process->state = GBA_PROCESS_GONE;
        return;
    }
    if (has_ended(state) && threads > 1)
        (void)thread_find(number, &state);
    switch (state) {
    case 'T':
    case 't':
        process->state = GBA_PROCESS_STOPPED;
        break;
    case 'Z':
    case 'X':
        process->state = GBA_PROCESS_GONE;
        break;
    default:
        process->state = GBA_PROCESS_RUNNING;
    }
}

bool gba_process_alive(uint32_t number, uint64_t start)
{
    struct gba_process process;

    gba_process_read(number, &process);
    if (GBA_PROCESS_GONE == process.state)
        return false;
    return 0 == start || 0 == process.start || process.start == start;
}
