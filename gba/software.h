/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The software barrier of a team: its members agree on one of three kinds, from who is where.
 *
 *   node     all members on one host: a counter in shared memory (signal/node.h)
 *   flat     v1, v2 or v3 among all members: through shared memory if all are on one host, else
 *            through the runtime's messages
 *   hybrid   several hosts: gather in the node, v1 or v2 among the leaders, release in the node
 *
 * In the hybrid kind a barrier group may stand in the place of v1 and v2: each leader is a member
 * of it, by the number of its node. Then the kind serves one host, too.
 *
 * Where one group cannot serve all nodes there is one for each island of them (soft/islands.h), and
 * v1 or v2 among the heads of the islands: see software_islands.c.
 */
#ifndef GBA_SOFTWARE_H
#define GBA_SOFTWARE_H

#include "gba/signal/node.h"
#include "gba/signal/shm.h"
#include "gba/soft/algorithm.h"
#include "gba/soft/topology.h"

enum gba_software_kind { GBA_SOFTWARE_NODE, GBA_SOFTWARE_FLAT, GBA_SOFTWARE_HYBRID };

/*
 * Where the leader of a node is in a hybrid round, in this order; the others only wait for the
 * release. With islands the first round of the island's group is LEADERS, the second RELEASE, and
 * the head of the island is in UPPER between them.
 */
enum gba_software_phase {
    GBA_PHASE_MEMBER,
    GBA_PHASE_GATHER,
    GBA_PHASE_LEADERS,
    GBA_PHASE_UPPER,
    GBA_PHASE_RELEASE
};

struct gba_software {
    enum gba_software_kind kind;
    enum gba_software_phase phase;
    uint32_t sequence;
    bool leader;                           /* of its node, in the hybrid kind */
    bool split;                            /* the nodes are in several islands */
    bool head;                             /* of its island, which is a leader, if they are */
    bool held;                             /* see gba_software_hold */
    const struct gba_algorithm *algorithm; /* flat: of all; hybrid: of the leaders or heads */
    struct gba_signals *signals;           /* what it runs over: shm.base or remote */
    struct gba_soft soft;
    struct gba_node node;
    struct gba_shm shm;
    struct gba_signals *remote; /* of the runtime, or NULL */
    gba_group_t *group;         /* of a leader, in the place of the algorithm or below; or NULL */
    gba_local_state_t *state;   /* its place in that group; or NULL */
    struct gba_segment segment; /* base NULL: none */
    gba_word_t *death;          /* of the segment: not 0: the leader says that the device died */
    /* For whoever asks who is missing; the barriers themselves do not need it: */
    uint32_t rank;     /* of the team */
    uint32_t source;   /* over messages: who sends the first signal, as a rank of the team */
    uint32_t *locals;  /* [segment.members] ranks of this node, ascending */
    uint32_t *leaders; /* [nodes] ascending; of this island, if there are several */
    uint32_t nodes;
    gba_word_t *mark; /* node, hybrid: the round that this member arrived at */
};

/* What came of an agreement; the same on all members. */
struct gba_software_outcome {
    char why[160];       /* one line for people, if there is a barrier */
    gba_status_t reason; /* if there is none: why, */
    uint32_t culprit;    /* and the member */
    /* Of a barrier group among the leaders, if one was wanted: GBA_OK if it is armed, else why it
     * is not, and the member. */
    gba_status_t group_reason;
    uint32_t group_culprit;
    uint32_t nodes; /* of this island, or of the team; 0: this member does not know */
    bool apart;     /* there are several islands, if it knows */
};

/* What the head of an island asks the device for, for the leaders of nodes; the ticket is of rank 0
 * only. */
struct gba_wish {
    gba_group_request_t request; /* but for the members */
    gba_ticket_t ticket;         /* of a group that it has already; members 0: it has none */
    /* The same on all members: */
    bool islands;        /* if one group cannot serve all nodes, one for each island */
    gba_status_t reason; /* why there is no group of all, */
    uint32_t culprit;    /* and the member */
    /* And of this one: GBA_OK, or why it cannot take part. */
    gba_status_t mine;
};

/*
 * Agree on a software barrier, or on a barrier group among the leaders of nodes.
 * wish: try the group first; its ticket is taken (members becomes 0) when somebody has joined.
 *       NULL: no group. NULL or not the same on all members.
 * Returns GBA_OK (*software is NULL if there is neither), or GBA_ERR_OOB.
 * Collective over oob; the calls are listed in team.c.
 */
gba_status_t gba_software_agree(const gba_team_attr_t *attr, const gba_oob_t *oob,
                                struct gba_wish *wish, struct gba_software **software,
                                struct gba_software_outcome *outcome);

/* Not collective; sends nothing. NULL is allowed. */
void gba_software_destroy(struct gba_software *software);

/* The start of the node kind, when the sequence has been advanced. */
static inline void gba_software_node_start(struct gba_software *software)
{
    /* A line of this member's own, which nobody looks at as long as all goes well. */
    gba_word_store_relaxed(software->mark, software->sequence);
    gba_node_start(&software->node, software->sequence);
}

/* As gba_barrier_start, _test. GBA_ERR_IO: the runtime's connection is lost. */
gba_status_t gba_software_start(struct gba_software *software);
gba_status_t gba_software_test(struct gba_software *software);

/* With islands, of a node's leader: its part between the node's gathering and release. */
gba_status_t gba_islands_start(struct gba_software *software);
gba_status_t gba_islands_test(struct gba_software *software);

/* Whether the barrier waits for the release of a barrier group now. */
static inline bool gba_software_in_group(const struct gba_software *software)
{
    return NULL != software->state &&
           (GBA_PHASE_LEADERS == software->phase || GBA_PHASE_RELEASE == software->phase);
}

/*
 * The device of the team is lost, of which there may be several. These three are for gba/recover.c,
 * where it says why; they do something for the head of an island only.
 *
 * hold: from now on no test of this member may let others go, or this one alone.
 * aside: a round begins in which this member does not arrive.
 * finish: the round is over by notices. Returns GBA_OK when this member owes nothing to the other
 * heads, and they nothing to it; GBA_INPROGRESS, or GBA_ERR_IO.
 */
static inline void gba_software_hold(struct gba_software *software)
{
    software->held = true;
}

void gba_software_aside(struct gba_software *software);
gba_status_t gba_software_finish(struct gba_software *software);

/*
 * A leader tells its node that the device died: they have no other way to know. Release: pairs with
 * gba_software_dead, which sees every release of the node that came before.
 */
static inline void gba_software_tell_death(struct gba_software *software)
{
    if (NULL != software->death)
        gba_word_store_release(software->death, 1);
}

/* Whether the leader of this node has said so. Acquire. */
static inline bool gba_software_dead(const struct gba_software *software)
{
    return NULL != software->death && 0 != gba_word_load_acquire(software->death);
}

/*
 * The word of shared memory that the barrier waits for, for gba_word_park; NULL if it waits for a
 * barrier group or for the runtime's messages. Not if the last test said GBA_OK.
 */
gba_word_t *gba_software_awaited(struct gba_software *software);

/* Whether the barrier waits for messages of the runtime now, which come only by its progress. */
static inline bool gba_software_listens(const struct gba_software *software)
{
    if (NULL == software->remote)
        return false;
    return software->split ? GBA_PHASE_UPPER == software->phase
                           : GBA_PHASE_GATHER != software->phase;
}

enum gba_arrived { GBA_ARRIVED_NO, GBA_ARRIVED_YES, GBA_ARRIVED_UNKNOWN };

/*
 * Whether a member of the team has arrived in the round under way, as far as memory that is shared
 * with it tells, or the registers of the leaders' group: of another node's leader, that all of its
 * node have arrived. group: NULL if the registers could not be looked at.
 */
enum gba_arrived gba_software_arrived(const struct gba_software *software,
                                      const gba_group_state_t *group, uint32_t member);

/* For people, behind the name of a member that has not arrived: for whom it stands as well, as far
 * as this one can tell; or "". */
const char *gba_software_stands_for(const struct gba_software *software, uint32_t member);

/*
 * Between hosts: the member (flat), the leader (hybrid) or the head (islands) whose first signal
 * has not come, so that it, or somebody whom it stands for, has not arrived. UINT32_MAX: nobody
 * that this member waits for so.
 */
uint32_t gba_software_late_source(const struct gba_software *software);

/* Move the runtime's messages. GBA_OK or GBA_ERR_IO. */
gba_status_t gba_software_progress(struct gba_software *software);

#endif
