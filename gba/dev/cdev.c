/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backend for /dev/gbaN. Each operation is one call of the driver; `join` also maps the
 * doorbell, and `map_flag` only maps. The engine itself stores to the doorbell and polls the flag,
 * so in a barrier only the functions for long waits run.
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
    gba_cdev_ioctl(gba_cdev_number(&(dev)->file), GBA_IOC_##request, #request, (argument))

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

    if (dev == NULL)
        return GBA_ERR_NOMEM;
    status = gba_cdev_file_open(path->file, &dev->file, &query);
    if (GBA_OK != status) {
        free(dev);
        return status;
    }
    dev->dev.ops = &gba_dev_cdev;
    dev->owner = getpid();
    dev->groups = query.groups;
    dev->features = query.features;
    memcpy(dev->uuid, query.uuid, sizeof dev->uuid);
    dev->job = gba_dev_job(attr == NULL ? NULL : attr->job);
    pthread_mutex_init(&dev->lock, NULL);
    memcpy(dev->path, path->file, sizeof dev->path);
    dev->registers.number = -1;
    *out = &dev->dev;
    return GBA_OK;
}

static void cdev_close(struct gba_dev *d)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    struct gba_cdev_page *page = dev->pages, *next;

    /* Only a child of fork has pages here, without their mappings. A parent has left its groups. */
    for (; page != NULL; page = next) {
        next = page->next;
        free(page);
    }
    pthread_mutex_destroy(&dev->lock);
    gba_cdev_close(&dev->registers);
    gba_cdev_close(&dev->file);
    free(dev);
}

static gba_status_t cdev_query(struct gba_dev *d, gba_device_info_t *info)
{
    struct gba_ioc_query query = {.size = sizeof query, .flags = GBA_QUERY_COUNTERS};
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
                                  .job = dev->job};
    gba_status_t status = gba_cdev_refuse_child(dev);
    int error;

    if (GBA_OK != status)
        return status;
    error = gba_cdev_try(gba_cdev_number(&dev->file), GBA_IOC_ALLOC, &alloc);
    if (EDQUOT == error && 0 != request->groups_max)
        return GBA_ERR_LIMIT; /* the limit of the job; EUSERS is that of the administrator */
    status = gba_cdev_outcome(error, "ALLOC");
    if (GBA_OK != status)
        return status;
    if (alloc.group >= dev->groups) {
        gba_log(GBA_LOG_ERROR, "the GBA driver allocated group %u, but the device has %u groups",
                alloc.group, dev->groups);
        return GBA_ERR_IO;
    }
    *handle = gba_dev_handle(alloc.group, alloc.generation, alloc.key, request->members, dev->uuid);
    return GBA_OK;
}

static void cdev_cancel(struct gba_dev *d, const gba_group_handle_t *handle)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    struct gba_ioc_free cancel = {
        .size = sizeof cancel, .group = handle->group, .generation = handle->generation};

    if (GBA_OK != gba_cdev_refuse_child(dev))
        return;
    /* EBUSY and ESTALE are expected and not logged: the allocation ended with the first join
     * [DRV-3]. The caller gives it up for another reason, which is reported. */
    (void)CALL(dev, FREE, &cancel);
}

/* End a membership. Works on a dead device. */
static void membership_end(const struct gba_membership *membership)
{
    struct gba_ioc_leave leave = {.size = sizeof leave,
                                  .group = membership->group,
                                  .generation = membership->generation,
                                  .member = membership->member};

    (void)CALL(cdev_of(membership), LEAVE, &leave);
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
    if (membership == NULL)
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
    membership_end(&membership->membership);
free_membership:
    free(membership);
    return status;
}

/* The device has the address of the flag since JOIN. [DRV-4] */
static gba_status_t cdev_map_flag(struct gba_membership *membership)
{
    gba_status_t status = gba_cdev_refuse_child(cdev_of(membership));

    return GBA_OK == status ? gba_cdev_flag_map((struct gba_cdev_membership *)membership) : status;
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

    if (!gba_cdev_is_child(cdev_of(s))) { /* a child has neither the membership nor the mappings */
        /* LEAVE revokes the doorbell, so no order of these calls lets an arrival of this member
         * reach the next team of the group. */
        membership_end(s);
        gba_cdev_doorbell_unmap(membership);
        gba_cdev_flag_unmap(membership);
    }
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

static gba_status_t cdev_failure(const struct gba_membership *membership)
{
    /* Acquire: pairs with the driver's store of the reason, which follows the last release. The
     * word has the reason in its low half, and 0 in the high half. */
    const gba_flag_t *revoked = membership->flag + 1;

    switch ((uint32_t)gba_flag_load_acquire(revoked)) {
    case GBA_REVOKED_NO:
        return GBA_OK;
    case GBA_REVOKED_ENDED:
        gba_log(GBA_LOG_ERROR,
                "this process closed the file of %s, and so has left barrier group %u",
                cdev_of(membership)->path, membership->group);
        return GBA_ERR_DEAD;
    default: /* GBA_REVOKED_DEAD */
        return GBA_ERR_DEAD;
    }
}

/* WAIT: returns 0 or the errno. Not repeated after a signal, because the timeout would begin again.
 */
static int membership_wait(struct gba_membership *s, uint32_t sequence, uint64_t timeout)
{
    struct gba_cdev_membership *membership = (struct gba_cdev_membership *)s;
    struct gba_cdev *dev = cdev_of(s);
    struct gba_ioc_wait wait = {.size = sizeof wait,
                                .group = s->group,
                                .generation = s->generation,
                                .member = s->member,
                                .sequence = sequence,
                                .timeout = timeout};

    if (0 == (dev->features & GBA_FEATURE_WAIT) || gba_cdev_is_child(dev))
        return EOPNOTSUPP;
    if (0 != gba_cdev_sys->ioctl(gba_cdev_number(&dev->file), GBA_IOC_WAIT, &wait))
        return errno;
    if (0 != (wait.events & GBA_EVENT_DIED))
        membership->died = true;
    return 0;
}

static gba_status_t cdev_sleep(struct gba_membership *membership, uint32_t sequence,
                               uint64_t max_ns)
{
    int error = membership_wait(membership, sequence, max_ns);

    return 0 == error || ETIMEDOUT == error || EINTR == error ? GBA_OK : GBA_ERR_UNSUPPORTED;
}

/* A timeout of 0 takes the events. The last round of the flag is always valid. */
static bool cdev_died(struct gba_membership *membership)
{
    uint32_t sequence = (uint32_t)gba_flag_load_relaxed(membership->flag);

    (void)membership_wait(membership, sequence, 0);
    return ((struct gba_cdev_membership *)membership)->died;
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
    .owners = gba_cdev_owners,
    .join = cdev_join,
    .map_flag = cdev_map_flag,
    .configure = cdev_configure,
    .leave = cdev_leave,
    .inspect = cdev_inspect,
    .arrive = cdev_arrive,
    .failure = cdev_failure,
    .sleep = cdev_sleep,
    .died = cdev_died,
    .reg_read = gba_cdev_reg_read,
    .reg_write = gba_cdev_reg_write,
};
