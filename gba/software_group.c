/* SPDX-License-Identifier: BSD-3-Clause */
/* A barrier group among the leaders of nodes: the part of the agreement that is about it. */
#include <stdio.h>

#include "gba/engine.h"
#include "gba/software_agree.h"

/* The least status of all members, and whose it is. GBA_OK or GBA_ERR_OOB. */
gba_status_t gba_vote(const gba_oob_t *oob, gba_status_t mine, gba_status_t *least, uint32_t *whose)
{
    int64_t outcome;
    gba_status_t status =
        oob->allreduce_min(oob->ctx, gba_outcome_encode(mine, oob->rank), &outcome);

    if (GBA_OK != status)
        return status;
    *least = gba_outcome_status(outcome);
    *whose = gba_outcome_rank(outcome);
    return GBA_OK;
}

/* Rank 0: take a group for the leaders, and the first seat in it. */
void gba_leaders_offer(struct gba_agreement *a, struct gba_deed *mine)
{
    struct gba_software *software = a->software;
    gba_device_t *device = a->attr->device;
    struct gba_wish *wish = a->wish;
    gba_status_t status = GBA_OK;

    if (NULL == device) {
        mine->group_status = a->attr->device_status;
        return;
    }
    wish->request.members = a->plan.topology.nodes;
    if (0 == wish->ticket.members)
        status = gba_request_group(device, &wish->request, &wish->ticket);
    mine->group = wish->ticket;
    wish->ticket.members = 0; /* from here on it goes the way of the seat */
    if (GBA_OK == status)
        status = gba_group_take(device, &mine->group, 0, a->plan.sequence, &software->group,
                                &software->state);
    mine->group_status = status;
    mine->groups = device->groups;
}

void gba_leaders_leave(struct gba_software *software)
{
    gba_local_state_fini(software->state);
    software->state = NULL;
    gba_free_group(software->group);
    software->group = NULL;
}

/* This member's part, up to the point where only arming is missing. */
static gba_status_t group_join(struct gba_agreement *a)
{
    const struct gba_topology *topology = &a->plan.topology;
    struct gba_software *software = a->software;

    if (0 != topology->local_rank || 0 == topology->node)
        return GBA_OK; /* no leader, or rank 0, which has its seat */
    if (NULL == a->attr->device)
        return a->attr->device_status;
    return gba_group_take(a->attr->device, &a->deeds[0].group, topology->node, a->plan.sequence,
                          &software->group, &software->state);
}

/*
 * All nodes are ready: the leaders join, and rank 0 arms the group. GBA_OK with
 * outcome->group_reason set, or GBA_ERR_OOB.
 */
gba_status_t gba_leaders_agree(struct gba_agreement *a)
{
    struct gba_software_outcome *outcome = a->outcome;
    const struct gba_topology *topology = &a->plan.topology;
    const struct gba_deed *offer = &a->deeds[0];
    gba_status_t status;
    int32_t armed = GBA_OK;

    outcome->group_culprit = 0;
    outcome->group_reason = (gba_status_t)offer->group_status;
    if (GBA_OK != outcome->group_reason)
        return GBA_OK;
    status = gba_vote(a->oob, group_join(a), &outcome->group_reason, &outcome->group_culprit);
    if (GBA_OK != status)
        return status;
    if (GBA_OK == outcome->group_reason) {
        if (0 == a->oob->rank)
            armed = (int32_t)gba_configure_group(a->software->group, a->plan.sequence);
        status = a->oob->bcast(a->oob->ctx, &armed, sizeof armed, 0);
        if (GBA_OK != status)
            return status;
        outcome->group_reason = (gba_status_t)armed;
    }
    if (GBA_OK != outcome->group_reason) {
        gba_leaders_leave(a->software);
        return GBA_OK;
    }
    a->software->kind = GBA_SOFTWARE_HYBRID;
    a->software->leader = 0 == topology->local_rank;
    snprintf(outcome->why, sizeof outcome->why,
             "group %u of %u among the leaders of %u host%s, %u members", offer->group.group,
             offer->groups, topology->nodes, 1 == topology->nodes ? "" : "s", topology->size);
    return GBA_OK;
}
