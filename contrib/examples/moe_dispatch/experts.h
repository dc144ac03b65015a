/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mixture-of-experts layer without its communication: tokens, router, experts' weights. Plain
 * C, the same on every PE.
 *
 * All values are small integers, so that float arithmetic is exact. A value of the result is the
 * sum of top_k * hidden terms gate * token * weight. No term is larger than 8 * 7 * 3 = 168, so no
 * sum of any of the terms, in any order, is larger than 168 * top_k * hidden. Floats hold every
 * integer up to 2^24. moe_sum_max is the bound; the program refuses sizes for which it is above
 * MOE_EXACT_MAX. So every correct order of the additions gives the same bits: a BLAS may block its
 * sums as it likes, and the nodes may add up their parts.
 */
#ifndef MOE_EXPERTS_H
#define MOE_EXPERTS_H

#include <stddef.h>
#include <stdint.h>

enum {
    MOE_TOP_K_MAX = 16,
    MOE_TOKEN_MAX = 7,  /* values of tokens: -7 to 7 */
    MOE_WEIGHT_MAX = 3, /* values of weights: -3 to 3 */
    MOE_GATE_MAX = 8,   /* factors of the router: 1 to 8 */
    MOE_EXACT_MAX = 1 << 24
};

struct moe_shape {
    int pes;
    int experts; /* per PE; expert e of all is on PE e / experts */
    int tokens;  /* per PE and step */
    int hidden;  /* values of a token */
    int top_k;   /* experts that a token goes to, no two the same */
    uint64_t seed;
    /* [all experts], increasing: how many of popular[all - 1] draws give this expert, or one with a
     * lower number. NULL: the smaller of two draws. */
    const double *popular;
    int communication; /* 1: experts return their rows as they are, and have no weights */
};

/* One of the experts of a token, and the factor of its result. */
struct moe_choice {
    int32_t expert;
    float gate;
};

int moe_experts_all(const struct moe_shape *shape);

/* Fill `popular` for all experts of the shape: expert e is drawn as often as 1 / (e + 1)^exponent.
 */
void moe_zipf(const struct moe_shape *shape, double exponent, double *popular);

/* The largest sum, without its sign, that the layer can compute. */
int64_t moe_sum_max(const struct moe_shape *shape);

/* A pseudorandom number, the same on every PE. */
uint64_t moe_hash(uint64_t a, uint64_t b);

/* A value of the token. */
int moe_token_value(const struct moe_shape *shape, int64_t step, int pe, int token, int i);

/* Where the token goes: top_k experts and their factors. Some experts are popular. */
void moe_route(const struct moe_shape *shape, int64_t step, int pe, int token,
               struct moe_choice *choice);

/* A weight of the expert: the factor of value `in` of a row in value `out` of its result. */
int moe_weight(const struct moe_shape *shape, int expert, int in, int out);

#endif
