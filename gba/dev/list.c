/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices of this host: the files in /dev, and what the processes of the host have open. */
#define _GNU_SOURCE /* strverscmp */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/switch_socket.h"
#include "gba/dev/dev_ops.h"

struct entry {
    gba_device_found_t found;
    int32_t last; /* the process that was counted last, which may have the device open twice */
};

struct listing {
    struct entry *list;
    size_t count, room;
};

/* The entry of that path, new if there is none. Returns NULL: out of memory. */
static struct entry *entry_get(struct listing *listing, const char *path)
{
    struct entry *more;

    for (size_t i = 0; i < listing->count; i++)
        if (0 == strcmp(listing->list[i].found.path, path))
            return &listing->list[i];
    if (listing->count == listing->room) {
        listing->room = 2 * listing->room + 8;
        more = realloc(listing->list, listing->room * sizeof *more);
        if (more == NULL)
            return NULL;
        listing->list = more;
    }
    more = &listing->list[listing->count++];
    memset(more, 0, sizeof *more);
    snprintf(more->found.path, sizeof more->found.path, "%s", path);
    return more;
}

static int entry_compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return strverscmp(x->found.path, y->found.path);
}

/* The files /dev/gbaN by number, whether a process has them open or not. */
static gba_status_t files_list(struct listing *listing)
{
    char file[sizeof "/dev/" + 256], path[64];
    const struct dirent *entry;
    gba_status_t status = GBA_OK;
    DIR *dev = opendir("/dev");

    if (dev == NULL)
        return GBA_OK;
    while (GBA_OK == status && (entry = readdir(dev)) != NULL) {
        snprintf(file, sizeof file, "/dev/%s", entry->d_name);
        if (gba_dev_cdev.identify(file, path, sizeof path) && entry_get(listing, path) == NULL)
            status = GBA_ERR_NOMEM;
    }
    closedir(dev);
    if (listing->count > 0)
        qsort(listing->list, listing->count, sizeof listing->list[0], entry_compare);
    return status;
}

/* Add the gba-switchd at that socket, if there is one. */
static gba_status_t socket_list(struct listing *listing, const char *socket)
{
    char path[sizeof "switch:" + GBA_SWITCH_FILE_MAX];
    struct stat st;

    if (strlen(socket) > GBA_SWITCH_FILE_MAX || 0 != stat(socket, &st) || !S_ISSOCK(st.st_mode))
        return GBA_OK;
    snprintf(path, sizeof path, "switch:%s", socket);
    return entry_get(listing, path) == NULL ? GBA_ERR_NOMEM : GBA_OK;
}

/* Add the gba-switchd at the default sockets of the system and of this user. The open files of
 * processes do not show the paths of other daemons. */
static gba_status_t switch_list(struct listing *listing)
{
    char own[4200];
    gba_status_t status = socket_list(listing, GBA_SWITCH_SOCKET);

    gba_switch_socket(own, sizeof own);
    if (GBA_OK == status && 0 != strcmp(own, GBA_SWITCH_SOCKET))
        status = socket_list(listing, own);
    return status;
}

/* The device behind an open file. Only a simulator of this user can be opened. */
static bool link_identify(const char *link, bool own, char *path, size_t len)
{
    return gba_dev_cdev.identify(link, path, len) || (own && gba_dev_sim.identify(link, path, len));
}

/* Count a process once for each device. */
static void process_add(struct entry *entry, int32_t pid)
{
    gba_device_found_t *found = &entry->found;

    if (entry->last == pid)
        return;
    entry->last = pid;
    if (found->processes < GBA_FOUND_PIDS)
        found->pids[found->processes] = pid;
    found->processes++;
}

/* The devices that one process has open. Processes and files come and go meanwhile, so a failure to
 * read one is not an error. */
static gba_status_t process_list(struct listing *listing, int proc, const char *name)
{
    char fds[32], link[256], path[64];
    const int32_t pid = (int32_t)strtol(name, NULL, 10);
    gba_status_t status = GBA_OK;
    const struct dirent *file;
    struct entry *entry;
    struct stat st;
    ssize_t len;
    DIR *dir;
    int fd;

    if (pid == (int32_t)getpid() || 0 != fstatat(proc, name, &st, 0))
        return GBA_OK;
    snprintf(fds, sizeof fds, "%.16s/fd", name);
    fd = openat(proc, fds, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return GBA_OK;
    dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return GBA_OK;
    }
    while (GBA_OK == status && (file = readdir(dir)) != NULL) {
        len = readlinkat(fd, file->d_name, link, sizeof link - 1);
        if (len <= 0)
            continue;
        link[len] = '\0';
        if (!link_identify(link, st.st_uid == geteuid(), path, sizeof path))
            continue;
        entry = entry_get(listing, path);
        if (entry == NULL)
            status = GBA_ERR_NOMEM;
        else
            process_add(entry, pid);
    }
    closedir(dir);
    return status;
}

gba_status_t gba_device_list(gba_device_found_t **list, size_t *count)
{
    struct listing listing = {NULL, 0, 0};
    gba_status_t status = files_list(&listing);
    gba_device_found_t *found = NULL;
    const struct dirent *entry;
    DIR *proc = opendir("/proc");

    if (GBA_OK == status)
        status = switch_list(&listing);
    if (proc == NULL) {
        gba_log(GBA_LOG_ERROR, "cannot read /proc: %s", strerror(errno));
        status = GBA_ERR_IO;
        goto free_listing;
    }
    while (GBA_OK == status && (entry = readdir(proc)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]))
            status = process_list(&listing, dirfd(proc), entry->d_name);
    closedir(proc);
    if (GBA_OK == status && listing.count > 0) {
        found = calloc(listing.count, sizeof *found);
        status = found == NULL ? GBA_ERR_NOMEM : GBA_OK;
    }
    if (GBA_OK != status)
        goto free_listing;
    for (size_t i = 0; i < listing.count; i++)
        found[i] = listing.list[i].found;
    *list = found;
    *count = listing.count;

free_listing:
    free(listing.list);
    return status;
}
