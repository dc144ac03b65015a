/* SPDX-License-Identifier: BSD-3-Clause */
/* Connect to gba-switchd: the greeting. */
#define _GNU_SOURCE /* explicit_bzero */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/base/batch_job.h"
#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "sim/switch/client/client.h"
#include "sim/switch/net/trust.h"

/* Send the greeting. proof: see gba_client_prove; NULL on a Unix socket. */
static gba_status_t hello_send(const struct gba_client *client,
                               const struct gba_switch_message *proof)
{
    const struct gba_switch_message hello = {.type = GBA_SWITCH_HELLO,
                                             .code = GBA_SWITCH_PROTOCOL,
                                             .group = GBA_SWITCH_MAGIC,
                                             .member = (uint32_t)getpid(),
                                             .generation = (uint32_t)geteuid(),
                                             .value = client->job};
    uint8_t bytes[5 * GBA_SWITCH_MESSAGE_BYTES];
    struct gba_switch_message message;
    char host[GBA_SWITCH_NAME_BYTES + 1] = "", job[GBA_BATCH_JOB];
    size_t len = 0;
    ssize_t sent;

    gba_switch_encode(&hello, bytes);
    len += GBA_SWITCH_MESSAGE_BYTES;
    if (proof != NULL) {
        gba_switch_encode(proof, bytes + len);
        len += GBA_SWITCH_MESSAGE_BYTES;
    }
    (void)gethostname(host, sizeof host - 1);
    gba_switch_name_set(&message, GBA_SWITCH_NAME_HOST, host);
    gba_switch_encode(&message, bytes + len);
    len += GBA_SWITCH_MESSAGE_BYTES;
    gba_batch_job(0, job);
    if ('\0' != job[0]) {
        gba_switch_name_set(&message, GBA_SWITCH_NAME_JOB, job);
        gba_switch_encode(&message, bytes + len);
        len += GBA_SWITCH_MESSAGE_BYTES;
    }
    /* The send buffer of a new connection has room for the greeting. */
    sent = send(client->file.socket.number, bytes, len, MSG_NOSIGNAL);
    explicit_bzero(bytes, sizeof bytes);
    /* A switch that refuses a connection at once has closed it, after an ERROR with the reason. */
    if (sent < 0 && (EPIPE == errno || ECONNRESET == errno))
        return GBA_OK;
    return (ssize_t)len == sent ? GBA_OK : gba_socket_failed(client, sent < 0 ? errno : EIO);
}

/* Receive one message, and no byte more, until `due`. */
static gba_status_t message_receive(struct gba_client *client, uint64_t due,
                                    struct gba_switch_message *message)
{
    const int number = client->file.socket.number;

    while (client->input.used < GBA_SWITCH_MESSAGE_BYTES) {
        int error = gba_socket_ready(number, POLLIN, due);
        ssize_t got;

        if (0 != error)
            return gba_socket_failed(client, error);
        got = recv(number, client->input.bytes + client->input.used,
                   GBA_SWITCH_MESSAGE_BYTES - client->input.used, 0);
        if (0 == got)
            return gba_socket_failed(client, ECONNRESET);
        if (got < 0 && EINTR != errno && EAGAIN != errno)
            return gba_socket_failed(client, errno);
        client->input.used += got > 0 ? (uint32_t)got : 0;
    }
    client->input.used = 0;
    if (gba_switch_decode(client->input.bytes, GBA_SWITCH_SERVER, message))
        return GBA_OK;
    gba_log(GBA_LOG_ERROR, "%s is not a gba-switchd: invalid greeting", client->name);
    return GBA_ERR_NOT_GBA;
}

static gba_status_t refusal_status(unsigned refusal)
{
    switch (refusal) {
    case GBA_SWITCH_REFUSED_VERSION:
        return GBA_ERR_VERSION;
    case GBA_SWITCH_REFUSED_USER:
    case GBA_SWITCH_REFUSED_SECRET:
        return GBA_ERR_PERM;
    case GBA_SWITCH_REFUSED_PORTS:
    case GBA_SWITCH_REFUSED_QUOTA:
        return GBA_ERR_BUSY;
    case GBA_SWITCH_REFUSED_SHUTDOWN:
        return GBA_ERR_AWAY;
    default:
        return GBA_ERR_IO;
    }
}

static gba_status_t welcome_check(struct gba_client *client, const gba_device_attr_t *attr,
                                  const struct gba_switch_message *message)
{
    char advice[256] = "";
    uint64_t uuid[2];

    if (GBA_SWITCH_ERROR == message->type) {
        if (GBA_SWITCH_REFUSED_SECRET == message->code)
            snprintf(advice, sizeof advice,
                     " (key file %.100s): copy the --key-file of gba-switchd to it",
                     gba_switch_key_file(attr == NULL ? NULL : attr->key_file));
        gba_log(GBA_LOG_ERROR, "gba-switchd at %s refused the connection: %s%s", client->name,
                gba_switch_refusal_text(message->code), advice);
        return refusal_status(message->code);
    }
    if (GBA_SWITCH_WELCOME != message->type || 0 == message->group || message->group > GBA_GROUPS) {
        gba_log(GBA_LOG_ERROR, "%s is not a gba-switchd: invalid greeting", client->name);
        return GBA_ERR_NOT_GBA;
    }
    if (GBA_SWITCH_PROTOCOL != message->code || GBA_REGS_MAJOR != message->generation >> 16) {
        gba_log(GBA_LOG_ERROR,
                "gba-switchd at %s has protocol %u and registers of version %" PRIu32 ".%" PRIu32
                ", not %u and %u.x",
                client->name, message->code, message->generation >> 16,
                message->generation & 0xFFFFu, GBA_SWITCH_PROTOCOL, GBA_REGS_MAJOR);
        return GBA_ERR_VERSION;
    }
    client->groups = message->group;
    client->version = message->generation;
    uuid[0] = htole64(message->value); /* as gba_model_uuid: hosts of any byte order compare it */
    uuid[1] = htole64(message->key);
    memcpy(client->uuid, uuid, sizeof client->uuid);
    return GBA_OK;
}

/* Time in ns in which the switch must answer the greeting. */
static uint64_t open_timeout(const gba_device_attr_t *attr)
{
    uint64_t ns = attr == NULL ? 0 : attr->timeout_ms * UINT64_C(1000000);

    return 0 == ns || ns > GBA_CLIENT_SILENCE ? GBA_CLIENT_SILENCE : ns;
}

gba_status_t gba_client_connect(struct gba_client *client, const struct gba_dev_path *path,
                                const gba_device_attr_t *attr)
{
    const uint64_t due = gba_clock_ns() + open_timeout(attr);
    const bool tcp = '\0' != path->host[0];
    struct gba_switch_message message = {.type = 0}, proof;
    gba_status_t status = tcp ? gba_client_prove(attr, &proof) : GBA_OK;

    if (GBA_OK == status)
        status = gba_socket_open(client, path, due);
    if (GBA_OK == status)
        status = hello_send(client, tcp ? &proof : NULL);
    explicit_bzero(&proof, sizeof proof);
    if (GBA_OK == status)
        status = message_receive(client, due, &message);
    if (GBA_OK == status)
        status = welcome_check(client, attr, &message);
    if (GBA_OK == status)
        client->dev.served_here = !tcp || gba_socket_is_local(client->file.socket.number);
    return status;
}

/* --- The operations --- */

void gba_client_close(struct gba_dev *dev)
{
    struct gba_client *client = (struct gba_client *)dev;

    /* The end of the connection takes the port down. In a child of fork the parent keeps it open.
     */
    gba_file_close(&client->file);
    gba_link_fini(client);
    free(client);
}

gba_status_t gba_client_open(const struct gba_dev_path *path, const gba_device_attr_t *attr,
                             struct gba_dev **dev)
{
    struct gba_client *client = calloc(1, sizeof *client);
    gba_status_t status;

    if (client == NULL)
        return GBA_ERR_NOMEM;
    client->dev.ops = &gba_dev_switch;
    client->file.socket.number = -1;
    if (GBA_OK != gba_link_init(client)) {
        free(client);
        return GBA_ERR_NOMEM;
    }
    client->job = gba_dev_job(attr == NULL ? NULL : attr->job);
    if ('\0' == path->host[0])
        snprintf(client->name, sizeof client->name, "switch:%s", path->file);
    else
        snprintf(client->name, sizeof client->name, "switch://%s:%u", path->host,
                 0 == path->port ? GBA_SWITCH_TCP_PORT : path->port);
    status = gba_client_connect(client, path, attr);
    if (GBA_OK == status)
        *dev = &client->dev;
    else
        gba_client_close(&client->dev);
    return status;
}
