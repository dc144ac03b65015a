/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel side of moe_dispatch: one step on this PE, in OpenSHMEM 1.4. */
#ifndef MOE_DISPATCH_H
#define MOE_DISPATCH_H

#include "experts.h"

enum moe_sync {
    MOE_BARRIER, /* shmem_barrier_all */
    MOE_FLAGS    /* quiet, a flag to every PE, and wait for theirs */
};

/* The data of a PE. */
struct moe_pe {
    struct moe_shape shape;
    int me;
    uint64_t seed;
    int jitter;        /* microseconds: the longest of the random delays; 0: none */
    int32_t *counts;   /* symmetric: [pes][experts_all], a row from each PE */
    uint32_t *receive; /* symmetric: rows for my experts; they work in place */
    uint32_t *back;    /* symmetric: rows that came back, laid out as `send` */
    long *flags;       /* symmetric: [pes], flags[p]: synchronisations that p has entered */
    int32_t *my_counts;
    uint32_t *send;   /* rows by expert, for each by token */
    uint32_t *result; /* [tokens][hidden] */
    int *expert,
        *row; /* [tokens][top_k]: of each choice its expert, and its row in send and back */
    uint32_t *weight;
    struct moe_layout layout;
    int64_t step;
    long synchronisations;
    double sync_time; /* seconds in synchronisation, quiet included */
};

/*
 * Collective over all PEs, with the same arguments except me. Returns 0, or -1 on all PEs if there
 * is no symmetric memory. Ends the job if a PE has no memory of its own.
 */
int moe_pe_init(struct moe_pe *pe, const struct moe_shape *shape, int me, uint64_t seed,
                int jitter);
void moe_pe_fini(struct moe_pe *pe);

/*
 * Collective: route, dispatch, run the experts, return the rows, combine. The results of this PE's
 * tokens are then in `result`. The kind of synchronisation may change from step to step. Returns
 * NULL, or the error; the job should then be ended.
 */
const char *moe_pe_step(struct moe_pe *pe, enum moe_sync sync);

/* Seconds since some time in the past. */
double moe_now(void);

#endif
