/* SPDX-License-Identifier: BSD-3-Clause */
#include "experts.h"

#include <math.h>

int moe_experts_all(const struct moe_shape *shape)
{
    return shape->pes * shape->experts;
}

int64_t moe_sum_max(const struct moe_shape *shape)
{
    const int64_t row = (int64_t)MOE_GATE_MAX * MOE_TOKEN_MAX * shape->top_k;

    return shape->communication ? row : row * MOE_WEIGHT_MAX * shape->hidden;
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

void moe_zipf(const struct moe_shape *shape, double exponent, double *popular)
{
    double sum = 0;

    for (int e = 0; e < moe_experts_all(shape); e++)
        popular[e] = sum += pow(e + 1, -exponent);
}

/* Draw an expert. Low numbers are popular, so PEs get unequal work. */
static int draw(const struct moe_shape *shape, uint64_t dice)
{
    const int all = moe_experts_all(shape);
    const int a = (int)(dice % (uint64_t)all), b = (int)((dice >> 32) % (uint64_t)all);
    int e = 0;

    if (!shape->popular)
        return a < b ? a : b;
    while (e < all - 1 &&
           shape->popular[e] <= (double)(dice >> 11) * 0x1p-53 * shape->popular[all - 1])
        e++;
    return e;
}

void moe_route(const struct moe_shape *shape, int64_t step, int pe, int token,
               struct moe_choice *choice)
{
    const uint64_t key = ~token_key(shape, step, pe, token);
    const int all = moe_experts_all(shape);

    for (int j = 0; j < shape->top_k; j++) {
        const uint64_t dice = moe_hash(key, (uint64_t)j);
        int e = draw(shape, dice);

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
