/* SPDX-License-Identifier: BSD-3-Clause */
#include "experts.h"

int moe_experts_all(const struct moe_shape *shape)
{
    return shape->pes * shape->experts;
}

int64_t moe_sum_max(const struct moe_shape *shape)
{
    const int64_t term = (int64_t)MOE_GATE_MAX * MOE_TOKEN_MAX * MOE_WEIGHT_MAX;

    return term * shape->top_k * shape->hidden;
}

/* The finalizer of splitmix64. */
uint64_t moe_hash(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + 1;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* -max to max. */
static int small_value(uint64_t dice, int max)
{
    return (int)(dice % (uint64_t)(2 * max + 1)) - max;
}

static uint64_t token_key(const struct moe_shape *shape, int64_t step, int pe, int token)
{
    return moe_hash(moe_hash(shape->seed, (uint64_t)step), ((uint64_t)pe << 32) + (uint64_t)token);
}

int moe_token_value(const struct moe_shape *shape, int64_t step, int pe, int token, int i)
{
    return small_value(moe_hash(token_key(shape, step, pe, token), (uint64_t)i), MOE_TOKEN_MAX);
}

void moe_route(const struct moe_shape *shape, int64_t step, int pe, int token,
               struct moe_choice *choice)
{
    const uint64_t key = ~token_key(shape, step, pe, token);
    const int all = moe_experts_all(shape);

    for (int j = 0; j < shape->top_k; j++) {
        const uint64_t dice = moe_hash(key, (uint64_t)j);
        /* The smaller of two draws: low numbers are popular, so PEs get unequal work. */
        const int a = (int)(dice % (uint64_t)all), b = (int)((dice >> 32) % (uint64_t)all);
        int e = a < b ? a : b;

        for (int i = 0; i < j; i++)
            if (choice[i].expert == e) {
                e = (e + 1) % all;
                i = -1; /* look at all the earlier ones again */
            }
        choice[j].expert = e;
        choice[j].gate = (float)(1 + (dice >> 40) % MOE_GATE_MAX);
    }
}

int moe_weight(const struct moe_shape *shape, int expert, int in, int out)
{
    const uint64_t place = ((uint64_t)in << 32) + (uint64_t)out;

    return small_value(moe_hash(moe_hash(~shape->seed, (uint64_t)expert), place), MOE_WEIGHT_MAX);
}
