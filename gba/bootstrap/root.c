/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* explicit_bzero */
#include "gba/bootstrap/root.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
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
        if (root->peers[rank].fd >= 0)
            close(root->peers[rank].fd);
    if (root->listener >= 0)
        close(root->listener);
    root->listener = -1;
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

static void discard(gba_bootstrap_root_t *root)
{
    if (root->listener >= 0)
        close(root->listener);
    if (root->stop >= 0)
        close(root->stop);
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
    made->listener = -1;
    made->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    status = gba_boot_env_timeout(&made->timeout, message, len);
    if (GBA_OK == status)
        status = gba_boot_address_choose(&address, message, len);
    if (GBA_OK != status)
        goto fail;
    status = GBA_ERR_IO;
    made->listener = gba_boot_listen(&address);
    if (made->stop < 0 || made->listener < 0) {
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
    uint64_t one = 1;

    if (root == NULL)
        return;
    pthread_mutex_lock(&root->lock);
    root->closing = true;
    pthread_mutex_unlock(&root->lock);
    if (!wait)
        (void)!write(root->stop, &one, sizeof one);
    pthread_join(root->thread, NULL);
    discard(root);
}
