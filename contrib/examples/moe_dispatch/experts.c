/* SPDX-License-Identifier: BSD-3-Clause */
#include "experts.h"

#include <stdlib.h>
#include <string.h>

int moe_experts_all(const struct moe_shape *shape)
{
    return shape->pes * shape->experts;
}

size_t moe_rows_sent(const struct moe_shape *shape)
{
    return (size_t)shape->tokens * (size_t)shape->top_k;
}

size_t moe_rows_received_max(const struct moe_shape *shape)
{
    const int per_token = shape->top_k < shape->experts ? shape->top_k : shape->experts;

    return (size_t)shape->pes * (size_t)shape->tokens * (size_t)per_token;
}

/* The finalizer of splitmix64. */
uint64_t moe_hash(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + 1;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t token_key(uint64_t seed, int64_t step, int pe, int token)
{
    return moe_hash(moe_hash(seed, (uint64_t)step), ((uint64_t)pe << 32) + (uint64_t)token);
}

void moe_token(const struct moe_shape *shape, uint64_t seed, int64_t step, int pe, int token,
               uint32_t *x)
{
    const uint64_t key = token_key(seed, step, pe, token);

    for (int i = 0; i < shape->hidden; i++)
        x[i] = (uint32_t)moe_hash(key, (uint64_t)i);
}

void moe_route(const struct moe_shape *shape, uint64_t seed, int64_t step, int pe, int token,
               int *expert, uint32_t *weight)
{
    const uint64_t key = ~token_key(seed, step, pe, token);
    const int all = moe_experts_all(shape);

    for (int j = 0; j < shape->top_k; j++) {
        const uint64_t dice = moe_hash(key, (uint64_t)j);
        /* The smaller of two draws: low numbers are popular, so PEs get unequal work. */
        const int a = (int)(dice % (uint64_t)all), b = (int)((dice >> 32) % (uint64_t)all);
        int e = a < b ? a : b;

        for (int i = 0; i < j; i++)
            if (expert[i] == e) {
                e = (e + 1) % all;
                i = -1; /* look at all the earlier ones again */
            }
        expert[j] = e;
        weight[j] = 1 + (uint32_t)(dice >> 60);
    }
}

void moe_expert(const struct moe_shape *shape, int expert, uint32_t *row)
{
    const uint32_t factor = 2 * (uint32_t)expert + 3;

    /* From the front, so that each value depends on all values before it. */
    for (int i = 1; i < shape->hidden; i++)
        row[i] = row[i] * factor + (row[i - 1] >> 3);
    row[0] = row[0] * factor + (uint32_t)expert;
}

void moe_combine(const struct moe_shape *shape, uint32_t *result, const uint32_t *row,
                 uint32_t weight)
{
    for (int i = 0; i < shape->hidden; i++)
        result[i] = result[i] * 31 + weight * row[i];
}

void moe_serial(const struct moe_shape *shape, uint64_t seed, int64_t step, int pe, int token,
                uint32_t *result, uint32_t *row)
{
    int expert[MOE_TOP_K_MAX];
    uint32_t weight[MOE_TOP_K_MAX];

    memset(result, 0, (size_t)shape->hidden * sizeof *result);
    moe_route(shape, seed, step, pe, token, expert, weight);
    for (int j = 0; j < shape->top_k; j++) {
        moe_token(shape, seed, step, pe, token, row);
        moe_expert(shape, expert[j], row);
        moe_combine(shape, result, row, weight[j]);
    }
}

int moe_layout_init(struct moe_layout *layout, const struct moe_shape *shape)
{
    const size_t all = (size_t)moe_experts_all(shape); /* = experts * pes */

    layout->mine = calloc(4 * all, sizeof *layout->mine);
    if (!layout->mine)
        return -1;
    layout->there = layout->mine + all;
    layout->here = layout->there + all;
    layout->home = layout->here + all;
    return 0;
}

void moe_layout_fini(struct moe_layout *layout)
{
    free(layout->mine);
    *layout = (struct moe_layout){NULL, NULL, NULL, NULL};
}

static int counts_are_possible(const struct moe_shape *shape, const int32_t *counts)
{
    const int all = moe_experts_all(shape);

    for (int s = 0; s < shape->pes; s++) {
        int64_t sum = 0;

        for (int e = 0; e < all; e++) {
            if (counts[s * all + e] < 0 || counts[s * all + e] > shape->tokens)
                return 0;
            sum += counts[s * all + e];
        }
        if (sum != (int64_t)moe_rows_sent(shape))
            return 0;
    }
    return 1;
}

int moe_layout_make(struct moe_layout *layout, const struct moe_shape *shape, const int32_t *counts,
                    int me)
{
    const int all = moe_experts_all(shape), pes = shape->pes;

    if (!counts_are_possible(shape, counts))
        return -1;
    for (int q = 0; q < pes; q++) { /* the receive buffer of PE q */
        int row = 0;

        for (int e = q * shape->experts; e < (q + 1) * shape->experts; e++)
            for (int s = 0; s < pes; s++) {
                if (s == me)
                    layout->there[e] = row;
                if (q == me)
                    layout->here[(e - q * shape->experts) * pes + s] = row;
                row += counts[s * all + e];
            }
    }
    for (int s = 0; s < pes; s++) { /* the send buffer of PE s */
        int row = 0;

        for (int e = 0; e < all; e++) {
            if (s == me)
                layout->mine[e] = row;
            if (e / shape->experts == me)
                layout->home[(e - me * shape->experts) * pes + s] = row;
            row += counts[s * all + e];
        }
    }
    return 0;
}
