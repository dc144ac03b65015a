/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds with several simulated devices, where seats and arming fail on demand (group_world.h) and
 * whose runtime carries notices (notice_world.h).
 */
#ifndef GBA_TESTS_ISLANDS_WORLD_H
#define GBA_TESTS_ISLANDS_WORLD_H

#include "tests/unit/group_world.h"
#include "tests/unit/notice_world.h"

#define DEVICES 3u

extern gba_device_t *devices[DEVICES];

/* paths[d]: what the devices are; NULL: as the first one. */
struct world *world_on(const char *const paths[DEVICES]);
struct world *world_plain(void);

/* Nobody has kept a group. */
void world_end(struct world *w);

/* world_hosts; and hosts have the devices that are used by turns. */
void world_place(struct world *w, uint32_t size, uint32_t hosts, uint32_t used, int layout);

/* world_run, with notices. */
void run(struct world *w, uint32_t size, gba_path_t path);

#endif
