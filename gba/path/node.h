/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node of a member: the members of its team on the same host, and the memory that they share. A
 * member that shares no memory (it is alone, or the path needs none) has a node without a segment.
 */
#ifndef GBA_PATH_NODE_H
#define GBA_PATH_NODE_H

#include "gba/path/path.h"
#include "gba/path/shape.h"
#include "gba/transport/node_barrier.h"
#include "gba/transport/node_flags.h"
#include "gba/transport/shm.h"

struct gba_node {
    uint32_t rank; /* of this member in the team */
    struct gba_segment segment;
    struct gba_node_barrier barrier;
    struct gba_node_flags flags; /* of a hybrid path, if there are slots for them */
    struct gba_shm shm;
    gba_word_t *mark;       /* the round at which this member arrived, for the watchdog */
    gba_word_t *failed;     /* not 0: a member of the node knows that the device has failed */
    const uint32_t *locals; /* [segment.members] ranks of the node's members, ascending */
};

/* Initialise a node without memory. */
void gba_node_init(struct gba_node *node, uint32_t rank);

/*
 * Create or map the shared memory of the node that the shape requires: the node's leader creates
 * it, its other members attach to it. Later all call gba_shm_segment_shut.
 * handle: output of create; input of attach. The topology of the shape must live until close.
 * If the member has several slots, its place is stored there, for gba_path_shared_finish and
 * gba_path_hybrid_finish of all members.
 * Return as gba_shm_segment_create and gba_shm_segment_attach. Not collective.
 */
gba_status_t gba_node_create(struct gba_node *node, const struct gba_shape *shape,
                             struct gba_segment_handle *handle);
gba_status_t gba_node_attach(struct gba_node *node, const struct gba_shape *shape,
                             const struct gba_segment_handle *handle);

void gba_node_close(struct gba_node *node);

static inline bool gba_node_shares(const struct gba_node *node)
{
    return node->segment.base != NULL;
}

/* Store in the shared memory that this member arrives at the round. The mark has its own cache
 * line, which only the watchdog reads. */
static inline void gba_node_mark(struct gba_node *node, uint32_t sequence)
{
    gba_word_store_relaxed(node->mark, sequence);
}

/* Gather and release in the node: by flags, or by the counter, which is faster for few members, and
 * where members share cores. The functions are those of node_barrier.h and node_flags.h. */
static inline bool gba_node_has_flags(const struct gba_node *node)
{
    return node->flags.words != NULL;
}

static inline void gba_node_gather(struct gba_node *node, uint32_t sequence)
{
    if (gba_node_has_flags(node)) {
        gba_node_flags_gather(&node->flags, sequence);
        return;
    }
    gba_node_mark(node, sequence);
    (void)gba_node_barrier_gather(&node->barrier, sequence);
}

static inline bool gba_node_gathered(struct gba_node *node)
{
    return gba_node_has_flags(node) ? gba_node_flags_gathered(&node->flags)
                                    : gba_node_barrier_gathered(&node->barrier);
}

static inline void gba_node_release(struct gba_node *node)
{
    if (gba_node_has_flags(node))
        gba_node_flags_release(&node->flags);
    else
        gba_node_barrier_release(&node->barrier);
}

static inline gba_status_t gba_node_test(struct gba_node *node)
{
    return gba_node_has_flags(node) ? gba_node_flags_test(&node->flags)
                                    : gba_node_barrier_test(&node->barrier);
}

/* The word that this member waits for. gathers: it is the leader, which waits for the others. */
static inline gba_word_t *gba_node_awaited(const struct gba_node *node, bool gathers)
{
    if (gba_node_has_flags(node))
        return gba_node_flags_awaited(&node->flags);
    return gathers ? node->barrier.arrived : node->barrier.release;
}

/*
 * Store in the node that the device has failed. The node's leader calls it when it does not release
 * the node, because the other members of the node may have no other way to learn it. Release: pairs
 * with gba_node_failed, which then sees every earlier release of the node. node: may be NULL.
 */
static inline void gba_node_set_failed(struct gba_node *node)
{
    if (node != NULL && node->failed != NULL)
        gba_word_store_release(node->failed, 1);
}

/* Whether a member of the node has called gba_node_set_failed. node: may be NULL. Acquire. */
static inline bool gba_node_failed(const struct gba_node *node)
{
    return node != NULL && node->failed != NULL && 0 != gba_word_load_acquire(node->failed);
}

/* The index in this node of a member of the team; UINT32_MAX: the member is on another node. */
uint32_t gba_node_local(const struct gba_node *node, uint32_t member);

/* Whether slot 0 of an owner of slots shows an arrival at the round. owner: the index of a member,
 * or its number in the schedule (path_shared.c). */
static inline enum gba_arrived gba_node_arrived(const struct gba_node *node, uint32_t owner,
                                                uint32_t sequence)
{
    uint32_t seen = gba_shm_peek(&node->shm, owner);

    return GBA_SEQ_REACHED(seen, sequence) ? GBA_ARRIVED_YES : GBA_ARRIVED_NO;
}

/* The index of a member in an ascending list; UINT32_MAX: not in the list. */
uint32_t gba_ranks_find(const uint32_t *ranks, uint32_t count, uint32_t member);

#endif
