/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodes.h"

#include <stdlib.h>

int moe_nodes_init(struct moe_nodes *nodes, const int *label, int pes)
{
    const size_t count = (size_t)pes;
    int place = 0;

    *nodes = (struct moe_nodes){.pes = pes};
    nodes->node = calloc(count, sizeof(int));
    nodes->local = calloc(count, sizeof(int));
    nodes->first = calloc(count, sizeof(int));
    nodes->size = calloc(count, sizeof(int));
    nodes->member = calloc(count, sizeof(int));
    if (!nodes->node || !nodes->local || !nodes->first || !nodes->size || !nodes->member) {
        moe_nodes_fini(nodes);
        return -1;
    }
    for (int p = 0; p < pes; p++) {
        int same = 0;

        while (label[same] != label[p])
            same++;
        nodes->node[p] = same < p ? nodes->node[same] : nodes->count++;
        nodes->local[p] = nodes->size[nodes->node[p]]++;
    }
    nodes->smallest = nodes->largest = nodes->size[0];
    for (int n = 0; n < nodes->count; n++) {
        nodes->first[n] = place;
        place += nodes->size[n];
        if (nodes->size[n] < nodes->smallest)
            nodes->smallest = nodes->size[n];
        if (nodes->size[n] > nodes->largest)
            nodes->largest = nodes->size[n];
    }
    for (int p = 0; p < pes; p++)
        nodes->member[nodes->first[nodes->node[p]] + nodes->local[p]] = p;
    return 0;
}

void moe_nodes_fini(struct moe_nodes *nodes)
{
    free(nodes->node);
    free(nodes->local);
    free(nodes->first);
    free(nodes->size);
    free(nodes->member);
    *nodes = (struct moe_nodes){.pes = 0};
}

int moe_forwarder(const struct moe_nodes *nodes, int source, int node)
{
    return nodes->member[nodes->first[node] + nodes->local[source] % nodes->size[node]];
}

/* With nodes of the same size the slot is the node of the source. */
int moe_slots(const struct moe_nodes *nodes)
{
    return (nodes->largest + nodes->smallest - 1) / nodes->smallest * nodes->count;
}

int moe_slot(const struct moe_nodes *nodes, int source, int node)
{
    return nodes->local[source] / nodes->size[node] * nodes->count + nodes->node[source];
}

int moe_slot_source(const struct moe_nodes *nodes, int forwarder, int slot)
{
    const int home = nodes->node[forwarder], node = slot % nodes->count;
    const int local = slot / nodes->count * nodes->size[home] + nodes->local[forwarder];

    return local < nodes->size[node] ? nodes->member[nodes->first[node] + local] : -1;
}
