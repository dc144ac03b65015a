/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which nodes of a team share a switch. Pure: the nodes (topology.h) and the device of each node's
 * leader in, islands out. An island is what one barrier group can serve: the nodes of one device,
 * in parts if they are more than its groups can have members.
 */
#ifndef GBA_SOFT_ISLANDS_H
#define GBA_SOFT_ISLANDS_H

#include "gba/soft/topology.h"

/* The device of a member. */
struct gba_port {
    uint8_t uuid[GBA_UUID_SIZE];
    uint32_t members_max; /* of its groups; 0: the member has no device */
};

struct gba_islands {
    uint32_t count;    /* 1 to the number of nodes */
    uint32_t switches; /* different devices */
    uint32_t island;   /* of this member's node; islands are numbered by their heads */
    uint32_t size;     /* nodes of this island */
    uint32_t place;    /* this member's node among them */
    uint32_t largest;  /* nodes of the largest island */
    uint32_t *heads;   /* [count] the lowest rank of each island, ascending */
    uint32_t *leaders; /* [size] the leaders of this island's nodes, ascending */
};

/*
 * port(ctx, rank): the device of a node's leader; that of rank 0 has members_max > 0. A node
 * without one is counted to rank 0's device, which its leader then cannot join. Returns GBA_OK or
 * GBA_ERR_NOMEM. The same `heads` on all members. Thread-safe.
 */
gba_status_t gba_islands_init(struct gba_islands *islands, const struct gba_topology *topology,
                              const struct gba_port *(*port)(const void *ctx, uint32_t rank),
                              const void *ctx);
void gba_islands_fini(struct gba_islands *islands);

#endif
