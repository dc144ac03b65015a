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
#include <sys/socket.h>
#include <unistd.h>

#include "sim/switch/client/client.h"

bool gba_file_is_ours(const struct gba_client_file *file)
{
    return gba_descriptor_number(&file->socket) >= 0;
}

bool gba_file_is_child(const struct gba_client *client)
{
    return getpid() != client->owner;
}

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gba_client_file *files; /* open ones of this process */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Held during fork, so that the child has a consistent list. */
static void before(void)
{
    pthread_mutex_lock(&files_lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&files_lock);
}

/* Makes only calls that are safe in the child of a process with threads. Every other function of
 * the client sees that it is in a child, and does not use the file. The list is then empty, because
 * a file may be on the stack of a thread that the child does not have. */
static void in_child(void)
{
    for (struct gba_client_file *file = files; file != NULL; file = file->next)
        gba_descriptor_close(&file->socket);
    files = NULL;
    pthread_mutex_unlock(&files_lock);
}

static void handlers_install(void)
{
    (void)pthread_atfork(before, in_parent, in_child);
}

/* Remove the file from the list, if it is there. The caller holds the lock. */
static void list_remove(const struct gba_client_file *file)
{
    struct gba_client_file **link = &files;

    while (*link != NULL && file != *link)
        link = &(*link)->next;
    if (*link != NULL)
        *link = file->next;
}

/* The lock makes the socket and its entry in the list one step for a thread that forks. */
int gba_file_open(struct gba_client_file *file, int family, int type, int protocol)
{
    int number, error = 0;

    (void)pthread_once(&once, handlers_install);
    pthread_mutex_lock(&files_lock);
    number = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (number >= 0 && gba_descriptor_keep(&file->socket, number)) {
        file->next = files;
        files = file;
    } else {
        error = errno;
        if (number >= 0)
            (void)close(number);
        file->socket.number = -1;
    }
    pthread_mutex_unlock(&files_lock);
    return error;
}

void gba_file_close(struct gba_client_file *file)
{
    pthread_mutex_lock(&files_lock);
    list_remove(file);
    gba_descriptor_close(&file->socket);
    pthread_mutex_unlock(&files_lock);
}
