/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices of this host: the files in /dev, and what the processes of the host have open. */
#define _GNU_SOURCE /* strverscmp */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/open_files.h"
#include "gba/base/switch_socket.h"
#include "gba/base/system_status.h"
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

/* Log that a directory cannot be read. Returns the status of errno. */
static gba_status_t unreadable(const char *path)
{
    const int error = errno;

    gba_log(GBA_LOG_ERROR, "cannot read %s: %s", path, strerror(error));
    return gba_system_status(error);
}

/* The files /dev/gbaN by number, whether a process has them open or not. */
static gba_status_t files_list(struct listing *listing)
{
    char file[sizeof "/dev/" + 256], path[64];
    const struct dirent *entry;
    gba_status_t status = GBA_OK;
    DIR *dev = opendir("/dev");

    if (dev == NULL)
        return ENOENT == errno ? GBA_OK : unreadable("/dev");
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

    gba_switchd_socket(own, sizeof own);
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

/* The open files of one process. */
struct owner {
    struct listing *listing;
    int32_t pid;
    bool own; /* of this user */
};

static gba_status_t file_take(void *ctx, const struct gba_open_file *file)
{
    const struct owner *owner = ctx;
    struct entry *entry;
    char path[64];

    if (!link_identify(file->target, owner->own, path, sizeof path))
        return GBA_INPROGRESS;
    entry = entry_get(owner->listing, path);
    if (entry == NULL)
        return GBA_ERR_NOMEM;
    process_add(entry, owner->pid);
    return GBA_INPROGRESS;
}

/* The devices that one process has open. */
static gba_status_t process_list(struct listing *listing, int proc, const char *name)
{
    struct owner owner = {.listing = listing, .pid = (int32_t)strtol(name, NULL, 10)};
    gba_status_t status;
    struct stat st;

    if (owner.pid == (int32_t)getpid() || 0 != fstatat(proc, name, &st, 0))
        return GBA_OK;
    owner.own = st.st_uid == geteuid();
    status = gba_open_files(proc, name, file_take, &owner);
    return GBA_INPROGRESS == status ? GBA_OK : status;
}

gba_status_t gba_device_list(gba_device_found_t **list, size_t *count)
{
    struct listing listing = {NULL, 0, 0};
    gba_status_t status = files_list(&listing);
    gba_device_found_t *found = NULL;
    const struct dirent *entry;
    DIR *proc = NULL;

    if (GBA_OK == status)
        status = switch_list(&listing);
    if (GBA_OK != status)
        goto free_listing;
    proc = opendir("/proc");
    if (proc == NULL) {
        status = unreadable("/proc");
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
