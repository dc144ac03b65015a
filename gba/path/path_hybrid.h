/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hybrid path: gather in the node, a barrier among the node leaders, release in the node. The
 * barrier among the leaders is one of these:
 *
 *   messages  an algorithm over the runtime's messages; it can also be among all members, and then
 *             each member is its own leader
 *   group     a barrier group; the slot of a leader is the number of its node
 *   domains   if one group cannot serve all nodes: a group for each switch domain, and an
 *             algorithm over messages among the domain leaders
 */
#ifndef GBA_PATH_PATH_HYBRID_H
#define GBA_PATH_PATH_HYBRID_H

#include "gba/path/message_barrier.h"
#include "gba/path/node.h"

/*
 * The phase of a leader in a round, in this order; other members only wait for the release. LEADERS
 * is the round of its group, and UPPER its barrier over messages. With domains, the second round of
 * the group is RELEASE.
 */
enum gba_hybrid_phase {
    GBA_PHASE_MEMBER,
    GBA_PHASE_GATHER,
    GBA_PHASE_LEADERS,
    GBA_PHASE_UPPER,
    GBA_PHASE_RELEASE
};

struct gba_path_hybrid {
    struct gba_path_base base;
    enum gba_hybrid_phase phase;
    bool leader;       /* of its node */
    uint32_t sequence; /* of the current round, or of the last one; unsigned: wraps */
    struct gba_node node;
    struct gba_message_barrier messages; /* of a node leader or domain leader, or not opened */
    bool split;                          /* there are several switch domains */
    bool held; /* a path that has failed: no test of this member may release other members, or
                  complete for this member alone */
    const uint32_t *leaders; /* [nodes] ascending; of this domain, if there are several; NULL:
                                all members are leaders */
    uint32_t nodes;
    struct gba_domains domains;   /* of the shape */
    struct gba_local_state state; /* base.state, of a member of a group */
};

extern const struct gba_path_ops gba_path_hybrid_ops;

/* Create this member's part, with a node without memory, without group and messages. shape: of kind
 * GBA_SHAPE_MESSAGES or GBA_SHAPE_HYBRID. rank: this member. Returns GBA_OK or GBA_ERR_NOMEM. This
 * function and those below are not collective and send nothing. */
gba_status_t gba_path_hybrid_create(const struct gba_shape *shape, uint32_t rank,
                                    struct gba_path_base **path);

/* Become a member of a group, up to the arming of the group. Returns as gba_group_take. */
gba_status_t gba_path_hybrid_join(struct gba_path_base *path, gba_device_t *device,
                                  const gba_group_handle_t *handle, uint32_t member);

/* Open the messages, if this member has any. The shape must live until gba_path_hybrid_finish.
 * Returns as gba_message_barrier_open. */
gba_status_t gba_path_hybrid_open(struct gba_path_base *path, const struct gba_shape *shape,
                                  const gba_remote_t *remote);

/* All members are ready: take the domains out of the shape, and derive the groups of the node by
 * the places of its members, which gba_node_create and gba_node_attach have stored before an
 * exchange that this member has completed. */
void gba_path_hybrid_finish(struct gba_path_base *path, struct gba_shape *shape);

/* Move the runtime's messages. Returns GBA_OK or GBA_ERR_IO. May make a system call, unlike the
 * functions below. */
static inline gba_status_t gba_path_hybrid_progress(struct gba_path_hybrid *hybrid)
{
    return gba_message_barrier_progress(&hybrid->messages);
}

/* Whether the test waits for messages now. Only progress moves messages. */
static inline bool gba_path_hybrid_listens(const struct gba_path_hybrid *hybrid)
{
    return GBA_PHASE_UPPER == hybrid->phase;
}

/* --- For the watchdog: */

/* Text for the user, appended to the name of a member that has not arrived: the members that it
 * represents, or "". */
const char *gba_path_hybrid_represented(const struct gba_path_hybrid *hybrid, uint32_t member);

/* The member whose first message is missing. That member, or one that it represents, has not
 * arrived. UINT32_MAX: the path waits for no message now. */
uint32_t gba_path_hybrid_late_source(const struct gba_path_hybrid *hybrid);

/* --- For failover (failover.md has the reasons): */

/* Start a round in which this member does not arrive. */
void gba_path_hybrid_bypass(struct gba_path_hybrid *hybrid);

/* Failure notifications have completed the round. Returns GBA_OK when this member owes no message
 * to another member and expects none; GBA_INPROGRESS; or GBA_ERR_IO. */
gba_status_t gba_path_hybrid_withdraw(struct gba_path_hybrid *hybrid);

/* The members that this member notifies besides its neighbours in the team's graph: the leaders of
 * its switch domain. extra: unchanged if there are none. */
void gba_path_hybrid_peers(const struct gba_path_hybrid *hybrid, struct gba_extra_peers *extra);

#endif
