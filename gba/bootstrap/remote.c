/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport of signals between hosts (gba_remote_t): the members exchange where they listen,
 * and their secrets. */
#define _GNU_SOURCE /* explicit_bzero */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/bootstrap/settings.h"
#include "gba/bootstrap/signals.h"

/* What a member sends to all others. */
struct listening {
    int32_t status;
    gba_bootstrap_uid_t uid; /* its address, port and secret */
};

/* This host's address: as the user chooses, else as the backend knows it, else the default. */
static gba_status_t choose_address(const gba_bootstrap_t *bootstrap,
                                   struct gba_boot_address *address, char *message, size_t len)
{
    const struct gba_boot_backend *backend = gba_boot_backend_of(bootstrap);

    if (gba_boot_env("GBA_BOOTSTRAP_IFNAME") == NULL && backend->ops->address != NULL &&
        GBA_OK == backend->ops->address(backend, address))
        return GBA_OK;
    return gba_boot_address_choose(address, true, message, len);
}

static gba_status_t start_listening(gba_bootstrap_t *bootstrap, struct gba_boot_mesh **mesh,
                                    gba_bootstrap_uid_t *uid, char *message, size_t len)
{
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
    struct gba_boot_address mine = {.loopback = false};
    gba_status_t status = choose_address(bootstrap, &mine, message, len);

    if (GBA_OK == status)
        status = gba_boot_mesh_create(oob->rank, oob->size, &mine, gba_boot_message(bootstrap),
                                      mesh, message, len);
    if (GBA_OK == status)
        status = gba_boot_address_print(&mine, uid);
    explicit_bzero(&mine, sizeof mine);
    return status;
}

/* Take the members' addresses. Returns the same on all members, with the message on those that have
 * none of their own. */
static gba_status_t take_addresses(const gba_oob_t *oob, const struct listening *all,
                                   struct gba_boot_mesh *mesh, char *message, size_t len)
{
    char name[80];

    for (uint32_t i = 0; i < oob->size; i++) {
        if (GBA_OK == all[i].status)
            continue;
        oob->name_member(oob->ctx, i, name, sizeof name);
        if (GBA_OK == all[oob->rank].status)
            snprintf(message, len, "%s cannot listen for members: %s", name,
                     gba_status_text((gba_status_t)all[i].status));
        return (gba_status_t)all[i].status;
    }
    if (mesh == NULL)
        return GBA_ERR_NOMEM; /* not reached: its status is an error */
    for (uint32_t i = 0; i < oob->size; i++) {
        struct gba_boot_address *address = &mesh->addresses[i];

        if (GBA_OK != gba_boot_address_parse(all[i].uid.text, address))
            return GBA_ERR_OOB;
        if (address->socket.any.sa_family == mesh->addresses[0].socket.any.sa_family)
            continue;
        oob->name_member(oob->ctx, i, name, sizeof name);
        snprintf(message, len,
                 "rank 0 and %s listen on addresses of different families; set "
                 "GBA_BOOTSTRAP_FAMILY or GBA_BOOTSTRAP_IFNAME",
                 name);
        return GBA_ERR_MISMATCH;
    }
    return GBA_OK;
}

gba_status_t gba_bootstrap_remote_open(gba_bootstrap_t *bootstrap, gba_remote_t **remote,
                                       char *message, size_t len)
{
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
    struct listening mine = {.status = GBA_ERR_NOMEM};
    struct gba_boot_mesh *mesh = NULL;
    struct listening *all;
    gba_remote_t *made;
    gba_status_t status;

    *remote = NULL;
    if (!gba_boot_apart(bootstrap))
        return GBA_OK;
    snprintf(message, len, "out of memory");
    made = calloc(1, sizeof *made);
    all = calloc(oob->size, sizeof *all);
    if (made != NULL)
        mine.status = start_listening(bootstrap, &mesh, &mine.uid, message, len);
    /* All members make this call. Without memory for its answer a member makes another one, which
     * fails on all. */
    status = all == NULL ? gba_bootstrap_barrier(oob->ctx)
                         : oob->allgather(oob->ctx, &mine, all, sizeof mine);
    if (all == NULL || made == NULL)
        status = GBA_ERR_NOMEM;
    else if (GBA_OK == status)
        status = take_addresses(oob, all, mesh, message, len);
    else
        snprintf(message, len, "%s", gba_bootstrap_message(bootstrap));
    if (all != NULL)
        explicit_bzero(all, oob->size * sizeof *all);
    explicit_bzero(&mine, sizeof mine);
    free(all);
    if (GBA_OK != status) {
        gba_boot_mesh_destroy(mesh);
        free(made);
        return status;
    }
    *made = (gba_remote_t){.ctx = mesh, .name = "TCP", .open = gba_boot_signals_open};
    *remote = made;
    return GBA_OK;
}

void gba_bootstrap_remote_close(gba_remote_t *remote)
{
    if (remote == NULL)
        return;
    gba_boot_mesh_destroy(remote->ctx);
    free(remote);
}
