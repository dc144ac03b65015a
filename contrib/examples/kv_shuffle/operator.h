/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kv_shuffle as an operator for any OpenSHMEM program: the blocks of a shuffle move between pairs
 * of PEs, by all cores of both. With N cores the first N / 2 move K and the others V; core c moves
 * slice c % (N / 2) of each block. One core moves both. Core c of the sender and core c of the
 * receiver share no flag and no buffer with other cores:
 *
 *   ready   at the sender: the receiver's blocks may be written in this round
 *   filled  at the receiver, freed at the sender: counts of each of two buffers, see transfer.h
 *
 * `ready` is the number of the round and the counts never decrease, so flags of two rounds differ.
 */
#ifndef KV_OPERATOR_H
#define KV_OPERATOR_H

#include "transfer.h"

enum kv_role { KV_NONE, KV_SENDER, KV_RECEIVER };

/* A row of the shuffle table. */
struct kv_pair {
    enum kv_role role;
    int partner;
};

/* Seconds of core 0 in all rounds: as a sender, until the receiver was ready; in copies, and until
 * the buffers were free again; as a receiver, until the blocks had arrived. */
struct kv_shuffle_times {
    double ready, copy, filled;
};

struct kv_shuffle;

/*
 * Collective, with the same shape, slices (of each core's part of a block, from 1) and cores (1, or
 * an even number up to POOL_CORES_MAX) on all PEs; with several cores after pool_shmem_init.
 * Returns NULL on all PEs: no symmetric memory, or too few threads are allowed.
 */
struct kv_shuffle *kv_shuffle_create(const struct kv_shape *shape, int slices, int cores);
void kv_shuffle_destroy(struct kv_shuffle *op); /* collective; NULL is allowed */

/*
 * Collective: one round. cache: symmetric. table: [PEs], the same on all PEs. source, destination:
 * [blocks], the block tables of this PE's pair, the same on both; none without a role. Block
 * source[i] of the sender goes to block destination[i] of the receiver. When it returns, the blocks
 * of this PE have been sent, or have arrived. Returns NULL, or what is wrong.
 */
const char *kv_shuffle_compute(struct kv_shuffle *op, struct kv_cache cache,
                               const struct kv_pair *table, const int32_t *source,
                               const int32_t *destination, int blocks);

const struct kv_shuffle_times *kv_shuffle_times(const struct kv_shuffle *op);

#endif
