/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/algo/topology.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    struct gba_host host;
    uint32_t rank;
};

static int compare_hosts(const struct gba_host *a, const struct gba_host *b)
{
    return memcmp(a, b, sizeof *a); /* any order, as long as it is the same on all members */
}

/* By host, then by rank: the first entry of a host is its leader. */
static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int hosts = compare_hosts(&a->host, &b->host);

    return 0 != hosts ? hosts : (a->rank > b->rank) - (a->rank < b->rank);
}

static int compare_ranks(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

void gba_ranks_sort(uint32_t *ranks, uint32_t count)
{
    qsort(ranks, count, sizeof *ranks, compare_ranks);
}

/* The length of the run of entries from `first` on that have the same host. */
static uint32_t run_length(const struct entry *entries, uint32_t first, uint32_t size)
{
    uint32_t end = first + 1;

    while (end < size && 0 == compare_hosts(&entries[first].host, &entries[end].host))
        end++;
    return end - first;
}

/* Record the leader of a run, and its members if it is this member's node. */
static void take_run(struct gba_topology *t, const struct entry *run, uint32_t length,
                     uint32_t rank)
{
    t->leaders[t->nodes++] = run[0].rank;
    t->largest = length > t->largest ? length : t->largest;
    for (uint32_t i = 0; i < length; i++)
        if (run[i].rank == rank) {
            t->local_size = length;
            t->local_rank = i;
        }
    if (t->local_size != length || run[t->local_rank].rank != rank)
        return;
    for (uint32_t i = 0; i < length; i++)
        t->locals[i] = run[i].rank;
}

gba_status_t gba_topology_init(struct gba_topology *topology, uint32_t rank, uint32_t size,
                               const struct gba_host *(*host)(const void *ctx, uint32_t rank),
                               const void *ctx)
{
    struct gba_topology t = {.size = size};
    struct entry *entries = calloc(size, sizeof *entries);
    gba_status_t status = GBA_ERR_NOMEM;
    uint32_t length;

    t.leaders = calloc(size, sizeof *t.leaders);
    t.locals = calloc(size, sizeof *t.locals);
    if (entries == NULL || t.leaders == NULL || t.locals == NULL)
        goto free_entries;
    for (uint32_t r = 0; r < size; r++)
        entries[r] = (struct entry){*host(ctx, r), r};
    qsort(entries, size, sizeof *entries, compare_entries);
    for (uint32_t first = 0; first < size; first += length) {
        length = run_length(entries, first, size);
        take_run(&t, &entries[first], length, rank);
    }
    gba_ranks_sort(t.leaders, t.nodes);
    while (t.leaders[t.node] != t.locals[0])
        t.node++;
    *topology = t;
    memset(&t, 0, sizeof t); /* the caller owns the arrays now */
    status = GBA_OK;

free_entries:
    free(entries);
    gba_topology_fini(&t);
    return status;
}

void gba_topology_fini(struct gba_topology *topology)
{
    free(topology->leaders);
    free(topology->locals);
    topology->leaders = NULL;
    topology->locals = NULL;
}
