/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Software barriers of a team: the agreement. What is concluded from the cards is in
 * software_plan.c.
 *
 * Two exchanges between two votes: whether all have the memory to take part, and whether all are
 * ready. First each member tells its host and what it can do; from the same picture all draw the
 * same conclusion. Then the leader of each node makes the memory of the node and tells where it is.
 * The second vote is also the fence after which nobody still attaches, and before which nobody
 * signals.
 *
 * If the leaders are to have a barrier group, its ticket travels with the second exchange, and the
 * second vote is about the nodes alone. Then the leaders vote on the group, and only if they cannot
 * have it they turn to what they would use without it, which needs no exchange but a last vote.
 * With several islands of nodes it is the same, with a ticket from the head of each.
 */
#include "gba/software.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/engine.h"
#include "gba/software_agree.h"

/*
 * The second exchange: the memory of each node. planned: whether this member has a plan at all: if
 * not, it takes part for the sake of the others.
 * Returns this member's own status.
 */
static gba_status_t segment_share(struct gba_agreement *a, gba_status_t planned,
                                  gba_status_t *exchange)
{
    const struct gba_topology *topology = &a->plan.topology;
    struct gba_segment *segment = &a->software->segment;
    gba_status_t status = planned;
    struct gba_deed mine;

    memset(&mine, 0, sizeof mine);
    mine.status = planned; /* it may be the leader of a node, and has no memory for it */
    if (GBA_OK == planned && gba_plan_shares(&a->plan) && 0 == topology->local_rank)
        mine.status = gba_shm_segment_create(topology->local_size, a->plan.slots, a->plan.sequence,
                                             segment, &mine.ticket);
    if (GBA_OK == planned && a->grouped)
        gba_leaders_offer(a, &mine);
    *exchange = a->oob->allgather(a->oob->ctx, &mine, a->deeds, sizeof mine);
    if (GBA_OK != *exchange || GBA_OK != planned || !gba_plan_shares(&a->plan))
        return status;
    if (0 == topology->local_rank) {
        status = (gba_status_t)mine.status;
    } else {
        const struct gba_deed *leader = &a->deeds[topology->locals[0]];

        /* The leader reports its own failure, so a member says nothing new with it. */
        status = (gba_status_t)leader->status;
        if (GBA_OK == status)
            status = gba_shm_segment_attach(&leader->ticket, segment);
    }
    return status;
}

/* This member's place in its node. */
static void node_place(struct gba_agreement *a)
{
    const struct gba_topology *topology = &a->plan.topology;
    struct gba_software *software = a->software;

    software->sequence = a->plan.sequence;
    software->rank = a->oob->rank;
    if (NULL == software->segment.base)
        return;
    software->mark = gba_segment_slots(&software->segment, topology->local_rank);
    software->death = gba_segment_word(&software->segment, GBA_SEGMENT_DEATH);
    gba_node_init(&software->node, &software->segment, a->plan.sequence);
    gba_shm_init(&software->shm, &software->segment, topology->local_rank);
}

/* Its place in the barrier of software, with its messages: what it alone can make ready. */
static gba_status_t software_place(struct gba_agreement *a)
{
    const struct gba_plan *plan = &a->plan;
    const struct gba_topology *topology = &plan->topology;
    struct gba_software *software = a->software;
    bool one_host = 1 == topology->nodes;
    uint32_t rank = a->oob->rank, size = a->oob->size;
    gba_remote_group_t group = {.sequence = plan->sequence};
    gba_status_t status;

    software->kind = plan->kind;
    software->algorithm = plan->algorithm;
    software->leader = GBA_SOFTWARE_HYBRID == plan->kind && 0 == topology->local_rank;
    if (GBA_SOFTWARE_NODE == plan->kind)
        return GBA_OK;
    if (GBA_SOFTWARE_HYBRID == plan->kind) {
        rank = topology->node;
        size = topology->nodes;
        group.ranks = topology->leaders;
    }
    gba_soft_init(&software->soft, rank, size, plan->radix, plan->sequence);
    software->signals = &software->shm.base;
    if (one_host || (GBA_SOFTWARE_HYBRID == plan->kind && !software->leader))
        return GBA_OK;
    software->source = gba_sched_source(rank, 1, size);
    if (GBA_SOFTWARE_HYBRID == plan->kind)
        software->source = topology->leaders[software->source];
    group.rank = rank;
    group.size = size;
    group.radix = &gba_soft_radix == plan->algorithm ? plan->radix : 2;
    software->signals = NULL;
    status = a->attr->remote->open(a->attr->remote->ctx, &group, &software->remote);
    if (GBA_OK == status)
        software->signals = software->remote;
    return status;
}

/* There is no group for the leaders, and all know it: the barrier that they would have without. */
static gba_status_t software_instead(struct gba_agreement *a)
{
    struct gba_software_outcome *outcome = a->outcome;
    gba_status_t status;

    outcome->reason = gba_cards_check(a->cards, a->oob->size, &outcome->culprit);
    if (GBA_OK != outcome->reason)
        return GBA_OK;
    status = gba_vote(a->oob, software_place(a), &outcome->reason, &outcome->culprit);
    if (GBA_OK == status && GBA_OK == outcome->reason)
        gba_plan_describe(&a->plan, a->attr->remote, outcome->why, sizeof outcome->why);
    return status;
}

/* Of the plan: what tells later who is missing. */
static void software_keep(struct gba_agreement *a)
{
    struct gba_topology *topology = &a->plan.topology;
    struct gba_software *software = a->software;

    software->locals = topology->locals;
    topology->locals = NULL;
    if (software->split) {
        software->nodes = a->plan.islands.size;
        software->leaders = a->plan.islands.leaders;
        a->plan.islands.leaders = NULL;
    } else {
        software->nodes = topology->nodes;
        software->leaders = topology->leaders;
        topology->leaders = NULL;
    }
}

/* From the plan on: GBA_OK with outcome->reason set, or GBA_ERR_OOB. */
static gba_status_t software_build(struct gba_agreement *a)
{
    struct gba_software_outcome *outcome = a->outcome;
    struct gba_software *software = a->software;
    gba_status_t exchange = GBA_OK, status;

    /* What failed here alone (no memory for the plan) is for the vote; the exchange before it must
     * not be missed for that. From here on all make the same two calls, whatever happens. */
    status =
        gba_plan_make(&a->plan, a->grouped ? a->wish : NULL, a->cards, a->oob->rank, a->oob->size);
    if (GBA_OK == status) {
        outcome->apart = a->plan.islands.count > 1;
        outcome->nodes = outcome->apart ? a->plan.islands.size : a->plan.topology.nodes;
    }
    status = segment_share(a, status, &exchange);
    if (GBA_OK != exchange)
        return exchange;
    if (GBA_OK == status) {
        node_place(a);
        if (!a->grouped)
            status = software_place(a);
    }
    exchange = gba_vote(a->oob, status, &outcome->reason, &outcome->culprit);
    if (GBA_OK != exchange)
        return exchange;
    gba_shm_segment_shut(&software->segment);
    if (GBA_OK != outcome->reason)
        return GBA_OK;
    if (!a->grouped) {
        gba_plan_describe(&a->plan, a->attr->remote, outcome->why, sizeof outcome->why);
    } else {
        exchange = gba_leaders_agree(a);
        if (GBA_OK == exchange && GBA_OK != outcome->group_reason)
            exchange = software_instead(a);
    }
    software_keep(a);
    return exchange;
}

/* The first exchange, and what all see in it at once: GBA_OK with outcome->reason set. */
static gba_status_t cards_exchange(struct gba_agreement *a)
{
    struct gba_software_outcome *outcome = a->outcome;
    uint32_t size = a->oob->size;
    gba_status_t status;
    struct gba_card mine;

    gba_card_fill(&mine, a->attr, a->grouped);
    status = a->oob->allgather(a->oob->ctx, &mine, a->cards, sizeof mine);
    if (GBA_OK != status)
        return status;
    /* A group of one node is a detour, for who did not ask for it. */
    if (a->grouped && GBA_HIERARCHY_NODE != a->cards[0].hierarchy &&
        gba_cards_one_host(a->cards, size)) {
        outcome->group_reason = a->wish->reason;
        outcome->group_culprit = a->wish->culprit;
        a->grouped = false;
    }
    outcome->reason = a->grouped ? gba_cards_check_hosts(a->cards, size, &outcome->culprit)
                                 : gba_cards_check(a->cards, size, &outcome->culprit);
    return GBA_OK;
}

gba_status_t gba_software_agree(const gba_team_attr_t *attr, const gba_oob_t *oob,
                                struct gba_wish *wish, struct gba_software **software,
                                struct gba_software_outcome *outcome)
{
    struct gba_agreement a = {.attr = attr,
                              .oob = oob,
                              .grouped = NULL != wish,
                              .wish = wish,
                              .cards = calloc(oob->size, sizeof *a.cards),
                              .deeds = calloc(oob->size, sizeof *a.deeds),
                              .software = calloc(1, sizeof *a.software),
                              .outcome = outcome};
    bool memory = NULL != a.software && NULL != a.cards && NULL != a.deeds;
    gba_status_t status;

    *software = NULL;
    memset(outcome, 0, sizeof *outcome);
    if (NULL != a.software)
        a.software->segment.fd = -1;
    /* The exchanges need memory that grows with the team. Who has none must not be missed in them,
     * so all hear of it first, by the one call that needs none. */
    status = gba_vote(oob, memory ? GBA_OK : GBA_ERR_NOMEM, &outcome->reason, &outcome->culprit);
    if (GBA_OK == status && GBA_OK == outcome->reason)
        status = cards_exchange(&a);
    if (GBA_OK == status && GBA_OK == outcome->reason)
        status = software_build(&a);
    if (GBA_OK == status && GBA_OK == outcome->reason) {
        *software = a.software;
        a.software = NULL;
    } else if (GBA_OK == outcome->group_reason) { /* what prevented all prevented the group, too */
        outcome->group_reason = outcome->reason;
        outcome->group_culprit = outcome->culprit;
    }
    gba_plan_fini(&a.plan);
    gba_software_destroy(a.software);
    free(a.deeds);
    free(a.cards);
    return status;
}

void gba_software_destroy(struct gba_software *software)
{
    if (NULL == software)
        return;
    gba_leaders_leave(software);
    if (NULL != software->remote && NULL != software->remote->ops->destroy)
        software->remote->ops->destroy(software->remote);
    if (NULL != software->segment.base)
        gba_shm_segment_close(&software->segment);
    free(software->leaders);
    free(software->locals);
    free(software);
}
