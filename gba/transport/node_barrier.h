/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barrier of one node: a counter and a release word in shared memory. A member pays one atomic
 * add to arrive and one load per test, independent of the number of members. This is the cheapest
 * barrier when members outnumber cores, because every member completes its part in one time slice.
 * With a core per member the adds queue up on one line, and dissemination, or the flags of
 * node_flags.h, are faster.
 *
 * Two uses:
 * - All members are on this node: start, then test. The last member to arrive releases the node.
 * - Several nodes: members call gather, then test. The leader calls gather, waits for gathered,
 *   completes the barrier among the leaders, and calls release.
 *
 * The counter has 64 bits and is never reset, so no arrival can be lost in a reset, and it does not
 * wrap. No member runs ahead: a member arrives at a round only after it has seen the release of the
 * round before, which follows all arrivals.
 *
 * No function blocks. One thread at a time on one struct gba_node_barrier.
 */
#ifndef GBA_TRANSPORT_NODE_BARRIER_H
#define GBA_TRANSPORT_NODE_BARRIER_H

#include "gba/base/park.h"
#include "gba/transport/segment.h"
#include "gba/spec/gba_regs.h"

/* The state of one member, owned by the caller. */
struct gba_node_barrier {
    gba_word_t *arrived, *release;
    gba_word_t *sleepers; /* of the segment, for gba_word_park */
    uint64_t target;      /* the value of *arrived that completes the current round */
    uint32_t members;
    uint32_t seq;
};

/* Initialise a member before its first barrier. sequence: as given to gba_shm_segment_create. */
static inline void gba_node_barrier_init(struct gba_node_barrier *node,
                                         const struct gba_segment *segment, uint32_t sequence)
{
    *node = (struct gba_node_barrier){.sleepers = gba_segment_word(segment, GBA_SEGMENT_SLEEPERS),
                                      .arrived = gba_segment_word(segment, GBA_SEGMENT_ARRIVED),
                                      .release = gba_segment_word(segment, GBA_SEGMENT_RELEASE),
                                      .members = segment->members,
                                      .seq = sequence};
}

/*
 * Arrive at round `seq`, the last one + 1. Returns whether all members of the node have arrived.
 * Release, and acquire if it returns true: pairs with the adds of the other members and with
 * gba_node_barrier_gathered.
 */
static inline bool gba_node_barrier_gather(struct gba_node_barrier *node, uint32_t seq)
{
    node->seq = seq;
    node->target += node->members;
    if (gba_word_add_acq_rel(node->arrived, 1) + 1 != node->target)
        return false;
    gba_word_unpark(node->arrived, node->sleepers); /* the leader may sleep on the counter */
    return true;
}

/* Whether all members of the node have arrived. Acquire: pairs with the adds. */
static inline bool gba_node_barrier_gathered(struct gba_node_barrier *node)
{
    return gba_word_load_acquire(node->arrived) == node->target;
}

/* Release the members of the node. Release: pairs with gba_node_barrier_test. */
static inline void gba_node_barrier_release(struct gba_node_barrier *node)
{
    gba_word_store_release(node->release, node->seq);
    gba_word_unpark(node->release, node->sleepers);
}

/* Arrive, where all members are on this node: the last one releases. */
static inline void gba_node_barrier_start(struct gba_node_barrier *node, uint32_t seq)
{
    if (gba_node_barrier_gather(node, seq))
        gba_node_barrier_release(node);
}

/* GBA_OK when released, else GBA_INPROGRESS. Acquire on GBA_OK. */
static inline gba_status_t gba_node_barrier_test(struct gba_node_barrier *node)
{
    uint32_t word = (uint32_t)gba_word_load_acquire(node->release);

    return GBA_SEQ_REACHED(word, node->seq) ? GBA_OK : GBA_INPROGRESS;
}

#endif
