/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *alloc_zeroed(size_t bytes)
{
    void *memory = shmem_malloc(bytes);

    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

int kv_pe_init(struct kv_pe *pe, const struct kv_run *run)
{
    const struct kv_shape *shape = &run->shape;
    const int me = run->me, pes = run->pes;
    const size_t n = (size_t)pes;

    *pe = (struct kv_pe){.shape = *shape, .me = me, .pes = pes, .run = *run};
    pe->cache.k = alloc_zeroed(kv_cache_bytes(shape));
    pe->cache.v = alloc_zeroed(kv_cache_bytes(shape));
    pe->gathered = alloc_zeroed(2 * n * sizeof *pe->gathered);
    pe->shuffle = kv_shuffle_create(shape, run->slices, run->cores);
    if (!pe->cache.k || !pe->cache.v || !pe->gathered || !pe->shuffle) {
        kv_pe_fini(pe);
        return -1;
    }
    pe->pairs = calloc(n, sizeof *pe->pairs);
    pe->source = calloc((size_t)shape->blocks, sizeof *pe->source);
    pe->destination = calloc((size_t)shape->blocks, sizeof *pe->destination);
    if (kv_plan_init(&pe->plan, pes, shape->blocks) != 0 || !pe->pairs || !pe->source ||
        !pe->destination) {
        /* Other PEs may have their memory, so no collective call is possible here. */
        fprintf(stderr, "kv_shuffle: PE %d: no memory for the plan of %d PEs\n", me, pes);
        shmem_global_exit(2);
    }
    shmem_barrier_all(); /* no PE writes to a PE that has not cleared its memory yet */
    return 0;
}

void kv_pe_fini(struct kv_pe *pe)
{
    void *const symmetric[] = {pe->gathered, pe->cache.v, pe->cache.k};

    /* A request for too much fails on all PEs, so all PEs free the same. */
    for (size_t i = 0; i < sizeof symmetric / sizeof *symmetric; i++)
        if (symmetric[i])
            shmem_free(symmetric[i]);
    kv_shuffle_destroy(pe->shuffle);
    free(pe->destination);
    free(pe->source);
    free(pe->pairs);
    kv_plan_fini(&pe->plan);
}

/* A random pause, different on every PE and at every point of the round. */
static void jitter(const struct kv_pe *pe, uint64_t point)
{
    pool_jitter(kv_hash(kv_hash(pe->run.seed ^ point, (uint64_t)pe->round), (uint64_t)pe->me),
                pe->run.jitter);
}

/*
 * Give my table to every PE and get theirs. The barrier completes the puts, and no PE leaves it
 * before all have put. One barrier in a round is enough for two copies of the tables. A PE that
 * writes copy r % 2 again, in round r + 2, has left the barrier of round r + 1. So every PE had
 * entered that barrier and had finished with the tables of round r.
 */
static const char *gather_tables(struct kv_pe *pe, struct kv_table **tables)
{
    double begin;

    *tables = &pe->gathered[(pe->round % 2) * pe->pes];
    for (int p = 0; p < pe->pes; p++)
        shmem_putmem_nbi(&(*tables)[pe->me], &pe->table, kv_table_bytes(pe->shape.blocks),
                         (pe->me + p) % pe->pes);
    begin = pool_now();
    shmem_barrier_all();
    pe->times.barrier += pool_now() - begin;
    for (int p = 0; p < pe->pes; p++)
        if ((*tables)[p].round != pe->round)
            return "a PE left the barrier before the table of another had come";
    return NULL;
}

static int blocks_sent(const struct kv_pe *pe)
{
    int count = 0;

    for (int i = 0; i < pe->plan.count; i++)
        count += pe->plan.move[i].sender == pe->me;
    return count;
}

static void use_received(struct kv_pe *pe)
{
    jitter(pe, 4);
    for (int i = 0; i < pe->plan.count; i++)
        if (pe->plan.move[i].receiver == pe->me)
            kv_compute_block(&pe->shape, pe->cache, pe->plan.move[i].to, pe->plan.move[i].sequence,
                             pe->round);
}

/* The tables of the operator, from the plan. Returns the number of blocks of my pair. */
static int make_tables(struct kv_pe *pe)
{
    const struct kv_plan *plan = &pe->plan;
    int blocks = 0;

    for (int p = 0; p < pe->pes; p++)
        pe->pairs[p] = (struct kv_pair){KV_NONE, -1};
    for (int i = 0; i < plan->count; i++) {
        const struct kv_move *move = &plan->move[i];

        pe->pairs[move->sender] = (struct kv_pair){KV_SENDER, move->receiver};
        pe->pairs[move->receiver] = (struct kv_pair){KV_RECEIVER, move->sender};
        if (move->sender != pe->me && move->receiver != pe->me)
            continue;
        pe->source[blocks] = move->from;
        pe->destination[blocks++] = move->to;
    }
    return blocks;
}

static void work(struct kv_pe *pe)
{
    jitter(pe, 2);
    kv_compute(&pe->shape, pe->cache, &pe->before, &pe->table, pe->round);
    jitter(pe, 3);
}

/*
 * The tables state what will be free after this round's work. So the plan can be made before that
 * work is done; `ready` reports for each pair when it is.
 */
const char *kv_pe_round(struct kv_pe *pe)
{
    const struct kv_shuffle_times *times = kv_shuffle_times(pe->shuffle);
    struct kv_table *tables;
    const char *wrong;

    pe->round++;
    jitter(pe, 1);
    pe->before = pe->table;
    kv_table_step(&pe->table, pe->shape.blocks, pe->me, pe->pes, pe->run.seed, pe->round);
    wrong = gather_tables(pe, &tables);
    if (wrong)
        return wrong;
    kv_plan_make(&pe->plan, tables, pe->pes, pe->shape.blocks);
    work(pe);
    wrong = kv_shuffle_compute(pe->shuffle, pe->cache, pe->pairs, pe->source, pe->destination,
                               make_tables(pe));
    if (wrong)
        return wrong;
    pe->times.ready = times->ready;
    pe->times.copy = times->copy;
    pe->times.filled = times->filled;
    use_received(pe);
    pe->moved += blocks_sent(pe);
    kv_plan_apply(&pe->plan, &pe->table, pe->me);
    return NULL;
}
