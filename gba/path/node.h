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
    struct gba_node_flags flags; /* words: NULL: gathers without them */
    bool counts;                 /* gathers by the counter, not by flags */
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

/* All members have stored their places: derive the groups of the flags, if there are any. */
void gba_node_join(struct gba_node *node, uint32_t local_rank);

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

/* Gather and release in the node, if it has memory: by the counter (node_barrier.h), or by flags if
 * there are slots for them (node_flags.h). The counter is faster for few members, and where members
 * share cores. */
static inline void gba_node_gather(struct gba_node *node, uint32_t sequence)
{
    if (__builtin_expect(node->counts, 1)) {
        gba_node_mark(node, sequence);
        (void)gba_node_barrier_gather(&node->barrier, sequence);
    } else if (node->flags.words != NULL) {
        node->barrier.seq = sequence;
        gba_node_flags_gather(&node->flags, sequence);
    }
}

static inline bool gba_node_gathered(struct gba_node *node)
{
    if (__builtin_expect(node->counts, 1))
        return gba_node_barrier_gathered(&node->barrier);
    return node->flags.words == NULL || gba_node_flags_gathered(&node->flags);
}

static inline void gba_node_release(struct gba_node *node)
{
    if (__builtin_expect(node->counts, 1))
        gba_node_barrier_release(&node->barrier);
    else if (node->flags.words != NULL)
        gba_node_flags_release(&node->flags);
}

/* The release word of a cache is in the place of that of the node. */
static inline gba_status_t gba_node_test(struct gba_node *node)
{
    gba_status_t status = gba_node_barrier_test(&node->barrier);

    if (GBA_OK != status && node->flags.words != NULL)
        (void)gba_node_flags_gathered(&node->flags);
    return status;
}

/* The word that this member waits for. gathers: it is the leader, which waits for the others. */
static inline gba_word_t *gba_node_awaited(const struct gba_node *node, bool gathers)
{
    if (node->flags.words != NULL)
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
