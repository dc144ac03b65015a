/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedule of a software barrier: which member signals which. Pure functions of numbers.
 *
 * Dissemination with radix k (radix 2: Hensgen, Finkel and Manber, "Two Algorithms for Barrier
 * Synchronization", 1988; larger radices are its n-way form, Hoefler et al., 2006). In round r,
 * with the distance d = k^r, a member signals those at d, 2d, ... (k - 1)d behind it in the ring,
 * but none at `size` or farther, because a shorter distance reaches that member already. After the
 * round a member knows the arrival of k^(r+1) members, counted backwards from itself. When that
 * number reaches `size`, it knows all arrivals. A signal of round r + 1 vouches for every signal
 * received in round r. A round therefore starts only when all signals of the round before are in.
 *
 * Tree of degree k (a software combining tree: Yew, Tzeng and Lawrie, "Distributing Hot-Spot
 * Addressing in Large-Scale Multiprocessors", 1987; with a static place for each member:
 * Mellor-Crummey and Scott, "Algorithms for Scalable Synchronization on Shared-Memory
 * Multiprocessors", 1991, whose release tree is binary; here one tree serves both ways). Member 0
 * is the root; the children of a member r are k * r + 1 to k * r + k. A member signals its parent
 * when it has the signals of all its children: its subtree has arrived. The root then knows all
 * arrivals, and the release goes down the same tree: 2 (N - 1) signals altogether.
 *
 * Each signal has its own slot at the receiver, so each slot has one writer. A member also signals
 * at most one other member through the slot of a given number.
 *
 * Sizes are 1 to GBA_SCHED_SIZE_MAX, radices GBA_RADIX_MIN to GBA_RADIX_MAX. Callers check them.
 * All functions are thread-safe.
 */
#ifndef GBA_ALGO_SCHED_H
#define GBA_ALGO_SCHED_H

#include <stdint.h>

#define GBA_RADIX_MIN     2u
#define GBA_RADIX_DEFAULT 8u
#define GBA_RADIX_MAX     64u /* one core issues radix - 1 stores back to back in each round */

/* Keeps distance * radix within 32 bits: 2^25 * 2^6 = 2^31. */
#define GBA_SCHED_SIZE_MAX (1u << 25)

#define GBA_SCHED_NONE UINT32_MAX /* no member */

/* The members at both ends of a slot, as seen by one member; GBA_SCHED_NONE: no signal. */
struct gba_sched_link {
    uint32_t source; /* signals this member through this member's slot */
    uint32_t target; /* this member signals through the slot of the same number */
};

/* The schedule of one algorithm, for the transports of its signals. All functions are thread-safe.
 */
struct gba_schedule {
    /* The number of slots that each member needs, the same for all members. */
    uint32_t (*slots)(uint32_t size, uint32_t radix);
    /* The members of a slot, 0 to slots - 1. NULL: an algorithm that pulls. */
    struct gba_sched_link (*link)(uint32_t rank, uint32_t size, uint32_t radix, uint32_t slot);
};

/* The member at a distance behind `rank` in the ring; distance is 0 to size - 1. */
static inline uint32_t gba_sched_peer(uint32_t rank, uint32_t distance, uint32_t size)
{
    uint32_t peer = rank + distance; /* a division would cost more than the signal itself */

    return peer >= size ? peer - size : peer;
}

/* The member that signals `rank` over that distance: the inverse of gba_sched_peer. */
static inline uint32_t gba_sched_source(uint32_t rank, uint32_t distance, uint32_t size)
{
    return rank >= distance ? rank - distance : rank + size - distance;
}

/*
 * The number of signals that each member sends, and receives, in the round with this distance: the
 * largest i < radix with i * distance < size. 0 when the schedule has ended.
 */
static inline uint32_t gba_sched_lanes(uint32_t distance, uint32_t size, uint32_t radix)
{
    uint32_t most = (radix - 1u) * distance;

    return most < size ? radix - 1u : (size - 1u) / distance;
}

/* The number of slots that a member needs: one more than the greatest slot in use, the same for all
 * members; 0 to 1600 at the limits. */
static inline uint32_t gba_sched_slots(uint32_t size, uint32_t radix)
{
    uint32_t slots = 0;

    /* Every round but the last uses all of its lanes, so the numbering has no holes. */
    for (uint32_t distance = 1; distance < size; distance *= radix)
        slots += gba_sched_lanes(distance, size, radix);
    return slots;
}

/* The members of a slot of the dissemination. slot: 0 to gba_sched_slots(size, radix) - 1; that of
 * lane 1 to radix - 1 in a round, counted from 0, is round * (radix - 1) + lane - 1. */
static inline struct gba_sched_link gba_sched_link(uint32_t rank, uint32_t size, uint32_t radix,
                                                   uint32_t slot)
{
    uint32_t distance = slot % (radix - 1u) + 1u;

    for (uint32_t round = slot / (radix - 1u); round > 0; round--)
        distance *= radix;
    return (struct gba_sched_link){.source = gba_sched_source(rank, distance, size),
                                   .target = gba_sched_peer(rank, distance, size)};
}

/* ------------------------------------------------------------------------------- the tree --- */

/* The number of children of the root, which no member exceeds. */
static inline uint32_t gba_sched_tree_width(uint32_t size, uint32_t degree)
{
    return size - 1u < degree ? size - 1u : degree;
}

/* The parent of `rank`, which is not 0. */
static inline uint32_t gba_sched_tree_parent(uint32_t rank, uint32_t degree)
{
    return (rank - 1u) / degree;
}

/* The number of `rank`, which is not 0, among the children of its parent: 0 to width - 1. */
static inline uint32_t gba_sched_tree_place(uint32_t rank, uint32_t degree)
{
    return (rank - 1u) % degree;
}

/* A child of `rank`. The member exists if place is below gba_sched_tree_children. */
static inline uint32_t gba_sched_tree_child(uint32_t rank, uint32_t degree, uint32_t place)
{
    return rank * degree + 1u + place;
}

static inline uint32_t gba_sched_tree_children(uint32_t rank, uint32_t size, uint32_t degree)
{
    uint32_t first = gba_sched_tree_child(rank, degree, 0);

    if (first >= size)
        return 0;
    return size - first < degree ? size - first : degree;
}

/* The number of slots that a member needs: slot 0, which carries no signal, because the transport
 * may mark this member's own arrival there (gba_transport_ops.begin); then an arrival and a release
 * for each place. */
static inline uint32_t gba_sched_tree_slots(uint32_t size, uint32_t degree)
{
    return 1u + 2u * gba_sched_tree_width(size, degree);
}

/* The parent's slot for the arrival of the child with this place. */
static inline uint32_t gba_sched_tree_arrival_slot(uint32_t place)
{
    return 1u + place;
}

/* The slot for the release of the child with this place, at that child. It differs from place to
 * place, so that a parent signals one child only through the slot of a given number. */
static inline uint32_t gba_sched_tree_release_slot(uint32_t place, uint32_t width)
{
    return 1u + width + place;
}

/* The members of a slot of the tree. slot: 0 to gba_sched_tree_slots(size, degree) - 1. */
static inline struct gba_sched_link gba_sched_tree_link(uint32_t rank, uint32_t size,
                                                        uint32_t degree, uint32_t slot)
{
    uint32_t width = gba_sched_tree_width(size, degree), place;
    uint32_t child = GBA_SCHED_NONE, parent = GBA_SCHED_NONE;

    if (0 == slot)
        return (struct gba_sched_link){GBA_SCHED_NONE, GBA_SCHED_NONE};
    place = (slot - 1u) % width;
    if (place < gba_sched_tree_children(rank, size, degree))
        child = gba_sched_tree_child(rank, degree, place);
    if (0 != rank && gba_sched_tree_place(rank, degree) == place)
        parent = gba_sched_tree_parent(rank, degree);
    return slot <= width ? (struct gba_sched_link){.source = child, .target = parent}
                         : (struct gba_sched_link){.source = parent, .target = child};
}

#endif
