/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of everything that libgba of one member sends to libgba of another, byte by byte.
 * Members with different layouts would misread each other. So a runtime compares gba_wire_version
 * of all members first.
 *
 * The layouts below are those of version LAYOUTS_OF. A changed structure does not compile until its
 * line here is changed. A changed line means a new version: raise GBA_WIRE_VERSION, then
 * LAYOUTS_OF. A change of meaning without a change of layout needs a new version, too: another
 * order of the collective calls in agree.c, another schedule of signals, a status with another
 * number.
 *
 * No structure has padding. So a 32-bit process and a 64-bit process send the same bytes, and no
 * byte is uninitialised.
 */
#include <stddef.h>

#include "gba/runtime.h"
#include "gba/agree/agree_nodes.h"
#include "gba/agree/alloc.h"
#include "gba/agree/plan.h"
#include "gba/agree/steer.h"

#define LAYOUTS_OF 15u

#define CHANGED "the wire has changed: raise GBA_WIRE_VERSION, then state the new layout here"

#define WIRE_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), CHANGED)
#define WIRE_FIELD(type, field, offset, bytes)                                                 \
    _Static_assert(offsetof(type, field) == (offset) && sizeof(((type *)0)->field) == (bytes), \
                   CHANGED)

_Static_assert(LAYOUTS_OF == GBA_WIRE_VERSION, "see whether the layouts here are of that version");

/* The proposal of rank 0: the first exchange of each agreement. */
WIRE_SIZE(struct gba_proposal, 88);
WIRE_FIELD(struct gba_proposal, kind, 0, 4);
WIRE_FIELD(struct gba_proposal, status, 4, 4);
WIRE_FIELD(struct gba_proposal, sequence, 8, 4);
WIRE_FIELD(struct gba_proposal, simulated, 12, 4);
WIRE_FIELD(struct gba_proposal, domains, 16, 4);
WIRE_FIELD(struct gba_proposal, several, 20, 4);
WIRE_FIELD(struct gba_proposal, trial_after, 24, 4);
WIRE_FIELD(struct gba_proposal, refused, 28, 4);
WIRE_FIELD(struct gba_proposal, id, 32, 8);
WIRE_FIELD(struct gba_proposal, pause, 40, 8);
WIRE_FIELD(struct gba_proposal, handle, 48, 40);

/* The terms of a trial, from rank 0. */
WIRE_SIZE(struct gba_trial_terms, 32);
WIRE_FIELD(struct gba_trial_terms, run, 0, 4);
WIRE_FIELD(struct gba_trial_terms, rotate, 4, 4);
WIRE_FIELD(struct gba_trial_terms, fallback, 8, 4);
WIRE_FIELD(struct gba_trial_terms, nodes, 12, 4);
WIRE_FIELD(struct gba_trial_terms, algorithm, 16, 4);
WIRE_FIELD(struct gba_trial_terms, hierarchy, 20, 4);
WIRE_FIELD(struct gba_trial_terms, radix, 24, 4);
WIRE_FIELD(struct gba_trial_terms, reserved, 28, 4);

WIRE_SIZE(gba_group_handle_t, 40);
WIRE_FIELD(gba_group_handle_t, group, 0, 4);
WIRE_FIELD(gba_group_handle_t, generation, 4, 4);
WIRE_FIELD(gba_group_handle_t, key, 8, 8);
WIRE_FIELD(gba_group_handle_t, members, 16, 4);
WIRE_FIELD(gba_group_handle_t, reserved, 20, 4);
WIRE_FIELD(gba_group_handle_t, uuid, 24, 16);

/* The switches of a member: between two proposals. */
WIRE_SIZE(struct gba_switches, 264);
WIRE_FIELD(struct gba_switches, count, 0, 4);
WIRE_FIELD(struct gba_switches, reserved, 4, 4);
WIRE_FIELD(struct gba_switches, uuid, 8, 256);

/* The text about the switches that were tried: after the attempts at several switches. */
_Static_assert(sizeof((struct gba_tried *)0)->text == 232, CHANGED);

/* A member's information: the first exchange of a software barrier or of node leaders. */
WIRE_SIZE(struct gba_member_info, 88);
WIRE_FIELD(struct gba_member_info, host, 0, 32);
WIRE_FIELD(struct gba_member_info, status, 32, 4);
WIRE_FIELD(struct gba_member_info, remote, 36, 4);
WIRE_FIELD(struct gba_member_info, oversubscribed, 40, 4);
WIRE_FIELD(struct gba_member_info, algorithm, 44, 4);
WIRE_FIELD(struct gba_member_info, radix, 48, 4);
WIRE_FIELD(struct gba_member_info, hierarchy, 52, 4);
WIRE_FIELD(struct gba_member_info, sequence, 56, 4);
WIRE_FIELD(struct gba_member_info, disabled, 60, 4);
WIRE_FIELD(struct gba_member_info, port, 64, 20);
WIRE_FIELD(struct gba_member_info, reserved, 84, 4);

WIRE_SIZE(struct gba_host, 32);
WIRE_FIELD(struct gba_host, word, 0, 32);

WIRE_SIZE(struct gba_port, 20);
WIRE_FIELD(struct gba_port, uuid, 0, 16);
WIRE_FIELD(struct gba_port, members_max, 16, 4);

/* A node's information: the second exchange. */
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
