/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proposal of rank 0 for a barrier group, and the time of the next renegotiation if it fails.
 * See alloc.c.
 */
#ifndef GBA_PROPOSAL_H
#define GBA_PROPOSAL_H

#include "gba/team/engine.h"

enum gba_proposal_kind { GBA_PROPOSAL_NONE, GBA_PROPOSAL_ALL, GBA_PROPOSAL_LEADERS };

/* The first message of rank 0. Travels as bytes between processes of one build. */
struct gba_proposal {
    uint32_t kind;
    int32_t status; /* gba_status_t: why there is no group */
    uint32_t sequence;
    uint32_t simulated; /* the device is simulated; a member that is no leader may have no device */
    uint32_t domains;   /* several groups are allowed if one cannot serve all nodes */
    uint32_t several;   /* rank 0 has several devices, so another switch may serve all */
    uint32_t trial_after; /* the parameter */
    uint32_t reserved;    /* 0 */
    uint64_t id;          /* of the team, see gba_team_attr_t */
    uint64_t pause;       /* barriers until the renegotiation, if this proposal yields no group */
    /* Of a group of all; of leaders only if rank 0 has a group already. The uuid is that of rank
     * 0's device in any case. */
    gba_group_handle_t handle;
};

/* Barriers until a team without a group renegotiates for the first time; alloc.c has the reason. */
#define GBA_PAUSE_FIRST UINT64_C(64)

/*
 * Rank 0 allocates a group of all members, or a group of the node leaders if it knows their number;
 * else it sets the reason why there is no group. Not collective.
 */
void gba_proposal_make(struct gba_team *team, const gba_team_attr_t *attr,
                       struct gba_proposal *proposal);

/* The request of rank 0 to the device. members: 0 if not known yet. Not collective. */
gba_group_request_t gba_proposal_request(const struct gba_team *team, const gba_team_attr_t *attr,
                                         uint32_t members);

/*
 * The team has no group, for this reason. If the reason can pass, its members renegotiate in
 * `pause` barriers. All members call this with the same arguments after the same number of
 * barriers.
 */
void gba_renegotiation_plan(struct gba_team *team, gba_status_t reason, uint64_t pause);

/*
 * The team has a software barrier: the first trial (trial_run.c) is due in trial_after barriers.
 * All members call this after the same number of barriers. choice: the barrier that the team has.
 */
void gba_trial_plan(struct gba_team *team, struct gba_trial_choice choice);

/* The team has no software barrier: cancel the next trial. */
void gba_trial_cancel(struct gba_team *team);

/* Cancel the next renegotiation. */
void gba_renegotiation_cancel(struct gba_team *team);

#endif
