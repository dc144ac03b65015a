/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest backend: the models of the device and of its driver, in this process. It shows what
 * the suite requires, and that the models meet it.
 */
#include "tests/conformance/conformance.h"

#include <stdlib.h>
#include <string.h>

#include "gba/spec/gba_ioctl.h"
#include "tests/unit/driver_model.h"

static const uint32_t self = 1; /* the only holder */
static struct gba_model model;
static struct gba_driver_record record[GBA_GROUPS];
static struct gba_model_effects effects;
static struct gba_dev device = {.ops = NULL};

static void bare_start(void)
{
    static const uint64_t uuid[2] = {1, 2};

    gba_model_init(&model, GBA_GROUPS, 0, uuid);
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
    gba_model_uuid(&model, info->uuid);
    info->regs_version = model.version;
    info->groups = model.groups;
    info->members_max = GBA_MEMBERS_MAX;
    info->bad_access = model.bad_access;
    for (uint32_t group = 0; group < model.groups; group++) {
        info->groups_free += GBA_LIFE_FREE == record[group].head.state;
        for (uint32_t i = 0; i < GBA_COUNTERS; i++)
            info->counters[i] += model.group[group].core.counters[i];
    }
    return GBA_OK;
}

/* Takes no group back: there is one record per group. */
static gba_status_t bare_alloc(struct gba_dev *dev, const gba_group_request_t *asked,
                               gba_group_handle_t *handle)
{
    struct gba_driver_request request = {.members = asked->members, .holder = self};
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
    memset(handle, 0, sizeof *handle);
    handle->group = group;
    handle->generation = record[group].head.generation;
    handle->key = key;
    handle->members = asked->members;
    gba_model_uuid(&model, handle->uuid);
    return GBA_OK;
}

static void bare_cancel(struct gba_dev *dev, const gba_group_handle_t *handle)
{
    (void)dev;
    (void)gba_driver_leave(&record[handle->group], &model.group[handle->group], handle->generation,
                           GBA_MEMBER_NONE, self);
}

static gba_status_t bare_join(struct gba_dev *dev, const gba_group_handle_t *handle,
                              uint32_t member, struct gba_membership **membership)
{
    gba_status_t status =
        gba_driver_join(&record[handle->group], handle->generation, handle->key, member, self);
    struct gba_membership *s;

    if (GBA_OK != status)
        return status;
    s = calloc(1, sizeof *s);
    assert_non_null(s);
    *s = (struct gba_membership){.dev = dev,
                                 .group = handle->group,
                                 .generation = handle->generation,
                                 .member = member,
                                 .members = handle->members};
    *membership = s;
    return GBA_OK;
}

static gba_status_t bare_map_flag(struct gba_membership *membership)
{
    gba_flag_t *flag = calloc(1, sizeof *flag);
    gba_status_t status;

    assert_non_null(flag);
    status = gba_driver_map(&record[membership->group], &model.group[membership->group],
                            membership->generation, membership->member, (uintptr_t)flag, self);
    if (GBA_OK == status)
        membership->flag = flag;
    else
        free(flag);
    return status;
}

static gba_status_t bare_configure(struct gba_membership *membership, uint32_t sequence)
{
    return gba_driver_configure(&record[membership->group], &model.group[membership->group],
                                membership->generation, sequence, self, 0);
}

static void bare_leave(struct gba_membership *membership)
{
    (void)gba_driver_leave(&record[membership->group], &model.group[membership->group],
                           membership->generation, membership->member, self);
    free((void *)(uintptr_t)membership->flag);
    free(membership);
}

static void store_releases(void)
{
    for (uint32_t i = 0; i < effects.releases; i++)
        gba_flag_store_release((gba_flag_t *)(uintptr_t)effects.release[i].address,
                               effects.release[i].sequence);
}

static void bare_arrive(struct gba_membership *membership, uint64_t value)
{
    gba_model_arrive(&model, membership->group, 0, value, &effects);
    store_releases();
}

static uint64_t access_make(bool write, uint32_t address, unsigned width, uint64_t value)
{
    const struct gba_model_access access = {
        .write = write, .width = (uint8_t)width, .address = address, .value = value};

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

static gba_status_t bare_inspect(struct gba_membership *membership, gba_group_state_t *state)
{
    const struct gba_model_core *core = &model.group[membership->group].core;
    gba_status_t status = gba_driver_inspect(&record[membership->group], membership->generation);

    if (GBA_OK != status)
        return status;
    state->sequence = core->sequence;
    state->arrived_count = core->arrived_count;
    state->status =
        (uint32_t)access_make(false, GBA_GROUP_REG(membership->group, GBA_REG_STATUS), 4, 0);
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
