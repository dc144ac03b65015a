/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trust between a process and a gba-switchd. Over TCP a process greets with the key of the key
 * file. On a Unix socket the process checks who listens.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/base/system_status.h"
#include "sim/switch/client/client.h"
#include "sim/switch/net/trust.h"

static gba_status_t key_read(const gba_device_attr_t *attr, uint8_t secret[GBA_SWITCH_SECRET_BYTES])
{
    const char *name = gba_switch_key_file(attr == NULL ? NULL : attr->key_file);
    char reason[128];
    gba_status_t status;

    if (name == NULL) {
        gba_log(GBA_LOG_ERROR,
                "no key for gba-switchd over TCP: set switch_key_file, or " GBA_SWITCH_KEY_VARIABLE
                " in the environment, to the file with the key");
        return GBA_ERR_PERM;
    }
    if (gba_switch_key_read(name, secret, reason, sizeof reason))
        return GBA_OK;
    status = gba_system_status(errno);
    gba_log(GBA_LOG_ERROR, "cannot use the key file %s: %s", name, reason);
    return GBA_ERR_IO == status ? GBA_ERR_PERM : status; /* no key is no permission */
}

gba_status_t gba_client_prove(const gba_device_attr_t *attr, struct gba_switch_message *proof)
{
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];
    gba_status_t status = key_read(attr, secret);

    if (GBA_OK == status)
        gba_switch_secret_set(proof, secret);
    explicit_bzero(secret, sizeof secret);
    return status;
}

gba_status_t gba_client_listener_check(const struct gba_client *client, const char *owner)
{
    char reason[256];

    if (gba_switch_listener_trusted(client->file.socket.number, owner, reason, sizeof reason))
        return GBA_OK;
    gba_log(GBA_LOG_ERROR, "no gba-switchd to trust at %s: %s", client->name, reason);
    return GBA_ERR_PERM;
}
