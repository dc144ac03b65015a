/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups: the life of one membership (joined, mapped, armed, left), and the arrival and the poll,
 * the two steps of a barrier on the device.
 */
#include <stdlib.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/dev/member.h"
#include "gba/spec/gba_regs.h"

gba_status_t gba_request_group(gba_device_t *device, const gba_group_request_t *request,
                               gba_group_handle_t *handle)
{
    if (0 == request->members)
        return GBA_ERR_PARAM;
    if (request->members > device->members_max)
        return GBA_ERR_TOO_MANY;
    return device->dev->ops->alloc(device->dev, request, handle);
}

gba_status_t gba_allocate_group(gba_device_t *device, uint32_t members, gba_group_handle_t *handle)
{
    const gba_group_request_t request = {.members = members};

    return gba_request_group(device, &request, handle);
}

bool gba_device_usable(gba_device_t *device)
{
    /* The limit comes before the lack of groups [DRV-11], so its refusal answers the question. */
    const gba_group_request_t request = {.members = 1, .groups_max = 1};
    gba_group_handle_t handle;
    gba_status_t status = gba_request_group(device, &request, &handle);

    if (GBA_OK == status)
        gba_free_handle(device, &handle);
    return GBA_OK == status || GBA_ERR_LIMIT == status;
}

void gba_free_handle(gba_device_t *device, const gba_group_handle_t *handle)
{
    device->dev->ops->cancel(device->dev, handle);
}

gba_status_t gba_join_group(gba_device_t *device, const gba_group_handle_t *handle, uint32_t member,
                            gba_group_t **group)
{
    struct gba_dev *dev = device->dev;
    struct gba_group *g;
    gba_status_t status;

    if (0 != memcmp(handle->uuid, dev->uuid, sizeof dev->uuid))
        return GBA_ERR_OTHER_DEVICE;
    /* A handle comes from another process: check that the device has that group. */
    if (handle->group >= dev->groups || member >= handle->members)
        return GBA_ERR_PARAM;
    g = calloc(1, sizeof *g);
    if (g == NULL)
        return GBA_ERR_NOMEM;
    status = dev->ops->join(dev, handle, member, &g->membership);
    if (GBA_OK != status) {
        free(g);
        return status;
    }
    g->kind = device->kind;
    *group = g;
    return GBA_OK;
}

gba_status_t gba_dma_map(gba_group_t *group)
{
    if (group->membership->flag != NULL)
        return GBA_ERR_BUSY;
    return group->membership->dev->ops->map_flag(group->membership);
}

gba_status_t gba_configure_group(gba_group_t *group, uint32_t sequence)
{
    return group->membership->dev->ops->configure(group->membership, sequence);
}

void gba_free_group(gba_group_t *group)
{
    if (group == NULL)
        return;
    group->membership->dev->ops->leave(group->membership);
    free(group);
}

gba_status_t gba_group_inspect(gba_group_t *group, gba_group_state_t *state)
{
    return group->membership->dev->ops->inspect(group->membership, state);
}

/* Set up the state. group: has a flag and is not armed. */
static void state_set(struct gba_local_state *state, const gba_group_t *group, uint32_t sequence)
{
    const struct gba_membership *membership = group->membership;
    const uint32_t low = GBA_ARRIVAL_LOW(membership->generation, membership->member);

    *state = (struct gba_local_state){.flag = membership->flag,
                                      .doorbell = membership->doorbell,
                                      .ops = membership->dev->ops,
                                      .membership = group->membership,
                                      .sequence = sequence,
                                      .low = low};
    /* The device does not store to the flag yet: the group is armed after the exchange that
     * follows, and that exchange orders this store before any release. */
    gba_flag_store_relaxed(state->flag, sequence);
}

gba_status_t gba_local_state_init(gba_group_t *group, uint32_t sequence, gba_local_state_t **state)
{
    struct gba_local_state *s;

    if (group->membership->flag == NULL)
        return GBA_ERR_BUSY;
    s = aligned_alloc(_Alignof(struct gba_local_state), sizeof *s);
    if (s == NULL)
        return GBA_ERR_NOMEM;
    state_set(s, group, sequence);
    *state = s;
    return GBA_OK;
}

gba_status_t gba_group_take(gba_device_t *device, const gba_group_handle_t *handle, uint32_t member,
                            uint32_t sequence, gba_group_t **group, struct gba_local_state *state)
{
    gba_group_t *g;
    gba_status_t status = gba_join_group(device, handle, member, &g);

    if (GBA_OK != status) {
        if (0 == member)
            gba_free_handle(device, handle);
        return status;
    }
    status = gba_dma_map(g);
    if (GBA_OK != status) {
        gba_free_group(g);
        return status;
    }
    state_set(state, g, sequence);
    *group = g;
    return GBA_OK;
}

void gba_local_state_fini(gba_local_state_t *state)
{
    free(state);
}

void gba_resend_arrival(gba_local_state_t *state)
{
    gba_state_arrive(state);
}

void gba_send_arrival(gba_local_state_t *state)
{
    state->sequence++; /* unsigned: wraps from 2^32 - 1 to 0, as the sequence of the device does */
    gba_state_arrive(state);
}

gba_status_t gba_poll_release(gba_local_state_t *state)
{
    return gba_state_poll(state);
}
