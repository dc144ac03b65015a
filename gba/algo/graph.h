/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The binomial graph of a team, along which failure notifications travel, and a tree in it. Pure
 * functions of numbers, like the schedules of sched.h.
 *
 * The neighbours of a member are those at the distances 1, 2, 4, ... below `size`, in both
 * directions of the ring. The graph is symmetric and connected, and it stays connected when as many
 * members are missing as a member has neighbours, less one (Angskun, Bosilca and Dongarra,
 * "Binomial Graph: A Scalable and Fault-Tolerant Logical Network Topology", 2007). A member has at
 * most 2 ceil(log2 size) neighbours. Up to 5 members, and with 7, all are neighbours.
 *
 * The binomial tree has the root 0. The parent of a member is the member without its lowest bit, so
 * the members of a subtree have consecutive numbers, and each parent is a neighbour.
 *
 * Sizes are 1 to 2^31. All functions are thread-safe.
 */
#ifndef GBA_ALGO_GRAPH_H
#define GBA_ALGO_GRAPH_H

#include <stdint.h>

#define GBA_GRAPH_END UINT32_MAX

/* Some members of a team that have a graph of their own. */
struct gba_extra_peers {
    const uint32_t *ranks; /* [size] in the team */
    uint32_t size, index;  /* size 0: there are none; this member is ranks[index] */
};

/*
 * The next neighbour of `rank`, or GBA_GRAPH_END. *cursor: 0 for the first one; receives the
 * position of the next one. Each neighbour comes once.
 */
uint32_t gba_graph_next(uint32_t rank, uint32_t size, uint32_t *cursor);

/* Whether two different members are neighbours. */
int gba_graph_adjacent(uint32_t a, uint32_t b, uint32_t size);

/* The parent in the tree; of member 0: 0. */
uint32_t gba_tree_parent(uint32_t rank);

/* The number of members of the subtree of `rank`, which are rank, rank + 1, and so on. */
uint32_t gba_tree_members(uint32_t rank, uint32_t size);

#endif
