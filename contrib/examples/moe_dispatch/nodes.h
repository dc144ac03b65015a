/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of a job, and the forwarders between them. Plain C; all PEs compute the same.
 *
 * A source sends the rows for node n to its forwarder there: the PE of the same local index. If
 * node n has fewer PEs, local indices are taken modulo its size, so a forwarder may serve several
 * PEs of a node. The forwarder in the source's own node is the source itself.
 */
#ifndef MOE_NODES_H
#define MOE_NODES_H

struct moe_nodes {
    int pes, count;
    int smallest, largest; /* PEs of a node */
    int *node, *local;     /* [pes]: the node of a PE, and its local index there */
    int *first, *size;     /* [count]: of each node its place in member, and its PEs */
    int *member;           /* [pes]: all PEs, by node and local index */
};

/*
 * label: [pes]; PEs are on the same node if their labels are equal. Nodes are numbered in the order
 * of their first PEs. Returns 0, or -1: out of memory.
 */
int moe_nodes_init(struct moe_nodes *nodes, const int *label, int pes);
void moe_nodes_fini(struct moe_nodes *nodes);

int moe_forwarder(const struct moe_nodes *nodes, int source, int node);

/*
 * Each forwarder of a node keeps the rows of each of its sources in a slot: 0 to moe_slots - 1, no
 * two sources in the same one.
 */
int moe_slots(const struct moe_nodes *nodes);
int moe_slot(const struct moe_nodes *nodes, int source, int node);

/* The source whose slot it is, or -1: a slot without a source, if nodes have unequal sizes. */
int moe_slot_source(const struct moe_nodes *nodes, int forwarder, int slot);

#endif
