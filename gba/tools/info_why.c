/* SPDX-License-Identifier: BSD-3-Clause */
/* Why communicators of running jobs have no device. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/why.h"
#include "gba/tools/info.h"

/* Show the texts of one file. Returns their number. */
static unsigned texts_show(int32_t pid, int file)
{
    char text[GBA_WHY_BYTES];
    unsigned count = 0;

    for (off_t at = 0; (ssize_t)sizeof text == pread(file, text, sizeof text, at);
         at += GBA_WHY_BYTES) {
        text[sizeof text - 1] = '\0';
        if ('\0' == text[0])
            continue;
        /* The program sets the name of a communicator. A terminal must not execute it. */
        for (char *c = text; '\0' != *c; c++)
            if (iscntrl((unsigned char)*c))
                *c = '?';
        if (report_is_json()) {
            report_begin(NULL, '{');
            report_number("pid", (uint64_t)pid);
            report_text("why", "%s", text);
            report_end();
        } else {
            printf("process %" PRId32 ": %s\n", pid, text);
        }
        count++;
    }
    return count;
}

/* Show the files of one process. One that ends meanwhile, or belongs to another user, has none. */
static unsigned process_show(int proc, const char *name)
{
    const int32_t pid = (int32_t)strtol(name, NULL, 10);
    char wanted[64], own[GBA_WHY_NAME_MAX], link[64], fds[32];
    const struct dirent *entry;
    unsigned count = 0;
    int fd, file;
    DIR *dir;

    gba_why_name(pid, own);
    snprintf(wanted, sizeof wanted, "/memfd:%s (deleted)", own);
    snprintf(fds, sizeof fds, "%.16s/fd", name);
    fd = openat(proc, fds, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    dir = fdopendir(fd);
    if (NULL == dir) {
        close(fd);
        return 0;
    }
    while (NULL != (entry = readdir(dir))) {
        ssize_t len = readlinkat(fd, entry->d_name, link, sizeof link - 1);

        if (len <= 0)
            continue;
        link[len] = '\0';
        if (0 != strcmp(link, wanted))
            continue;
        file = openat(fd, entry->d_name, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            continue;
        count += texts_show(pid, file);
        close(file);
    }
    closedir(dir);
    return count;
}

int info_why(void)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    unsigned count = 0;

    if (NULL == proc)
        return report_error(INFO_EXIT_NO_DEVICE, "cannot read /proc: %s", strerror(errno));
    report_begin(NULL, '{');
    report_begin("communicators", '[');
    while (NULL != (entry = readdir(proc)))
        if (isdigit((unsigned char)entry->d_name[0]))
            count += process_show(dirfd(proc), entry->d_name);
    report_end();
    report_end();
    closedir(proc);
    if (0 == count && !report_is_json())
        printf(
            "no process of this user on this host is rank 0 of a communicator without a device\n");
    return INFO_EXIT_OK;
}
