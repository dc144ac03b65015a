/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUDA driver without a GPU: libcuda.so.1 for the tests. Memory of the GPU is memory of the
 * process. A stream does at once, in the calling thread, what is put into it. fake_cuda says what
 * is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "gba/gpu/cuda.h"
#include "tests/gpu/fake_cuda.h"

#define GBA_GPU_ON_CPU
#include "gba/gpu.cuh"

#define API __attribute__((visibility("default")))

API struct fake_cuda fake_cuda = {.context = true};

#define FAKE(name, args) \
    API int name args;   \
    API int name args

FAKE(cuInit, (unsigned flags))
{
    return (int)flags;
}

FAKE(cuDeviceGetCount, (int *count))
{
    *count = 1;
    return 0;
}

FAKE(cuGetErrorName, (int result, const char **name))
{
    (void)result;
    *name = "CUDA_ERROR_FAKE";
    return 0;
}

FAKE(cuCtxGetCurrent, (void **context))
{
    *context = fake_cuda.context ? &fake_cuda : NULL;
    return 0;
}

FAKE(cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags))
{
    (void)memory;
    (void)bytes;
    if (0 != (flags & fake_cuda.refused_flags))
        return 1;
    fake_cuda.registered++;
    return 0;
}

FAKE(cuMemHostUnregister, (void *memory))
{
    (void)memory;
    fake_cuda.registered--;
    return 0;
}

FAKE(cuMemHostGetDevicePointer_v2, (gba_cu_pointer * pointer, void *memory, unsigned flags))
{
    *pointer = (uintptr_t)memory;
    return (int)flags;
}

FAKE(cuMemAlloc_v2, (gba_cu_pointer * pointer, size_t bytes))
{
    if (fake_cuda.no_memory)
        return 2;
    *pointer = (uintptr_t)calloc(1, bytes);
    fake_cuda.allocated++;
    return 0;
}

FAKE(cuMemFree_v2, (gba_cu_pointer pointer))
{
    if (fake_cuda.on_free != NULL)
        fake_cuda.on_free();
    free((void *)(uintptr_t)pointer);
    fake_cuda.allocated--;
    return 0;
}

FAKE(cuMemcpyHtoD_v2, (gba_cu_pointer to, const void *from, size_t bytes))
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

FAKE(cuModuleLoadData, (void **module, const void *image))
{
    *module = &fake_cuda;
    return strstr(image, ".entry gba_gpu_on_stream") == NULL || fake_cuda.no_module;
}

FAKE(cuModuleUnload, (void *module))
{
    return module != &fake_cuda;
}

FAKE(cuModuleGetFunction, (void **function, void *module, const char *name))
{
    *function = module;
    return 0 != strcmp(name, "gba_gpu_on_stream");
}

FAKE(cuStreamIsCapturing, (void *stream, int *status))
{
    (void)stream;
    *status = fake_cuda.capturing;
    return 0;
}

FAKE(cuStreamBatchMemOp_v2, (void *stream, unsigned count, gba_cu_op_t *ops, unsigned flags))
{
    (void)stream;
    if (fake_cuda.no_operations)
        return 801;
    fake_cuda.batches++;
    for (unsigned i = 0; i < count; i++) {
        uint64_t *word = (uint64_t *)(uintptr_t)ops[i].word.address;

        if (GBA_CU_OP_WRITE_64 == ops[i].word.operation)
            gba_gpu_store(word, ops[i].word.value, GBA_GPU_ACQ_REL, 0);
        else
            while ((int32_t)((uint32_t)gba_gpu_load(word, GBA_GPU_ACQ_REL) -
                             (uint32_t)ops[i].word.value) < 0)
                sched_yield();
    }
    return (int)flags;
}

FAKE(cuLaunchKernel,
     (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, void *stream, void **args, void **extra))
{
    gba_gpu_member_t *member = args[0];

    (void)stream;
    fake_cuda.launches++;
    if (fake_cuda.capturing)
        fake_cuda.captured = *member;
    else
        (void)gba_gpu_barrier(member, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 0);
    return function != &fake_cuda || 1 != gx * gy * gz * bx * by * bz || 0 != shared ||
           extra != NULL;
}
