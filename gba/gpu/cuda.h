/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the CUDA driver that this library calls, found at run time. Only their types are
 * here, so that nothing of CUDA is needed to build. */
#ifndef GBA_GPU_CUDA_H
#define GBA_GPU_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "gba/types.h"

typedef int gba_cu_result; /* 0: success */
typedef unsigned long long gba_cu_pointer;

enum {
    GBA_CU_REGISTER_MAPPED = 1 | 2, /* for all contexts (portable) */
    GBA_CU_REGISTER_IOMEMORY = 4,
    GBA_CU_REGISTER_READ_ONLY = 8,
    GBA_CU_OP_WAIT_32 = 1,
    GBA_CU_OP_WRITE_64 = 5,
    GBA_CU_WAIT_GEQ = 0 /* cyclic */
};

/* CUstreamBatchMemOpParams: a union of 48 bytes. */
typedef union gba_cu_op {
    uint64_t size[6];
    struct {
        int operation;
        gba_cu_pointer address;
        uint64_t value;
        unsigned flags;
        gba_cu_pointer alias;
    } word;
} gba_cu_op_t;

/* Name in the table, symbol of the driver, arguments. */
#define GBA_CU_FUNCTIONS(X)                                                                \
    X(init, "cuInit", (unsigned flags))                                                    \
    X(devices, "cuDeviceGetCount", (int *count))                                           \
    X(error, "cuGetErrorName", (gba_cu_result result, const char **name))                  \
    X(current, "cuCtxGetCurrent", (void **context))                                        \
    X(host_register, "cuMemHostRegister_v2", (void *memory, size_t bytes, unsigned flags)) \
    X(host_unregister, "cuMemHostUnregister", (void *memory))                              \
    X(host_pointer, "cuMemHostGetDevicePointer_v2",                                        \
      (gba_cu_pointer * pointer, void *memory, unsigned flags))                            \
    X(alloc, "cuMemAlloc_v2", (gba_cu_pointer * pointer, size_t bytes))                    \
    X(free, "cuMemFree_v2", (gba_cu_pointer pointer))                                      \
    X(copy_in, "cuMemcpyHtoD_v2", (gba_cu_pointer to, const void *from, size_t bytes))     \
    X(module_load, "cuModuleLoadData", (void **module, const void *image))                 \
    X(module_unload, "cuModuleUnload", (void *module))                                     \
    X(function, "cuModuleGetFunction", (void **function, void *module, const char *name))  \
    X(capturing, "cuStreamIsCapturing", (void *stream, int *status))                       \
    X(batch, "cuStreamBatchMemOp_v2",                                                      \
      (void *stream, unsigned count, gba_cu_op_t *ops, unsigned flags))                    \
    X(launch, "cuLaunchKernel",                                                            \
      (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,    \
       unsigned bz, unsigned shared, void *stream, void **args, void **extra))

struct gba_cuda {
#define X(name, symbol, args) gba_cu_result(*name) args;
    GBA_CU_FUNCTIONS(X)
#undef X
};

/* The functions, of which `batch` may be NULL, once gba_cuda_open has returned NULL. */
extern struct gba_cuda gba_cuda;

/* Open the driver, once for a process. Returns NULL, or in one line why there is none.
 * Thread-safe. */
const char *gba_cuda_open(void);

#endif
