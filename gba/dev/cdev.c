/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backend for /dev/gbaN. Each operation is one call of the driver. JOIN also maps the doorbell.
 * No function of this file runs during a barrier: the engine itself stores to the doorbell and
 * polls the flag.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/dev/cdev.h"
#include "gba/spec/gba_ioctl.h"

/* Make one call of the driver, by its name in gba_ioctl.h. */
#define CALL(dev, request, argument) \
    gba_cdev_ioctl((dev)->file, GBA_IOC_##request, #request, (argument))

_Static_assert(GBA_UUID_SIZE == sizeof((struct gba_ioc_query *)0)->uuid, "one uuid");
_Static_assert(sizeof((gba_group_state_t *)0)->arrived_mask == GBA_MASK_WORDS * 8, "one mask");

static struct gba_cdev *cdev_of(const struct gba_membership *membership)
{
    return (struct gba_cdev *)membership->dev;
}

static gba_status_t cdev_open(const struct gba_dev_path *path, const gba_device_attr_t *attr,
                              struct gba_dev **out)
{
    struct gba_cdev *dev = calloc(1, sizeof *dev);
    struct gba_ioc_query query;
    gba_status_t status;

    if (NULL == dev)
        return GBA_ERR_NOMEM;
    status = gba_cdev_file_open(path->file, &dev->file, &query);
    if (GBA_OK != status) {
        free(dev);
        return status;
    }
    dev->dev.ops = &gba_dev_cdev;
    dev->owner = getpid();
    dev->groups = query.groups;
    memcpy(dev->uuid, query.uuid, sizeof dev->uuid);
    dev->job = gba_dev_job(NULL == attr ? NULL : attr->job);
    gba_cdev_flags_init(&dev->flags);
    pthread_mutex_init(&dev->bar_lock, NULL);
    *out = &dev->dev;
    return GBA_OK;
}

static void cdev_close(struct gba_dev *d)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    bool mapped = !gba_cdev_is_child(dev); /* MADV_DONTFORK: a child has no mapping */

    if (mapped && NULL != dev->bar)
        gba_cdev_sys->munmap(dev->bar, GBA_BAR_SIZE);
    pthread_mutex_destroy(&dev->bar_lock);
    /* Close the file first: the last close withdraws every flag that the driver still has. */
    gba_cdev_sys->close(dev->file);
    gba_cdev_flags_fini(&dev->flags, mapped);
    free(dev);
}

static gba_status_t cdev_query(struct gba_dev *d, gba_device_info_t *info)
{
    struct gba_ioc_query query = {.size = sizeof query};
    gba_status_t status = CALL((struct gba_cdev *)d, QUERY, &query);

    if (GBA_OK != status)
        return GBA_ERR_IO;
    memset(info, 0, sizeof *info);
    strcpy(info->backend, gba_dev_cdev.name);
    memcpy(info->uuid, query.uuid, sizeof info->uuid);
    info->regs_version = query.regs_version;
    info->groups = query.groups;
    info->groups_free = query.groups_free;
    info->members_max = query.members_max;
    info->dead = GBA_DEV_STATE_DEAD == query.state;
    info->bad_access = query.bad_access;
    memcpy(info->counters, query.counters, sizeof info->counters);
    return GBA_OK;
}

static gba_status_t cdev_alloc(struct gba_dev *d, const gba_group_request_t *request,
                               gba_group_handle_t *handle)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    struct gba_ioc_alloc alloc = {.size = sizeof alloc,
                                  .members = request->members,
                                  .groups_max = request->groups_max,
                                  .barrier_rate = request->barrier_rate,
                                  .job = dev->job};
    gba_status_t status = gba_cdev_refuse_child(dev);

    if (GBA_OK == status)
        status = CALL(dev, ALLOC, &alloc);
    if (GBA_OK != status)
        return status;
    if (alloc.group >= dev->groups) {
        gba_log(GBA_LOG_ERROR, "the GBA driver allocated group %u, but the device has %u groups",
                alloc.group, dev->groups);
        return GBA_ERR_IO;
    }
    memset(handle, 0, sizeof *handle);
    handle->group = alloc.group;
    handle->generation = alloc.generation;
    handle->key = alloc.key;
    handle->members = request->members;
    memcpy(handle->uuid, dev->uuid, sizeof handle->uuid);
    return GBA_OK;
}

/* FREE: leave a membership, or with GBA_MEMBER_NONE give up an allocation. */
static gba_status_t call_free(struct gba_cdev *dev, uint32_t group, uint32_t generation,
                              uint32_t member)
{
    struct gba_ioc_free leave = {
        .size = sizeof leave, .group = group, .generation = generation, .member = member};
    int error = gba_cdev_try(dev->file, GBA_IOC_FREE, &leave);

    /* The allocation ended with the first join [DRV-3]. This failure is expected and not logged:
     * the caller gives up the allocation for another reason, which is reported. */
    if (EINVAL == error && GBA_MEMBER_NONE == member)
        return GBA_ERR_PARAM;
    return gba_cdev_outcome(error, "FREE");
}

static void cdev_cancel(struct gba_dev *d, const gba_group_handle_t *handle)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;

    if (GBA_OK == gba_cdev_refuse_child(dev))
        (void)call_free(dev, handle->group, handle->generation, GBA_MEMBER_NONE);
}

static gba_status_t cdev_join(struct gba_dev *d, const gba_group_handle_t *handle, uint32_t member,
                              struct gba_membership **out)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    struct gba_ioc_join join = {.size = sizeof join,
                                .group = handle->group,
                                .generation = handle->generation,
                                .key = handle->key,
                                .member = member};
    gba_status_t status = gba_cdev_refuse_child(dev);
    struct gba_cdev_membership *membership;

    if (GBA_OK != status)
        return status;
    membership = calloc(1, sizeof *membership);
    if (NULL == membership)
        return GBA_ERR_NOMEM;
    membership->membership = (struct gba_membership){.dev = d,
                                                     .group = handle->group,
                                                     .generation = handle->generation,
                                                     .member = member,
                                                     .members = handle->members};
    status = CALL(dev, JOIN, &join);
    if (GBA_OK != status)
        goto free_membership;
    status = gba_cdev_doorbell_map(membership, &join);
    if (GBA_OK != status)
        goto leave;
    *out = &membership->membership;
    return GBA_OK;

leave:
    (void)call_free(dev, handle->group, handle->generation, member);
free_membership:
    free(membership);
    return status;
}

static gba_status_t cdev_map_flag(struct gba_membership *membership)
{
    struct gba_cdev *dev = cdev_of(membership);
    struct gba_ioc_map_flag map = {.size = sizeof map,
                                   .group = membership->group,
                                   .generation = membership->generation,
                                   .member = membership->member};
    gba_status_t status = gba_cdev_refuse_child(dev);
    gba_flag_t *flag;

    if (GBA_OK != status)
        return status;
    flag = gba_cdev_flag_get(&dev->flags);
    if (NULL == flag)
        return GBA_ERR_NOMEM;
    gba_flag_store_relaxed(flag, 0);
    map.addr = (uintptr_t)flag;
    status = CALL(dev, MAP_FLAG, &map);
    if (GBA_OK != status) {
        gba_cdev_flag_put(&dev->flags, flag); /* a failed call pins nothing */
        return status;
    }
    membership->flag = flag;
    return GBA_OK;
}

static gba_status_t cdev_configure(struct gba_membership *membership, uint32_t sequence)
{
    struct gba_ioc_configure configure = {.size = sizeof configure,
                                          .group = membership->group,
                                          .generation = membership->generation,
                                          .sequence = sequence};
    gba_status_t status = gba_cdev_refuse_child(cdev_of(membership));

    return GBA_OK == status ? CALL(cdev_of(membership), CONFIGURE, &configure) : status;
}

static void cdev_leave(struct gba_membership *s)
{
    struct gba_cdev_membership *membership = (struct gba_cdev_membership *)s;
    struct gba_cdev *dev = cdev_of(s);
    gba_status_t status;

    if (gba_cdev_is_child(dev)) { /* the parent holds the membership; the mappings are not here */
        free(membership);
        return;
    }
    /* Unmap before FREE: no arrival of this member may reach the group after another team has got
     * it, because it would count there (all teams start with the same sequence). After the
     * unmapping no store to the doorbell is possible. An earlier store, perhaps a retry, arrives
     * before the driver's withdrawal, because the withdrawal takes the same way [HOST-3] and FREE
     * waits for it [HOST-6]. */
    gba_cdev_sys->munmap(membership->doorbell, membership->doorbell_size);
    status = call_free(dev, s->group, s->generation, s->member);
    /* If FREE failed, the device may still store to the flag. The flag is then not reused; it stays
     * mapped until the file is closed. */
    if (NULL != s->flag && GBA_OK == status)
        gba_cdev_flag_put(&dev->flags, s->flag);
    free(membership);
}

static gba_status_t cdev_inspect(struct gba_membership *membership, gba_group_state_t *state)
{
    struct gba_ioc_inspect inspect = {
        .size = sizeof inspect, .group = membership->group, .generation = membership->generation};
    gba_status_t status = gba_cdev_refuse_child(cdev_of(membership));

    if (GBA_OK == status)
        status = CALL(cdev_of(membership), INSPECT, &inspect);
    if (GBA_OK != status)
        return status;
    state->sequence = inspect.sequence;
    state->arrived_count = inspect.arrived_count;
    state->status = inspect.status;
    state->last_error = inspect.last_error;
    state->members = inspect.members;
    memcpy(state->arrived_mask, inspect.arrived_mask, sizeof state->arrived_mask);
    return GBA_OK;
}

/* For tests: every membership has a mapped doorbell, so the engine does not call this. */
static void cdev_arrive(struct gba_membership *membership, uint64_t value)
{
    gba_mmio_write64(membership->doorbell, value);
}

/* Any character device may be a GBA; only one with the usual name is taken for one. */
static bool cdev_identify(const char *link, char *path, size_t len)
{
    static const char prefix[] = "/dev/gba";
    const char *number = link + sizeof prefix - 1;

    if (0 != strncmp(link, prefix, sizeof prefix - 1) || '\0' == *number ||
        strlen(number) != strspn(number, "0123456789"))
        return false;
    snprintf(path, len, "%s", link);
    return true;
}

const struct gba_dev_ops gba_dev_cdev = {
    .name = "cdev",
    .open = cdev_open,
    .close = cdev_close,
    .identify = cdev_identify,
    .query = cdev_query,
    .alloc = cdev_alloc,
    .cancel = cdev_cancel,
    .join = cdev_join,
    .map_flag = cdev_map_flag,
    .configure = cdev_configure,
    .leave = cdev_leave,
    .inspect = cdev_inspect,
    .arrive = cdev_arrive,
    .reg_read = gba_cdev_reg_read,
    .reg_write = gba_cdev_reg_write,
};
