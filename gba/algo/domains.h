/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which nodes of a team share a switch. Pure: the input is the nodes (topology.h) and the device of
 * each node's leader; the output is the switch domains. A domain is what one barrier group can
 * serve: the nodes of one device, split into several domains if they exceed a group's members.
 */
#ifndef GBA_ALGO_DOMAINS_H
#define GBA_ALGO_DOMAINS_H

#include "gba/algo/topology.h"

/* The device of a member. */
struct gba_port {
    uint8_t uuid[GBA_UUID_SIZE];
    uint32_t members_max; /* of its groups; 0: the member has no device */
};

struct gba_domains {
    uint32_t count;           /* 1 to the number of nodes */
    uint32_t switches;        /* different devices */
    uint32_t domain;          /* of this member's node; domains are numbered by their leaders */
    uint32_t size;            /* nodes of this domain */
    uint32_t place;           /* the index of this member's node in its domain */
    uint32_t largest;         /* nodes of the largest domain */
    uint32_t *domain_leaders; /* [count] the lowest rank of each domain, ascending */
    uint32_t *leaders;        /* [size] the leaders of this domain's nodes, ascending */
};

/*
 * Compute the domains.
 * port(ctx, rank): the device of a node's leader; that of rank 0 has members_max > 0. A node
 * without a device counts as a node of rank 0's device, and its leader then fails to join. Returns
 * GBA_OK or GBA_ERR_NOMEM. All members compute the same domain_leaders. Thread-safe. Not
 * collective.
 */
gba_status_t gba_domains_init(struct gba_domains *domains, const struct gba_topology *topology,
                              const struct gba_port *(*port)(const void *ctx, uint32_t rank),
                              const void *ctx);
void gba_domains_fini(struct gba_domains *domains);

#endif
