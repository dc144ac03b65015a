/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a hybrid path (path_hybrid.h), and its barrier among the node leaders. */
#ifndef GBA_PATH_LEADERS_H
#define GBA_PATH_LEADERS_H

#include "gba/path/message_barrier.h"
#include "gba/path/node.h"

struct gba_path_hybrid;

/* The barrier among the node leaders. */
struct gba_leaders_ops {
    gba_status_t (*start)(struct gba_path_hybrid *hybrid);
    gba_status_t (*test)(struct gba_path_hybrid *hybrid);
};

/*
 * The phase of a leader in a round, in this order; other members only wait for the release. With
 * domains, the first round of the domain's group is LEADERS and the second is RELEASE; a domain
 * leader is in UPPER between them.
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
    uint32_t sequence; /* of the current round, or of the last one; unsigned: wraps */
    const struct gba_leaders_ops *leaders_ops; /* of a node leader, else NULL */
    struct gba_node node;
    struct gba_message_barrier messages; /* of a node leader or domain leader, or not opened */
    bool split;                          /* there are several switch domains */
    bool held;                           /* see gba_path_ops.hold */
    uint32_t *leaders;        /* [nodes] ascending; of this domain, if there are several */
    uint32_t *domain_leaders; /* [number of domains] ascending, if there are several, else NULL */
    uint32_t nodes;
    struct gba_local_state state; /* base.state, of a member of a group */
};

/* An algorithm over messages; a group of all leaders; a group for each switch domain. path_hybrid.h
 * describes them. */
extern const struct gba_leaders_ops gba_leaders_by_messages, gba_leaders_in_group,
    gba_leaders_in_domains;

/* Whether this member is the leader of its node. */
static inline bool gba_leaders_is_leader(const struct gba_path_hybrid *hybrid)
{
    return hybrid->leaders_ops != NULL;
}

/* Whether this member is the leader of its switch domain, if there are several. */
static inline bool gba_leaders_is_domain_leader(const struct gba_path_hybrid *hybrid)
{
    return hybrid->split && hybrid->messages.transport != NULL;
}

/* Start the barrier among the domain leaders. Returns GBA_OK or GBA_ERR_IO. */
gba_status_t gba_leaders_upper_start(struct gba_path_hybrid *hybrid);

#endif
