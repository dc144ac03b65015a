/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of a component, and the reports about a device that cannot be used. */
#include "ompi/mca/common/gba/gba_common.h"

/*
 * Report a device file that cannot be used. It is a fault of the system, whether the user set
 * device_path or not. If the user set it, the line about the first communicator without a device
 * has the same content.
 */
static void device_report(const struct gba_common_device *device, const char *path)
{
    char topic[300], advice[160];

    if ('\0' == device->detail[0])
        return;
    snprintf(topic, sizeof topic, "device %.255s", path);
    if (!gba_common_first_on_host(topic))
        return;
    gba_device_advice(path, device->status, advice, sizeof advice);
    gba_common_alert("%s; barriers use software%s%s", device->detail, '\0' == advice[0] ? "" : ". ",
                     advice);
}

gba_device_t *gba_common_device_get(struct gba_common_device *device, opal_mutex_t *lock,
                                    const char *path, bool asked, gba_status_t *status)
{
    char job[256];
    gba_device_attr_t attr = {.job = job};
    bool tried;

    opal_mutex_lock(lock);
    tried = device->tried;
    if (!tried) {
        gba_compat_job_name(job, sizeof job);
        gba_common_log_keep(device->detail, sizeof device->detail);
        device->status = gba_global_device_get(path, &attr, &device->device);
        gba_common_log_keep(NULL, 0);
        device->tried = true;
    }
    *status = device->status;
    opal_mutex_unlock(lock);
    if (!tried && !asked && GBA_OK != *status)
        device_report(device, path);
    return GBA_OK == *status ? device->device : NULL;
}

void gba_common_device_put(struct gba_common_device *device)
{
    gba_global_device_put(device->device);
    device->device = NULL;
    device->tried = false;
}

bool gba_common_reason_own(gba_status_t reason)
{
    return GBA_ERR_PERM == reason || GBA_ERR_NOT_GBA == reason || GBA_ERR_VERSION == reason ||
           GBA_ERR_BUSY == reason || GBA_ERR_NOMEM == reason || GBA_ERR_IO == reason;
}

bool gba_common_device_usable(const struct gba_common_device *device, gba_status_t reason)
{
    return GBA_ERR_NO_GROUP == reason && NULL != device->device &&
           gba_device_usable(device->device);
}

void gba_common_device_describe(const struct gba_common_device *device, gba_status_t reason,
                                const char *path, bool due, char *text, size_t len)
{
    bool detailed = '\0' != device->detail[0] && reason == device->status;
    char advice[160] = "";

    if (due && detailed)
        gba_device_advice(path, reason, advice, sizeof advice);
    snprintf(text, len, "%s%.255s%s%s%s%s%s%s",
             !due                     ? ""
             : GBA_ERR_DEAD == reason ? "; device_path is \""
                                      : ", although device_path is \"",
             due ? path : "", due ? "\"" : "", detailed ? " (" : "", detailed ? device->detail : "",
             detailed ? ")" : "", '\0' == advice[0] ? "" : ". ", advice);
}
