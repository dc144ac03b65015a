/* SPDX-License-Identifier: BSD-3-Clause */
/* Advice for the user about a device that fails to open. */
#define _GNU_SOURCE /* eaccess */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/device.h"

#define SEE ", or see gba_info(1), \"Permissions\""

/* Whether the file belongs to a group with read and write permission. Joining that group is then
 * enough; no other permission is needed. */
static bool group_may(const struct stat *file)
{
    return 0 != file->st_gid && (S_IRGRP | S_IWGRP) == (file->st_mode & (S_IRGRP | S_IWGRP));
}

static void advise_permission(const char *path, char *text, size_t len)
{
    const struct group *group;
    struct stat file;

    if (0 != stat(path, &file)) {
        snprintf(text, len, "Make its directory searchable" SEE);
    } else if (0 == eaccess(path, R_OK | W_OK)) { /* not the file's mode: a policy */
        snprintf(text, len, "Allow the device in the rules of the container or cgroup" SEE);
    } else if (group_may(&file)) {
        group = getgrgid(file.st_gid);
        if (group != NULL)
            snprintf(text, len, "Add the user to group %.32s" SEE, group->gr_name);
        else
            snprintf(text, len, "Add the user to group %u" SEE, (unsigned)file.st_gid);
    } else {
        snprintf(text, len, "Set its group to gba and its mode (now 0%03o) to 0660" SEE,
                 (unsigned)(file.st_mode & 0777));
    }
}

/* Whether a process listens on the Unix socket of that device path. */
static bool listens(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = strcspn(path, "?");
    bool result = false;
    int fd;

    if (length >= sizeof address.sun_path)
        return false;
    memcpy(address.sun_path, path, length);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        result = 0 == connect(fd, (struct sockaddr *)&address, sizeof address) || EAGAIN == errno;
        close(fd);
    }
    return result;
}

/* The library's line names the cause. */
static void advise_switch(const char *path, gba_status_t status, char *text, size_t len)
{
    bool tcp = 0 == strncmp(path, "switch://", 9);

    if ((GBA_ERR_AWAY == status || GBA_ERR_IO == status) && !tcp && listens(path + 7))
        snprintf(text, len, "A process has that socket and does not answer: it is stopped or busy");
    else if (GBA_ERR_AWAY == status || GBA_ERR_IO == status)
        snprintf(text, len, "Start gba-switchd %s, or see gba-switchd(8)",
                 tcp ? "on that host, if none runs there" : "with that socket");
    else if (GBA_ERR_PERM == status)
        snprintf(text, len, "See gba-switchd(8) for %s",
                 tcp ? "the key file" : "the users that it accepts");
    else if (GBA_ERR_VERSION == status || GBA_ERR_NOT_GBA == status)
        snprintf(text, len, "Install gba-switchd and libgba of the same release");
    else if (GBA_ERR_BUSY == status)
        snprintf(text, len, "Each process takes one port, see gba-switchd(8)");
}

void gba_device_advice(const char *path, gba_status_t status, char *text, size_t len)
{
    struct stat file;

    *text = '\0';
    if (0 == strncmp(path, "switch:", 7)) {
        advise_switch(path, status, text, len);
        return;
    }
    if ('/' != path[0])
        return;
    if (GBA_ERR_PERM == status)
        advise_permission(path, text, len);
    else if (GBA_ERR_NOT_GBA == status)
        snprintf(text, len, "Set device_path to the file of a GBA, or to \"none\"");
    else if (GBA_ERR_VERSION == status)
        snprintf(text, len, "Install the driver and libgba of the same release");
    else if (GBA_ERR_NO_DEVICE == status && 0 == lstat(path, &file))
        snprintf(text, len, "Load the GBA driver, or remove the file");
}
