/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of a component, and the reports about a device that fails to open. */
#include "ompi/mca/common/gba/device.h"
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/report.h"

/*
 * Report a device file that fails to open. It is a fault of the system, whether the user set
 * device_path or not. If the user set it, the line about the first communicator without a device
 * has the same content; there is no such line if another device of the host replaces the chosen
 * one.
 */
static void device_report(void)
{
    const struct gba_common_device *device = &gba_common.device;
    const char *path = gba_common.params.device_path, *failed = path;
    char topic[300], advice[160];

    if ('\0' == device->detail[0])
        return;
    if (device->replaced)
        failed = device->candidates.list[device->chosen].path;
    snprintf(topic, sizeof topic, "device %.255s", failed);
    if (!gba_common_first_on_host(topic))
        return;
    if (device->replaced) {
        gba_common_alert("%s; its processes use %s", device->detail, path);
        return;
    }
    gba_device_advice(path, device->status, advice, sizeof advice);
    gba_common_alert("%s; barriers use software%s%s", device->detail, '\0' == advice[0] ? "" : ". ",
                     advice);
}

gba_device_t *gba_common_device_get(gba_status_t *status)
{
    struct gba_common_device *device = &gba_common.device;
    bool tried;

    opal_mutex_lock(&gba_common.lock);
    tried = device->tried;
    if (!tried) {
        gba_common_choice_make();
        gba_common_log_keep(device->detail, sizeof device->detail);
        device->status = gba_common_device_open(gba_common.params.device_path, 0, &device->device);
        gba_common_log_keep(NULL, 0);
        if (GBA_OK != device->status)
            gba_common_choice_replace();
        device->tried = true;
    }
    *status = device->status;
    opal_mutex_unlock(&gba_common.lock);
    if (!tried && (device->replaced || (!gba_common.device_asked && GBA_OK != *status)))
        device_report();
    return GBA_OK == *status ? device->device : NULL;
}

void gba_common_device_put(void)
{
    gba_common_choice_close();
    gba_global_device_put(gba_common.device.device);
    gba_common_key_clear();
    gba_common.device.device = NULL;
    gba_common.device.tried = false;
}

bool gba_common_reason_own(gba_status_t reason)
{
    return GBA_ERR_PERM == reason || GBA_ERR_NOT_GBA == reason || GBA_ERR_VERSION == reason ||
           GBA_ERR_BUSY == reason || GBA_ERR_NOMEM == reason || GBA_ERR_IO == reason;
}

bool gba_common_reason_of_job(gba_status_t reason)
{
    return GBA_ERR_NO_GROUP == reason;
}

bool gba_common_reason_first(const char *component, gba_status_t reason)
{
    gba_device_t *device = gba_common.device.device;
    char topic[300];

    if (!gba_common_reason_of_job(reason)) {
        snprintf(topic, sizeof topic, "%s %s", component, gba_status_name(reason));
        return gba_common_first_on_host(topic);
    }
    if (0 != OPAL_PROC_MY_NAME.vpid || (device != NULL && gba_device_usable(device)))
        return false;
    /* Both components may use the device of that path. */
    snprintf(topic, sizeof topic, "no group %.255s", gba_common.params.device_path);
    return gba_common_first_on_host(topic);
}

void gba_common_device_describe(gba_status_t reason, bool due, char *text, size_t len)
{
    const struct gba_common_device *device = &gba_common.device;
    const char *path = gba_common.params.device_path;
    const char *name = gba_common.device_set ? "device_path" : "device_list";
    const char *value = gba_common.device_set ? path : gba_common.params.device_list;
    bool detailed = '\0' != device->detail[0] && reason == device->status;
    char advice[160] = "";

    if (due && detailed)
        gba_device_advice(path, reason, advice, sizeof advice);
    snprintf(text, len, "%s%s%s%.255s%s%s%s%s%s%s",
             !due                     ? ""
             : GBA_ERR_DEAD == reason ? "; "
                                      : ", although ",
             due ? name : "", due ? " is \"" : "", due ? value : "", due ? "\"" : "",
             detailed ? " (" : "", detailed ? device->detail : "", detailed ? ")" : "",
             '\0' == advice[0] ? "" : ". ", advice);
}
