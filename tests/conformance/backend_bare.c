/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thinnest backend there is: the models of the device and of its driver, in this process, with
 * nothing between. It shows what the suite demands, and that the models meet it.
 */
#include "tests/conformance/conformance.h"

#include <stdlib.h>
#include <string.h>

#include "gba/spec/gba_ioctl.h"
#include "sim/model/driver.h"

static const struct gba_driver_owner self = {1, 1};
static struct gba_model model;
static struct gba_driver_record record[GBA_GROUPS];
static struct gba_model_effects effects;
static struct gba_dev device = {.ops = NULL};

static void bare_start(void)
{
    static const uint64_t uuid[2] = {1, 2};

    gba_model_init(&model, GBA_GROUPS, uuid);
    memset(record, 0, sizeof record);
}

static gba_status_t bare_open(const struct gba_dev_path *path, const gba_device_attr_t *attr,
                              struct gba_dev **dev)
{
    (void)path;
    (void)attr;
    device.ops = conf_bare.ops;
    *dev = &device;
    return GBA_OK;
}

static void bare_close(struct gba_dev *dev)
{
    (void)dev;
}

static gba_status_t bare_query(struct gba_dev *dev, gba_device_info_t *info)
{
    (void)dev;
    memset(info, 0, sizeof *info);
    strcpy(info->backend, "bare");
    memcpy(info->uuid, model.uuid, sizeof info->uuid);
    info->regs_version = model.version;
    info->groups = model.groups;
    info->members_max = GBA_MEMBERS_MAX;
    info->bad_access = model.bad_access;
    for (uint32_t group = 0; group < model.groups; group++) {
        info->groups_free += GBA_GROUP_FREE == record[group].head.state;
        for (uint32_t i = 0; i < GBA_COUNTERS; i++)
            info->counters[i] += model.group[group].core.counters[i];
    }
    return GBA_OK;
}

/* Takes nothing back: one record for each group. */
static gba_status_t bare_alloc(struct gba_dev *dev, const gba_group_request_t *asked,
                               gba_ticket_t *ticket)
{
    struct gba_driver_request request = {.members = asked->members, .owner = self};
    static uint64_t key = 1;
    gba_status_t status = GBA_ERR_NO_GROUP;
    uint32_t group;

    (void)dev;
    for (group = 0; group < model.groups; group++) {
        request.key = ++key;
        status = gba_driver_alloc(&record[group], &model.group[group], &request);
        if (GBA_ERR_NO_GROUP != status)
            break;
    }
    if (GBA_OK != status)
        return status;
    memset(ticket, 0, sizeof *ticket);
    ticket->group = group;
    ticket->generation = record[group].head.generation;
    ticket->key = key;
    ticket->members = asked->members;
    memcpy(ticket->uuid, model.uuid, sizeof ticket->uuid);
    return GBA_OK;
}

static void bare_cancel(struct gba_dev *dev, const gba_ticket_t *ticket)
{
    (void)dev;
    (void)gba_driver_leave(&record[ticket->group], &model.group[ticket->group], ticket->generation,
                           GBA_MEMBER_NONE, self);
}

static gba_status_t bare_join(struct gba_dev *dev, const gba_ticket_t *ticket, uint32_t member,
                              struct gba_seat **seat)
{
    gba_status_t status =
        gba_driver_join(&record[ticket->group], ticket->generation, ticket->key, member, self);
    struct gba_seat *s;

    if (GBA_OK != status)
        return status;
    s = calloc(1, sizeof *s);
    assert_non_null(s);
    *s = (struct gba_seat){.dev = dev,
                           .group = ticket->group,
                           .generation = ticket->generation,
                           .member = member,
                           .members = ticket->members};
    *seat = s;
    return GBA_OK;
}

static gba_status_t bare_map_flag(struct gba_seat *seat)
{
    gba_word_t *flag = calloc(1, sizeof *flag);
    gba_status_t status;

    assert_non_null(flag);
    status = gba_driver_map(&record[seat->group], &model.group[seat->group], seat->generation,
                            seat->member, (uintptr_t)flag, self);
    if (GBA_OK == status)
        seat->flag = flag;
    else
        free(flag);
    return status;
}

static gba_status_t bare_configure(struct gba_seat *seat, uint32_t sequence)
{
    return gba_driver_configure(&record[seat->group], &model.group[seat->group], seat->generation,
                                sequence, self, 0);
}

static void bare_leave(struct gba_seat *seat)
{
    (void)gba_driver_leave(&record[seat->group], &model.group[seat->group], seat->generation,
                           seat->member, self);
    free((void *)(uintptr_t)seat->flag);
    free(seat);
}

static void store_releases(void)
{
    for (uint32_t i = 0; i < effects.releases; i++)
        gba_word_store_release((gba_word_t *)(uintptr_t)effects.release[i].address,
                               effects.release[i].sequence);
}

static void bare_arrive(struct gba_seat *seat, uint64_t value)
{
    gba_model_arrive(&model.group[seat->group], value, &effects);
    store_releases();
}

static uint64_t access_make(bool write, uint32_t address, unsigned width, uint64_t value)
{
    const struct gba_model_access access = {write, (uint8_t)width, address, value};

    gba_model_access(&model, &access, &effects);
    store_releases();
    return effects.value;
}

static gba_status_t bare_reg_read(struct gba_dev *dev, uint32_t address, unsigned width,
                                  uint64_t *value)
{
    (void)dev;
    *value = access_make(false, address, width, 0);
    return GBA_OK;
}

static gba_status_t bare_reg_write(struct gba_dev *dev, uint32_t address, unsigned width,
                                   uint64_t value)
{
    (void)dev;
    access_make(true, address, width, value);
    return GBA_OK;
}

static gba_status_t bare_inspect(struct gba_seat *seat, gba_group_state_t *state)
{
    const struct gba_model_core *core = &model.group[seat->group].core;
    gba_status_t status = gba_driver_inspect(&record[seat->group], seat->generation);

    if (GBA_OK != status)
        return status;
    state->sequence = core->sequence;
    state->arrived_count = core->arrived_count;
    state->status = (uint32_t)access_make(false, GBA_GROUP_REG(seat->group, GBA_REG_STATUS), 4, 0);
    state->last_error = core->last_error;
    state->members = core->member_count;
    memcpy(state->arrived_mask, core->arrived_mask, sizeof state->arrived_mask);
    return GBA_OK;
}

static const struct gba_dev_ops bare_ops = {
    .name = "bare",
    .open = bare_open,
    .close = bare_close,
    .query = bare_query,
    .alloc = bare_alloc,
    .cancel = bare_cancel,
    .join = bare_join,
    .map_flag = bare_map_flag,
    .configure = bare_configure,
    .leave = bare_leave,
    .inspect = bare_inspect,
    .arrive = bare_arrive,
    .reg_read = bare_reg_read,
    .reg_write = bare_reg_write,
};

const struct conf_backend conf_bare = {
    .name = "bare model", .path = "none", .ops = &bare_ops, .start = bare_start};
