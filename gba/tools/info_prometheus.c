/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of devices. A gba-switchd has a port less while its device is open, so gba_diag prints
 * those of a switch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/metrics.h"
#include "gba/tools/info.h"

static void read_device(const char *path, struct gba_metrics *metrics)
{
    gba_group_owner_t owners[GBA_GROUPS];
    gba_device_info_t info;
    uint32_t count = 0;
    char cause[640];
    gba_status_t status;
    gba_device_t *device = info_device_open(path, &status, cause, sizeof cause);

    *metrics = (struct gba_metrics){.device = path};
    if (device == NULL)
        return;
    if (GBA_OK == gba_device_query(device, &info)) {
        for (int i = 0; i < GBA_UUID_SIZE; i++)
            snprintf(metrics->unit + 2 * i, 3, "%02x", info.uuid[i]);
        metrics->up = !info.dead;
    }
    if (metrics->up) {
        metrics->groups = info.groups;
        metrics->groups_used = info.groups - info.groups_free;
        memcpy(metrics->counters, info.counters, sizeof metrics->counters);
        metrics->bad_accesses = info.bad_access;
        if (GBA_OK == gba_device_owners(device, owners, GBA_GROUPS, &count))
            for (uint32_t i = 0; i < count; i++)
                gba_metrics_own(metrics, owners[i].user, owners[i].job, owners[i].batch_job);
    }
    gba_device_fini(device);
}

int info_prometheus(char *const *devices, int count)
{
    gba_candidates_t candidates = {.count = 0};
    struct gba_metrics *list;
    unsigned all, down = 0;

    if (0 == count)
        info_devices_default(&candidates);
    all = (unsigned)count + candidates.count;
    list = calloc(all, sizeof *list);
    if (list == NULL)
        return report_error(INFO_EXIT_NO_DEVICE, "%s", gba_status_text(GBA_ERR_NOMEM));
    for (unsigned i = 0; i < all; i++) {
        const char *path =
            i < (unsigned)count ? devices[i] : candidates.list[i - (unsigned)count].path;

        if (0 == strncmp(path, "switch:", strlen("switch:"))) {
            free(list);
            return report_error(INFO_EXIT_USAGE, "%s: use gba_diag --prometheus for a gba-switchd",
                                path);
        }
        read_device(path, &list[i]);
        down += !list[i].up;
    }
    gba_metrics_print(stdout, list, all);
    free(list);
    return 0 == down ? INFO_EXIT_OK : INFO_EXIT_NO_DEVICE;
}
