/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of everything that libgba of one member sends to libgba of another, byte by byte.
 * Members with different layouts would misread each other. So a runtime compares gba_wire_version
 * of all members first.
 *
 * The layouts below are those of version LAYOUTS_OF. A changed structure does not compile until its
 * line here is changed. A changed line means a new version: raise GBA_WIRE_VERSION, then
 * LAYOUTS_OF. A change of meaning without a change of layout needs a new version, too: another
 * order of the exchanges in loop.c, another schedule of signals, a status with another
 * number.
 *
 * No structure has padding. So a 32-bit process and a 64-bit process send the same bytes, and no
 * byte is uninitialised.
 */
#include <stddef.h>

#include "gba/runtime.h"
#include "gba/agree/agree.h"

#define LAYOUTS_OF 30u

#define CHANGED "the wire has changed: raise GBA_WIRE_VERSION, then state the new layout here"

#define IS(bytes) (sizeof(T) == (bytes))
#define AT(field, offset, bytes) \
    (offsetof(T, field) == (offset) && sizeof(((T *)0)->field) == (bytes))

_Static_assert(LAYOUTS_OF == GBA_WIRE_VERSION, "see whether the layouts here are of that version");

/* The words of each minimum. */
_Static_assert(GBA_FACTS == 34 && GBA_SWITCHES_WORDS == 27 && GBA_LACKING_WORDS == 16, CHANGED);

/* The terms of rank 0: at the end of the facts, whose words are in agree/info.c. */
#define T struct gba_terms
_Static_assert(IS(104) && AT(id, 0, 8) && AT(backoff, 8, 8) && AT(uuid, 16, 16) &&
                   AT(members_max, 32, 4) && AT(status, 36, 4) && AT(sequence, 40, 4) &&
                   AT(trial_after, 44, 4) && AT(min_hosts, 48, 4) && AT(algorithm, 52, 1) &&
                   AT(radix, 53, 1) && AT(hierarchy, 54, 1) && AT(offload, 55, 1) &&
                   AT(kind, 56, 1) && AT(multi_device, 57, 1) && AT(trial_runs, 58, 1) &&
                   AT(trial_rotates, 59, 1) && AT(trial_fallback, 60, 1) && AT(reserved, 61, 3) &&
                   AT(cost, 64, 40),
               CHANGED);
#undef T

#define T struct gba_cost_terms
_Static_assert(IS(40) && AT(turn, 0, 4) && AT(message, 4, 4) && AT(send, 8, 4) &&
                   AT(device, 12, 4) && AT(port, 16, 2) && AT(store, 18, 2) && AT(line, 20, 2) &&
                   AT(cores, 22, 2) && AT(leaf, 24, 2) && AT(pod, 26, 2) && AT(pod_more, 28, 2) &&
                   AT(far_more, 30, 2) && AT(store_next, 32, 2) && AT(load, 34, 2) &&
                   AT(load_next, 36, 2) && AT(reserved, 38, 2),
               CHANGED);
#undef T

/* The switches of rank 0. */
#define T struct gba_switches
_Static_assert(AT(key, 0, 128) && AT(members_max, 128, 64) && AT(kind, 192, 16) &&
                   AT(count, 208, 4) && AT(unused, 212, 4),
               CHANGED);
#undef T

#define T gba_group_handle_t
_Static_assert(IS(40) && AT(group, 0, 4) && AT(generation, 4, 4) && AT(key, 8, 8) &&
                   AT(members, 16, 4) && AT(reserved, 20, 4) && AT(uuid, 24, 16),
               CHANGED);
#undef T

/* A member, in the layout. */
#define T struct gba_member_info
_Static_assert(IS(56) && AT(host, 0, 32) && AT(port, 32, 20) && AT(device_status, 52, 4), CHANGED);
#undef T

#define T struct gba_host
_Static_assert(IS(32) && AT(word, 0, 32), CHANGED);
#undef T

#define T struct gba_port
_Static_assert(IS(20) && AT(uuid, 0, 16) && AT(members_max, 16, 4), CHANGED);
#undef T

/* A node, in the handles of several nodes. */
#define T struct gba_node_info
_Static_assert(IS(88) && AT(status, 0, 8) && AT(handle, 8, 32) && AT(group_status, 40, 4) &&
                   AT(groups, 44, 4) && AT(group, 48, 40),
               CHANGED);
#undef T

#define T struct gba_segment_handle
_Static_assert(IS(32) && AT(cookie, 0, 16) && AT(pid, 16, 4) && AT(fd, 20, 4) &&
                   AT(members, 24, 4) && AT(slots, 28, 4),
               CHANGED);
#undef T

/* Failure notification, and the answer to one. */
#define T gba_notification_t
_Static_assert(IS(40) && AT(team, 0, 8) && AT(round, 8, 8) && AT(first_bypassed, 16, 8) &&
                   AT(member, 24, 4) && AT(members, 28, 4) && AT(completed, 32, 4) &&
                   AT(unused, 36, 4),
               CHANGED);
#undef T

uint32_t gba_wire_version(void)
{
    return GBA_WIRE_VERSION;
}
