/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backend for gba-switchd: the calls of the driver (gba_ioctl.h), made with the commands of the
 * control unit (device.md, chapter "Commands") through the port of this process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/log.h"
#include "sim/switch/client/client.h"

/* The reads of a query, before those of the counters. */
enum { QUERY_BAD_ACCESS, QUERY_GROUPS_FREE, QUERY_LOST, QUERY_COUNTERS };

/* Set the port whose link is lost, from the answer of the switch. */
static void lost_set(const struct gba_switch_message *answer, gba_device_info_t *info)
{
    char name[GBA_SWITCH_NAME_BYTES + 1];
    const char *host;

    gba_switch_name_get(answer, name);
    host = strchr(name, ':');
    if (host != NULL)
        snprintf(info->lost, sizeof info->lost, "%.*s to %s", (int)(host - name), name, host + 1);
}

/* Read the device page and all counters. */
static gba_status_t registers_query(struct gba_client *client, gba_device_info_t *info)
{
    struct gba_client_batch *batch = gba_batch_new(QUERY_COUNTERS + client->groups * GBA_COUNTERS);
    struct gba_switch_message *counter;
    gba_status_t status;

    if (batch == NULL)
        return GBA_ERR_NOMEM;
    batch->message[QUERY_BAD_ACCESS] = gba_client_read(GBA_DEVICE_BASE + GBA_DEV_BAD_ACCESS, 8);
    batch->message[QUERY_GROUPS_FREE] = gba_client_read(GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE, 4);
    batch->message[QUERY_LOST] = (struct gba_switch_message){.type = GBA_SWITCH_OWNER, .code = 2};
    counter = &batch->message[QUERY_COUNTERS];
    for (uint32_t group = 0; group < client->groups; group++)
        for (uint32_t i = 0; i < GBA_COUNTERS; i++)
            *counter++ = gba_client_read(GBA_GROUP_REG(group, GBA_REG_COUNTERS + 8 * i), 8);
    gba_batch_send(client, batch);
    status = gba_batch_wait(client, batch, GBA_CLIENT_SILENCE);
    if (GBA_OK == status) {
        info->bad_access = batch->message[QUERY_BAD_ACCESS].value;
        info->groups_free = (uint32_t)batch->message[QUERY_GROUPS_FREE].value;
        lost_set(&batch->message[QUERY_LOST], info);
        counter = &batch->message[QUERY_COUNTERS];
        for (uint32_t i = 0; i < client->groups * GBA_COUNTERS; i++)
            info->counters[i % GBA_COUNTERS] += counter[i].value;
    }
    gba_batch_abandon(client, batch);
    return status;
}

static gba_status_t client_query(struct gba_dev *dev, gba_device_info_t *info)
{
    struct gba_client *client = (struct gba_client *)dev;
    gba_status_t status = GBA_ERR_DEAD;

    memset(info, 0, sizeof *info);
    strcpy(info->backend, gba_dev_switch.name);
    memcpy(info->uuid, client->uuid, sizeof info->uuid);
    info->regs_version = client->version;
    info->groups = client->groups;
    info->members_max = GBA_MEMBERS_MAX;
    if (!gba_file_is_child(client))
        status = registers_query(client, info);
    info->dead = GBA_ERR_DEAD == status;
    return GBA_ERR_NOMEM == status ? GBA_ERR_IO : GBA_OK;
}

static gba_status_t client_owners(struct gba_dev *dev, gba_group_owner_t *list, uint32_t max,
                                  uint32_t *count)
{
    struct gba_client *client = (struct gba_client *)dev;
    const bool here = 0 != strncmp(client->name, "switch://", 9);
    struct gba_client_batch *batch;
    gba_status_t status;

    if (gba_file_is_child(client))
        return GBA_ERR_DEAD;
    batch = gba_batch_new(2 * client->groups);
    if (batch == NULL)
        return GBA_ERR_NOMEM;
    for (uint32_t i = 0; i < client->groups; i++) { /* the owners, then the names of their jobs */
        batch->message[i] = (struct gba_switch_message){.type = GBA_SWITCH_OWNER, .group = i};
        batch->message[client->groups + i] =
            (struct gba_switch_message){.type = GBA_SWITCH_OWNER, .code = 1, .group = i};
    }
    gba_batch_send(client, batch);
    status = gba_batch_wait(client, batch, GBA_CLIENT_SILENCE);
    if (GBA_OK == status)
        *count = 0;
    for (uint32_t group = 0; GBA_OK == status && group < client->groups && *count < max; group++) {
        const struct gba_switch_message *owned = &batch->message[group];

        if (GBA_SWITCH_OWNED_AWAY != owned->code && GBA_SWITCH_OWNED_HERE != owned->code)
            continue;
        list[*count] = (gba_group_owner_t){.group = group,
                                           .members = (uint32_t)owned->key,
                                           .present = (uint32_t)(owned->key >> 32),
                                           .user = owned->generation,
                                           .process = owned->member,
                                           .local = here && GBA_SWITCH_OWNED_HERE == owned->code,
                                           .job = owned->value};
        gba_switch_name_get(&batch->message[client->groups + group], list[(*count)++].batch_job);
    }
    gba_batch_abandon(client, batch);
    return status;
}

/* Check that this process holds fewer groups than the limit. */
static gba_status_t limit_check(struct gba_client *client, uint32_t groups_max)
{
    struct gba_switch_message held = gba_client_read(GBA_PORT_REG(GBA_PORT_HELD), 4);
    gba_status_t status;

    if (0 == groups_max)
        return GBA_OK;
    status = gba_client_request(client, &held);
    return GBA_OK == status && held.value >= groups_max ? GBA_ERR_LIMIT : status;
}

/* groups_max limits the groups of this process, because only the switch's own quota counts those of
 * a job. */
static gba_status_t client_alloc(struct gba_dev *dev, const gba_group_request_t *request,
                                 gba_group_handle_t *handle)
{
    struct gba_client *client = (struct gba_client *)dev;
    struct gba_switch_message mailbox = {
        .code = GBA_CMD_ALLOC, .group = GBA_GROUP_ANY, .value = request->members};
    gba_status_t status;

    if (gba_file_is_child(client))
        return GBA_ERR_DEAD;
    pthread_mutex_lock(&client->alloc_lock);
    status = limit_check(client, request->groups_max);
    if (GBA_OK == status)
        status = gba_client_command(client, &mailbox);
    pthread_mutex_unlock(&client->alloc_lock);
    if (GBA_OK != status)
        return status;
    if (mailbox.group >= client->groups) {
        gba_log(GBA_LOG_ERROR, "the switch allocated group %u, but it has %u groups", mailbox.group,
                client->groups);
        return GBA_ERR_IO;
    }
    *handle = gba_dev_handle(mailbox.group, mailbox.generation, mailbox.key, request->members,
                             client->uuid);
    return GBA_OK;
}

static void client_cancel(struct gba_dev *dev, const gba_group_handle_t *handle)
{
    struct gba_client *client = (struct gba_client *)dev;
    const struct gba_switch_message mailbox = {.type = GBA_SWITCH_COMMAND,
                                               .code = GBA_CMD_FREE,
                                               .group = handle->group,
                                               .generation = handle->generation};

    if (!gba_file_is_child(client))
        gba_client_send(client, &mailbox);
}

static gba_status_t client_join(struct gba_dev *dev, const gba_group_handle_t *handle,
                                uint32_t member, struct gba_membership **out)
{
    struct gba_client *client = (struct gba_client *)dev;
    struct gba_switch_message mailbox = {.code = GBA_CMD_JOIN,
                                         .group = handle->group,
                                         .generation = handle->generation,
                                         .member = member,
                                         .key = handle->key};
    struct gba_client_membership *membership;
    gba_status_t status;

    if (handle->group >= client->groups || member >= GBA_MEMBERS_MAX)
        return GBA_ERR_PARAM; /* used as indexes */
    if (gba_file_is_child(client))
        return GBA_ERR_DEAD;
    membership = calloc(1, sizeof *membership);
    if (membership == NULL)
        return GBA_ERR_NOMEM;
    status = gba_client_command(client, &mailbox);
    if (GBA_OK != status) {
        free(membership);
        return status;
    }
    membership->membership = (struct gba_membership){.dev = dev,
                                                     .group = handle->group,
                                                     .generation = handle->generation,
                                                     .member = member,
                                                     .members = handle->members};
    membership->client = client;
    *out = &membership->membership;
    return GBA_OK;
}

/* Add the member to the table of the receivers of releases. Returns GBA_OK or GBA_ERR_NOMEM. */
static gba_status_t member_add(struct gba_client_membership *membership)
{
    struct gba_client *client = membership->client;
    const struct gba_membership *m = &membership->membership;
    gba_status_t status = GBA_OK;

    pthread_mutex_lock(&client->lock);
    if (client->member[m->group] == NULL)
        client->member[m->group] = calloc(GBA_MEMBERS_MAX, sizeof(void *));
    if (client->member[m->group] != NULL) {
        client->address += sizeof(uint64_t);
        membership->address = client->address;
        client->member[m->group][m->member] = membership;
    } else {
        status = GBA_ERR_NOMEM;
    }
    gba_link_unlock(client);
    return status;
}

static void member_remove(struct gba_client_membership *membership)
{
    struct gba_client *client = membership->client;
    const struct gba_membership *m = &membership->membership;

    pthread_mutex_lock(&client->lock);
    if (client->member[m->group] != NULL && membership == client->member[m->group][m->member])
        client->member[m->group][m->member] = NULL;
    gba_link_unlock(client);
}

/* Write the address to the release table. The device ignores the write if the group is armed, so
 * read the entry back. */
static gba_status_t table_write(const struct gba_client_membership *membership)
{
    enum { WRITE, READ, GENERATION, COUNT };
    const struct gba_membership *m = &membership->membership;
    const uint32_t entry = GBA_TABLE_ENTRY(m->group, m->member);
    struct gba_client_batch *batch = gba_batch_new(COUNT);
    gba_status_t status;

    if (batch == NULL)
        return GBA_ERR_NOMEM;
    batch->message[WRITE] = gba_client_write(entry, 8, membership->address);
    batch->message[READ] = gba_client_read(entry, 8);
    batch->message[GENERATION] = gba_client_read(GBA_GROUP_REG(m->group, GBA_REG_GENERATION), 4);
    gba_batch_send(membership->client, batch);
    status = gba_batch_wait(membership->client, batch, GBA_CLIENT_SILENCE);
    if (GBA_OK == status && m->generation != batch->message[GENERATION].value)
        status = GBA_ERR_STALE;
    else if (GBA_OK == status && membership->address != batch->message[READ].value)
        status = GBA_ERR_BUSY;
    gba_batch_abandon(membership->client, batch);
    return status;
}

static gba_status_t client_map_flag(struct gba_membership *m)
{
    struct gba_client_membership *membership = (struct gba_client_membership *)m;
    gba_flag_t *flag;
    gba_status_t status;

    if (gba_file_is_child(membership->client))
        return GBA_ERR_DEAD;
    flag = aligned_alloc(GBA_FLAG_STRIDE, GBA_FLAG_STRIDE);
    if (flag == NULL)
        return GBA_ERR_NOMEM;
    gba_flag_store_relaxed(flag, 0);
    m->flag = flag;
    status = member_add(membership);
    if (GBA_OK == status)
        status = table_write(membership);
    if (GBA_OK == status)
        return GBA_OK;
    member_remove(membership);
    m->flag = NULL;
    free(flag);
    return status;
}

static gba_status_t client_configure(struct gba_membership *m, uint32_t sequence)
{
    struct gba_client *client = ((struct gba_client_membership *)m)->client;
    struct gba_switch_message mailbox = {
        .code = GBA_CMD_ARM, .group = m->group, .generation = m->generation, .value = sequence};
    gba_status_t status = GBA_ERR_DEAD;

    if (!gba_file_is_child(client))
        status = gba_client_command(client, &mailbox);
    return GBA_ERR_PARAM == status || GBA_ERR_NOMEM == status ? GBA_ERR_IO : status;
}

/* Does not wait for the result. No later release reaches the flag, because the member is removed
 * first. Arrivals of this member precede the command in the stream. */
static void client_leave(struct gba_membership *m)
{
    struct gba_client_membership *membership = (struct gba_client_membership *)m;
    struct gba_client *client = membership->client;
    const struct gba_switch_message mailbox = {.type = GBA_SWITCH_COMMAND,
                                               .code = GBA_CMD_LEAVE,
                                               .group = m->group,
                                               .generation = m->generation,
                                               .member = m->member};

    if (!gba_file_is_child(client)) {
        member_remove(membership);
        gba_batch_abandon(client, membership->inspection);
        gba_client_send(client, &mailbox);
        free((void *)m->flag);
    }
    free(membership);
}

const struct gba_dev_ops gba_dev_switch = {
    .name = "switch",
    .spins = 8, /* a poll without data is a recv of some 0.6 us */
    .open = gba_client_open,
    .close = gba_client_close,
    .query = client_query,
    .owners = client_owners,
    .alloc = client_alloc,
    .cancel = client_cancel,
    .join = client_join,
    .map_flag = client_map_flag,
    .configure = client_configure,
    .leave = client_leave,
    .inspect = gba_client_inspect,
    .arrive = gba_client_arrive,
    .poll = gba_client_poll,
    .failure = gba_client_failure,
    .sleep = gba_client_sleep,
    .died = gba_client_died,
    .reg_read = gba_client_reg_read,
    .reg_write = gba_client_reg_write,
};
