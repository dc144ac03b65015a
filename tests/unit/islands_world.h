/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds with several simulated devices, whose runtime carries notices (team_world.h,
 * notice_world.h). Seats and arming fail on demand, by functions that the linker has to put in the
 * place of gba_group_take and gba_configure_group.
 */
#ifndef GBA_TESTS_ISLANDS_WORLD_H
#define GBA_TESTS_ISLANDS_WORLD_H

#include "tests/unit/notice_world.h"

#define DEVICES 3u

extern gba_device_t *devices[DEVICES];

/* The seat that nobody can take, and the device whose groups nobody can arm. */
extern gba_device_t *no_seat_on, *no_arming_on;
extern uint32_t no_seat;

/* paths[d]: what the devices are; NULL: as the first one. */
struct world *world_on(const char *const paths[DEVICES]);
struct world *world_plain(void);

/* Nobody has kept a group. */
void world_end(struct world *w);

/* Who is on which host: dealt out, blocks, unequal, all but some together. Hosts have the devices
 * that are used by turns. */
void world_place(struct world *w, uint32_t size, uint32_t hosts, uint32_t used, int layout);

/* world_run, with notices. */
void run(struct world *w, uint32_t size, gba_path_t path);

#endif
