/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the members of a team meet for: rank 0's offer of a barrier group, and when they meet again
 * if nothing came of it. See offer.c.
 */
#ifndef GBA_OFFER_H
#define GBA_OFFER_H

#include "gba/engine.h"

enum gba_offer_kind { GBA_OFFER_NONE, GBA_OFFER_ALL, GBA_OFFER_LEADERS };

/* What rank 0 sends first. Travels as bytes between processes of one build. */
struct gba_offer {
    uint32_t kind;
    int32_t status; /* gba_status_t: why there is no group */
    uint32_t sequence;
    uint32_t simulated;  /* the device: a member that is no leader may have none */
    uint32_t islands;    /* if one group cannot serve all nodes, there may be several */
    uint64_t id;         /* of the team, see gba_team_attr_t */
    uint64_t pause;      /* barriers until the members meet again, if nothing comes of this */
    gba_ticket_t ticket; /* of a group of all; of leaders only if rank 0 has one already */
};

/* A team that is refused a group asks again after so many barriers, see offer.c. */
#define GBA_PAUSE_FIRST UINT64_C(64)

/*
 * Rank 0: make the offer and send it; the others: receive it. Whoever gets an offer of a group
 * takes notices from then on. Returns GBA_OK or GBA_ERR_OOB; then nothing is held. Collective.
 */
gba_status_t gba_offer_exchange(struct gba_team *team, const gba_team_attr_t *attr,
                                const gba_oob_t *oob, struct gba_offer *offer);

/* Of rank 0: what it asks the device for. members: 0 if that is not known yet. */
gba_group_request_t gba_offer_request(const struct gba_team *team, const gba_team_attr_t *attr,
                                      uint32_t members);

/*
 * The team has no group, for this reason; so its members meet again in `pause` barriers, if time
 * can help. The same on all members, at a count of barriers that is the same on all.
 */
void gba_meeting_plan(struct gba_team *team, gba_status_t reason, uint64_t pause);

/* There is no next meeting. */
void gba_meeting_cancel(struct gba_team *team);

#endif
