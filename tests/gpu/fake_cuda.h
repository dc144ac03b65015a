/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GBA_TESTS_GPU_FAKE_CUDA_H
#define GBA_TESTS_GPU_FAKE_CUDA_H

#include "gba/gpu.h"

/* The driver of fake_cuda.c: what it refuses, and what it has done. */
struct fake_cuda {
    bool context; /* one is current */
    bool no_memory, no_module, no_operations, capturing;
    unsigned refused_flags; /* of cuMemHostRegister */
    int registered, allocated, batches, launches;
    void (*on_free)(void);     /* called in cuMemFree; NULL: nothing */
    gba_gpu_member_t captured; /* of the last launch while it captured */
};

#endif
