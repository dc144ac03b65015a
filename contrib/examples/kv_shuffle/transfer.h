/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The copies of a core of a sender: slices of K and V, through two buffers alternately (ping-pong).
 * Each buffer has an event of its own. The sender counts "filled" at the receiver behind the
 * slices, and the receiver counts "freed" at the sender. So the sender refills one buffer while the
 * copies of the other are in flight, and nothing drains both.
 */
#ifndef KV_TRANSFER_H
#define KV_TRANSFER_H

#include "contrib/examples/pool.h"
#include "model.h"

/* A count that another PE increments; it never decreases. One cache line each. */
struct kv_count {
    _Alignas(64) long value;
};

struct kv_transfer {
    /* Set before kv_transfer_init: */
    struct pool *pool;
    int core;
    enum { KV_BOTH, KV_ONLY_K, KV_ONLY_V } caches;
    size_t begin, end; /* the part of each block that it moves, in bytes */
    /* Set by it: */
    struct kv_shape shape;
    int slices;              /* of that part */
    int8_t *buffer[2];       /* symmetric: a slice of K, and behind it one of V, or one of them */
    struct kv_count *filled; /* symmetric: [2], at a receiver: slices that have arrived */
    struct kv_count *freed;  /* symmetric: [2], at a sender: slices that are acknowledged */
    long sent[2];            /* what freed becomes when the buffer is free */
    long received[2];        /* what this PE has acknowledged */
    int next;                /* the buffer to fill; all transfers begin with A (0) */
};

/* Collective. Returns 0, or -1 on all PEs: no symmetric memory. kv_transfer_fini also after that.
 */
int kv_transfer_init(struct kv_transfer *transfer, const struct kv_shape *shape, int slices);
void kv_transfer_fini(struct kv_transfer *transfer);

/*
 * Send a block of K and of V to a receiver in kv_transfer_receive. Returns when the last slice is
 * in flight.
 */
void kv_transfer_send(struct kv_transfer *transfer, struct kv_cache cache,
                      const struct kv_move *move);

/* After the last block of a round: until the receiver has acknowledged both buffers. */
void kv_transfer_complete(struct kv_transfer *transfer, int receiver);

/*
 * Receive that many blocks, and acknowledge each slice. They are in place when it returns. Returns
 * NULL, or the error of the sender.
 */
const char *kv_transfer_receive(struct kv_transfer *transfer, int sender, int blocks);

#endif
