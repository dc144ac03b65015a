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
 * Each signal has its own slot at the receiver, so each slot has one writer.
 *
 * Sizes are 1 to GBA_SCHED_SIZE_MAX, radices GBA_RADIX_MIN to GBA_RADIX_MAX. Callers check them.
 * All functions are thread-safe.
 */
#ifndef GBA_ALGO_SCHED_H
#define GBA_ALGO_SCHED_H

#include <stdint.h>

#define GBA_RADIX_MIN     2u
#define GBA_RADIX_MAX     64u /* one core issues radix - 1 stores back to back in each round */
#define GBA_RADIX_DEFAULT 8u

/* Keeps distance * radix within 32 bits: 2^25 * 2^6 = 2^31. */
#define GBA_SCHED_SIZE_MAX (1u << 25)

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

/* The slot of lane 1 to radix - 1 in a round. Rounds count from 0. */
static inline uint32_t gba_sched_slot(uint32_t round, uint32_t lane, uint32_t radix)
{
    return round * (radix - 1u) + lane - 1u;
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

#endif
