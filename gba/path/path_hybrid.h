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
    bool held;                           /* see gba_path_ops.hold */
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

#endif
