/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members with several devices. A barrier group is of one switch, and the members of a host may
 * have chosen devices at different switches. So the members of a team are steered to one switch: to
 * that of rank 0 if all have a device there, else to another one at which all have a device.
 */
#ifndef GBA_TEAM_STEER_H
#define GBA_TEAM_STEER_H

#include "gba/team/alloc.h"
#include "gba/team/engine.h"

/* The switches of one member, in the order of its devices. Travels as bytes between processes of
 * one build. */
struct gba_switches {
    uint32_t count;
    uint32_t reserved; /* 0 */
    uint8_t uuid[GBA_CANDIDATES_MAX][GBA_UUID_SIZE];
};

/* The device of this member at that switch, or NULL. uuid: of a device. May open devices. Not
 * collective. */
gba_device_t *gba_steer_find(const gba_team_attr_t *attr, const uint8_t uuid[GBA_UUID_SIZE]);

/*
 * Find a switch at which every member has a device. One such switch must be among those of member
 * `root`, so that member sends its list, and for each switch of it the members agree whether all
 * have a device there.
 * root: the same on all members. device: set on GBA_OK to this member's device at the first such
 * switch, or on all members to NULL. Returns GBA_OK or GBA_ERR_OOB. Collective: 1 bcast and at most
 * GBA_CANDIDATES_MAX times min.
 */
gba_status_t gba_steer_agree(const gba_team_attr_t *attr, const gba_oob_t *oob, uint32_t root,
                             gba_device_t **device);

/*
 * If rank 0 has several devices and proposes groups of the node leaders at its switch, and a member
 * has no device there: find a switch at which every member has one.
 * proposal: the same on all members, except that the group, if there is one, is of rank 0. If the
 * members leave rank 0's switch or the call fails, rank 0 frees the group, and on all members the
 * proposal is without one. device: set to this member's device at the switch that was found; to
 * NULL on all members if none was found or none is needed, and if the call fails. Returns GBA_OK or
 * GBA_ERR_OOB. Collective: no call for other proposals; else 1 min, and gba_steer_agree if a member
 * has no device at rank 0's switch.
 */
gba_status_t gba_steer_leaders(const gba_team_attr_t *attr, const gba_oob_t *oob,
                               struct gba_proposal *proposal, gba_device_t **device);

#endif
