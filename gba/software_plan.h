/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the members of a team tell each other about themselves, and what all conclude from it: the
 * plan of their software barrier. Pure but for gba_card_fill: no exchange, no memory of others.
 */
#ifndef GBA_SOFTWARE_PLAN_H
#define GBA_SOFTWARE_PLAN_H

#include "gba/base/host.h"
#include "gba/soft/islands.h"
#include "gba/software.h"

/* What a member tells all others first. Travels as bytes between processes of one build. */
struct gba_card {
    struct gba_host host;
    int32_t status;    /* why this member cannot: GBA_OK, or a reason */
    uint32_t remote;   /* 1: has messages between hosts; 2: and can read at a distance */
    uint32_t crowded;  /* more processes than cores on its host */
    int32_t algorithm; /* what follows counts from rank 0 only */
    uint32_t radix;
    int32_t hierarchy;
    uint32_t sequence;
    uint32_t disabled; /* 1: wants no software barrier, but a node may gather for a group */
    struct gba_port port;
};

/* What all members conclude from the cards. */
struct gba_plan {
    struct gba_topology topology;
    enum gba_software_kind kind;
    const struct gba_algorithm *algorithm;
    uint32_t radix, sequence;
    uint32_t slots; /* of each member of a node */
    /* If the leaders are to have groups: */
    struct gba_islands islands;
    const struct gba_algorithm *upper; /* of the heads of several islands */
};

/* grouped: whether there may be a barrier group among the leaders of nodes. */
void gba_card_fill(struct gba_card *card, const gba_team_attr_t *attr, bool grouped);

/* Whether all members are on one host. */
bool gba_cards_one_host(const struct gba_card *cards, uint32_t size);

/*
 * Why some member cannot share memory within its host, and the lowest of whom it is true; or
 * GBA_OK. On the cards alone, with nothing that could fail for one member: who is told no here
 * leaves the agreement, so all must be told the same. So is the next.
 */
gba_status_t gba_cards_check_hosts(const struct gba_card *cards, uint32_t size, uint32_t *culprit);

/* The same for a software barrier of all of them. */
gba_status_t gba_cards_check(const struct gba_card *cards, uint32_t size, uint32_t *culprit);

/*
 * All members make the same plan of the same cards; or GBA_ERR_NOMEM, which one may be alone with.
 * wish: barrier groups are wanted, or NULL. gba_plan_fini is the caller's, in each case.
 */
gba_status_t gba_plan_make(struct gba_plan *plan, const struct gba_wish *wish,
                           const struct gba_card *cards, uint32_t rank, uint32_t size);
void gba_plan_fini(struct gba_plan *plan);

/*
 * Why there can be no groups among the leaders, or GBA_OK, and the member. All members find the
 * same: it follows from the cards.
 */
gba_status_t gba_plan_check_groups(const struct gba_plan *plan, const struct gba_card *cards,
                                   uint32_t *culprit);

/* Whether this member's node needs memory of its own. */
bool gba_plan_shares(const struct gba_plan *plan);

/* One line for people. remote: as in the attributes of the team. */
void gba_plan_describe(const struct gba_plan *plan, const gba_remote_t *remote, char *why,
                       size_t len);

#endif
