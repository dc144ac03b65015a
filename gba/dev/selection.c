/* SPDX-License-Identifier: BSD-3-Clause */
/* Parser of device_list and device_map. */
#include "gba/dev/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/number.h"
#include "gba/dev/device_path.h"

#define COUNT_MAX 65535u

#define REFUSE(list, ...) \
    gba_dev_refuse((list)->parameter, (list)->text, (list)->message, (list)->len, __VA_ARGS__)

/* "gba0" is a file in /dev; all else is a device path. */
static bool is_name(const char *item)
{
    return 0 == strncmp(item, "gba", 3) && '\0' != item[3] &&
           strlen(item) == 3 + strspn(item + 3, "0123456789");
}

/* Add one device of the text. */
static gba_status_t item_add(struct gba_device_selection *list, const char *item)
{
    char *path = list->path[list->count], message[288];
    struct gba_dev_path parsed;

    if (GBA_DEVICE_CHOICES_MAX == list->count)
        return REFUSE(list, "more than %u devices", GBA_DEVICE_CHOICES_MAX);
    if (strlen(item) + sizeof "/dev/" > GBA_DEVICE_PATH_MAX)
        return REFUSE(list, "a device has more than %zu characters",
                      GBA_DEVICE_PATH_MAX - sizeof "/dev/");
    snprintf(path, GBA_DEVICE_PATH_MAX, "%s%s", is_name(item) ? "/dev/" : "", item);
    if (GBA_OK != gba_dev_path_parse(path, &parsed, message, sizeof message) ||
        GBA_DEV_NONE == parsed.kind || (list->exclude && GBA_DEV_CDEV != parsed.kind))
        return REFUSE(list, "\"%.40s\" is not a device; allowed: names such as gba0%s", item,
                      list->exclude ? " after ^" : ", or paths as in device_path, with commas");
    for (uint32_t i = 0; i < list->count; i++)
        if (!list->map && 0 == strcmp(path, list->path[i]))
            return REFUSE(list, "%.40s is given twice", item);
    list->count++;
    return GBA_OK;
}

/* Split the count off "DEVICE:COUNT". */
static gba_status_t count_parse(struct gba_device_selection *list, char *item)
{
    char *colon = strrchr(item, ':');
    uint64_t count;

    if (colon == NULL || !gba_count_parse(colon + 1, 1, COUNT_MAX, &count))
        return REFUSE(list,
                      "\"%.40s\" is not DEVICE:COUNT; allowed: none, or for example "
                      "gba0:3,gba1:5; COUNT is 1 to %u processes",
                      item, COUNT_MAX);
    *colon = '\0';
    list->processes[list->count % GBA_DEVICE_CHOICES_MAX] = (uint32_t)count;
    return GBA_OK;
}

static gba_status_t items_parse(struct gba_device_selection *list, const char *text)
{
    char copy[GBA_DEVICE_CHOICES_MAX * GBA_DEVICE_PATH_MAX], *rest = copy, *item;
    gba_status_t status = GBA_OK;

    if (strlen(text) >= sizeof copy)
        return REFUSE(list, "more than %zu characters", sizeof copy - 1);
    strcpy(copy, text);
    while (GBA_OK == status && (item = strsep(&rest, ",")) != NULL) {
        if (list->map)
            status = count_parse(list, item);
        if (GBA_OK == status)
            status = item_add(list, item);
    }
    return status;
}

gba_status_t gba_device_list_parse(const char *text, struct gba_device_selection *list,
                                   char *message, size_t len)
{
    *list = (struct gba_device_selection){
        .parameter = "device_list", .text = text, .message = message, .len = len};
    if (0 == strcmp(text, "all"))
        return GBA_OK;
    list->exclude = '^' == text[0];
    return items_parse(list, text + list->exclude);
}

gba_status_t gba_device_map_parse(const char *text, struct gba_device_selection *map, char *message,
                                  size_t len)
{
    *map = (struct gba_device_selection){
        .parameter = "device_map", .text = text, .message = message, .len = len, .map = true};
    return 0 == strcmp(text, "none") ? GBA_OK : items_parse(map, text);
}

gba_status_t gba_device_list_check(const char *list, char *message, size_t len)
{
    struct gba_device_selection parsed;

    return gba_device_list_parse(list, &parsed, message, len);
}

gba_status_t gba_device_map_check(const char *map, char *message, size_t len)
{
    struct gba_device_selection parsed;

    return gba_device_map_parse(map, &parsed, message, len);
}

bool gba_device_list_has(const struct gba_device_selection *list, const char *path)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (0 == strcmp(path, list->path[i]))
            return true;
    return false;
}
