/* SPDX-License-Identifier: BSD-3-Clause */
#include "pe.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOST_NAME = 256 };

static void no_memory(const char *what)
{
    /* Other PEs may have their memory, so no collective call is possible here. */
    fprintf(stderr, "moe_dispatch: out of memory for %s\n", what);
    shmem_global_exit(2);
    exit(2); /* shmem_global_exit does not return; compilers may not know */
}

static void *alloc_private(size_t count, size_t bytes, const char *what)
{
    void *memory = calloc(count ? count : 1, bytes);

    if (!memory)
        no_memory(what);
    return memory;
}

/* Give each PE the lowest PE with the same host name. Collective. Returns 0, or -1: no memory. */
static int label_hosts(int *label, int me, int pes)
{
    char(*names)[HOST_NAME] = shmem_malloc((size_t)pes * HOST_NAME), mine[HOST_NAME] = "";

    if (!names)
        return -1;
    gethostname(mine, sizeof mine - 1);
    for (int p = 0; p < pes; p++)
        shmem_putmem(names[me], mine, sizeof mine, p);
    shmem_barrier_all();
    for (int p = 0; p < pes; p++) {
        label[p] = 0;
        while (strcmp(names[label[p]], names[p]) != 0)
            label[p]++;
    }
    shmem_free(names); /* it begins with a barrier, so all have read */
    return 0;
}

static int find_nodes(struct moe_pe *pe)
{
    const int pes = pe->config.shape.pes, emulated = pe->config.emulated_nodes;
    int *label = alloc_private((size_t)pes, sizeof *label, "the nodes");
    int status = 0;

    if (emulated == 0)
        status = label_hosts(label, pe->me, pes);
    for (int p = 0; p < pes && emulated > 0; p++)
        label[p] = (int)((int64_t)p * emulated / pes);
    if (status == 0 && moe_nodes_init(&pe->nodes, label, pes) != 0)
        no_memory("the nodes");
    if (pe->config.mode == MOE_LOW_LATENCY)
        memset(label, 0, (size_t)pes * sizeof *label);
    if (status == 0 && moe_nodes_init(&pe->groups, label, pes) != 0)
        no_memory("the nodes");
    free(label);
    return status;
}

/* Zeroed symmetric memory. NULL on all PEs if there is not enough, or was not before. */
static void *alloc_symmetric(struct moe_pe *pe, size_t count, size_t bytes)
{
    void *memory = NULL;

    pe->symmetric += count * bytes;
    if (!pe->no_memory)
        memory = shmem_align(MOE_LINE, count * bytes);
    if (memory)
        memset(memory, 0, count * bytes);
    else
        pe->no_memory = 1;
    return memory;
}

static void alloc_buffers(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->config.shape;
    const size_t row = (size_t)shape->hidden * sizeof(float), tokens = (size_t)shape->tokens;
    const size_t choices = tokens * (size_t)shape->top_k * sizeof(struct moe_choice);
    const size_t slots = (size_t)pe->slots, groups = (size_t)pe->groups.count;
    const size_t pairs = (size_t)shape->pes * (size_t)shape->experts;
    const size_t reach = (size_t)pe->groups.largest * (size_t)shape->experts;

    pe->shared.heads = alloc_symmetric(pe, pairs, sizeof *pe->shared.heads);
    pe->shared.receive = alloc_symmetric(pe, pairs * tokens, row);
    pe->shared.back = alloc_symmetric(pe, slots * (size_t)pe->results, row);
    pe->shared.deliver_flag = alloc_symmetric(pe, pairs, sizeof *pe->shared.deliver_flag);
    pe->shared.back_flag = alloc_symmetric(pe, slots * reach, sizeof *pe->shared.back_flag);
    pe->shared.core_flag = alloc_symmetric(pe, (size_t)shape->pes, sizeof *pe->shared.core_flag);
    if (pe->config.mode == MOE_LOW_LATENCY)
        return;
    pe->shared.across_count = alloc_symmetric(pe, slots, sizeof *pe->shared.across_count);
    pe->shared.across_choice = alloc_symmetric(pe, slots, choices);
    pe->shared.across = alloc_symmetric(pe, slots * tokens, row);
    pe->shared.across_flag = alloc_symmetric(pe, slots, sizeof *pe->shared.across_flag);
    pe->shared.parts = alloc_symmetric(pe, groups * tokens, row);
    pe->shared.parts_flag = alloc_symmetric(pe, groups, sizeof *pe->shared.parts_flag);
}

static void alloc_own(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->config.shape;
    const size_t row = (size_t)shape->hidden * sizeof(float), tokens = (size_t)shape->tokens;
    const size_t choices = tokens * (size_t)shape->top_k;
    const size_t slots = (size_t)pe->slots, groups = (size_t)pe->groups.count;
    const size_t pes = (size_t)shape->pes, experts = (size_t)shape->experts;

    if (!shape->communication)
        pe->own.weights = alloc_private(experts * (size_t)shape->hidden, row, "the weights");
    pe->own.send = alloc_private(tokens, row, "tokens");
    pe->own.choice = alloc_private(choices, sizeof *pe->own.choice, "choices");
    pe->own.result = alloc_private(tokens, row, "results");
    pe->own.sent = alloc_private(groups * tokens, sizeof *pe->own.sent, "tokens");
    pe->own.sent_count = alloc_private(groups, sizeof *pe->own.sent_count, "tokens");
    pe->own.staged = alloc_private(groups * choices, sizeof *pe->own.staged, "choices");
    pe->own.out_head = alloc_private(slots * (size_t)pe->reach, sizeof *pe->own.out_head, "heads");
    pe->own.place = alloc_private(slots * choices, sizeof *pe->own.place, "places");
    pe->own.sums = alloc_private(slots * tokens, row, "sums");
    pe->own.batch = alloc_private(pes * tokens, row, "the rows of an expert");
    if (!shape->communication)
        pe->own.product = alloc_private(pes * tokens, row, "the results of an expert");
}

static void make_weights(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->config.shape;
    float *w = pe->own.weights;

    for (int e = 0; e < shape->experts && w; e++)
        for (int in = 0; in < shape->hidden; in++)
            for (int out = 0; out < shape->hidden; out++)
                *w++ = (float)moe_weight(shape, pe->me * shape->experts + e, in, out);
}

int moe_pe_init(struct moe_pe *pe, const struct moe_config *config, int me)
{
    const struct moe_shape *shape = &config->shape;
    int most;

    *pe = (struct moe_pe){.config = *config, .me = me};
    if (find_nodes(pe) != 0) {
        moe_pe_fini(pe);
        return -1;
    }
    pe->group = pe->groups.node[me];
    pe->slots = moe_slots(&pe->groups);
    pe->reach = pe->groups.size[pe->group] * shape->experts;
    most = pe->groups.largest * shape->experts;
    pe->results = shape->tokens * (most < shape->top_k ? most : shape->top_k);
    alloc_buffers(pe);
    if (pe->no_memory) {
        moe_pe_fini(pe);
        return -1;
    }
    alloc_own(pe);
    make_weights(pe);
    if (pool_init(&pe->pool, "moe_dispatch", config->cores) != 0)
        shmem_global_exit(2);
    shmem_barrier_all(); /* no PE puts to a PE that has not cleared its memory yet */
    return 0;
}

int moe_expert_place(const struct moe_pe *pe, int expert)
{
    const int experts = pe->config.shape.experts;

    return pe->groups.local[expert / experts] * experts + expert % experts;
}

int moe_group_of(const struct moe_pe *pe, int expert)
{
    return pe->groups.node[expert / pe->config.shape.experts];
}

int moe_find_source(const struct moe_pe *pe, int slot, struct moe_source *source)
{
    const struct moe_shape *shape = &pe->config.shape;
    const size_t first = (size_t)slot * (size_t)shape->tokens;

    *source = (struct moe_source){.pe = moe_slot_source(&pe->groups, pe->me, slot), .slot = slot};
    if (source->pe < 0)
        return 0;
    if (pe->config.mode == MOE_LOW_LATENCY) {
        source->count = shape->tokens;
        source->choice = pe->own.choice;
        source->row = pe->own.send;
    } else {
        source->count = pe->shared.across_count[slot];
        source->choice = &pe->shared.across_choice[first * (size_t)shape->top_k];
        source->row = &pe->shared.across[first * (size_t)shape->hidden];
    }
    return 1;
}

void moe_pe_fini(struct moe_pe *pe)
{
    void *const symmetric[] = {
        pe->shared.parts_flag,   pe->shared.parts,     pe->shared.across_flag,
        pe->shared.core_flag,    pe->shared.across,    pe->shared.across_choice,
        pe->shared.across_count, pe->shared.back_flag, pe->shared.deliver_flag,
        pe->shared.back,         pe->shared.receive,   pe->shared.heads};
    void *const own[] = {pe->own.weights, pe->own.send,       pe->own.choice, pe->own.result,
                         pe->own.sent,    pe->own.sent_count, pe->own.staged, pe->own.out_head,
                         pe->own.place,   pe->own.sums,       pe->own.batch,  pe->own.product};

    pool_fini(&pe->pool);
    for (size_t i = 0; i < sizeof symmetric / sizeof *symmetric; i++)
        if (symmetric[i])
            shmem_free(symmetric[i]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        free(own[i]);
    moe_nodes_fini(&pe->nodes);
    moe_nodes_fini(&pe->groups);
}
