/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The serial model: computes the result of a token directly, in integers, without another PE. It
 * shares with the parallel side only the inputs: tokens, routes and weights.
 */
#ifndef MOE_MODEL_H
#define MOE_MODEL_H

#include "experts.h"

struct moe_model {
    struct moe_shape shape;
    int8_t *weights; /* [experts_all][hidden][hidden]; NULL: rows return as they are */
    int32_t *result; /* [hidden] */
};

/* Returns 0, or -1: out of memory. */
int moe_model_init(struct moe_model *model, const struct moe_shape *shape);
void moe_model_fini(struct moe_model *model);

/* The result of the token, valid until the next call. */
const int32_t *moe_model_result(struct moe_model *model, int64_t step, int pe, int token);

#endif
