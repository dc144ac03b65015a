/* SPDX-License-Identifier: BSD-3-Clause */
#include "operator.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kv_shuffle {
    int me, cores;
    long round;
    struct pool pool;
    struct kv_count *ready; /* symmetric: [cores], by core c of the receiver: the round */
    struct kv_shuffle_times times;
    /* Of the current round: */
    struct kv_cache cache;
    struct kv_pair pair;
    const int32_t *source, *destination;
    int blocks;
    const char *wrong[POOL_CORES_MAX];
    struct kv_transfer transfer[]; /* [cores] */
};

struct kv_shuffle *kv_shuffle_create(const struct kv_shape *shape, int slices, int cores)
{
    const size_t n = (size_t)cores;
    struct kv_shuffle *op = calloc(1, sizeof *op + n * sizeof op->transfer[0]);
    int status;

    if (!op) {
        /* Other PEs may have their memory, so no collective call is possible here. */
        fprintf(stderr, "kv_shuffle: no memory for %d cores\n", cores);
        shmem_global_exit(2);
        return NULL;
    }
    op->me = shmem_my_pe();
    op->cores = cores;
    op->ready = shmem_align(sizeof *op->ready, n * sizeof *op->ready);
    status = op->ready ? 0 : -1;
    for (int c = 0; c < cores && status == 0; c++) {
        struct kv_transfer *transfer = &op->transfer[c];
        const size_t half = cores > 1 ? n / 2 : 1, part = (size_t)c % half;
        const size_t block = kv_block_bytes(shape);

        *transfer = (struct kv_transfer){.pool = &op->pool,
                                         .core = c,
                                         .caches = cores == 1         ? KV_BOTH
                                                   : (size_t)c < half ? KV_ONLY_K
                                                                      : KV_ONLY_V,
                                         .begin = block * part / half,
                                         .end = block * (part + 1) / half};
        status = kv_transfer_init(transfer, shape, slices);
    }
    if (status == 0) {
        memset(op->ready, 0, n * sizeof *op->ready);
        status = pool_init(&op->pool, "kv_shuffle", cores);
    }
    if (status != 0) {
        kv_shuffle_destroy(op);
        return NULL;
    }
    shmem_barrier_all(); /* no PE writes to a PE that has not cleared its memory yet */
    return op;
}

void kv_shuffle_destroy(struct kv_shuffle *op)
{
    if (!op)
        return;
    pool_fini(&op->pool);
    /* What was allocated, all PEs have allocated. */
    for (int c = op->cores - 1; c >= 0; c--)
        kv_transfer_fini(&op->transfer[c]);
    if (op->ready)
        shmem_free(op->ready);
    free(op);
}

/* Core 0 measures. */
static void add(int core, double *time, double begin)
{
    if (core == 0)
        *time += pool_now() - begin;
}

static void send_part(struct kv_shuffle *op, int core)
{
    struct kv_transfer *transfer = &op->transfer[core];
    const int partner = op->pair.partner;
    double begin = pool_now();

    pool_await(&op->pool, core, &op->ready[core].value, op->round, partner, "ready");
    add(core, &op->times.ready, begin);
    begin = pool_now();
    for (int i = 0; i < op->blocks; i++)
        kv_transfer_send(transfer, op->cache,
                         &(struct kv_move){
                             .receiver = partner, .from = op->source[i], .to = op->destination[i]});
    kv_transfer_complete(transfer, partner);
    add(core, &op->times.copy, begin);
}

static void receive_part(struct kv_shuffle *op, int core)
{
    struct kv_transfer *transfer = &op->transfer[core];
    const int partner = op->pair.partner;
    const double begin = pool_now();

    /* Atomic: the standard promises no other store to a waiting PE. */
    shmem_long_atomic_set(&op->ready[core].value, op->round, partner);
    op->wrong[core] = kv_transfer_receive(transfer, partner, op->blocks);
    add(core, &op->times.filled, begin);
}

static void run_core(void *arg, int core)
{
    struct kv_shuffle *op = arg;

    op->wrong[core] = NULL;
    if (op->pair.role == KV_SENDER)
        send_part(op, core);
    else
        receive_part(op, core);
}

const char *kv_shuffle_compute(struct kv_shuffle *op, struct kv_cache cache,
                               const struct kv_pair *table, const int32_t *source,
                               const int32_t *destination, int blocks)
{
    op->round++;
    op->cache = cache;
    op->pair = table[op->me];
    op->source = source;
    op->destination = destination;
    op->blocks = blocks;
    if (op->pair.role == KV_NONE || blocks == 0)
        return NULL;
    pool_run(&op->pool, run_core, op);
    for (int c = 0; c < op->cores; c++)
        if (op->wrong[c])
            return op->wrong[c];
    return NULL;
}

const struct kv_shuffle_times *kv_shuffle_times(const struct kv_shuffle *op)
{
    return &op->times;
}
