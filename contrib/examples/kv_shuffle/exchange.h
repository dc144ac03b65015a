/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel side of kv_shuffle: one round on this PE, in OpenSHMEM 1.4. */
#ifndef KV_EXCHANGE_H
#define KV_EXCHANGE_H

#include "operator.h"

/* Seconds that this PE spent, in all rounds. */
struct kv_times {
    double barrier; /* in shmem_barrier_all */
    double ready;   /* as a sender, until the receiver was ready */
    double copy;    /* as a sender, in puts, and until the buffers were free again */
    double filled;  /* as a receiver, until the blocks had arrived */
};

/* What a PE needs beside the shape. The same on all PEs, except me. */
struct kv_run {
    struct kv_shape shape;
    int me, pes, slices, cores;
    uint64_t seed;
    int jitter; /* microseconds: the longest of the random delays that provoke races; 0: none */
};

/* The data of a PE; pointers marked "symmetric" point to symmetric memory. */
struct kv_pe {
    struct kv_shape shape;
    int me, pes;
    struct kv_run run;
    struct kv_cache cache;     /* symmetric */
    struct kv_table *gathered; /* symmetric: [2][pes], by the parity of the round */
    struct kv_table table, before;
    struct kv_plan plan;
    int64_t round;
    int64_t moved; /* blocks that this PE has sent */
    struct kv_times times;
    struct kv_shuffle *shuffle;    /* with: */
    struct kv_pair *pairs;         /* [pes]: the shuffle table */
    int32_t *source, *destination; /* [blocks]: the block tables of my pair */
};

/*
 * Collective over all PEs. Returns 0, or -1 on all PEs if there is no symmetric memory. Ends the
 * job if a PE has no memory of its own.
 */
int kv_pe_init(struct kv_pe *pe, const struct kv_run *run);
void kv_pe_fini(struct kv_pe *pe);

/* Collective: the next round. Afterwards the plan has the moves of all PEs. Returns NULL, or what
 * is wrong, then the job should be ended. */
const char *kv_pe_round(struct kv_pe *pe);

#endif
