/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/software_plan.h"

#include <stdio.h>
#include <string.h>

#include "gba/engine.h"

/* v1 signals log2 of the members one after the other; from here on the rounds saved by v2 pay for
 * its flood of stores. */
#define AUTO_V1_MAX 16u

#define REMOTE_PUSH 1u
#define REMOTE_PULL 2u

void gba_card_fill(struct gba_card *card, const gba_team_attr_t *attr, bool grouped)
{
    const gba_params_t *params = attr->params;

    memset(card, 0, sizeof *card);
    card->disabled = 0 == params->sw_enable;
    if (params->sw_enable || grouped)
        card->status = (int32_t)gba_host_get(&card->host);
    if (NULL != attr->remote)
        card->remote = attr->remote->pulls ? REMOTE_PULL : REMOTE_PUSH;
    card->crowded = attr->crowded;
    card->algorithm = params->sw_algorithm;
    card->radix = (uint32_t)params->sw_radix;
    card->hierarchy = params->hierarchy;
    card->sequence = params->first_sequence;
    if (NULL != attr->device) {
        memcpy(card->port.uuid, attr->device->uuid, sizeof card->port.uuid);
        card->port.members_max = attr->device->members_max;
    }
}

static bool cards_any(const struct gba_card *cards, uint32_t size,
                      bool (*is)(const struct gba_card *card), uint32_t *first)
{
    for (uint32_t rank = 0; rank < size; rank++)
        if (is(&cards[rank])) {
            *first = rank;
            return true;
        }
    return false;
}

static bool card_crowded(const struct gba_card *card)
{
    return 0 != card->crowded;
}

static bool card_disabled(const struct gba_card *card)
{
    return 0 != card->disabled;
}

static bool card_no_remote(const struct gba_card *card)
{
    return 0 == card->remote;
}

static bool card_no_pull(const struct gba_card *card)
{
    return REMOTE_PULL != card->remote;
}

static bool card_cannot(const struct gba_card *card)
{
    return GBA_OK != card->status;
}

bool gba_cards_one_host(const struct gba_card *cards, uint32_t size)
{
    for (uint32_t rank = 1; rank < size; rank++)
        if (0 != memcmp(&cards[rank].host, &cards[0].host, sizeof cards[0].host))
            return false;
    return true;
}

gba_status_t gba_cards_check_hosts(const struct gba_card *cards, uint32_t size, uint32_t *culprit)
{
    if (cards_any(cards, size, card_cannot, culprit))
        return (gba_status_t)cards[*culprit].status;
    return GBA_OK;
}

gba_status_t gba_cards_check(const struct gba_card *cards, uint32_t size, uint32_t *culprit)
{
    gba_status_t status = gba_cards_check_hosts(cards, size, culprit);

    if (GBA_OK != status)
        return status;
    if (cards_any(cards, size, card_disabled, culprit))
        return GBA_ERR_UNSUPPORTED;
    if (!gba_cards_one_host(cards, size) && cards_any(cards, size, card_no_remote, culprit))
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

static const struct gba_host *card_host(const void *cards, uint32_t rank)
{
    return &((const struct gba_card *)cards)[rank].host;
}

static const struct gba_port *card_port(const void *cards, uint32_t rank)
{
    return &((const struct gba_card *)cards)[rank].port;
}

/* Stands for the device of all, where one group must serve all nodes or none. */
static const struct gba_port *no_port(const void *ctx, uint32_t rank)
{
    static const struct gba_port port = {.members_max = UINT32_MAX};

    (void)ctx;
    (void)rank;
    return &port;
}

/* Which leaders are to have a group together. */
static gba_status_t plan_islands(struct gba_plan *plan, const struct gba_wish *wish,
                                 const struct gba_card *cards)
{
    gba_status_t status = gba_islands_init(&plan->islands, &plan->topology,
                                           wish->islands ? card_port : no_port, cards);

    /* The runtime's messages, and nobody reads what another one has: a head may have left. */
    if (GBA_OK == status)
        plan->upper = algorithm_choose(cards[0].algorithm, plan->islands.count, false, false);
    return status;
}

gba_status_t gba_plan_check_groups(const struct gba_plan *plan, const struct gba_card *cards,
                                   uint32_t *culprit)
{
    const struct gba_islands *islands = &plan->islands;
    uint32_t ignored;

    *culprit = 0;
    if (1 == islands->count)
        return GBA_OK;
    /* The heads' barrier is one of software; and if no two nodes have a device in common there is
     * nothing for a device to do. */
    if (islands->largest > 1 && !cards_any(cards, plan->topology.size, card_disabled, &ignored))
        return GBA_OK;
    if (1 == islands->switches)
        return GBA_ERR_TOO_MANY;
    *culprit = islands->heads[1];
    return GBA_ERR_OTHER_DEVICE;
}

gba_status_t gba_plan_make(struct gba_plan *plan, const struct gba_wish *wish,
                           const struct gba_card *cards, uint32_t rank, uint32_t size)
{
    const struct gba_card *first = &cards[0];
    bool one_host, crowded, pull;
    uint32_t members, ignored = 0;
    gba_status_t status;

    status = gba_topology_init(&plan->topology, rank, size, card_host, cards);
    if (GBA_OK != status)
        return status;
    plan->radix = first->radix;
    plan->sequence = first->sequence;
    one_host = 1 == plan->topology.nodes;
    crowded = cards_any(cards, size, card_crowded, &ignored);
    pull = !cards_any(cards, size, card_no_pull, &ignored);

    if (one_host && GBA_ALGORITHM_AUTO == first->algorithm &&
        (crowded || GBA_HIERARCHY_NODE == first->hierarchy))
        plan->kind = GBA_SOFTWARE_NODE;
    else if (one_host || GBA_HIERARCHY_FLAT == first->hierarchy)
        plan->kind = GBA_SOFTWARE_FLAT;
    else
        plan->kind = GBA_SOFTWARE_HYBRID;
    members = GBA_SOFTWARE_HYBRID == plan->kind ? plan->topology.nodes : size;
    if (GBA_SOFTWARE_NODE != plan->kind)
        plan->algorithm = algorithm_choose(first->algorithm, members, one_host, pull);
    plan->slots = 1; /* for the marks */
    if (GBA_SOFTWARE_FLAT == plan->kind && one_host)
        plan->slots = plan->algorithm->slots(size, plan->radix);
    return NULL != wish ? plan_islands(plan, wish, cards) : GBA_OK;
}

void gba_plan_fini(struct gba_plan *plan)
{
    gba_topology_fini(&plan->topology);
    gba_islands_fini(&plan->islands);
}

bool gba_plan_shares(const struct gba_plan *plan)
{
    return 1 == plan->topology.nodes ||
           (GBA_SOFTWARE_HYBRID == plan->kind && plan->topology.local_size > 1);
}

void gba_plan_describe(const struct gba_plan *plan, const gba_remote_t *remote, char *why,
                       size_t len)
{
    const struct gba_topology *topology = &plan->topology;
    const char *carrier = NULL == remote || NULL == remote->name ? "messages" : remote->name;

    if (GBA_SOFTWARE_NODE == plan->kind)
        snprintf(why, len, "counter in shared memory, %u members on one host", topology->size);
    else if (GBA_SOFTWARE_FLAT == plan->kind)
        snprintf(why, len, "%s through %s, %u members on %u host%s", plan->algorithm->name,
                 1 == topology->nodes ? "shared memory" : carrier, topology->size, topology->nodes,
                 1 == topology->nodes ? "" : "s");
    else
        snprintf(why, len, "%s among the leaders of %u hosts, %u members, at most %u on a host",
                 plan->algorithm->name, topology->nodes, topology->size, topology->largest);
}
