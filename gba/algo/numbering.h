/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of the members of one host in the schedule of a software barrier, by the places of
 * their cores. A signal that crosses a border (of a last-level cache, a NUMA node, a package) takes
 * longer than one inside. Which numbering crosses least depends on the schedule. If neighbours have
 * consecutive numbers, short distances stay inside a cache. If the caches take turns, distances
 * that are multiples of their number do; dissemination among 2^n caches of equal size then crosses
 * in fewer rounds. So the signals that cross are counted, and the best numbering is taken.
 */
#ifndef GBA_ALGO_NUMBERING_H
#define GBA_ALGO_NUMBERING_H

#include "gba/base/place.h"
#include "gba/algo/sched.h"

/* The entry of one number. */
struct gba_numbered {
    uint64_t place;
    uint64_t key; /* of gba_numbering_make */
    uint32_t member;
};

/*
 * Number the members: order the entries, so that entry n is the member with number n.
 * members: entry i has member i and its place; at most 65536. schedule, radix: of the algorithm.
 * Among numberings with as few crossings the first one is that by members. So it is if the
 * algorithm pulls, if a member has no place, and among equal places.
 * Pure: members that have the same places compute the same numbers. Cannot fail. Thread-safe.
 */
void gba_numbering_make(struct gba_numbered *members, uint32_t count,
                        const struct gba_schedule *schedule, uint32_t radix);

/* The number of a member of the list. */
uint32_t gba_numbering_find(const struct gba_numbered *members, uint32_t count, uint32_t member);

/*
 * The borders that the signals of one barrier cross: 1 for each signal to another cache, 2 to
 * another NUMA node, 3 to another package. members: entry n has the place of number n. Thread-safe.
 */
uint64_t gba_numbering_crossings(const struct gba_numbered *members, uint32_t count,
                                 const struct gba_schedule *schedule, uint32_t radix);

#endif
