/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph and the tree of failover, in the place of the library's (--wrap): chains in some
 * searches, the weakest graph that the argument allows.
 */
#ifndef TESTS_UNIT_FAILOVER_GRAPH_H
#define TESTS_UNIT_FAILOVER_GRAPH_H

#include <stdbool.h>

#include "gba/algo/graph.h"

static bool chained;
uint32_t __real_gba_graph_next(uint32_t rank, uint32_t size, uint32_t *cursor);
int __real_gba_graph_adjacent(uint32_t a, uint32_t b, uint32_t size);
uint32_t __real_gba_tree_parent(uint32_t rank);
uint32_t __real_gba_tree_members(uint32_t rank, uint32_t size);
uint32_t __wrap_gba_graph_next(uint32_t rank, uint32_t size, uint32_t *cursor);
int __wrap_gba_graph_adjacent(uint32_t a, uint32_t b, uint32_t size);
uint32_t __wrap_gba_tree_parent(uint32_t rank);
uint32_t __wrap_gba_tree_members(uint32_t rank, uint32_t size);

uint32_t __wrap_gba_graph_next(uint32_t rank, uint32_t size, uint32_t *cursor)
{
    if (!chained)
        return __real_gba_graph_next(rank, size, cursor);
    for (; *cursor < 2; ++*cursor)
        if (*cursor == 0 ? rank > 0 : rank + 1 < size)
            return rank + 2 * (*cursor)++ - 1;
    return GBA_GRAPH_END;
}

int __wrap_gba_graph_adjacent(uint32_t a, uint32_t b, uint32_t size)
{
    return chained ? a + 1 == b || b + 1 == a : __real_gba_graph_adjacent(a, b, size);
}

uint32_t __wrap_gba_tree_parent(uint32_t rank)
{
    return !chained ? __real_gba_tree_parent(rank) : rank == 0 ? 0 : rank - 1;
}

uint32_t __wrap_gba_tree_members(uint32_t rank, uint32_t size)
{
    return chained ? size - rank : __real_gba_tree_members(rank, size);
}

#endif
