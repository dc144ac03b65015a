/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* explicit_bzero, pipe2 */
#include "gba/bootstrap/root.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/bootstrap/address.h"
#include "gba/bootstrap/settings.h"

static void *serve(void *arg)
{
    gba_bootstrap_root_t *root = arg;

    if (gba_boot_join(root))
        gba_boot_serve(root);
    /* The members see the end at once, even if root is closed much later. */
    for (uint32_t rank = 0; rank < root->size; rank++)
        gba_descriptor_close(&root->peers[rank].socket);
    gba_descriptor_close(&root->listener);
    return NULL;
}

/* Start the thread with all signals blocked: they are for the program's own threads. */
static int start_thread(gba_bootstrap_root_t *root)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&root->thread, NULL, serve, root);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* A pipe, because all eventfds have one inode. Returns false, with errno set, on failure. */
static bool open_stop(gba_bootstrap_root_t *root)
{
    int ends[2];

    if (0 != pipe2(ends, O_CLOEXEC))
        return false;
    if (gba_descriptor_keep(&root->stop, ends[0]) && gba_descriptor_keep(&root->stopping, ends[1]))
        return true;
    close(ends[0]);
    close(ends[1]);
    root->stop.number = root->stopping.number = -1;
    return false;
}

static void discard(gba_bootstrap_root_t *root)
{
    gba_descriptor_close(&root->listener);
    gba_descriptor_close(&root->stop);
    gba_descriptor_close(&root->stopping);
    pthread_mutex_destroy(&root->lock);
    free(root->peers);
    free(root->pollers);
    explicit_bzero(root->secret, sizeof root->secret);
    free(root);
}

gba_status_t gba_bootstrap_uid_get(gba_bootstrap_uid_t *uid, gba_bootstrap_root_t **root,
                                   char *message, size_t len)
{
    gba_bootstrap_root_t *made = calloc(1, sizeof *made);
    struct gba_boot_address address = {.loopback = false};
    gba_status_t status;

    if (made == NULL) {
        snprintf(message, len, "out of memory");
        return GBA_ERR_NOMEM;
    }
    pthread_mutex_init(&made->lock, NULL);
    made->listener.number = made->stop.number = made->stopping.number = -1;
    status = gba_boot_env_timeout(&made->timeout, message, len);
    if (GBA_OK == status)
        status = gba_boot_address_choose(&address, false, message, len);
    if (GBA_OK != status)
        goto fail;
    status = GBA_ERR_IO;
    if (!open_stop(made) || !gba_boot_listen(&address, &made->listener)) {
        snprintf(message, len, "cannot listen for members: %s", strerror(errno));
        goto fail;
    }
    if (GBA_OK != gba_boot_random(made->secret, sizeof made->secret)) {
        snprintf(message, len, "the system has no random numbers for the unique id");
        goto fail;
    }
    memcpy(address.secret, made->secret, sizeof address.secret);
    status = gba_boot_address_print(&address, uid);
    explicit_bzero(&address, sizeof address);
    if (GBA_OK != status || 0 != start_thread(made)) {
        snprintf(message, len, "cannot start a thread to serve the members");
        status = GBA_ERR_IO;
        goto fail;
    }
    *root = made;
    return GBA_OK;

fail:
    discard(made);
    return status;
}

void gba_bootstrap_root_close(gba_bootstrap_root_t *root, bool wait)
{
    if (root == NULL)
        return;
    pthread_mutex_lock(&root->lock);
    root->closing = true;
    pthread_mutex_unlock(&root->lock);
    if (!wait)
        gba_descriptor_close(&root->stopping);
    pthread_join(root->thread, NULL);
    discard(root);
}
