/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Buffers in flight, of one block of K and of V each. More would not be faster once the link is
 * busy, and each holds resources of the transport until the quiet.
 */
#define IN_FLIGHT 2

double kv_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *alloc_zeroed(size_t bytes)
{
    void *memory = shmem_malloc(bytes);

    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

int kv_pe_init(struct kv_pe *pe, const struct kv_shape *shape, int me, int pes, uint64_t seed,
               int jitter)
{
    const size_t n = (size_t)pes;

    *pe = (struct kv_pe){.shape = *shape, .me = me, .pes = pes, .seed = seed, .jitter = jitter};
    pe->cache.k = alloc_zeroed(kv_cache_bytes(shape));
    pe->cache.v = alloc_zeroed(kv_cache_bytes(shape));
    pe->gathered = alloc_zeroed(2 * n * sizeof *pe->gathered);
    pe->ready = alloc_zeroed(n * sizeof *pe->ready);
    pe->done = alloc_zeroed(n * sizeof *pe->done);
    if (!pe->cache.k || !pe->cache.v || !pe->gathered || !pe->ready || !pe->done) {
        kv_pe_fini(pe);
        return -1;
    }
    if (kv_plan_init(&pe->plan, pes, shape->blocks) != 0) {
        /* Other PEs may have their memory, so no collective call is possible here. */
        fprintf(stderr, "kv_shuffle: PE %d: no memory for the plan of %d PEs\n", me, pes);
        shmem_global_exit(2);
    }
    shmem_barrier_all(); /* no PE writes to a PE that has not cleared its memory yet */
    return 0;
}

void kv_pe_fini(struct kv_pe *pe)
{
    void *const symmetric[] = {pe->done, pe->ready, pe->gathered, pe->cache.v, pe->cache.k};

    /* A request for too much fails on all PEs, so all PEs free the same. */
    for (size_t i = 0; i < sizeof symmetric / sizeof *symmetric; i++)
        if (symmetric[i])
            shmem_free(symmetric[i]);
    kv_plan_fini(&pe->plan);
}

/* A random pause, different on every PE and at every point of the round. */
static void jitter(const struct kv_pe *pe, uint64_t point)
{
    const uint64_t dice = kv_hash(kv_hash(pe->seed ^ point, (uint64_t)pe->round), (uint64_t)pe->me);
    struct timespec t = {0, 0};

    if (pe->jitter == 0 || dice % 2 == 0)
        return;
    t.tv_nsec = (long)(dice / 2 % (uint64_t)pe->jitter) * 1000;
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
    timeline_mark(&pe->timeline, "barrier");
    begin = kv_now();
    shmem_barrier_all();
    pe->times.barrier += kv_now() - begin;
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

/*
 * The handshake of a pair. Each partner has a word of its own, which only that partner writes and
 * which only increases. So an old value is never taken for a new one, and the handshake does not
 * depend on the order of the other PEs. The words are written by atomics, because the standard
 * guarantees only for these that a waiting PE sees them.
 */
static void raise_flag(long *flags, const struct kv_pe *pe, int partner)
{
    shmem_long_atomic_set(&flags[pe->me], (long)pe->round, partner);
}

static double wait_flag(long *flags, const struct kv_pe *pe, int partner)
{
    const double begin = kv_now();

    shmem_long_wait_until(&flags[partner], SHMEM_CMP_GE, (long)pe->round);
    return kv_now() - begin;
}

static void put_block(const struct kv_pe *pe, const struct kv_move *move)
{
    const size_t bytes = kv_block_bytes(&pe->shape);
    const size_t from = (size_t)move->from * bytes, to = (size_t)move->to * bytes;

    shmem_putmem_nbi(pe->cache.k + to, pe->cache.k + from, bytes, move->receiver);
    shmem_putmem_nbi(pe->cache.v + to, pe->cache.v + from, bytes, move->receiver);
}

static void send_blocks(struct kv_pe *pe, int partner)
{
    int in_flight = 0;
    double begin;

    timeline_mark(&pe->timeline, "ready wait");
    /* Until then the receiver works on those blocks for sequences that end with this round. */
    pe->times.ready += wait_flag(pe->ready, pe, partner);
    timeline_mark(&pe->timeline, "put");
    begin = kv_now();
    for (int i = 0; i < pe->plan.count; i++) {
        if (pe->plan.move[i].sender != pe->me)
            continue;
        if (in_flight == IN_FLIGHT) {
            shmem_quiet();
            in_flight = 0;
        }
        put_block(pe, &pe->plan.move[i]);
        in_flight++;
        pe->moved++;
    }
    /* The blocks have arrived, and mine may be written to again; only then `done`. */
    shmem_quiet();
    pe->times.copy += kv_now() - begin;
    raise_flag(pe->done, pe, partner);
}

static void receive_blocks(struct kv_pe *pe, int partner)
{
    raise_flag(pe->ready, pe, partner);
    timeline_mark(&pe->timeline, "done wait");
    pe->times.done += wait_flag(pe->done, pe, partner);
    timeline_mark(&pe->timeline, "work");
    jitter(pe, 4);
    for (int i = 0; i < pe->plan.count; i++)
        if (pe->plan.move[i].receiver == pe->me)
            kv_compute_block(&pe->shape, pe->cache, pe->plan.move[i].to, pe->plan.move[i].sequence,
                             pe->round);
}

/*
 * The tables state what will be free after this round's work. So the plan can be made and
 * distributed before that work is done; `ready` reports for each pair when it is.
 */
const char *kv_pe_round(struct kv_pe *pe)
{
    struct kv_table *tables;
    const char *wrong;
    int partner;

    pe->round++;
    timeline_mark(&pe->timeline, "table");
    jitter(pe, 1);
    pe->before = pe->table;
    kv_table_step(&pe->table, pe->shape.blocks, pe->me, pe->pes, pe->seed, pe->round);
    wrong = gather_tables(pe, &tables);
    if (wrong)
        return wrong;
    timeline_mark(&pe->timeline, "plan");
    kv_plan_make(&pe->plan, tables, pe->pes, pe->shape.blocks);
    timeline_mark(&pe->timeline, "work");
    jitter(pe, 2);
    kv_compute(&pe->shape, pe->cache, &pe->before, &pe->table, pe->round);
    jitter(pe, 3);
    partner = pe->plan.partner[pe->me];
    if (moves_with_me(pe, 0) > 0)
        send_blocks(pe, partner);
    else if (moves_with_me(pe, 1) > 0)
        receive_blocks(pe, partner);
    timeline_mark(&pe->timeline, NULL);
    kv_plan_apply(&pe->plan, &pe->table, pe->me);
    return NULL;
}
