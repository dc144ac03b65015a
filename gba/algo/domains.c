/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/algo/domains.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    const struct gba_port *port;
    uint32_t leader;
};

static int compare_devices(const struct entry *a, const struct entry *b)
{
    return memcmp(a->port->uuid, b->port->uuid, sizeof a->port->uuid);
}

/* By device, then by rank. */
static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int devices = compare_devices(a, b);

    return 0 != devices ? devices : (a->leader > b->leader) - (a->leader < b->leader);
}

/* Record one domain, and its nodes if this member's node is one of them. */
static void take_domain(struct gba_domains *t, const struct entry *first, uint32_t size,
                        uint32_t leader)
{
    t->domain_leaders[t->count++] = first->leader;
    t->largest = size > t->largest ? size : t->largest;
    for (uint32_t i = 0; i < size; i++)
        if (first[i].leader == leader) {
            t->size = size;
            t->place = i;
            t->leaders[0] = first->leader;
        }
    if (t->leaders[0] == first->leader)
        for (uint32_t i = 0; i < size; i++)
            t->leaders[i] = first[i].leader;
}

/* The nodes of one device, in parts of nearly equal size. */
static void take_device(struct gba_domains *t, const struct entry *first, uint32_t nodes,
                        uint32_t leader)
{
    uint32_t most = first->port->members_max, parts, begin, end;

    /* One device reports one limit. If the reports differ, the lowest holds for all. */
    for (uint32_t i = 1; i < nodes; i++)
        most = first[i].port->members_max < most ? first[i].port->members_max : most;
    parts = (nodes - 1) / most + 1;
    for (uint32_t part = 0; part < parts; part++) {
        begin = (uint32_t)((uint64_t)nodes * part / parts);
        end = (uint32_t)((uint64_t)nodes * (part + 1) / parts);
        take_domain(t, first + begin, end - begin, leader);
    }
    t->switches++;
}

gba_status_t gba_domains_init(struct gba_domains *domains, const struct gba_topology *topology,
                              const struct gba_port *(*port)(const void *ctx, uint32_t rank),
                              const void *ctx)
{
    uint32_t nodes = topology->nodes, leader = topology->leaders[topology->node], end;
    struct gba_domains t = {.domain_leaders = calloc(nodes, sizeof *t.domain_leaders),
                            .leaders = calloc(nodes, sizeof *t.leaders)};
    struct entry *entries = calloc(nodes, sizeof *entries);
    gba_status_t status = GBA_ERR_NOMEM;

    if (entries == NULL || t.domain_leaders == NULL || t.leaders == NULL)
        goto free_entries;
    t.leaders[0] = UINT32_MAX; /* not found yet */
    for (uint32_t node = 0; node < nodes; node++) {
        const struct gba_port *own = port(ctx, topology->leaders[node]);

        if (0 == own->members_max)
            own = port(ctx, topology->leaders[0]);
        entries[node] = (struct entry){own, topology->leaders[node]};
    }
    qsort(entries, nodes, sizeof *entries, compare_entries);
    for (uint32_t first = 0; first < nodes; first = end) {
        end = first + 1;
        while (end < nodes && 0 == compare_devices(&entries[first], &entries[end]))
            end++;
        take_device(&t, &entries[first], end - first, leader);
    }
    gba_ranks_sort(t.domain_leaders, t.count);
    while (t.domain_leaders[t.domain] != t.leaders[0])
        t.domain++;
    *domains = t;
    memset(&t, 0, sizeof t); /* the caller owns the arrays now */
    status = GBA_OK;

free_entries:
    free(entries);
    gba_domains_fini(&t);
    return status;
}

void gba_domains_fini(struct gba_domains *domains)
{
    free(domains->leaders);
    free(domains->domain_leaders);
    domains->leaders = domains->domain_leaders = NULL;
}
