/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members with several devices. A barrier group is of one switch, and the members of a host may
 * have chosen devices at different switches. So the members of a team are steered to one switch: to
 * that of rank 0's proposal if all have a device there, else to another one at which all have a
 * device.
 *
 * A switch at which all have a device is among those of any member. So one member sends its list,
 * and the members agree on each switch of the list in turn. Thus all try the switches in one order.
 */
#ifndef GBA_AGREE_STEER_H
#define GBA_AGREE_STEER_H

#include "gba/agree/alloc.h"
#include "gba/failover/engine.h"

/* The switches of one member, in the order of its devices. Travels as bytes between processes of
 * one build. */
struct gba_switches {
    uint32_t count;
    uint32_t reserved; /* 0 */
    uint8_t uuid[GBA_CANDIDATES_MAX][GBA_UUID_SIZE];
};

/* Member `root` sends its switches; root is the same on all members. Returns GBA_OK or GBA_ERR_OOB.
 * Collective: 1 bcast. */
gba_status_t gba_steer_list(const gba_team_attr_t *attr, const gba_oob_t *oob, uint32_t root,
                            struct gba_switches *switches);

/* Whether all members can use that switch. device: this member's device there, or NULL: it cannot.
 * all: set on GBA_OK, the same on all members. Returns GBA_OK or GBA_ERR_OOB. Collective: 1 min. */
gba_status_t gba_steer_vote(const gba_oob_t *oob, const gba_device_t *device, bool *all);

/*
 * If rank 0 has several devices and proposes groups of the node leaders at a switch, and a member
 * has no device there: find a switch at which every member has one, and which has a free group.
 * proposal: the same on all members, except that the group, if there is one, is of rank 0. If the
 * members leave the switch of the proposal or the call fails, rank 0 frees the group, and on all
 * members the proposal is without one. device: set to this member's device at the switch that was
 * found; to NULL on all members if none was found or none is needed, and if the call fails.
 * tried: the switches without a free group are added. Returns GBA_OK or GBA_ERR_OOB. Collective: no
 * call for other proposals; else 1 min, and gba_steer_list and gba_steer_vote if a member has no
 * device at the switch of the proposal.
 */
gba_status_t gba_steer_leaders(const struct gba_team *team, const gba_team_attr_t *attr,
                               const gba_oob_t *oob, struct gba_proposal *proposal,
                               struct gba_tried *tried, gba_device_t **device);

#endif
