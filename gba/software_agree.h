/* SPDX-License-Identifier: BSD-3-Clause */
/* What software.c and software_group.c share: one agreement under way. */
#ifndef GBA_SOFTWARE_AGREE_H
#define GBA_SOFTWARE_AGREE_H

#include "gba/software_plan.h"

/*
 * What a node's leader tells second; only those of members that share a node are looked at, and the
 * groups of the heads of islands.
 */
struct gba_deed {
    int64_t status;
    struct gba_segment_ticket ticket;
    int32_t group_status; /* why there is no group */
    uint32_t groups;      /* of the device */
    gba_ticket_t group;
};

/* One agreement: what its steps share. */
struct gba_agreement {
    const gba_team_attr_t *attr;
    const gba_oob_t *oob;
    bool grouped;           /* the leaders are to have a barrier group */
    struct gba_wish *wish;  /* if so */
    struct gba_card *cards; /* [size] */
    struct gba_deed *deeds; /* [size] */
    struct gba_plan plan;
    struct gba_software *software;
    struct gba_software_outcome *outcome;
};

/* The least status of all members, and whose it is. GBA_OK or GBA_ERR_OOB. Collective. */
gba_status_t gba_vote(const gba_oob_t *oob, gba_status_t mine, gba_status_t *least,
                      uint32_t *whose);

/* With a plan: if it is the head of an island, take a group for it, and the first seat in it. */
void gba_leaders_offer(struct gba_agreement *a, struct gba_deed *mine);

/*
 * All nodes are ready: the leaders join, and the head of each island arms its group. GBA_OK with
 * outcome->group_reason set, or GBA_ERR_OOB. Collective.
 */
gba_status_t gba_leaders_agree(struct gba_agreement *a);

/* Give back this member's seat, and what it has for the heads, if it has them. */
void gba_leaders_leave(struct gba_software *software);

#endif
