/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Software barriers of a team: the agreement.
 *
 * Two exchanges between two votes: whether all have the memory to take part, and whether all are
 * ready. First each member tells its host and what it can do; from the same picture all draw the
 * same conclusion. Then the leader of each node makes the memory of the node and tells where it is.
 * The second vote is also the fence after which nobody still attaches, and before which nobody
 * signals.
 */
#include "gba/software.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/engine.h"

/* What a member tells all others first. Travels as bytes between processes of one build. */
struct card {
    struct gba_host host;
    int32_t status;    /* why this member cannot: GBA_OK, or a reason */
    uint32_t remote;   /* 1: has messages between hosts; 2: and can read at a distance */
    uint32_t crowded;  /* more processes than cores on its host */
    int32_t algorithm; /* what follows counts from rank 0 only */
    uint32_t radix;
    int32_t hierarchy;
    uint32_t sequence;
    uint32_t reserved;
};

/* v1 signals log2 of the members one after the other; from here on the rounds saved by v2 pay for
 * its flood of stores. */
#define AUTO_V1_MAX 16u

#define REMOTE_PUSH 1u
#define REMOTE_PULL 2u

/* What a node's leader tells second; only those of members that share a node are looked at. */
struct deed {
    int64_t status;
    struct gba_segment_ticket ticket;
};

/* What all members conclude from the cards. */
struct plan {
    struct gba_topology topology;
    enum gba_software_kind kind;
    const struct gba_algorithm *algorithm;
    uint32_t radix, sequence;
    uint32_t slots; /* of each member of a node */
};

static const struct gba_host *card_host(const void *cards, uint32_t rank)
{
    return &((const struct card *)cards)[rank].host;
}

static void card_fill(struct card *card, const gba_team_attr_t *attr)
{
    const gba_params_t *params = attr->params;

    memset(card, 0, sizeof *card);
    card->status = params->sw_enable ? (int32_t)gba_host_get(&card->host) : GBA_ERR_UNSUPPORTED;
    if (NULL != attr->remote)
        card->remote = attr->remote->pulls ? REMOTE_PULL : REMOTE_PUSH;
    card->crowded = attr->crowded;
    card->algorithm = params->sw_algorithm;
    card->radix = (uint32_t)params->sw_radix;
    card->hierarchy = params->hierarchy;
    card->sequence = params->first_sequence;
}

static bool cards_any(const struct card *cards, uint32_t size, bool (*is)(const struct card *card),
                      uint32_t *first)
{
    for (uint32_t rank = 0; rank < size; rank++)
        if (is(&cards[rank])) {
            *first = rank;
            return true;
        }
    return false;
}

static bool card_crowded(const struct card *card)
{
    return 0 != card->crowded;
}

static bool card_no_remote(const struct card *card)
{
    return 0 == card->remote;
}

static bool card_no_pull(const struct card *card)
{
    return REMOTE_PULL != card->remote;
}

static bool card_cannot(const struct card *card)
{
    return GBA_OK != card->status;
}

static bool cards_one_host(const struct card *cards, uint32_t size)
{
    for (uint32_t rank = 1; rank < size; rank++)
        if (0 != memcmp(&cards[rank].host, &cards[0].host, sizeof cards[0].host))
            return false;
    return true;
}

/*
 * Why these members cannot have a software barrier, and the lowest of whom it is true; or GBA_OK.
 * On the cards alone, with nothing that could fail for one member: who is told no here leaves the
 * agreement, so all must be told the same.
 */
static gba_status_t cards_check(const struct card *cards, uint32_t size, uint32_t *culprit)
{
    if (cards_any(cards, size, card_cannot, culprit))
        return (gba_status_t)cards[*culprit].status;
    if (!cards_one_host(cards, size) && cards_any(cards, size, card_no_remote, culprit))
        return GBA_ERR_UNSUPPORTED;
    return GBA_OK;
}

/*
 * Which algorithm. `auto` among members with a core each: v1 for a few; where the rounds of v1
 * would be many, v2. See gba/soft/README.md for the measurements.
 */
static const struct gba_algorithm *algorithm_choose(int32_t wanted, uint32_t size, bool one_host,
                                                    bool pull)
{
    static const struct gba_algorithm *const general[] = {&gba_soft_dissemination, &gba_soft_radix,
                                                          &gba_soft_central};
    static const struct gba_algorithm *const shm[] = {&gba_shm_dissemination, &gba_shm_radix,
                                                      &gba_shm_central};
    int index = GBA_ALGORITHM_AUTO == wanted ? (size <= AUTO_V1_MAX ? 0 : 1) : wanted - 1;

    if (!one_host && 2 == index && !pull)
        index = 0; /* v3 reads flags, which messages cannot */
    return one_host ? shm[index] : general[index];
}

/* All members make the same plan of the same cards; or GBA_ERR_NOMEM, which one may be alone with.
 */
static gba_status_t plan_make(struct plan *plan, const struct card *cards, const gba_oob_t *oob)
{
    const struct card *first = &cards[0];
    bool one_host, crowded, pull;
    uint32_t members, ignored = 0;
    gba_status_t status;

    status = gba_topology_init(&plan->topology, oob->rank, oob->size, card_host, cards);
    if (GBA_OK != status)
        return status;
    plan->radix = first->radix;
    plan->sequence = first->sequence;
    one_host = 1 == plan->topology.nodes;
    crowded = cards_any(cards, oob->size, card_crowded, &ignored);
    pull = !cards_any(cards, oob->size, card_no_pull, &ignored);

    if (one_host && GBA_ALGORITHM_AUTO == first->algorithm &&
        (crowded || GBA_HIERARCHY_NODE == first->hierarchy))
        plan->kind = GBA_SOFTWARE_NODE;
    else if (one_host || GBA_HIERARCHY_FLAT == first->hierarchy)
        plan->kind = GBA_SOFTWARE_FLAT;
    else
        plan->kind = GBA_SOFTWARE_HYBRID;
    members = GBA_SOFTWARE_HYBRID == plan->kind ? plan->topology.nodes : oob->size;
    if (GBA_SOFTWARE_NODE != plan->kind)
        plan->algorithm = algorithm_choose(first->algorithm, members, one_host, pull);
    plan->slots = 1; /* for the marks */
    if (GBA_SOFTWARE_FLAT == plan->kind && one_host)
        plan->slots = plan->algorithm->slots(oob->size, plan->radix);
    return GBA_OK;
}

/* Whether this member's node needs memory of its own. */
static bool plan_shares(const struct plan *plan)
{
    return 1 == plan->topology.nodes ||
           (GBA_SOFTWARE_HYBRID == plan->kind && plan->topology.local_size > 1);
}

/*
 * The second exchange: the memory of each node. planned: whether this member has a plan at all: if
 * not, it takes part for the sake of the others. deeds: [size], overwritten.
 * Returns this member's own status.
 */
static gba_status_t segment_share(struct gba_software *software, const struct plan *plan,
                                  gba_status_t planned, const gba_oob_t *oob, struct deed *deeds,
                                  gba_status_t *exchange)
{
    const struct gba_topology *topology = &plan->topology;
    gba_status_t status = planned;
    struct deed mine;

    memset(&mine, 0, sizeof mine);
    mine.status = planned; /* it may be the leader of a node, and has no memory for it */
    if (GBA_OK == planned && plan_shares(plan) && 0 == topology->local_rank)
        mine.status = gba_shm_segment_create(topology->local_size, plan->slots, plan->sequence,
                                             &software->segment, &mine.ticket);
    *exchange = oob->allgather(oob->ctx, &mine, deeds, sizeof mine);
    if (GBA_OK != *exchange || GBA_OK != planned || !plan_shares(plan))
        return status;
    if (0 == topology->local_rank) {
        status = (gba_status_t)mine.status;
    } else {
        const struct deed *leader = &deeds[topology->locals[0]];

        /* The leader reports its own failure, so a member says nothing new with it. */
        status = (gba_status_t)leader->status;
        if (GBA_OK == status)
            status = gba_shm_segment_attach(&leader->ticket, &software->segment);
    }
    return status;
}

/* What this member alone can make ready: its place in the node, and its messages. */
static gba_status_t software_place(struct gba_software *software, const struct plan *plan,
                                   const gba_team_attr_t *attr, const gba_oob_t *oob)
{
    const struct gba_topology *topology = &plan->topology;
    bool one_host = 1 == topology->nodes;
    uint32_t rank = oob->rank, size = oob->size;
    gba_remote_group_t group = {.sequence = plan->sequence};
    gba_status_t status;

    software->kind = plan->kind;
    software->sequence = plan->sequence;
    software->algorithm = plan->algorithm;
    software->leader = GBA_SOFTWARE_HYBRID == plan->kind && 0 == topology->local_rank;
    software->rank = oob->rank;
    if (NULL != software->segment.base) {
        software->mark = gba_segment_slots(&software->segment, topology->local_rank);
        gba_node_init(&software->node, &software->segment, plan->sequence);
        gba_shm_init(&software->shm, &software->segment, topology->local_rank);
    }
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
    status = attr->remote->open(attr->remote->ctx, &group, &software->remote);
    if (GBA_OK == status)
        software->signals = software->remote;
    return status;
}

static void plan_describe(const struct plan *plan, char *why, size_t len)
{
    const struct gba_topology *topology = &plan->topology;

    if (GBA_SOFTWARE_NODE == plan->kind)
        snprintf(why, len, "counter in shared memory, %u members on one host", topology->size);
    else if (GBA_SOFTWARE_FLAT == plan->kind)
        snprintf(why, len, "%s through %s, %u members on %u host%s", plan->algorithm->name,
                 1 == topology->nodes ? "shared memory" : "messages", topology->size,
                 topology->nodes, 1 == topology->nodes ? "" : "s");
    else
        snprintf(why, len, "%s among the leaders of %u hosts, %u members, at most %u on a host",
                 plan->algorithm->name, topology->nodes, topology->size, topology->largest);
}

/* From the cards on: GBA_OK with *reason set, or GBA_ERR_OOB. */
static gba_status_t software_build(struct gba_software *software, const gba_team_attr_t *attr,
                                   const gba_oob_t *oob, const struct card *cards,
                                   struct deed *deeds, char *why, size_t len, gba_status_t *reason,
                                   uint32_t *culprit)
{
    struct plan plan = {.kind = GBA_SOFTWARE_NODE};
    gba_status_t exchange = GBA_OK, status;
    int64_t outcome;

    *reason = cards_check(cards, oob->size, culprit);
    if (GBA_OK != *reason)
        return GBA_OK;
    /* What failed here alone (no memory for the plan) is for the vote; the exchange before it must
     * not be missed for that. From here on all make the same two calls, whatever happens. */
    status = plan_make(&plan, cards, oob);
    status = segment_share(software, &plan, status, oob, deeds, &exchange);
    if (GBA_OK != exchange)
        goto fini_topology;
    if (GBA_OK == status)
        status = software_place(software, &plan, attr, oob);
    exchange = oob->allreduce_min(oob->ctx, gba_outcome_encode(status, oob->rank), &outcome);
    if (GBA_OK != exchange)
        goto fini_topology;
    gba_shm_segment_shut(&software->segment);
    *reason = gba_outcome_status(outcome);
    *culprit = gba_outcome_rank(outcome);
    if (GBA_OK == *reason) {
        plan_describe(&plan, why, len);
        software->locals = plan.topology.locals;
        plan.topology.locals = NULL; /* the software's now */
    }

fini_topology:
    gba_topology_fini(&plan.topology);
    return exchange;
}

gba_status_t gba_software_agree(const gba_team_attr_t *attr, const gba_oob_t *oob,
                                struct gba_software **software, char *why, size_t len,
                                gba_status_t *reason, uint32_t *culprit)
{
    struct gba_software *s = calloc(1, sizeof *s);
    struct card mine, *cards = calloc(oob->size, sizeof *cards);
    struct deed *deeds = calloc(oob->size, sizeof *deeds);
    bool memory = NULL != s && NULL != cards && NULL != deeds;
    gba_status_t status;
    int64_t outcome;

    *software = NULL;
    /* The exchanges need memory that grows with the team. Who has none must not be missed in them,
     * so all hear of it first, by the one call that needs none. */
    status = oob->allreduce_min(
        oob->ctx, gba_outcome_encode(memory ? GBA_OK : GBA_ERR_NOMEM, oob->rank), &outcome);
    if (GBA_OK != status)
        goto free_all;
    *reason = gba_outcome_status(outcome);
    *culprit = gba_outcome_rank(outcome);
    if (GBA_OK != *reason)
        goto free_all;
    s->segment.fd = -1;
    card_fill(&mine, attr);
    status = oob->allgather(oob->ctx, &mine, cards, sizeof mine);
    if (GBA_OK == status)
        status = software_build(s, attr, oob, cards, deeds, why, len, reason, culprit);
    if (GBA_OK == status && GBA_OK == *reason) {
        *software = s;
        s = NULL;
    }

free_all:
    free(deeds);
    free(cards);
    gba_software_destroy(s);
    return status;
}

void gba_software_destroy(struct gba_software *software)
{
    if (NULL == software)
        return;
    if (NULL != software->remote && NULL != software->remote->ops->destroy)
        software->remote->ops->destroy(software->remote);
    if (NULL != software->segment.base)
        gba_shm_segment_close(&software->segment);
    free(software->locals);
    free(software);
}
