/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers from a kernel. Nothing but inline functions, for CUDA, and, with GBA_GPU_ON_CPU defined,
 * for C11 and C++ on a CPU, where a thread stands for a thread of a GPU. gba_gpu(7) has the rules,
 * what a barrier orders in memory, and an example. */
#ifndef GBA_GPU_CUH
#define GBA_GPU_CUH

#include "gba/gpu.h"

#if defined(GBA_GPU_ON_CPU)
#include <sched.h>
#include <time.h>

#define GBA_GPU_FN static inline

GBA_GPU_FN void gba_gpu_store(uint64_t *to, uint64_t value, gba_gpu_order_t order, uint32_t direct)
{
    (void)direct;
    __atomic_store_n(to, value, GBA_GPU_RELAXED == order ? __ATOMIC_RELAXED : __ATOMIC_RELEASE);
}

GBA_GPU_FN uint64_t gba_gpu_load(const uint64_t *from, gba_gpu_order_t order)
{
    return __atomic_load_n(from, GBA_GPU_RELAXED == order ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE);
}

GBA_GPU_FN uint64_t gba_gpu_clock(void)
{
    struct timespec now;

    sched_yield(); /* the threads of a GPU do not wait for a processor */
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#else
#include <cooperative_groups.h>

#define GBA_GPU_FN          static __device__ __forceinline__
#define GBA_GPU_GRID_SYNC() cooperative_groups::this_grid().sync()

/* To a device a fence and a store that the GPU neither splits nor merges (st.mmio, sm_70). */
GBA_GPU_FN void gba_gpu_store(uint64_t *to, uint64_t value, gba_gpu_order_t order, uint32_t direct)
{
    if (direct) {
        if (GBA_GPU_RELAXED != order)
            asm volatile("fence.acq_rel.sys;" ::: "memory");
        asm volatile("st.mmio.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
    } else if (GBA_GPU_RELAXED == order) {
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
    } else {
        asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
    }
}

GBA_GPU_FN uint64_t gba_gpu_load(const uint64_t *from, gba_gpu_order_t order)
{
    uint64_t value;

    if (GBA_GPU_RELAXED == order)
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    else
        asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

GBA_GPU_FN uint64_t gba_gpu_clock(void)
{
    uint64_t now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
#endif

/* The caches of a GPU, and those of its host, are coherent for accesses at system scope. */
GBA_GPU_FN void gba_gpu_clean(void)
{
}

GBA_GPU_FN void gba_gpu_invalidate(void)
{
}

GBA_GPU_FN uint32_t gba_gpu_add(uint64_t *count, uint32_t add)
{
    const uint32_t sum = (uint32_t)*count + add;

    if (0 != add)
        *count = sum;
    return sum;
}

/* A test with several threads for a warp, block or grid defines this, and the names of CUDA that
 * the functions below use. */
#ifdef GBA_GPU_GRID_SYNC
/* The rank of this thread among the cooperating ones; only 0 is distinguished. */
GBA_GPU_FN uint32_t GBA_GPU_LANE(gba_gpu_coop_t coop)
{
    const uint32_t rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);

    if (GBA_GPU_THREAD == coop)
        return 0;
    if (GBA_GPU_WARP == coop)
        return rank % 32u;
    return GBA_GPU_BLOCK == coop ? rank : rank + blockIdx.x + blockIdx.y + blockIdx.z;
}

GBA_GPU_FN void GBA_GPU_TOGETHER(gba_gpu_coop_t coop)
{
    if (GBA_GPU_WARP == coop)
        __syncwarp();
    else if (GBA_GPU_BLOCK == coop)
        __syncthreads();
    else if (GBA_GPU_GRID == coop)
        GBA_GPU_GRID_SYNC();
}

/* Pass the status of thread 0 to all. A status other than GBA_OK may be followed by a wait without
 * an arrival, so the threads leave together then: nobody overwrites what another one has not read.
 * After GBA_OK the next arrival does that. */
GBA_GPU_FN int GBA_GPU_SHARE(gba_gpu_coop_t coop, const gba_gpu_member_t *member, int status)
{
    volatile uint64_t *last = &member->count[1];
    int all = 0;

    if (GBA_GPU_WARP == coop) {
        status = __shfl_sync(0xFFFFFFFFu, status, 0);
        /* A shuffle orders no memory: what the other lanes load next belongs behind thread 0's
         * acquiring load, as __syncthreads has it for a block. */
        __syncwarp();
    } else if (GBA_GPU_BLOCK == coop && 0 == __syncthreads_or(status)) {
        status = GBA_OK;
    } else if (GBA_GPU_BLOCK == coop) { /* bit by bit, without shared memory */
        for (int bit = 0; bit < 8; bit++)
            all |= __syncthreads_or(-status >> bit & 1) ? 1 << bit : 0;
        status = -all;
    } else if (GBA_GPU_GRID == coop) {
        if (0 == GBA_GPU_LANE(coop))
            *last = (uint64_t)(int64_t)status;
        GBA_GPU_GRID_SYNC();
        status = (int)*last;
        if (GBA_OK != status)
            GBA_GPU_GRID_SYNC();
    }
    return status;
}
#endif

#include "gba/gpu_member.h"

#endif
