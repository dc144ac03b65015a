/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/agree/devices.h"

#include <stdio.h>
#include <string.h>

#include "gba/dev/member.h"

static bool is_at(const gba_device_t *device, const uint8_t uuid[GBA_UUID_SIZE])
{
    return 0 == memcmp(device->uuid, uuid, GBA_UUID_SIZE);
}

static bool is_dead(gba_device_t *device)
{
    gba_device_info_t info;

    return GBA_OK == gba_device_query(device, &info) && info.dead;
}

uint32_t gba_devices_list(const gba_team_attr_t *attr, gba_device_t *list[GBA_CANDIDATES_MAX])
{
    gba_device_t *all[GBA_CANDIDATES_MAX];
    uint32_t count = 0, found = 0, same;

    if (NULL != attr->device)
        list[count++] = attr->device;
    if (NULL != attr->devices)
        found = attr->devices(attr->devices_ctx, all, GBA_CANDIDATES_MAX);
    for (uint32_t i = 0; i < found && count < GBA_CANDIDATES_MAX; i++) {
        /* Several devices may be ports of one switch, and one that has failed hides no other. */
        for (same = 0; same < count && !is_at(list[same], all[i]->uuid); same++)
            ;
        if (same == count)
            list[count++] = all[i];
        else if (list[same] != all[i] && is_dead(list[same]))
            list[same] = all[i];
    }
    return count;
}

gba_device_t *gba_devices_find(const gba_team_attr_t *attr, const uint8_t uuid[GBA_UUID_SIZE])
{
    gba_device_t *list[GBA_CANDIDATES_MAX];
    uint32_t count;

    /* Most often the chosen device fits, and no other one need be opened. */
    if (NULL != attr->device && is_at(attr->device, uuid) &&
        (NULL == attr->devices || !is_dead(attr->device)))
        return attr->device;
    count = gba_devices_list(attr, list);
    for (uint32_t i = 0; i < count; i++)
        if (is_at(list[i], uuid))
            return list[i];
    return NULL;
}

void gba_tried_add(struct gba_tried *tried, const gba_device_t *device, gba_status_t reason,
                   const char *member)
{
    const size_t length = strlen(tried->text);

    snprintf(tried->text + length, sizeof tried->text - length, "%s%s (%s%s%s)",
             0 == length ? "; not at " : ", ", device->path, gba_status_text(reason),
             NULL == member ? "" : ", ", NULL == member ? "" : member);
}
