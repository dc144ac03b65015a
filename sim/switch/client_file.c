/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor of the connection: whether the program has closed it, and children of fork.
 *
 * A child that kept the connection open would keep the port up after the death of its parent, and
 * so the groups of the parent. So a handler closes it in each child. (vfork and posix_spawn run no
 * handlers, but exec closes the connection.)
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "sim/switch/client.h"

bool gba_file_is_ours(const struct gba_client *client)
{
    struct stat file;

    return client->file >= 0 && 0 == fstat(client->file, &file) &&
           client->file_device == file.st_dev && client->file_inode == file.st_ino;
}

bool gba_file_is_child(const struct gba_client *client)
{
    return getpid() != client->owner;
}

static pthread_mutex_t clients_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gba_client *clients; /* open ones of this process */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Held during fork, so that the child has a consistent list. */
static void before(void)
{
    pthread_mutex_lock(&clients_lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&clients_lock);
}

/* Makes only calls that are safe in the child of a process with threads. Every other function of
 * the client sees that it is in a child, and does not use the file. */
static void in_child(void)
{
    for (struct gba_client *client = clients; NULL != client; client = client->next) {
        if (gba_file_is_ours(client))
            (void)close(client->file);
        client->file = -1;
    }
    pthread_mutex_unlock(&clients_lock);
}

static void handlers_install(void)
{
    (void)pthread_atfork(before, in_parent, in_child);
}

gba_status_t gba_file_watch(struct gba_client *client)
{
    struct stat file;

    if (0 != fstat(client->file, &file)) {
        gba_log(GBA_LOG_ERROR, "%s: cannot use the connection: %s", client->name, strerror(errno));
        return GBA_ERR_IO;
    }
    client->file_device = file.st_dev;
    client->file_inode = file.st_ino;
    (void)pthread_once(&once, handlers_install);
    pthread_mutex_lock(&clients_lock);
    client->next = clients;
    clients = client;
    pthread_mutex_unlock(&clients_lock);
    return GBA_OK;
}

void gba_file_unwatch(struct gba_client *client)
{
    struct gba_client **link = &clients;

    pthread_mutex_lock(&clients_lock);
    while (client != *link)
        link = &(*link)->next;
    *link = client->next;
    pthread_mutex_unlock(&clients_lock);
}
