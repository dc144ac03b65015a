/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups: the life of one membership (joined, mapped, armed, left), and the arrival and the poll
 * that are the whole of a barrier on the device.
 */
#include <stdlib.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/engine.h"
#include "gba/spec/gba_regs.h"

gba_status_t gba_request_group(gba_device_t *device, const gba_group_request_t *request,
                               gba_ticket_t *ticket)
{
    gba_ticket_t t;
    gba_status_t status;

    if (0 == request->members)
        return GBA_ERR_PARAM;
    if (request->members > device->members_max)
        return GBA_ERR_TOO_MANY;
    memset(&t, 0, sizeof t); /* it travels as bytes: no padding with old memory in it */
    status = device->dev->ops->alloc(device->dev, request, &t);
    if (GBA_OK != status)
        return status;
    t.members = request->members;
    memcpy(t.uuid, device->uuid, sizeof t.uuid);
    *ticket = t;
    return GBA_OK;
}

gba_status_t gba_allocate_group(gba_device_t *device, uint32_t members, gba_ticket_t *ticket)
{
    const gba_group_request_t request = {.members = members};

    return gba_request_group(device, &request, ticket);
}

void gba_free_ticket(gba_device_t *device, const gba_ticket_t *ticket)
{
    device->dev->ops->cancel(device->dev, ticket);
}

gba_status_t gba_join_group(gba_device_t *device, const gba_ticket_t *ticket, uint32_t member,
                            gba_group_t **group)
{
    struct gba_group *g;
    gba_status_t status;

    if (0 != memcmp(ticket->uuid, device->uuid, sizeof device->uuid))
        return GBA_ERR_OTHER_DEVICE;
    /* A ticket comes from another process: do not let it name a group that the device lacks. */
    if (ticket->group >= device->groups || member >= ticket->members)
        return GBA_ERR_PARAM;
    g = calloc(1, sizeof *g);
    if (NULL == g)
        return GBA_ERR_NOMEM;
    status = device->dev->ops->join(device->dev, ticket, member, &g->seat);
    if (GBA_OK != status) {
        free(g);
        return status;
    }
    g->device = device;
    *group = g;
    return GBA_OK;
}

gba_status_t gba_dma_map(gba_group_t *group)
{
    if (NULL != group->seat->flag)
        return GBA_ERR_BUSY;
    return group->seat->dev->ops->map_flag(group->seat);
}

gba_status_t gba_configure_group(gba_group_t *group, uint32_t sequence)
{
    return group->seat->dev->ops->configure(group->seat, sequence);
}

void gba_free_group(gba_group_t *group)
{
    if (NULL == group)
        return;
    group->seat->dev->ops->leave(group->seat);
    free(group);
}

gba_status_t gba_group_inspect(gba_group_t *group, gba_group_state_t *state)
{
    return group->seat->dev->ops->inspect(group->seat, state);
}

gba_status_t gba_local_state_init(gba_group_t *group, uint32_t sequence, gba_local_state_t **state)
{
    struct gba_local_state *s;

    if (NULL == group->seat->flag)
        return GBA_ERR_BUSY;
    s = aligned_alloc(_Alignof(struct gba_local_state), sizeof *s);
    if (NULL == s)
        return GBA_ERR_NOMEM;
    s->flag = group->seat->flag;
    s->doorbell = group->seat->doorbell;
    s->ops = group->seat->dev->ops;
    s->seat = group->seat;
    s->sequence = sequence;
    s->member = group->seat->member;
    /* Nobody stores to the flag yet: the group is armed after the exchange that follows, and that
     * exchange orders this store before any release. */
    gba_word_store_relaxed(s->flag, sequence);
    *state = s;
    return GBA_OK;
}

gba_status_t gba_group_take(gba_device_t *device, const gba_ticket_t *ticket, uint32_t member,
                            uint32_t sequence, gba_group_t **group, gba_local_state_t **state)
{
    gba_group_t *g;
    gba_status_t status = gba_join_group(device, ticket, member, &g);

    if (GBA_OK != status) {
        if (0 == member)
            gba_free_ticket(device, ticket);
        return status;
    }
    status = gba_dma_map(g);
    if (GBA_OK == status)
        status = gba_local_state_init(g, sequence, state);
    if (GBA_OK != status) {
        gba_free_group(g);
        return status;
    }
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
    state->sequence++; /* unsigned: wraps after 2^32 - 1 to 0, as the device's does */
    gba_state_arrive(state);
}

gba_status_t gba_poll_release(gba_local_state_t *state)
{
    return gba_state_poll(state);
}
