/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/team/steer.h"

#include <string.h>

#include "gba/dev/member.h"

/* The devices of this member. Returns their number. */
static uint32_t devices_of(const gba_team_attr_t *attr, gba_device_t *list[GBA_CANDIDATES_MAX])
{
    if (NULL != attr->devices)
        return attr->devices(attr->devices_ctx, list, GBA_CANDIDATES_MAX);
    list[0] = attr->device;
    return NULL == attr->device ? 0 : 1;
}

static bool is_at(const gba_device_t *device, const uint8_t uuid[GBA_UUID_SIZE])
{
    return 0 == memcmp(device->uuid, uuid, GBA_UUID_SIZE);
}

gba_device_t *gba_steer_find(const gba_team_attr_t *attr, const uint8_t uuid[GBA_UUID_SIZE])
{
    gba_device_t *list[GBA_CANDIDATES_MAX];
    uint32_t count;

    /* Most often the chosen device fits, and no other one need be opened. */
    if (NULL != attr->device && is_at(attr->device, uuid))
        return attr->device;
    count = devices_of(attr, list);
    for (uint32_t i = 0; i < count; i++)
        if (is_at(list[i], uuid))
            return list[i];
    return NULL;
}

/* Several devices may be ports of one switch. */
static bool has(const struct gba_switches *switches, const gba_device_t *device)
{
    for (uint32_t i = 0; i < switches->count; i++)
        if (is_at(device, switches->uuid[i]))
            return true;
    return false;
}

static void switches_fill(const gba_team_attr_t *attr, struct gba_switches *switches)
{
    gba_device_t *list[GBA_CANDIDATES_MAX];
    uint32_t count = devices_of(attr, list);

    for (uint32_t i = 0; i < count; i++)
        if (!has(switches, list[i]))
            memcpy(switches->uuid[switches->count++], list[i]->uuid, GBA_UUID_SIZE);
}

gba_status_t gba_steer_agree(const gba_team_attr_t *attr, const gba_oob_t *oob, uint32_t root,
                             gba_device_t **device)
{
    struct gba_switches switches;
    gba_device_t *found;
    gba_status_t status;
    int64_t all;

    memset(&switches, 0, sizeof switches);
    if (oob->rank == root)
        switches_fill(attr, &switches);
    status = oob->bcast(oob->ctx, &switches, sizeof switches, root);
    if (GBA_OK != status)
        return status;
    for (uint32_t i = 0; i < switches.count; i++) {
        found = gba_steer_find(attr, switches.uuid[i]);
        status = oob->allreduce_min(oob->ctx, NULL != found, &all);
        if (GBA_OK != status)
            return status;
        if (0 != all) {
            *device = found;
            return GBA_OK;
        }
    }
    *device = NULL;
    return GBA_OK;
}

gba_status_t gba_steer_leaders(const gba_team_attr_t *attr, const gba_oob_t *oob,
                               struct gba_proposal *proposal, gba_device_t **device)
{
    int64_t missing; /* the lowest rank without a device at rank 0's switch */
    gba_status_t status;
    bool here;

    *device = NULL;
    if (GBA_PROPOSAL_LEADERS != proposal->kind || 0 == proposal->several)
        return GBA_OK;
    here = NULL != gba_steer_find(attr, proposal->handle.uuid);
    status = oob->allreduce_min(oob->ctx, here ? INT64_MAX : oob->rank, &missing);
    if (GBA_OK == status && INT64_MAX != missing)
        status = gba_steer_agree(attr, oob, (uint32_t)missing, device);
    if (GBA_OK == status && NULL == *device)
        return GBA_OK;
    if (0 == oob->rank && 0 != proposal->handle.members)
        gba_free_handle(attr->device, &proposal->handle);
    memset(&proposal->handle, 0, sizeof proposal->handle);
    if (GBA_OK == status)
        proposal->simulated = (*device)->simulated;
    return status;
}
