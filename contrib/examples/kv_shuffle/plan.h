/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Block tables and the shuffle planner. Plain C without communication: every PE with the same
 * tables makes the same plan, and so does the serial model.
 */
#ifndef KV_PLAN_H
#define KV_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define KV_BLOCKS_MAX 1024 /* per PE: a table then has 8 KiB, and every PE gets all tables */

/* One block of the cache: the index-th block of a sequence. */
struct kv_block {
    int32_t sequence; /* unique among all PEs, from 1; 0: the block is free */
    int32_t index;
};

/* The blocks of one PE at the end of one round. */
struct kv_table {
    int64_t round;    /* that it was made in */
    int64_t admitted; /* sequences so far; the next one's number is made from it */
    struct kv_block block[KV_BLOCKS_MAX];
};

/* Block `from` of the sender goes to block `to` of the receiver. */
struct kv_move {
    int32_t sender, receiver;
    int32_t sequence, index;
    int32_t from, to;
};

struct kv_load {
    int load, pe;
};

struct kv_plan {
    int count;             /* of moves */
    int *partner;          /* of each PE, or -1 */
    struct kv_move *move;  /* by pairs; in a sequence by index */
    struct kv_load *order; /* the PEs by load, smallest first */
};

/* A pseudorandom number, the same on every PE: the finalizer of splitmix64 over a and b. */
uint64_t kv_hash(uint64_t a, uint64_t b);

/* The part of a table that is in use, in bytes; only this part is sent. */
size_t kv_table_bytes(int blocks);

/* Blocks in use. */
int kv_table_load(const struct kv_table *table, int blocks);

/*
 * Make the table of this round from that of the round before: some sequences end, new ones come.
 * round: from 1; in the first the table, all zeros before, gets its first sequences. The outcome
 * depends on the arguments alone.
 */
void kv_table_step(struct kv_table *table, int blocks, int pe, int pes, uint64_t seed,
                   int64_t round);

/* Memory for plans of that many PEs and blocks. Returns 0, or -1: out of memory. */
int kv_plan_init(struct kv_plan *plan, int pes, int blocks);
void kv_plan_fini(struct kv_plan *plan);

/*
 * Plan a shuffle. PEs are paired by load, the i-th smallest with the i-th largest (equal loads by
 * number); with an odd number of PEs the middle one has no partner. In a pair, the PE above the
 * mean load of all sends to the other if that is below. Whole sequences only, the largest that
 * fits first, so that neither crosses the mean.
 */
void kv_plan_make(struct kv_plan *plan, const struct kv_table *tables, int pes, int blocks);

/* Apply the plan to the table of a PE. */
void kv_plan_apply(const struct kv_plan *plan, struct kv_table *table, int pe);

/*
 * Check a plan without the planner's code. Errors: a move of a block that its sender does not hold,
 * or onto a block in use, or twice, or of a part of a sequence, or a load that crosses the mean.
 * Returns NULL, or the error.
 */
const char *kv_plan_check(const struct kv_plan *plan, const struct kv_table *tables, int pes,
                          int blocks);

#endif
