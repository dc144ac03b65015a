/* SPDX-License-Identifier: BSD-3-Clause */
/* Why communicators of running jobs have no device. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/why.h"
#include "gba/tools/info.h"

/* What any user's process may have under the name of such a file: a pipe, a device, a file of
 * another user, or one that is too large to read. */
static bool is_text_file(int file, uid_t user)
{
    struct stat st;

    return 0 == fstat(file, &st) && S_ISREG(st.st_mode) && st.st_uid == user;
}

/* Show the texts of one file. slots: that may still be read of this process; lowered. Returns the
 * number of texts. */
static unsigned texts_show(int32_t pid, int file, unsigned *slots)
{
    char text[GBA_WHY_BYTES];
    unsigned count = 0;

    for (off_t at = 0; *slots > 0; at += GBA_WHY_BYTES) {
        --*slots;
        if ((ssize_t)sizeof text != pread(file, text, sizeof text, at))
            break;
        text[sizeof text - 1] = '\0';
        if ('\0' == text[0])
            continue;
        if (report_is_json()) {
            report_begin(NULL, '{');
            report_number("pid", (uint64_t)pid);
            report_text("why", "%s", text);
            report_end();
        } else {
            report_printable(text);
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
    unsigned count = 0, slots = GBA_WHY_SLOTS;
    const struct dirent *entry;
    struct stat process;
    int fd, file;
    DIR *dir;

    gba_why_name(pid, own);
    snprintf(wanted, sizeof wanted, "/memfd:%s (deleted)", own);
    snprintf(fds, sizeof fds, "%.16s/fd", name);
    if (0 != fstatat(proc, name, &process, 0))
        return 0;
    fd = openat(proc, fds, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return 0;
    }
    while (slots > 0 && (entry = readdir(dir)) != NULL) {
        ssize_t len = readlinkat(fd, entry->d_name, link, sizeof link - 1);

        if (len <= 0)
            continue;
        link[len] = '\0';
        if (0 != strcmp(link, wanted))
            continue;
        /* O_NONBLOCK: the open of a pipe without a writer would block. */
        file = openat(fd, entry->d_name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (file < 0)
            continue;
        if (is_text_file(file, process.st_uid))
            count += texts_show(pid, file, &slots);
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

    if (proc == NULL)
        return report_error(INFO_EXIT_NO_DEVICE, "cannot read /proc: %s", strerror(errno));
    report_begin(NULL, '{');
    report_begin("communicators", '[');
    while ((entry = readdir(proc)) != NULL)
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
