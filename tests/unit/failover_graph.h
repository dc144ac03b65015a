/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba/failover/failover.c and facts.c for the tests of failover, with a graph that can be a chain.
 */
#ifndef TESTS_UNIT_FAILOVER_GRAPH_H
#define TESTS_UNIT_FAILOVER_GRAPH_H

#include <stdlib.h>
#include <string.h>

/* Includes the source, because the search restores its structure and its list. So the object file
 * of the library is not linked. */
#include "gba/failover/failover.c" /* NOLINT(bugprone-suspicious-include) */

/* Includes the graph, which is a chain in some searches: the weakest graph that the argument
 * allows. */
#include "gba/algo/graph.h"
static bool chained;
static uint32_t some_next(uint32_t rank, uint32_t size, uint32_t *cursor);
static int some_adjacent(uint32_t a, uint32_t b, uint32_t size);
static uint32_t some_parent(uint32_t rank);
static uint32_t some_members(uint32_t rank, uint32_t size);
#define gba_graph_next     some_next
#define gba_graph_adjacent some_adjacent
#define gba_tree_parent    some_parent
#define gba_tree_members   some_members
#include "gba/failover/facts.c" /* NOLINT(bugprone-suspicious-include) */
#undef gba_graph_next
#undef gba_graph_adjacent
#undef gba_tree_parent
#undef gba_tree_members

static uint32_t some_next(uint32_t rank, uint32_t size, uint32_t *cursor)
{
    if (!chained)
        return gba_graph_next(rank, size, cursor);
    for (; *cursor < 2; ++*cursor)
        if (*cursor == 0 ? rank > 0 : rank + 1 < size)
            return rank + 2 * (*cursor)++ - 1;
    return GBA_GRAPH_END;
}

static int some_adjacent(uint32_t a, uint32_t b, uint32_t size)
{
    return chained ? a + 1 == b || b + 1 == a : gba_graph_adjacent(a, b, size);
}

static uint32_t some_parent(uint32_t rank)
{
    return !chained ? gba_tree_parent(rank) : rank == 0 ? 0 : rank - 1;
}

static uint32_t some_members(uint32_t rank, uint32_t size)
{
    return chained ? size - rank : gba_tree_members(rank, size);
}

#endif
