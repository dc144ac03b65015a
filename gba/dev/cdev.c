/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backend for /dev/gbaN. Each operation is one call of the driver, and JOIN also maps the
 * doorbell. Between two barriers no function of this file runs: the engine stores to the doorbell
 * and polls the flag by itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/dev/cdev.h"
#include "gba/spec/gba_ioctl.h"

/* One call of the driver, by its name in gba_ioctl.h. */
#define CALL(dev, request, argument) \
    gba_cdev_ioctl((dev)->file, GBA_IOC_##request, #request, (argument))

_Static_assert(GBA_UUID_SIZE == sizeof((struct gba_ioc_query *)0)->uuid, "one uuid");
_Static_assert(sizeof((gba_group_state_t *)0)->arrived_mask == GBA_MASK_WORDS * 8, "one mask");

static struct gba_cdev *cdev_of(const struct gba_seat *seat)
{
    return (struct gba_cdev *)seat->dev;
}

bool gba_cdev_is_child(const struct gba_cdev *dev)
{
    return getpid() != dev->owner;
}

gba_status_t gba_cdev_refuse_child(const struct gba_cdev *dev)
{
    if (!gba_cdev_is_child(dev))
        return GBA_OK;
    gba_log(GBA_LOG_ERROR, "a child of fork cannot use the GBA that its parent opened");
    return GBA_ERR_IO;
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
    bool mapped = !gba_cdev_is_child(dev); /* what we map does not go to children */

    if (mapped && NULL != dev->bar)
        gba_cdev_sys->munmap(dev->bar, GBA_BAR_SIZE);
    pthread_mutex_destroy(&dev->bar_lock);
    /* The file first: the last close withdraws every flag that the driver may still have. */
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
                               gba_ticket_t *ticket)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    struct gba_ioc_alloc alloc = {.size = sizeof alloc,
                                  .members = request->members,
                                  .groups_max = request->groups_max,
                                  .heat = request->heat,
                                  .job = dev->job};
    gba_status_t status = gba_cdev_refuse_child(dev);

    if (GBA_OK == status)
        status = CALL(dev, ALLOC, &alloc);
    if (GBA_OK != status)
        return status;
    if (alloc.group >= dev->groups) {
        gba_log(GBA_LOG_ERROR, "the GBA driver allocated group %u of %u", alloc.group, dev->groups);
        return GBA_ERR_IO;
    }
    memset(ticket, 0, sizeof *ticket);
    ticket->group = alloc.group;
    ticket->generation = alloc.generation;
    ticket->key = alloc.key;
    ticket->members = request->members;
    memcpy(ticket->uuid, dev->uuid, sizeof ticket->uuid);
    return GBA_OK;
}

/* FREE: leave a seat, or with GBA_MEMBER_NONE give up an allocation. */
static gba_status_t call_free(struct gba_cdev *dev, uint32_t group, uint32_t generation,
                              uint32_t member)
{
    struct gba_ioc_free leave = {
        .size = sizeof leave, .group = group, .generation = generation, .member = member};
    int error = gba_cdev_try(dev->file, GBA_IOC_FREE, &leave);

    /* An allocation that somebody has joined already is not the allocator's any more [DRV-3]: that
     * is no news beside the reason why it is given up. */
    if (EINVAL == error && GBA_MEMBER_NONE == member)
        return GBA_ERR_PARAM;
    return gba_cdev_outcome(error, "FREE");
}

static void cdev_cancel(struct gba_dev *d, const gba_ticket_t *ticket)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;

    if (GBA_OK == gba_cdev_refuse_child(dev))
        (void)call_free(dev, ticket->group, ticket->generation, GBA_MEMBER_NONE);
}

static gba_status_t cdev_join(struct gba_dev *d, const gba_ticket_t *ticket, uint32_t member,
                              struct gba_seat **out)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    struct gba_ioc_join join = {.size = sizeof join,
                                .group = ticket->group,
                                .generation = ticket->generation,
                                .key = ticket->key,
                                .member = member};
    gba_status_t status = gba_cdev_refuse_child(dev);
    struct gba_cdev_seat *seat;

    if (GBA_OK != status)
        return status;
    seat = calloc(1, sizeof *seat);
    if (NULL == seat)
        return GBA_ERR_NOMEM;
    seat->seat = (struct gba_seat){.dev = d,
                                   .group = ticket->group,
                                   .generation = ticket->generation,
                                   .member = member,
                                   .members = ticket->members};
    status = CALL(dev, JOIN, &join);
    if (GBA_OK != status)
        goto free_seat;
    status = gba_cdev_doorbell_map(seat, &join);
    if (GBA_OK != status)
        goto leave;
    *out = &seat->seat;
    return GBA_OK;

leave:
    (void)call_free(dev, ticket->group, ticket->generation, member);
free_seat:
    free(seat);
    return status;
}

static gba_status_t cdev_map_flag(struct gba_seat *seat)
{
    struct gba_cdev *dev = cdev_of(seat);
    struct gba_ioc_map_flag map = {.size = sizeof map,
                                   .group = seat->group,
                                   .generation = seat->generation,
                                   .member = seat->member};
    gba_status_t status = gba_cdev_refuse_child(dev);
    gba_word_t *flag;

    if (GBA_OK != status)
        return status;
    flag = gba_cdev_flag_get(&dev->flags);
    if (NULL == flag)
        return GBA_ERR_NOMEM;
    gba_word_store_relaxed(flag, 0);
    map.addr = (uintptr_t)flag;
    status = CALL(dev, MAP_FLAG, &map);
    if (GBA_OK != status) {
        gba_cdev_flag_put(&dev->flags, flag); /* a call that failed has pinned nothing */
        return status;
    }
    seat->flag = flag;
    return GBA_OK;
}

static gba_status_t cdev_configure(struct gba_seat *seat, uint32_t sequence)
{
    struct gba_ioc_configure configure = {.size = sizeof configure,
                                          .group = seat->group,
                                          .generation = seat->generation,
                                          .sequence = sequence};
    gba_status_t status = gba_cdev_refuse_child(cdev_of(seat));

    return GBA_OK == status ? CALL(cdev_of(seat), CONFIGURE, &configure) : status;
}

static void cdev_leave(struct gba_seat *s)
{
    struct gba_cdev_seat *seat = (struct gba_cdev_seat *)s;
    struct gba_cdev *dev = cdev_of(s);
    gba_status_t status;

    if (gba_cdev_is_child(dev)) { /* the seat is the parent's, and the mappings are not here */
        free(seat);
        return;
    }
    /* No arrival of ours reaches the group after it has been given to another team, where it would
     * count (all teams begin with the same sequence): nobody can store to the doorbell any more,
     * and what was stored before, a retry perhaps, arrives before the driver's withdrawal does,
     * which takes the same way [HOST-3] and is waited for [HOST-6]. */
    gba_cdev_sys->munmap(seat->doorbell, seat->doorbell_size);
    status = call_free(dev, s->group, s->generation, s->member);
    /* If the driver did not take the flag back, the device may still store to it: it is given to
     * nobody else, and stays mapped until the file is closed. */
    if (NULL != s->flag && GBA_OK == status)
        gba_cdev_flag_put(&dev->flags, s->flag);
    free(seat);
}

static gba_status_t cdev_inspect(struct gba_seat *seat, gba_group_state_t *state)
{
    struct gba_ioc_inspect inspect = {
        .size = sizeof inspect, .group = seat->group, .generation = seat->generation};
    gba_status_t status = gba_cdev_refuse_child(cdev_of(seat));

    if (GBA_OK == status)
        status = CALL(cdev_of(seat), INSPECT, &inspect);
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

/* Every seat has a mapped doorbell, so the engine has no need of this; tests have. */
static void cdev_arrive(struct gba_seat *seat, uint64_t value)
{
    gba_mmio_write64(seat->doorbell, value);
}

const struct gba_dev_ops gba_dev_cdev = {
    .name = "cdev",
    .open = cdev_open,
    .close = cdev_close,
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
