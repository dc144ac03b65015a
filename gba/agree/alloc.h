/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proposal of rank 0 for a barrier group, and the time of the next renegotiation if it fails.
 * See alloc.c.
 */
#ifndef GBA_PROPOSAL_H
#define GBA_PROPOSAL_H

#include "gba/agree/devices.h"
#include "gba/failover/engine.h"

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
    int32_t refused; /* gba_status_t: why a switch tried before has no group; GBA_OK: none was */
    uint64_t id;     /* of the team, see gba_team_attr_t */
    uint64_t pause;  /* barriers until the renegotiation, if this proposal yields no group */
    /* Of a group of all; of leaders only if rank 0 has a group already. The uuid is that of the
     * proposed switch in any case. */
    gba_group_handle_t handle;
};

/* Barriers until a team without a group renegotiates for the first time; alloc.c has the reason. */
#define GBA_PAUSE_FIRST UINT64_C(64)

/*
 * Rank 0 allocates a group of all members, or a group of the node leaders if it knows their number;
 * else it sets the reason why there is no group. If its device yields no group, rank 0 tries its
 * devices at other switches. tried: set; the switches that yielded none. Not collective.
 */
void gba_proposal_make(struct gba_team *team, const gba_team_attr_t *attr,
                       struct gba_proposal *proposal, struct gba_tried *tried);

/* Find out whether the device has a group for the team now. Returns as gba_request_group. Rank 0
 * calls it. Not collective. */
gba_status_t gba_proposal_probe(const struct gba_team *team, const gba_team_attr_t *attr,
                                gba_device_t *device);

/* The proposal is not used: rank 0 frees its group, and the proposal is without one. All members
 * call it. Not collective. */
void gba_proposal_withdraw(const gba_team_attr_t *attr, const gba_oob_t *oob,
                           struct gba_proposal *proposal);

/* Whether a team refused for this reason may get a group later. */
bool gba_reason_passes(gba_status_t reason);

/* The request of rank 0 to the device. members: 0 if not known yet. Not collective. */
gba_group_request_t gba_proposal_request(const struct gba_team *team, const gba_team_attr_t *attr,
                                         uint32_t members);

/*
 * The team has no group, for this reason. If the reason can pass, its members renegotiate in
 * `pause` barriers; also if its device died and rank 0 has others (died). All members call this
 * with the same arguments after the same number of barriers.
 */
void gba_renegotiation_plan(struct gba_team *team, gba_status_t reason, bool died, uint64_t pause);

/*
 * The team has a software barrier: the first trial (trial_run.c) is due in trial_after barriers.
 * All members call this after the same number of barriers. choice: the barrier that the team has.
 */
void gba_trial_plan(struct gba_team *team, struct gba_choice choice);

/* The team has no software barrier: cancel the next trial. */
void gba_trial_cancel(struct gba_team *team);

/* Cancel the next renegotiation. */
void gba_renegotiation_cancel(struct gba_team *team);

/* Whether the next trial is due, see gba_trial_plan. */
bool gba_trial_due(const struct gba_team *team);

#endif
