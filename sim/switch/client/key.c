/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trust between a process and a gba-switchd. Over TCP a process greets with a key: that of the key
 * file, or the key of the job, which a process with the file has requested from the switch and
 * handed over. On a Unix socket the process checks who listens.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/base/system_status.h"
#include "sim/switch/client/client.h"
#include "sim/switch/net/trust.h"

_Static_assert(GBA_SWITCH_SECRET_BYTES == GBA_KEY_SIZE, "the key is the secret");

bool gba_device_key_file(const char *key_file)
{
    const char *name = gba_switch_key_file(key_file);
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];
    char reason[128];
    bool usable = name != NULL && gba_switch_key_read(name, secret, reason, sizeof reason);

    explicit_bzero(secret, sizeof secret);
    return usable;
}

static gba_status_t key_read(const gba_device_attr_t *attr, uint8_t secret[GBA_SWITCH_SECRET_BYTES])
{
    const char *name = gba_switch_key_file(attr == NULL ? NULL : attr->key_file);
    char reason[128];
    gba_status_t status;

    if (attr != NULL && attr->key != NULL) {
        memcpy(secret, attr->key, GBA_SWITCH_SECRET_BYTES);
        return GBA_OK;
    }
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

void gba_client_key_advice(const gba_device_attr_t *attr, unsigned refusal, char *text, size_t len)
{
    text[0] = '\0';
    if (GBA_SWITCH_REFUSED_SECRET != refusal)
        return;
    if (attr != NULL && attr->key != NULL)
        snprintf(text, len,
                 " (the job's key, from rank 0): it ends with rank 0's connection, and with "
                 "gba-switchd until rank 0 has connected again");
    else
        snprintf(text, len, " (key file %.100s): copy the --key-file of gba-switchd to it",
                 gba_switch_key_file(attr == NULL ? NULL : attr->key_file));
}

gba_status_t gba_client_listener_check(const struct gba_client *client, const char *owner)
{
    char reason[256];

    if (gba_switch_listener_trusted(client->file.socket.number, owner, reason, sizeof reason))
        return GBA_OK;
    gba_log(GBA_LOG_ERROR, "no gba-switchd to trust at %s: %s", client->name, reason);
    return GBA_ERR_PERM;
}

gba_status_t gba_client_job_key(struct gba_dev *dev, uint8_t key[GBA_KEY_SIZE])
{
    struct gba_switch_message message;
    struct gba_client *client = (struct gba_client *)dev;
    gba_status_t status;

    if (0 == client->peer_size)
        return GBA_ERR_UNSUPPORTED;
    gba_switch_secret_set(&message, key);
    message.type = GBA_SWITCH_JOB_KEY;
    status = gba_client_request(client, &message);
    if (GBA_OK == status && 0 != message.code) {
        gba_log(GBA_LOG_ERROR, "no key for the job from gba-switchd at %s: %s", client->name,
                gba_switch_refusal_text(message.code));
        status = GBA_ERR_REFUSED;
    }
    if (GBA_OK == status)
        gba_switch_secret_get(&message, key);
    explicit_bzero(&message, sizeof message);
    return status;
}

void gba_client_key_keep(struct gba_dev *dev, const uint8_t key[GBA_KEY_SIZE])
{
    struct gba_client *client = (struct gba_client *)dev;
    struct gba_switch_message message;

    if (0 == client->peer_size)
        return;
    gba_switch_secret_set(&message, key);
    message.type = GBA_SWITCH_JOB_KEY;
    gba_client_send(client, &message);
    explicit_bzero(&message, sizeof message);
}
