/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix product of the experts: by a BLAS, or by a C loop in a build without one. */
#ifndef MOE_PRODUCT_H
#define MOE_PRODUCT_H

/* "cblas_sgemm", or what stands in. */
extern const char moe_product_name[];

/* y = x w. x and y: [rows][hidden]; w: [hidden][hidden]. y overlaps neither. */
void moe_product(int rows, int hidden, const float *x, const float *w, float *y);

#endif
