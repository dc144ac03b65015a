/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices of one member, by the switch that each is at, and the switches that gave its team no
 * group.
 */
#ifndef GBA_AGREE_DEVICES_H
#define GBA_AGREE_DEVICES_H

#include "gba/team.h"

/* The devices of this member, one for each switch, a dead one only if no other is at its switch:
 * first that at the switch of the chosen one, then in the order of the attributes. list: set.
 * Returns their number. May open devices. Not collective. */
uint32_t gba_devices_list(const gba_team_attr_t *attr, gba_device_t *list[GBA_CANDIDATES_MAX]);

/* The device of this member at that switch, or NULL. uuid: of a device. May open devices. Not
 * collective. */
gba_device_t *gba_devices_find(const gba_team_attr_t *attr, const uint8_t uuid[GBA_UUID_SIZE]);

/* The switches that were tried and gave the team no group. */
struct gba_tried {
    bool any;       /* the same on all members: a switch after the first one was tried */
    char text[232]; /* for messages, written by rank 0: "; not at sim:a (no barrier group is free),
                       sim:b (...)" or "" */
};

/* Add a switch to the text. member: the name of the member with the reason, or NULL: rank 0. */
void gba_tried_add(struct gba_tried *tried, const gba_device_t *device, gba_status_t reason,
                   const char *member);

#endif
