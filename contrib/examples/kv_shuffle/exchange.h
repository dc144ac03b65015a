/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel side of kv_shuffle: one round on this PE, in OpenSHMEM 1.4. */
#ifndef KV_EXCHANGE_H
#define KV_EXCHANGE_H

#include "contrib/examples/timeline.h"
#include "model.h"

/* Seconds that this PE spent, in all rounds. */
struct kv_times {
    double barrier; /* in shmem_barrier_all */
    double ready;   /* as a sender, until the receiver was ready */
    double copy;    /* in puts, and in the quiet that completes them */
    double done;    /* as a receiver, until the blocks had arrived */
};

/* The data of a PE; pointers marked "symmetric" point to symmetric memory. */
struct kv_pe {
    struct kv_shape shape;
    int me, pes;
    uint64_t seed;
    int jitter; /* microseconds: the longest of the random delays that provoke races; 0: none */
    struct kv_cache cache;     /* symmetric */
    struct kv_table *gathered; /* symmetric: [2][pes], by the parity of the round */
    long *ready;               /* symmetric: [pes], ready[p]: last round that p was ready in */
    long *done; /* symmetric: [pes], done[p]: last round whose blocks of p are here */
    struct kv_table table, before;
    struct kv_plan plan;
    int64_t round;
    int64_t moved; /* blocks that this PE has sent */
    struct kv_times times;
    struct timeline timeline;
};

/*
 * Collective over all PEs, with the same arguments except me and jitter. Returns 0, or -1 on all
 * PEs if there is no symmetric memory. Ends the job if a PE has no memory of its own.
 */
int kv_pe_init(struct kv_pe *pe, const struct kv_shape *shape, int me, int pes, uint64_t seed,
               int jitter);
void kv_pe_fini(struct kv_pe *pe);

/* Collective: the next round. Returns NULL, or what is wrong, then the job should be ended. */
const char *kv_pe_round(struct kv_pe *pe);

/* Seconds since some time in the past. */
double kv_now(void);

#endif
