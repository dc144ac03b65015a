/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who signals whom in a software barrier. Pure: numbers in, numbers out.
 *
 * Dissemination with radix k (radix 2: Hensgen, Finkel and Manber, "Two Algorithms for Barrier
 * Synchronization", 1988; larger radices are its n-way form, Hoefler et al., 2006). In round r,
 * with the distance d = k^r, a member signals those at d, 2d, ... (k - 1)d behind it in the ring,
 * but none at `size` or farther: that would be a member that some shorter distance reaches as well.
 * After the round it knows of the k^(r+1) members from itself back; when that is `size` it knows of
 * all. What it says in round r + 1 stands for all it heard in round r, so a round may begin only
 * when the one before has been heard in full.
 *
 * Each signal has a slot of its own at the receiver, so each slot has one writer.
 *
 * Sizes are 1 to GBA_SCHED_SIZE_MAX, radices GBA_RADIX_MIN to GBA_RADIX_MAX; callers check them.
 * All functions are thread-safe.
 */
#ifndef GBA_SOFT_SCHED_H
#define GBA_SOFT_SCHED_H

#include <stdint.h>

#define GBA_RADIX_MIN     2u
#define GBA_RADIX_MAX     64u /* beyond it a round is a flood of stores that one core must make */
#define GBA_RADIX_DEFAULT 8u

/* Keeps distance * radix in 32 bits: 2^25 * 2^6 = 2^31. No machine has as many ranks. */
#define GBA_SCHED_SIZE_MAX (1u << 25)

/* The member at a distance behind `rank` in the ring; distance is 0 to size - 1. */
static inline uint32_t gba_sched_peer(uint32_t rank, uint32_t distance, uint32_t size)
{
    uint32_t peer = rank + distance; /* a division would cost more than the whole signal */

    return peer >= size ? peer - size : peer;
}

/* The member whose signal over that distance arrives at `rank`: the inverse of gba_sched_peer. */
static inline uint32_t gba_sched_source(uint32_t rank, uint32_t distance, uint32_t size)
{
    return rank >= distance ? rank - distance : rank + size - distance;
}

/*
 * Signals that each member sends, and gets, in the round with this distance: the largest i < radix
 * with i * distance < size. 0 when the schedule is over.
 */
static inline uint32_t gba_sched_lanes(uint32_t distance, uint32_t size, uint32_t radix)
{
    uint32_t most = (radix - 1u) * distance;

    return most < size ? radix - 1u : (size - 1u) / distance;
}

/* The slot of lane 1 to radix - 1 in a round from 0. */
static inline uint32_t gba_sched_slot(uint32_t round, uint32_t lane, uint32_t radix)
{
    return round * (radix - 1u) + lane - 1u;
}

/* Rounds until each member has heard of all: the smallest R with radix^R >= size; 0 for size 1. */
uint32_t gba_sched_rounds(uint32_t size, uint32_t radix);

/* Slots that a member needs, the same for all: one more than the greatest slot in use; 0 to 1600
 * at the limits. */
uint32_t gba_sched_slots(uint32_t size, uint32_t radix);

#endif
