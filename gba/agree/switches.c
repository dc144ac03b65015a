/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/agree/info.h"

#include <stdlib.h>
#include <string.h>

#include "gba/dev/member.h"

uint64_t gba_switches_key(const uint8_t uuid[GBA_UUID_SIZE])
{
    uint64_t word[GBA_UUID_SIZE / sizeof(uint64_t)];

    memcpy(word, uuid, sizeof word);
    return (word[0] * UINT64_C(0x9E3779B97F4A7C15)) ^ word[1];
}

static bool is_at(const gba_device_t *device, uint64_t key)
{
    return gba_switches_key(device->dev->uuid) == key;
}

static bool is_dead(gba_device_t *device)
{
    gba_device_info_t info;

    return GBA_OK == gba_device_query(device, &info) && info.dead;
}

uint32_t gba_switches_devices(const gba_team_attr_t *attr,
                              gba_device_t *list[GBA_DEVICE_CHOICES_MAX])
{
    gba_device_t *all[GBA_DEVICE_CHOICES_MAX];
    uint32_t count = 0, found = 0, same;

    if (attr->device != NULL)
        list[count++] = attr->device;
    if (attr->devices != NULL)
        found = attr->devices(attr->devices_ctx, all, GBA_DEVICE_CHOICES_MAX);
    for (uint32_t i = 0; i < found && count < GBA_DEVICE_CHOICES_MAX; i++) {
        const uint64_t key = gba_switches_key(all[i]->dev->uuid);

        /* Several devices may be ports of one switch, and one that has failed hides no other. */
        for (same = 0; same < count && !is_at(list[same], key); same++)
            ;
        if (same == count)
            list[count++] = all[i];
        else if (list[same] != all[i] && is_dead(list[same]))
            list[same] = all[i];
    }
    return count;
}

gba_device_t *gba_switches_device(const gba_team_attr_t *attr, uint64_t key)
{
    gba_device_t *list[GBA_DEVICE_CHOICES_MAX];
    uint32_t count;

    /* Most often the chosen device fits, and no other one need be opened. */
    if (attr->device != NULL && is_at(attr->device, key) &&
        (attr->devices == NULL || !is_dead(attr->device)))
        return attr->device;
    count = gba_switches_devices(attr, list);
    for (uint32_t i = 0; i < count; i++)
        if (is_at(list[i], key))
            return list[i];
    return NULL;
}

void gba_switches_fill(uint64_t *words, const gba_team_attr_t *attr, bool sends)
{
    gba_device_t *list[GBA_DEVICE_CHOICES_MAX];
    struct gba_switches own;

    memset(words, 0xff, GBA_SWITCHES_WORDS * sizeof *words);
    if (!sends)
        return;
    memset(&own, 0, sizeof own);
    own.count = gba_switches_devices(attr, list);
    for (uint32_t i = 0; i < own.count; i++) {
        own.key[i] = gba_switches_key(list[i]->dev->uuid);
        own.members_max[i] = list[i]->members_max;
        own.kind[i] = (uint8_t)list[i]->kind;
    }
    memcpy(words, &own, GBA_SWITCHES_WORDS * sizeof *words);
}

void gba_switches_read(struct gba_switches *switches, const uint64_t *words)
{
    memcpy(switches, words, GBA_SWITCHES_WORDS * sizeof *words);
}

void gba_lacking_fill(uint64_t *words, const struct gba_switches *switches,
                      const gba_team_attr_t *attr, uint32_t rank)
{
    /* That a member has no device at all is a fact. */
    const bool any = attr->device != NULL || attr->devices != NULL;

    for (uint32_t i = 0; i < GBA_LACKING_WORDS; i++)
        words[i] = any && i < switches->count && gba_switches_device(attr, switches->key[i]) == NULL
                       ? rank
                       : UINT64_MAX;
}

void gba_lacking_read(struct gba_switches *switches, const uint64_t *words)
{
    for (uint32_t i = 0; i < GBA_LACKING_WORDS; i++)
        switches->lacking[i] = (uint32_t)words[i]; /* all ones: UINT32_MAX, none */
}
