/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds of several nodes with barrier groups (team_world.h). Seats and arming fail on demand, by
 * functions that the linker has to put in the place of gba_group_take and gba_configure_group
 * (-Wl,--wrap).
 */
#ifndef GBA_TESTS_GROUP_WORLD_H
#define GBA_TESTS_GROUP_WORLD_H

#include "tests/unit/team_world.h"

/* The seat that nobody can take, and the device whose groups nobody can arm; NULL: none. */
extern gba_device_t *no_seat_on, *no_arming_on;
extern uint32_t no_seat;

/* Who is on which of so many hosts: dealt out, blocks, unequal, all but some together. */
void world_hosts(struct world *w, uint32_t size, uint32_t hosts, int layout);

/* Close it; nobody has kept a group of it. */
void device_end(gba_device_t *device);

#endif
