/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barrier of one node: a counter and a release word in shared memory. Each member costs one
 * atomic add and each look at the release word one load, whatever the number of members: with more
 * members than cores nothing is cheaper, for each runs once a barrier and must do what it does at
 * once. With a core for each the adds queue up on one line, and v1 is better.
 *
 * Two uses:
 * - all members are on this node: start, then test; the last to arrive releases the others.
 * - several nodes: members call gather and test; the leader calls gather, waits for gathered, goes
 *   through the barrier among the leaders, and calls release.
 *
 * The counter has 64 bits and is never reset, so there is no moment at which an arrival could be
 * lost, and no wrap. Nobody can be ahead: a member arrives at a round only when it has seen the
 * release of the one before, which is after all had arrived.
 *
 * No function blocks. One thread at a time on a member's struct gba_node.
 */
#ifndef GBA_SIGNAL_NODE_H
#define GBA_SIGNAL_NODE_H

#include "gba/base/park.h"
#include "gba/signal/segment.h"
#include "gba/spec/gba_regs.h"

/* One member's place in it, kept by the caller. */
struct gba_node {
    gba_word_t *arrived, *release;
    gba_word_t *sleepers; /* of the segment, for gba_word_park */
    uint64_t target;      /* arrivals when the round under way is complete */
    uint32_t members;
    uint32_t seq;
};

/* Set up a member before its first barrier; `sequence` as the segment was made with. */
static inline void gba_node_init(struct gba_node *node, const struct gba_segment *segment,
                                 uint32_t sequence)
{
    *node = (struct gba_node){.sleepers = gba_segment_word(segment, GBA_SEGMENT_SLEEPERS),
                              .arrived = gba_segment_word(segment, GBA_SEGMENT_ARRIVED),
                              .release = gba_segment_word(segment, GBA_SEGMENT_RELEASE),
                              .members = segment->members,
                              .seq = sequence};
}

/*
 * Arrive at round `seq`, the last one + 1. Returns whether all of the node have arrived. Release,
 * and, if it returns true, acquire: pairs with the adds of the others, and with gba_node_gathered.
 */
static inline bool gba_node_gather(struct gba_node *node, uint32_t seq)
{
    node->seq = seq;
    node->target += node->members;
    if (gba_word_add_acq_rel(node->arrived, 1) + 1 != node->target)
        return false;
    gba_word_unpark(node->arrived, node->sleepers); /* a node's leader may sleep on it */
    return true;
}

/* Whether all of the node have arrived. Acquire: pairs with the adds. */
static inline bool gba_node_gathered(struct gba_node *node)
{
    return gba_word_load_acquire(node->arrived) == node->target;
}

/* Let all of the node go. Release: pairs with gba_node_test. */
static inline void gba_node_release(struct gba_node *node)
{
    gba_word_store_release(node->release, node->seq);
    gba_word_unpark(node->release, node->sleepers);
}

/* Arrive, when all members are on this node: the last one releases. */
static inline void gba_node_start(struct gba_node *node, uint32_t seq)
{
    if (gba_node_gather(node, seq))
        gba_node_release(node);
}

/* GBA_OK when released, else GBA_INPROGRESS. Acquire on GBA_OK. */
static inline gba_status_t gba_node_test(struct gba_node *node)
{
    uint32_t word = (uint32_t)gba_word_load_acquire(node->release);

    return GBA_SEQ_REACHED(word, node->seq) ? GBA_OK : GBA_INPROGRESS;
}

#endif
