/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/open_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/process.h"
#include "gba/base/system_status.h"

/* Map the errno of a failed read of /proc. Returns GBA_INPROGRESS if the process has ended or
 * belongs to another user, because the search then continues; else (logged) the status of errno. */
static gba_status_t unreadable(const char *path, int error)
{
    if (ENOENT == error || ESRCH == error || EACCES == error || EPERM == error)
        return GBA_INPROGRESS;
    gba_log(GBA_LOG_ERROR, "cannot read /proc/%s: %s", path, strerror(error));
    return gba_system_status(error);
}

/* Those of one thread. seen: increased by their number. */
static gba_status_t thread_files(int proc, const char *thread,
                                 gba_status_t (*take)(void *ctx, const struct gba_open_file *file),
                                 void *ctx, unsigned *seen)
{
    char path[32], target[256];
    struct gba_open_file file = {.target = target};
    gba_status_t status = GBA_INPROGRESS;
    const struct dirent *entry;
    DIR *dir;
    ssize_t len;

    snprintf(path, sizeof path, "%.16s/fd", thread);
    file.directory = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file.directory < 0)
        return unreadable(path, errno);
    dir = fdopendir(file.directory);
    if (dir == NULL) {
        status = unreadable(path, errno);
        close(file.directory);
        return status;
    }
    while (GBA_INPROGRESS == status && (entry = readdir(dir)) != NULL) {
        len = readlinkat(file.directory, entry->d_name, target, sizeof target - 1);
        if (len < 0 && EACCES == errno)
            break; /* it depends on the process: all of them, which may be hundreds */
        if (len <= 0)
            continue;
        target[len] = '\0';
        file.name = entry->d_name;
        (*seen)++;
        status = take(ctx, &file);
    }
    closedir(dir);
    return status;
}

gba_status_t gba_open_files(int proc, const char *pid,
                            gba_status_t (*take)(void *ctx, const struct gba_open_file *file),
                            void *ctx)
{
    const uint32_t number = (uint32_t)strtoul(pid, NULL, 10);
    unsigned seen = 0;
    gba_status_t status = thread_files(proc, pid, take, ctx, &seen);
    uint32_t thread;
    char name[16];

    if (GBA_INPROGRESS != status || seen > 0)
        return status;
    thread = gba_process_thread(number);
    if (thread == number)
        return status;
    snprintf(name, sizeof name, "%u", (unsigned)thread);
    return thread_files(proc, name, take, ctx, &seen);
}
