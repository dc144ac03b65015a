/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Harnesses of several nodes with barrier groups (team_harness.h). Memberships and arming fail on
 * demand, by functions that the linker substitutes for gba_group_take and gba_configure_group
 * (-Wl,--wrap).
 */
#ifndef GBA_TESTS_GROUP_HARNESS_H
#define GBA_TESTS_GROUP_HARNESS_H

#include "tests/unit/team_harness.h"

/* The membership that fails, and the device whose groups cannot be armed; NULL: none. */
extern gba_device_t *no_membership_on, *no_arming_on;
extern uint32_t no_membership;

/* The distribution of members over hosts: dealt out in turn, in blocks, unequal, all but some
 * together. */
void harness_hosts(struct harness *w, uint32_t size, uint32_t hosts, int layout);

/* Close the device, and check that no member has kept a group of it. */
void device_end(gba_device_t *device);

#endif
