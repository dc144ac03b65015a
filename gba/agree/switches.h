/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices of one member, by the switch that each is at, and the exchange about the switches at
 * which all members have one: rank 0 sends its switches, and then each member says where it has
 * none. A switch that serves all is one of rank 0.
 */
#ifndef GBA_AGREE_SWITCHES_H
#define GBA_AGREE_SWITCHES_H

#include "gba/agree/info.h"

/* The words of both exchanges. */
#define GBA_SWITCHES_WORDS (1u + GBA_CANDIDATES_MAX + GBA_CANDIDATES_MAX / 4u)
#define GBA_LACKING_WORDS  GBA_CANDIDATES_MAX

/* A switch as one word. The group handle has the whole uuid. */
uint64_t gba_switch_key(const uint8_t uuid[GBA_UUID_SIZE]);

/* The devices of this member, one for each switch, a dead one only if no other is at its switch:
 * first that at the switch of the chosen one, then in the order of the attributes. list: set.
 * Returns their number. May open devices. Not collective. */
uint32_t gba_switch_devices(const gba_team_attr_t *attr, gba_device_t *list[GBA_CANDIDATES_MAX]);

/* The device of this member at that switch, or NULL. May open devices. Not collective. */
gba_device_t *gba_switch_device(const gba_team_attr_t *attr, uint64_t key);

/* Fill in the switches, of rank 0; then read them. Before, each member connects the devices of its
 * list again that have lost a gba-switchd. Not collective. */
void gba_switches_fill(uint64_t *words, const gba_team_attr_t *attr, bool sends);
void gba_switches_read(struct gba_switches *switches, const uint64_t *words);

/* Fill in the switches at which this member has no device, although it has one; then read the first
 * member of each. Not collective. */
void gba_lacking_fill(uint64_t *words, const struct gba_switches *switches,
                      const gba_team_attr_t *attr, uint32_t rank);
void gba_lacking_read(struct gba_switches *switches, const uint64_t *words);

#endif
