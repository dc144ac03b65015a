/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which members of a team share a node. Pure: the input is the members' hosts, the output groups of
 * ranks. The ranks of a node need not be contiguous, and nodes may differ in size.
 */
#ifndef GBA_ALGO_TOPOLOGY_H
#define GBA_ALGO_TOPOLOGY_H

#include "gba/base/host.h"
#include "gba/gba.h"

struct gba_topology {
    uint32_t size;       /* members */
    uint32_t nodes;      /* 1 to size */
    uint32_t node;       /* of this member, 0 to nodes - 1; nodes are numbered by their leaders */
    uint32_t local_size; /* members of this node */
    uint32_t local_rank; /* this member among them */
    uint32_t largest;    /* members of the largest node */
    uint32_t *leaders;   /* [nodes] the lowest rank of each node, ascending */
    uint32_t *locals;    /* [local_size] the ranks of this node, ascending */
};

/*
 * Compute the nodes.
 * host(ctx, rank): the host of a member. rank: this member.
 * Returns GBA_OK or GBA_ERR_NOMEM. All members compute the same `leaders`. Thread-safe. Not
 * collective.
 */
gba_status_t gba_topology_init(struct gba_topology *topology, uint32_t rank, uint32_t size,
                               const struct gba_host *(*host)(const void *ctx, uint32_t rank),
                               const void *ctx);
void gba_topology_fini(struct gba_topology *topology);

/* Ascending. */
void gba_ranks_sort(uint32_t *ranks, uint32_t count);

#endif
