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

/* The head of this member's island, which takes the group for all of it. */
static uint32_t island_head(const struct gba_plan *plan)
{
    return plan->islands.heads[plan->islands.island];
}

/* Whether this member's island has a group: one node alone needs none, but where it is all there is
 * it was asked for. */
static bool island_grouped(const struct gba_plan *plan)
{
    return 1 == plan->islands.count || plan->islands.size > 1;
}

void gba_leaders_offer(struct gba_agreement *a, struct gba_deed *mine)
{
    struct gba_software *software = a->software;
    gba_device_t *device = a->attr->device;
    struct gba_wish *wish = a->wish;
    gba_status_t status = GBA_OK;
    uint32_t ignored;

    if (island_head(&a->plan) != a->oob->rank || !island_grouped(&a->plan) ||
        GBA_OK != gba_plan_check_groups(&a->plan, a->cards, &ignored))
        return;
    if (NULL == device) {
        mine->group_status = a->attr->device_status;
        return;
    }
    wish->request.members = a->plan.islands.size;
    if (wish->ticket.members != wish->request.members) {
        if (0 != wish->ticket.members) /* it was thought that there is one island */
            gba_free_ticket(device, &wish->ticket);
        wish->ticket.members = 0;
        status = gba_request_group(device, &wish->request, &wish->ticket);
    }
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
    if (!software->split)
        return;
    if (NULL != software->remote && NULL != software->remote->ops->destroy)
        software->remote->ops->destroy(software->remote);
    software->remote = software->signals = NULL;
    software->split = software->head = false;
}

/* This member's part as the head of one of several islands. */
static gba_status_t head_open(struct gba_agreement *a)
{
    const struct gba_plan *plan = &a->plan;
    const struct gba_islands *islands = &plan->islands;
    struct gba_software *software = a->software;
    gba_remote_group_t group = {.ranks = islands->heads,
                                .size = islands->count,
                                .rank = islands->island,
                                .radix = &gba_soft_radix == plan->upper ? plan->radix : 2,
                                .sequence = plan->sequence};
    gba_status_t status;

    if (NULL == a->attr->remote)
        return GBA_ERR_UNSUPPORTED;
    status = a->attr->remote->open(a->attr->remote->ctx, &group, &software->remote);
    if (GBA_OK != status)
        return status;
    software->head = true;
    software->algorithm = plan->upper;
    software->signals = software->remote;
    software->source = islands->heads[gba_sched_source(group.rank, 1, group.size)];
    gba_soft_init(&software->soft, group.rank, group.size, plan->radix, plan->sequence);
    return GBA_OK;
}

/* This member's part, up to the point where only arming is missing. */
static gba_status_t group_join(struct gba_agreement *a)
{
    const struct gba_islands *islands = &a->plan.islands;
    struct gba_software *software = a->software;
    uint32_t head = island_head(&a->plan);

    software->split = islands->count > 1;
    if (GBA_OK != a->wish->mine)
        return a->wish->mine;
    if (0 != a->plan.topology.local_rank)
        return GBA_OK;        /* no leader */
    if (head == a->oob->rank) /* has its seat */
        return software->split ? head_open(a) : GBA_OK;
    if (NULL == a->attr->device)
        return a->attr->device_status;
    return gba_group_take(a->attr->device, &a->deeds[head].group, islands->place, a->plan.sequence,
                          &software->group, &software->state);
}

/* Why there are no groups, or GBA_OK: from what all know of all. */
static gba_status_t groups_refused(const struct gba_agreement *a, uint32_t *culprit)
{
    const struct gba_islands *islands = &a->plan.islands;
    gba_status_t status = gba_plan_check_groups(&a->plan, a->cards, culprit);

    for (uint32_t i = 0; i < islands->count && GBA_OK == status; i++) {
        *culprit = islands->heads[i];
        status = (gba_status_t)a->deeds[*culprit].group_status;
    }
    return status;
}

static void groups_describe(const struct gba_agreement *a, char *why, size_t len)
{
    const struct gba_topology *topology = &a->plan.topology;
    const struct gba_deed *offer = &a->deeds[0];

    if (a->software->split)
        snprintf(why, len,
                 "groups among the leaders of %u hosts, %s among the %u islands, %u members",
                 topology->nodes, a->plan.upper->name, a->plan.islands.count, topology->size);
    else
        snprintf(why, len, "group %u of %u among the leaders of %u host%s, %u members",
                 offer->group.group, offer->groups, topology->nodes,
                 1 == topology->nodes ? "" : "s", topology->size);
}

gba_status_t gba_leaders_agree(struct gba_agreement *a)
{
    struct gba_software_outcome *outcome = a->outcome;
    struct gba_software *software = a->software;
    gba_status_t status = GBA_OK, armed = GBA_OK;

    outcome->group_reason = groups_refused(a, &outcome->group_culprit);
    if (GBA_OK != outcome->group_reason)
        goto leave;
    status = gba_vote(a->oob, group_join(a), &outcome->group_reason, &outcome->group_culprit);
    if (GBA_OK != status || GBA_OK != outcome->group_reason)
        goto leave;
    if (island_head(&a->plan) == a->oob->rank && NULL != software->group)
        armed = gba_configure_group(software->group, a->plan.sequence);
    status = gba_vote(a->oob, armed, &outcome->group_reason, &outcome->group_culprit);
    if (GBA_OK != status || GBA_OK != outcome->group_reason)
        goto leave;
    software->kind = GBA_SOFTWARE_HYBRID;
    software->leader = 0 == a->plan.topology.local_rank;
    groups_describe(a, outcome->why, sizeof outcome->why);
    return GBA_OK;

leave:
    gba_leaders_leave(software);
    return status;
}
