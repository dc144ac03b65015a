/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether other work needs this member's core. Polling members of a node yield the core to each
 * other and to their leader, and each turn is short. If other work is there, a turn of it lasts
 * until the kernel ends it, some milliseconds. A member that sleeps until it is woken gets the core
 * back sooner. So after a long turn a member sleeps in the next rounds, and polls again after them.
 * Each member decides alone, because how it waits concerns no other member. Pure.
 */
#ifndef GBA_PATH_BUSY_H
#define GBA_PATH_BUSY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Yields between two calls of the runtime's progress, with fewer cores than processes. Each test
 * follows a yield, because the awaited process is not running. Each process gets its turn about
 * once per barrier, and progress costs as much as the turn, so it is called every few turns only.
 */
#define GBA_WAIT_YIELDS 8

/* Longer than the turns of a hundred ranks, of some microseconds each, and shorter than the least
 * time for which the kernel leaves the core to other work: 0.7 ms and more (the base slice of its
 * scheduler), or until the next tick, 1 to 10 ms. */
#define GBA_BUSY_TURN_NS 500000u

/* The first period of sleep, rounds. A single long turn, of a daemon say, so costs the wake-ups of
 * a few rounds only. Each further period is GROWTH times as long, up to MOST: the turns of other
 * work take as long as some hundred rounds, and some percent of the time if there is one in MOST
 * rounds. */
#define GBA_BUSY_FIRST  64u
#define GBA_BUSY_GROWTH 4u
#define GBA_BUSY_MOST   16384u

/* A turn that is long within so many rounds after a period: the other work is still there. */
#define GBA_BUSY_AGAIN 16u

/* The state of a member; zero at first. */
struct gba_busy {
    uint64_t until;  /* the member sleeps in the rounds before this one */
    uint32_t length; /* the last period is that long, or shorter; 0: there was none */
};

/* Whether the member sleeps in this round. */
static inline bool gba_busy_sleeps(const struct gba_busy *busy, uint64_t round)
{
    return round < busy->until;
}

/*
 * The core was away for `turn` ns in this round, in which the member polls. Returns whether it
 * sleeps now. A period ends at a multiple of its length, so that the members of a node poll again
 * in the same rounds, and not one after the other.
 */
static inline bool gba_busy_turn(struct gba_busy *busy, uint64_t round, uint64_t turn)
{
    if (turn < GBA_BUSY_TURN_NS)
        return false;
    if (0 == busy->length || round > busy->until + GBA_BUSY_AGAIN)
        busy->length = GBA_BUSY_FIRST;
    else if (busy->length < GBA_BUSY_MOST)
        busy->length *= GBA_BUSY_GROWTH;
    busy->until = (round / busy->length + 1) * busy->length;
    return true;
}

#endif
