/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mixture-of-experts layer without its communication: tokens, router, experts, the places of
 * rows, and the serial model. Plain C. Values are uint32_t and wrap, so results are the same to the
 * last bit on every PE and for every order of the experts. The order in which a token's results are
 * combined matters, as with floating point.
 */
#ifndef MOE_EXPERTS_H
#define MOE_EXPERTS_H

#include <stddef.h>
#include <stdint.h>

#define MOE_TOP_K_MAX 16

struct moe_shape {
    int pes;
    int experts; /* per PE; expert e of all is on PE e / experts */
    int tokens;  /* per PE and step */
    int hidden;  /* values of a token */
    int top_k;   /* experts that a token goes to, no two the same */
};

int moe_experts_all(const struct moe_shape *shape);

/* Rows that a PE sends in a step, and rows that it may receive at most: every token of all PEs. */
size_t moe_rows_sent(const struct moe_shape *shape);
size_t moe_rows_received_max(const struct moe_shape *shape);

/* A pseudorandom number, the same on every PE. */
uint64_t moe_hash(uint64_t a, uint64_t b);

/* The token's values. */
void moe_token(const struct moe_shape *shape, uint64_t seed, int64_t step, int pe, int token,
               uint32_t *x);

/* Where the token goes: top_k experts, the best first, and their weights. Some are popular. */
void moe_route(const struct moe_shape *shape, uint64_t seed, int64_t step, int pe, int token,
               int *expert, uint32_t *weight);

/* The expert's work on one row, in place. */
void moe_expert(const struct moe_shape *shape, int expert, uint32_t *row);

/* Fold the next expert's row into the token's result; all zeros before the first. */
void moe_combine(const struct moe_shape *shape, uint32_t *result, const uint32_t *row,
                 uint32_t weight);

/*
 * The serial model: computes the token's result directly. row: memory for one row.
 */
void moe_serial(const struct moe_shape *shape, uint64_t seed, int64_t step, int pe, int token,
                uint32_t *result, uint32_t *row);

/*
 * The places of rows, computed from the counts of all PEs. A sender keeps its rows by expert. A
 * receiver keeps them by expert, and for each expert by sender. All numbers are in rows from the
 * start of the buffer.
 */
struct moe_layout {
    int *mine;  /* [experts_all]: my rows for expert e in my send and result buffers */
    int *there; /* [experts_all]: the same rows in the receive buffer of the expert's PE */
    int *here;  /* [experts][pes]: rows from PE s for my expert, in my receive buffer */
    int *home;  /* [experts][pes]: the same rows in the send and result buffers of PE s */
};

/* Returns 0, or -1: out of memory. */
int moe_layout_init(struct moe_layout *layout, const struct moe_shape *shape);
void moe_layout_fini(struct moe_layout *layout);

/*
 * counts: [pes][experts_all], rows from each PE for each expert. Returns 0, or -1 if no router can
 * have made these counts.
 */
int moe_layout_make(struct moe_layout *layout, const struct moe_shape *shape, const int32_t *counts,
                    int me);

#endif
