/* SPDX-License-Identifier: BSD-3-Clause */
#include "product.h"

#ifdef MOE_BLAS
#include <cblas.h>

const char moe_product_name[] = "cblas_sgemm";

void moe_product(int rows, int hidden, const float *x, const float *w, float *y)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, hidden, hidden, 1.0f, x, hidden, w,
                hidden, 0.0f, y, hidden);
}
#else
#include <stddef.h>

const char moe_product_name[] = "a C loop (built without a BLAS)";

void moe_product(int rows, int hidden, const float *x, const float *w, float *y)
{
    const size_t n = (size_t)hidden;

    for (size_t r = 0; r < (size_t)rows; r++) {
        float *const to = &y[r * n];

        for (size_t o = 0; o < n; o++)
            to[o] = 0;
        /* Row after row of w, so that the inner loop reads memory in order. */
        for (size_t i = 0; i < n; i++)
            for (size_t o = 0; o < n; o++)
                to[o] += x[r * n + i] * w[i * n + o];
    }
}
#endif
