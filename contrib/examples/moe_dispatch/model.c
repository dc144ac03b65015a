/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <stdlib.h>
#include <string.h>

int moe_model_init(struct moe_model *model, const struct moe_shape *shape)
{
    const int all = moe_experts_all(shape), hidden = shape->hidden;
    const size_t size = (size_t)hidden;
    int8_t *w;

    *model = (struct moe_model){.shape = *shape};
    if (!shape->communication)
        model->weights = calloc((size_t)all * size, size);
    model->result = calloc(size, sizeof *model->result);
    if ((!model->weights && !shape->communication) || !model->result) {
        moe_model_fini(model);
        return -1;
    }
    w = model->weights;
    for (int e = 0; e < all && !shape->communication; e++)
        for (int in = 0; in < hidden; in++)
            for (int out = 0; out < hidden; out++)
                *w++ = (int8_t)moe_weight(shape, e, in, out);
    return 0;
}

void moe_model_fini(struct moe_model *model)
{
    free(model->weights);
    free(model->result);
    *model = (struct moe_model){.weights = NULL};
}

const int32_t *moe_model_result(struct moe_model *model, int64_t step, int pe, int token)
{
    const struct moe_shape *shape = &model->shape;
    const size_t hidden = (size_t)shape->hidden;
    struct moe_choice choice[MOE_TOP_K_MAX];

    moe_route(shape, step, pe, token, choice);
    memset(model->result, 0, hidden * sizeof *model->result);
    for (size_t i = 0; i < hidden; i++) {
        const int x = moe_token_value(shape, step, pe, token, (int)i);

        for (int j = 0; j < shape->top_k; j++) {
            const size_t row = ((size_t)choice[j].expert * hidden + i) * hidden;
            const int factor = (int)choice[j].gate * x;

            if (shape->communication)
                model->result[i] += factor;
            for (size_t o = 0; o < hidden && !shape->communication; o++)
                model->result[o] += factor * model->weights[row + o];
        }
    }
    return model->result;
}
