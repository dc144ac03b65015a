/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters device_list and device_map: the devices among which a process chooses. */
#ifndef GBA_DEV_SELECTION_H
#define GBA_DEV_SELECTION_H

#include "gba/device.h"

/* A list of devices, or the parts of a map. */
struct gba_device_selection {
    const char *parameter, *text; /* for messages */
    char *message;
    size_t len;
    bool map, exclude;
    uint32_t count;
    char path[GBA_DEVICE_CHOICES_MAX][GBA_DEVICE_PATH_MAX];
    uint32_t processes[GBA_DEVICE_CHOICES_MAX]; /* of a map */
};

/* Parse device_list or device_map. message, len: as for gba_params_check, and kept in the
 * selection. Returns GBA_OK or GBA_ERR_PARAM. Thread-safe. */
gba_status_t gba_device_list_parse(const char *text, struct gba_device_selection *list,
                                   char *message, size_t len);
gba_status_t gba_device_map_parse(const char *text, struct gba_device_selection *map, char *message,
                                  size_t len);

/* Check the parameters, as gba_params_check. */
gba_status_t gba_device_list_check(const char *list, char *message, size_t len);
gba_status_t gba_device_map_check(const char *map, char *message, size_t len);

/* Whether the selection names that device path. */
bool gba_device_list_has(const struct gba_device_selection *list, const char *path);

#endif
