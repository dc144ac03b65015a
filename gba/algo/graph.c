/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/algo/graph.h"

static int is_power(uint32_t n)
{
    return 0 == (n & (n - 1));
}

uint32_t gba_graph_next(uint32_t rank, uint32_t size, uint32_t *cursor)
{
    for (;;) {
        /* Positions of the cursor: each distance forward, then backward. */
        uint64_t distance = UINT64_C(1) << (*cursor / 2);
        int back = (int)(*cursor % 2);
        uint64_t ahead = back ? size - distance : distance;

        if (distance >= size)
            return GBA_GRAPH_END;
        (*cursor)++;
        /* Skip a step back that equals a step forward of another distance: each neighbour once. */
        if (!back || !is_power((uint32_t)ahead))
            return (uint32_t)((rank + ahead) % size);
    }
}

int gba_graph_adjacent(uint32_t a, uint32_t b, uint32_t size)
{
    uint32_t ahead = b >= a ? b - a : b + (size - a);

    return is_power(ahead) || is_power(size - ahead);
}

uint32_t gba_tree_parent(uint32_t rank)
{
    return 0 == rank ? 0 : rank & (rank - 1);
}

uint32_t gba_tree_members(uint32_t rank, uint32_t size)
{
    uint32_t lowest = rank & (~rank + 1);

    return 0 == rank || lowest > size - rank ? size - rank : lowest;
}
