/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices of a component, and the reports about those that fail to open. */
#include "ompi/mca/common/gba/device.h"
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/report.h"

#include <string.h>

static const char *path_of(uint32_t index)
{
    const gba_device_choices_t *choices = &gba_common.device.choices;

    return choices->count > 1 ? choices->list[index].path : gba_common.params.device_path;
}

/* The attributes of this job. job: filled in. */
static gba_device_attr_t attr_get(char *job, size_t len)
{
    gba_compat_job_name(job, len);
    return (gba_device_attr_t){.job = job, .key_file = gba_common.params.switch_key_file};
}

/* Open the choices beside the chosen one, once in the life of the process. With the lock held.
 */
static void others_open(void)
{
    struct gba_common_device *device = &gba_common.device;
    gba_device_attr_t attr;
    char job[256];

    if (device->others_tried)
        return;
    attr = attr_get(job, sizeof job);
    gba_device_choices_open(&device->choices, path_of(device->chosen), &attr, 0, device->open);
    device->others_tried = true;
}

/* The chosen device cannot be opened: take the first choice that can. */
static void device_replace(struct gba_common_device *device)
{
    others_open();
    for (uint32_t i = 0; i < device->choices.count && GBA_OK != device->status; i++)
        if (device->open[i] != NULL) {
            device->status = GBA_OK;
            device->current = i;
            gba_common.params.device_path = device->choices.list[i].path;
        }
}

/*
 * Report a device file that fails to open. It is a fault of the system, whether the user set
 * device_path or not. If the user set it, the line about the first communicator without a device
 * has the same content; there is no such line if another device of the host replaces the chosen
 * one.
 */
static void device_report(void)
{
    const struct gba_common_device *device = &gba_common.device;
    const char *failed = path_of(device->chosen);
    char topic[300], advice[160];

    if ('\0' == device->detail[0])
        return;
    snprintf(topic, sizeof topic, "device %.255s", failed);
    if (!gba_common_first_on_host(topic))
        return;
    if (GBA_OK == device->status) {
        gba_common_alert("%s; its processes use %s", device->detail, path_of(device->current));
        return;
    }
    gba_device_advice(failed, device->status, advice, sizeof advice);
    gba_common_alert("%s; barriers use software%s%s", device->detail, '\0' == advice[0] ? "" : ". ",
                     advice);
}

gba_device_t *gba_common_device_get(gba_status_t *status)
{
    struct gba_common_device *device = &gba_common.device;
    gba_device_attr_t attr;
    char job[256];
    bool tried;

    opal_mutex_lock(&gba_common.lock);
    tried = device->tried;
    if (!tried) {
        gba_common_choice_make();
        device->current = device->chosen;
        attr = attr_get(job, sizeof job);
        gba_common_log_keep(device->detail, sizeof device->detail);
        device->status =
            gba_global_device_get(path_of(device->chosen), &attr, &device->open[device->chosen]);
        gba_common_log_keep(NULL, 0);
        if (GBA_OK != device->status)
            device_replace(device);
        device->tried = true;
    }
    *status = device->status;
    opal_mutex_unlock(&gba_common.lock);
    if (!tried &&
        (device->current != device->chosen || (!gba_common.device_asked && GBA_OK != *status)))
        device_report();
    return device->open[device->current];
}

uint32_t gba_common_devices_get(void *unused, gba_device_t **list, uint32_t max)
{
    struct gba_common_device *device = &gba_common.device;
    uint32_t count = 0;

    (void)unused;
    opal_mutex_lock(&gba_common.lock);
    others_open();
    for (uint32_t i = 0; i < device->choices.count && count < max; i++)
        if (device->open[i] != NULL)
            list[count++] = device->open[i];
    opal_mutex_unlock(&gba_common.lock);
    return count;
}

void gba_common_devices_put(void)
{
    for (uint32_t i = 0; i < GBA_DEVICE_CHOICES_MAX; i++)
        gba_global_device_put(gba_common.device.open[i]);
    memset(&gba_common.device, 0, sizeof gba_common.device);
}
