/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work on a cache, and the serial model: the caches of all PEs in one process, moved by memcpy.
 * Plain C: the result that the parallel program must have, whatever its timing.
 */
#ifndef KV_MODEL_H
#define KV_MODEL_H

#include "plan.h"

/* A cache is int8 [blocks][heads][tokens][dim], and there are two of them, K and V. */
struct kv_shape {
    int blocks, heads, tokens, dim;
};

struct kv_cache {
    int8_t *k, *v;
};

/* Of one block of K (or of V), and of all of K, in bytes. */
size_t kv_block_bytes(const struct kv_shape *shape);
size_t kv_cache_bytes(const struct kv_shape *shape);

/*
 * The PE's own work in a round. It reads and writes every block of the old table, also those of
 * sequences that end with this step, so no other PE may write to them before the work is done. Then
 * it fills the blocks of new sequences.
 */
void kv_compute(const struct kv_shape *shape, struct kv_cache cache, const struct kv_table *before,
                const struct kv_table *after, int64_t round);

/* The first step of a new sequence: reads and writes the block. */
void kv_compute_block(const struct kv_shape *shape, struct kv_cache cache, int block,
                      int32_t sequence, int64_t round);

/* A sum over K and V, free blocks included; every byte and its place count. */
uint64_t kv_checksum(const struct kv_shape *shape, struct kv_cache cache);

struct kv_model {
    struct kv_shape shape;
    int pes;
    uint64_t seed;
    struct kv_table *tables, *before;
    struct kv_cache *caches;
    struct kv_plan plan;
    int64_t round;
};

/* All caches zero, all tables empty. Returns 0, or -1: out of memory. */
int kv_model_init(struct kv_model *model, const struct kv_shape *shape, int pes, uint64_t seed);
void kv_model_fini(struct kv_model *model);

/* The next round, for all PEs. Returns NULL, or the error in the plan. */
const char *kv_model_round(struct kv_model *model);

#endif
