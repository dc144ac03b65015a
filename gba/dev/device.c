/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices: choose the backend, open a device once per process, query it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/batch_job.h"
#include "gba/base/log.h"
#include "gba/dev/member.h"
#include "gba/spec/gba_regs.h"

_Static_assert(GBA_COUNTERS_SIZE == GBA_COUNTERS, "device.h and gba_regs.h count the same");

gba_status_t gba_device_path_check(const char *path, char *message, size_t len)
{
    struct gba_dev_path parsed;

    return gba_dev_path_parse(path, &parsed, message, len);
}

static char *string_copy(const char *text)
{
    return text == NULL ? NULL : strdup(text);
}

/* The back ends, by the path of a device; GBA_DEV_NONE has none. */
static const struct {
    const struct gba_dev_ops *ops;
    gba_path_t kind;
} backends[] = {[GBA_DEV_CDEV] = {&gba_dev_cdev, GBA_PATH_DEVICE},
                [GBA_DEV_SIM] = {&gba_dev_sim, GBA_PATH_SIM},
                [GBA_DEV_SWITCH] = {&gba_dev_switch, GBA_PATH_SWITCH}};

static void device_free(struct gba_device *device)
{
    free(device->job);
    free(device->path);
    free(device);
}

gba_status_t gba_device_init(const char *path, const gba_device_attr_t *attr, gba_device_t **device)
{
    static const gba_device_attr_t no_attr = {.job = NULL};
    struct gba_dev_path parsed;
    const struct gba_dev_ops *ops;
    gba_device_info_t info;
    struct gba_device *d;
    char message[288];
    gba_status_t status;

    attr = attr == NULL ? &no_attr : attr;
    status = gba_dev_path_parse(path, &parsed, message, sizeof message);
    if (GBA_OK != status) {
        gba_log(GBA_LOG_ERROR, "%s", message);
        return status;
    }
    if (GBA_DEV_NONE == parsed.kind)
        return GBA_ERR_NO_DEVICE;
    ops = backends[parsed.kind].ops;

    d = calloc(1, sizeof *d);
    if (d == NULL)
        return GBA_ERR_NOMEM;
    d->path = string_copy(path);
    d->job = string_copy(attr->job);
    if (d->path == NULL || (attr->job != NULL && d->job == NULL)) {
        status = GBA_ERR_NOMEM;
        goto free_device;
    }
    status = ops->open(&parsed, attr, &d->dev);
    if (GBA_OK != status)
        goto free_device;
    status = ops->query(d->dev, &info);
    if (GBA_OK != status)
        goto close_device;
    memcpy(d->dev->uuid, info.uuid, sizeof d->dev->uuid);
    d->dev->groups = info.groups;
    d->members_max = info.members_max;
    d->kind = backends[parsed.kind].kind;
    gba_log(GBA_LOG_DEBUG, "opened %s: %s, %u of %u groups free", path, ops->name, info.groups_free,
            info.groups);
    *device = d;
    return GBA_OK;

close_device:
    ops->close(d->dev);
free_device:
    device_free(d);
    return status;
}

void gba_device_fini(gba_device_t *device)
{
    if (device == NULL)
        return;
    gba_log(GBA_LOG_DEBUG, "closed %s", device->path);
    device->dev->ops->close(device->dev);
    device_free(device);
}

/* The devices that the plugins of this process share. */
static pthread_mutex_t global_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gba_device *global_devices;

static bool string_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : 0 == strcmp(a, b);
}

gba_status_t gba_global_device_get(const char *path, const gba_device_attr_t *attr,
                                   gba_device_t **device)
{
    const char *job = attr == NULL ? NULL : attr->job;
    gba_status_t status = GBA_OK;
    struct gba_device *d;

    /* The lock is held while the device is opened: a second caller must wait for that device. */
    pthread_mutex_lock(&global_lock);
    for (d = global_devices; d != NULL; d = d->next)
        if (string_same(d->path, path) && string_same(d->job, job))
            break;
    if (d == NULL) {
        status = gba_device_init(path, attr, &d);
        if (GBA_OK == status) {
            d->next = global_devices;
            global_devices = d;
        }
    }
    if (GBA_OK == status) {
        d->references++;
        *device = d;
    }
    pthread_mutex_unlock(&global_lock);
    return status;
}

void gba_global_device_put(gba_device_t *device)
{
    struct gba_device **link;

    if (device == NULL)
        return;
    pthread_mutex_lock(&global_lock);
    if (0 == --device->references) {
        for (link = &global_devices; *link != device; link = &(*link)->next)
            ;
        *link = device->next;
        gba_device_fini(device);
    }
    pthread_mutex_unlock(&global_lock);
}

gba_status_t gba_device_query(gba_device_t *device, gba_device_info_t *info)
{
    gba_device_info_t answer;
    gba_status_t status = device->dev->ops->query(device->dev, &answer);

    if (GBA_OK == status) {
        snprintf(answer.path, sizeof answer.path, "%s", device->path);
        snprintf(answer.backend, sizeof answer.backend, "%s", device->dev->ops->name);
        *info = answer;
    }
    return status;
}

gba_status_t gba_device_owners(gba_device_t *device, gba_group_owner_t *list, uint32_t max,
                               uint32_t *count)
{
    struct gba_dev *dev = device->dev;
    gba_status_t status = GBA_ERR_UNSUPPORTED;

    if (dev->ops->owners != NULL)
        status = dev->ops->owners(dev, list, max, count);
    for (uint32_t i = 0; GBA_OK == status && i < *count; i++)
        if (list[i].local && 0 != list[i].process && '\0' == list[i].batch_job[0])
            gba_batch_job(list[i].process, list[i].batch_job);
    return status;
}

bool gba_device_served_here(const gba_device_t *device)
{
    return device->dev->served_here;
}

/* Whether a bus supports the access. The device itself decides whether the access is valid. */
static bool access_possible(uint32_t address, unsigned width)
{
    bool power_of_two = 1 == width || 2 == width || 4 == width || 8 == width;

    return power_of_two && address < GBA_BAR_SIZE && width <= GBA_BAR_SIZE - address;
}

gba_status_t gba_reg_read(gba_device_t *device, uint32_t address, unsigned width, uint64_t *value)
{
    if (!access_possible(address, width))
        return GBA_ERR_PARAM;
    return device->dev->ops->reg_read(device->dev, address, width, value);
}

gba_status_t gba_reg_write(gba_device_t *device, uint32_t address, unsigned width, uint64_t value)
{
    if (!access_possible(address, width))
        return GBA_ERR_PARAM;
    return device->dev->ops->reg_write(device->dev, address, width, value);
}
