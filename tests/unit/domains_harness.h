/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Harnesses with several simulated devices. Memberships and arming fail on demand
 * (group_harness.h), and the runtime carries failure notifications (notification_harness.h).
 */
#ifndef GBA_TESTS_DOMAINS_HARNESS_H
#define GBA_TESTS_DOMAINS_HARNESS_H

#include "tests/unit/group_harness.h"
#include "tests/unit/notification_harness.h"

#define DEVICES 3u

extern gba_device_t *devices[DEVICES];

/* paths[d]: the path of device d; NULL: that of the first one. */
struct harness *harness_on(const char *const paths[DEVICES]);
struct harness *harness_plain(void);

/* Checks that no member has kept a group. */
void harness_end(struct harness *w);

/* harness_hosts; the devices are dealt out to the hosts in turn. */
void harness_place(struct harness *w, uint32_t size, uint32_t hosts, uint32_t used, int layout);

/* harness_run, with failure notifications. */
void run(struct harness *w, uint32_t size, gba_path_t path);

#endif
