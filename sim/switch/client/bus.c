/* SPDX-License-Identifier: BSD-3-Clause */
/* The bus to the switch: arrivals, release stores, and accesses to registers. */
#include <stdlib.h>
#include <string.h>

#include "gba/base/log.h"
#include "sim/switch/client/client.h"

/* Time in ns for which an inspection waits for its answers. A waiting member repeats the call
 * later, because the runtime's messages need progress meanwhile. */
#define INSPECT_WAIT 1000000u

/* The reads of an inspection, before those of the arrived mask. */
enum {
    INSPECT_GENERATION,
    INSPECT_STATUS,
    INSPECT_ARRIVAL,
    INSPECT_LAST_ERROR,
    INSPECT_MEMBERS,
    INSPECT_MASK
};

static struct gba_client *client_of(const struct gba_membership *membership)
{
    return ((const struct gba_client_membership *)membership)->client;
}

/* --- Barriers --- */

void gba_client_arrive(struct gba_membership *membership, uint64_t value)
{
    struct gba_client_membership *inspected = (struct gba_client_membership *)membership;
    struct gba_client *client = inspected->client;
    const struct gba_switch_message arrival = {
        .type = GBA_SWITCH_ARRIVE, .group = membership->group, .value = value};

    if (gba_file_is_child(client))
        return;
    if (inspected->inspection != NULL) { /* of the last round */
        gba_batch_abandon(client, inspected->inspection);
        inspected->inspection = NULL;
    }
    /* Release: the writes before the barrier are visible before the arrival is. Pairs with the
     * acquire in gba_state_poll of the other members, through the kernel and the switch. */
    gba_fence_release();
    pthread_mutex_lock(&client->lock);
    gba_link_post(client, &arrival);
    gba_link_unlock(client);
}

/* If another thread has the lock, that thread dispatches the input, and the caller polls again. */
void gba_client_poll(struct gba_membership *membership)
{
    struct gba_client *client = client_of(membership);

    if (gba_link_dead(client) || gba_file_is_child(client) ||
        0 != pthread_mutex_trylock(&client->lock))
        return;
    gba_link_move(client);
    gba_link_unlock(client);
}

gba_status_t gba_client_failure(const struct gba_membership *membership)
{
    return gba_link_dead(client_of(membership)) ? GBA_ERR_DEAD : GBA_OK;
}

bool gba_client_died(struct gba_membership *membership)
{
    return 0 != gba_word_load_relaxed(&((struct gba_client_membership *)membership)->died);
}

gba_status_t gba_client_sleep(struct gba_membership *membership, uint32_t sequence, uint64_t max_ns)
{
    struct gba_client *client = client_of(membership);

    if (gba_link_dead(client) || gba_file_is_child(client))
        return GBA_ERR_UNSUPPORTED;
    pthread_mutex_lock(&client->lock);
    /* With the lock, and before the wait: a thread that dispatches this release later wakes this
     * one. */
    if (!GBA_SEQ_REACHED((uint32_t)gba_flag_load_relaxed(membership->flag), sequence) &&
        GBA_OK == gba_client_failure(membership))
        gba_link_wait(client, max_ns);
    gba_link_unlock(client);
    return GBA_OK;
}

/* --- Registers --- */

struct gba_client_batch *gba_batch_new(uint32_t count)
{
    struct gba_client_batch *batch =
        calloc(1, sizeof *batch + count * sizeof(struct gba_switch_message));

    if (batch == NULL) {
        gba_log(GBA_LOG_ERROR, "out of memory for %u requests to the switch", count);
        return NULL;
    }
    batch->status = GBA_INPROGRESS;
    batch->count = count;
    return batch;
}

struct gba_switch_message gba_client_read(uint32_t address, unsigned width)
{
    return (struct gba_switch_message){
        .type = GBA_SWITCH_READ, .code = (uint8_t)width, .key = address};
}

struct gba_switch_message gba_client_write(uint32_t address, unsigned width, uint64_t value)
{
    return (struct gba_switch_message){
        .type = GBA_SWITCH_WRITE, .code = (uint8_t)width, .key = address, .value = value};
}

static gba_status_t status_of(uint32_t result)
{
    const gba_status_t status = gba_dev_result(result);

    if (GBA_ERR_IO == status)
        gba_log(GBA_LOG_ERROR, "the switch returned result %u, which is unknown", result);
    return status;
}

gba_status_t gba_client_request(struct gba_client *client, struct gba_switch_message *message)
{
    struct gba_client_batch *batch = gba_batch_new(1);
    gba_status_t status;

    if (batch == NULL)
        return GBA_ERR_NOMEM;
    batch->message[0] = *message;
    gba_batch_send(client, batch);
    status = gba_batch_wait(client, batch, GBA_CLIENT_SILENCE);
    if (GBA_OK == status)
        *message = batch->message[0];
    gba_batch_abandon(client, batch);
    return status;
}

void gba_client_send(struct gba_client *client, const struct gba_switch_message *message)
{
    struct gba_client_batch *batch = gba_batch_new(1);

    if (batch == NULL)
        return; /* a group is free when this process ends */
    batch->message[0] = *message;
    gba_batch_send(client, batch);
    gba_batch_abandon(client, batch);
}

gba_status_t gba_client_command(struct gba_client *client, struct gba_switch_message *mailbox)
{
    gba_status_t status;

    mailbox->type = GBA_SWITCH_COMMAND;
    status = gba_client_request(client, mailbox);
    return GBA_OK == status ? status_of(mailbox->code) : status;
}

/* Make the batch of reads for an inspection of the group. */
static struct gba_client_batch *inspection_new(const struct gba_membership *membership)
{
    uint32_t group = membership->group, words = (membership->members + 63) / 64;
    struct gba_client_batch *batch = gba_batch_new(INSPECT_MASK + words);

    if (batch == NULL)
        return NULL;
    batch->message[INSPECT_GENERATION] =
        gba_client_read(GBA_GROUP_REG(group, GBA_REG_GENERATION), 4);
    batch->message[INSPECT_STATUS] = gba_client_read(GBA_GROUP_REG(group, GBA_REG_STATUS), 4);
    batch->message[INSPECT_ARRIVAL] = gba_client_read(GBA_GROUP_REG(group, GBA_REG_ARRIVAL), 8);
    batch->message[INSPECT_LAST_ERROR] =
        gba_client_read(GBA_GROUP_REG(group, GBA_REG_LAST_ERROR), 4);
    batch->message[INSPECT_MEMBERS] =
        gba_client_read(GBA_GROUP_REG(group, GBA_REG_MEMBER_COUNT), 4);
    for (uint32_t word = 0; word < words; word++)
        batch->message[INSPECT_MASK + word] =
            gba_client_read(GBA_GROUP_REG(group, GBA_REG_ARRIVED_MASK) + 8 * word, 8);
    return batch;
}

static gba_status_t inspection_read(const struct gba_membership *membership,
                                    const struct gba_client_batch *batch, gba_group_state_t *state)
{
    const struct gba_switch_message *value = batch->message;

    /* A group without members is free. A group of a new team has another generation. */
    if (membership->generation != value[INSPECT_GENERATION].value ||
        0 == value[INSPECT_MEMBERS].value)
        return GBA_ERR_STALE;
    *state = (gba_group_state_t){
        .sequence = (uint32_t)(value[INSPECT_ARRIVAL].value >> 32),
        .arrived_count = (uint32_t)value[INSPECT_ARRIVAL].value,
        .status = (uint32_t)value[INSPECT_STATUS].value,
        .last_error = (uint32_t)value[INSPECT_LAST_ERROR].value,
        .members = (uint32_t)value[INSPECT_MEMBERS].value,
    };
    for (uint32_t i = INSPECT_MASK; i < batch->count; i++)
        state->arrived_mask[i - INSPECT_MASK] = value[i].value;
    return GBA_OK;
}

gba_status_t gba_client_inspect(struct gba_membership *m, gba_group_state_t *state)
{
    struct gba_client_membership *membership = (struct gba_client_membership *)m;
    struct gba_client *client = membership->client;
    uint64_t wait = 0;
    gba_status_t status;

    if (gba_file_is_child(client))
        return GBA_ERR_DEAD;
    status = gba_client_failure(m);
    if (GBA_OK != status)
        return status;
    if (membership->inspection == NULL) {
        membership->inspection = inspection_new(m);
        if (membership->inspection == NULL)
            return GBA_ERR_NOMEM;
        gba_batch_send(client, membership->inspection);
        wait = INSPECT_WAIT;
    }
    status = gba_batch_wait(client, membership->inspection, wait);
    if (GBA_INPROGRESS == status)
        return status;
    if (GBA_OK == status)
        status = inspection_read(m, membership->inspection, state);
    gba_batch_abandon(client, membership->inspection);
    membership->inspection = NULL;
    return status;
}

gba_status_t gba_client_reg_read(struct gba_dev *dev, uint32_t address, unsigned width,
                                 uint64_t *value)
{
    struct gba_client *client = (struct gba_client *)dev;
    struct gba_switch_message read = gba_client_read(address, width);
    gba_status_t status = GBA_ERR_DEAD;

    if (!gba_file_is_child(client))
        status = gba_client_request(client, &read);
    if (GBA_ERR_NOMEM == status)
        return GBA_ERR_IO;
    if (GBA_OK != status) /* as a read of removed hardware */
        read.value = width < 8 ? GBA_READ_NONE >> (64 - 8 * width) : GBA_READ_NONE;
    *value = read.value;
    return GBA_OK;
}

gba_status_t gba_client_reg_write(struct gba_dev *dev, uint32_t address, unsigned width,
                                  uint64_t value)
{
    struct gba_client *client = (struct gba_client *)dev;
    const struct gba_switch_message write = gba_client_write(address, width, value);

    if (gba_file_is_child(client))
        return GBA_OK; /* as a store to removed hardware */
    pthread_mutex_lock(&client->lock);
    gba_link_post(client, &write);
    gba_link_unlock(client);
    return GBA_OK;
}
