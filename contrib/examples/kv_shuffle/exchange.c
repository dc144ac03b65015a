/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *alloc_zeroed(size_t bytes)
{
    void *memory = shmem_malloc(bytes);

    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

int kv_pe_init(struct kv_pe *pe, const struct kv_run *run, struct timeline *timeline)
{
    const struct kv_shape *shape = &run->shape;
    const int me = run->me, pes = run->pes;
    const size_t n = (size_t)pes;
    int status;

    *pe = (struct kv_pe){.shape = *shape, .me = me, .pes = pes, .run = *run, .timeline = timeline};
    pe->transfer.end = kv_block_bytes(shape);
    status = kv_transfer_init(&pe->transfer, shape, run->slices, timeline);
    status |= kv_host_init(&pe->host, me, pes, shape->blocks);
    pe->cache.k = alloc_zeroed(kv_cache_bytes(shape));
    pe->cache.v = alloc_zeroed(kv_cache_bytes(shape));
    pe->gathered = alloc_zeroed(2 * n * sizeof *pe->gathered);
    pe->shuffle = kv_shuffle_create(shape, run->slices, run->cores, timeline);
    if (status != 0 || !pe->cache.k || !pe->cache.v || !pe->gathered || !pe->shuffle) {
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
    kv_host_fini(&pe->host);
    kv_transfer_fini(&pe->transfer);
    kv_plan_fini(&pe->plan);
}

/* A random pause, different on every PE and at every point of the round. */
static void jitter(const struct kv_pe *pe, uint64_t point)
{
    const uint64_t dice =
        kv_hash(kv_hash(pe->run.seed ^ point, (uint64_t)pe->round), (uint64_t)pe->me);
    struct timespec t = {0, 0};

    if (pe->run.jitter == 0 || dice % 2 == 0)
        return;
    t.tv_nsec = (long)(dice / 2 % (uint64_t)pe->run.jitter) * 1000;
    nanosleep(&t, NULL);
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
    timeline_mark(pe->timeline, "barrier");
    begin = pool_now();
    shmem_barrier_all();
    pe->times.barrier += pool_now() - begin;
    for (int p = 0; p < pe->pes; p++)
        if ((*tables)[p].round != pe->round)
            return "a PE left the barrier before the table of another had come";
    return NULL;
}

/* `role` is 0 for the sender, 1 for the receiver. */
static int moves_with_me(const struct kv_pe *pe, int role)
{
    int count = 0;

    for (int i = 0; i < pe->plan.count; i++)
        count += (role == 0 ? pe->plan.move[i].sender : pe->plan.move[i].receiver) == pe->me;
    return count;
}

static void use_received(struct kv_pe *pe)
{
    timeline_mark(pe->timeline, "work");
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

static void make_plan(struct kv_pe *pe, const struct kv_table *tables)
{
    const struct kv_tables *given = pe->run.tables;

    timeline_mark(pe->timeline, "plan");
    if (given) {
        const int first = given->first[pe->round - 1];

        kv_tables_plan(&pe->plan, &given->move[first], given->first[pe->round] - first, pe->pes);
    } else {
        kv_plan_make(&pe->plan, tables, pe->pes, pe->shape.blocks);
    }
}

static void work(struct kv_pe *pe)
{
    timeline_mark(pe->timeline, "work");
    jitter(pe, 2);
    kv_compute(&pe->shape, pe->cache, &pe->before, &pe->table, pe->round);
    jitter(pe, 3);
}

/*
 * The tables state what will be free after this round's work. So the plan can be made and
 * distributed before that work is done; `ready` reports for each pair when it is.
 */
static const char *device_round(struct kv_pe *pe)
{
    const struct kv_shuffle_times *times = kv_shuffle_times(pe->shuffle);
    struct kv_table *tables;
    const char *wrong = gather_tables(pe, &tables);

    if (wrong)
        return wrong;
    make_plan(pe, tables);
    work(pe);
    wrong = kv_shuffle_compute(pe->shuffle, pe->cache, pe->pairs, pe->source, pe->destination,
                               make_tables(pe));
    pe->times.ready = times->ready;
    pe->times.filled = times->filled;
    use_received(pe);
    return wrong;
}

/*
 * PE 0 gets the tables and plans, and its commands start the copies. All PEs have finished their
 * work before the first command. PE 0 reads copy r % 2 of the tables before the last commands of
 * round r, and a PE writes it again after the last one of round r + 1, or after the barrier in that
 * round.
 */
static void host_round(struct kv_pe *pe)
{
    struct kv_table *tables = &pe->gathered[(pe->round % 2) * pe->pes];
    struct kv_plan *plan = &pe->plan;
    int count;

    shmem_putmem(&tables[pe->me], &pe->table, kv_table_bytes(pe->shape.blocks), 0);
    kv_host_report(&pe->host);
    if (pe->me == 0) {
        timeline_mark(pe->timeline, "report wait");
        kv_host_wait(&pe->host);
        make_plan(pe, tables);
    }
    work(pe);
    kv_host_report(&pe->host);
    if (pe->me == 0) {
        timeline_mark(pe->timeline, "report wait");
        kv_host_wait(&pe->host);
    }
    count = kv_host_shuffle(&pe->host, &pe->transfer, pe->cache, plan);
    if (pe->me != 0)
        kv_tables_plan(plan, pe->host.moves, count, pe->pes);
    pe->times.host = pe->host.waited;
    use_received(pe);
}

const char *kv_pe_round(struct kv_pe *pe, enum kv_schedule schedule)
{
    const char *wrong = NULL;

    pe->round++;
    timeline_mark(pe->timeline, "table");
    jitter(pe, 1);
    pe->before = pe->table;
    kv_table_step(&pe->table, pe->shape.blocks, pe->me, pe->pes, pe->run.seed, pe->round);
    if (schedule == KV_HOST)
        host_round(pe);
    else
        wrong = device_round(pe);
    if (wrong)
        return wrong;
    pe->times.copy = pe->transfer.seconds + kv_shuffle_times(pe->shuffle)->copy;
    pe->moved += moves_with_me(pe, 0);
    kv_plan_apply(&pe->plan, &pe->table, pe->me);
    timeline_mark(pe->timeline, NULL);
    return NULL;
}
