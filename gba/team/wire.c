/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of everything that libgba of one member sends to libgba of another, byte by byte.
 * Members with different layouts would misread each other. So a runtime compares gba_wire_version
 * of all members first.
 *
 * The layouts below are those of version LAYOUTS_OF. A changed structure does not compile until its
 * line here is changed. A changed line means a new version: raise GBA_WIRE_VERSION, then
 * LAYOUTS_OF. A change of meaning without a change of layout needs a new version, too: another
 * order of the exchanges in agree.c, another schedule of signals, a status with another
 * number.
 *
 * No structure has padding. So a 32-bit process and a 64-bit process send the same bytes, and no
 * byte is uninitialised.
 */
#include <stddef.h>

#include "gba/runtime.h"
#include "gba/agree/agree.h"
#include "gba/agree/switches.h"

#define LAYOUTS_OF 21u

#define CHANGED "the wire has changed: raise GBA_WIRE_VERSION, then state the new layout here"

#define WIRE_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), CHANGED)
#define WIRE_FIELD(type, field, offset, bytes)                                                 \
    _Static_assert(offsetof(type, field) == (offset) && sizeof(((type *)0)->field) == (bytes), \
                   CHANGED)

_Static_assert(LAYOUTS_OF == GBA_WIRE_VERSION, "see whether the layouts here are of that version");

/* The terms of rank 0: at the end of the facts, whose words are in agree/info.c. */
WIRE_SIZE(struct gba_terms, 96);
WIRE_FIELD(struct gba_terms, id, 0, 8);
WIRE_FIELD(struct gba_terms, backoff, 8, 8);
WIRE_FIELD(struct gba_terms, uuid, 16, 16);
WIRE_FIELD(struct gba_terms, members_max, 32, 4);
WIRE_FIELD(struct gba_terms, status, 36, 4);
WIRE_FIELD(struct gba_terms, sequence, 40, 4);
WIRE_FIELD(struct gba_terms, trial_after, 44, 4);
WIRE_FIELD(struct gba_terms, min_hosts, 48, 4);
WIRE_FIELD(struct gba_terms, algorithm, 52, 1);
WIRE_FIELD(struct gba_terms, radix, 53, 1);
WIRE_FIELD(struct gba_terms, hierarchy, 54, 1);
WIRE_FIELD(struct gba_terms, offload, 55, 1);
WIRE_FIELD(struct gba_terms, kind, 56, 1);
WIRE_FIELD(struct gba_terms, multi_device, 57, 1);
WIRE_FIELD(struct gba_terms, trial_runs, 58, 1);
WIRE_FIELD(struct gba_terms, trial_rotates, 59, 1);
WIRE_FIELD(struct gba_terms, trial_fallback, 60, 1);
WIRE_FIELD(struct gba_terms, device_returns, 61, 1);
WIRE_FIELD(struct gba_terms, reserved, 62, 2);
WIRE_FIELD(struct gba_terms, cost, 64, 32);

WIRE_SIZE(struct gba_cost_terms, 32);
WIRE_FIELD(struct gba_cost_terms, turn, 0, 4);
WIRE_FIELD(struct gba_cost_terms, message, 4, 4);
WIRE_FIELD(struct gba_cost_terms, send, 8, 4);
WIRE_FIELD(struct gba_cost_terms, device, 12, 4);
WIRE_FIELD(struct gba_cost_terms, port, 16, 2);
WIRE_FIELD(struct gba_cost_terms, store, 18, 2);
WIRE_FIELD(struct gba_cost_terms, line, 20, 2);
WIRE_FIELD(struct gba_cost_terms, cores, 22, 2);
WIRE_FIELD(struct gba_cost_terms, leaf, 24, 2);
WIRE_FIELD(struct gba_cost_terms, pod, 26, 2);
WIRE_FIELD(struct gba_cost_terms, pod_more, 28, 2);
WIRE_FIELD(struct gba_cost_terms, far_more, 30, 2);

/* The words of each minimum. */
_Static_assert(GBA_FACTS == 33 && GBA_SWITCHES_WORDS == 21 && GBA_LACKING_WORDS == 16, CHANGED);

WIRE_SIZE(gba_group_handle_t, 40);
WIRE_FIELD(gba_group_handle_t, group, 0, 4);
WIRE_FIELD(gba_group_handle_t, generation, 4, 4);
WIRE_FIELD(gba_group_handle_t, key, 8, 8);
WIRE_FIELD(gba_group_handle_t, members, 16, 4);
WIRE_FIELD(gba_group_handle_t, reserved, 20, 4);
WIRE_FIELD(gba_group_handle_t, uuid, 24, 16);

/* A member, in the layout. */
WIRE_SIZE(struct gba_member_info, 56);
WIRE_FIELD(struct gba_member_info, host, 0, 32);
WIRE_FIELD(struct gba_member_info, port, 32, 20);
WIRE_FIELD(struct gba_member_info, device_status, 52, 4);

WIRE_SIZE(struct gba_host, 32);
WIRE_FIELD(struct gba_host, word, 0, 32);

WIRE_SIZE(struct gba_port, 20);
WIRE_FIELD(struct gba_port, uuid, 0, 16);
WIRE_FIELD(struct gba_port, members_max, 16, 4);

/* A node, in the handles of several nodes. */
WIRE_SIZE(struct gba_node_info, 88);
WIRE_FIELD(struct gba_node_info, status, 0, 8);
WIRE_FIELD(struct gba_node_info, handle, 8, 32);
WIRE_FIELD(struct gba_node_info, group_status, 40, 4);
WIRE_FIELD(struct gba_node_info, groups, 44, 4);
WIRE_FIELD(struct gba_node_info, group, 48, 40);

WIRE_SIZE(struct gba_segment_handle, 32);
WIRE_FIELD(struct gba_segment_handle, cookie, 0, 16);
WIRE_FIELD(struct gba_segment_handle, pid, 16, 4);
WIRE_FIELD(struct gba_segment_handle, fd, 20, 4);
WIRE_FIELD(struct gba_segment_handle, members, 24, 4);
WIRE_FIELD(struct gba_segment_handle, slots, 28, 4);

/* Failure notification, and the answer to one. */
WIRE_SIZE(gba_notification_t, 40);
WIRE_FIELD(gba_notification_t, team, 0, 8);
WIRE_FIELD(gba_notification_t, round, 8, 8);
WIRE_FIELD(gba_notification_t, first_bypassed, 16, 8);
WIRE_FIELD(gba_notification_t, member, 24, 4);
WIRE_FIELD(gba_notification_t, members, 28, 4);
WIRE_FIELD(gba_notification_t, completed, 32, 4);
WIRE_FIELD(gba_notification_t, unused, 36, 4);

uint32_t gba_wire_version(void)
{
    return GBA_WIRE_VERSION;
}
