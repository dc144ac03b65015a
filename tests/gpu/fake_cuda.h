/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GBA_TESTS_GPU_FAKE_CUDA_H
#define GBA_TESTS_GPU_FAKE_CUDA_H

#include <dlfcn.h>
#include <stdio.h>

#include "gba/gpu.h"

/* The driver of fake_cuda.c: what it refuses, and what it has done. */
struct fake_cuda {
    int gpus;
    bool context; /* one is current */
    bool no_memory, no_module, no_operations, capturing;
    unsigned refused_flags; /* of cuMemHostRegister */
    int registered, allocated, batches, launches;
    void (*on_free)(void);     /* called in cuMemFree; NULL: nothing */
    gba_gpu_member_t captured; /* of the last launch while it captured */
};

/* Load it, so that libgba_gpu finds it as the driver. Returns NULL (printed) if there is none. */
static inline struct fake_cuda *fake_cuda_open(void)
{
    void *driver = dlopen("tests/gpu/fake/.libs/libcuda.so.1", RTLD_NOW);

    if (driver == NULL)
        puts("FAIL: no tests/gpu/fake/.libs/libcuda.so.1");
    return driver != NULL ? dlsym(driver, "fake_cuda") : NULL;
}

#endif
