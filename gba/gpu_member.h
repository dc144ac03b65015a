/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol of a member on an accelerator: plain C over seven functions. gba/gpu.cuh has them
 * for CUDA, and for CPUs. Who ports it to another accelerator writes these, and includes this file
 * behind them. Every access to memory is in one of them, so caches need not be coherent:
 *
 *   gba_gpu_store(to, value, order, direct)  store 8 bytes past the caches, with RELEASE after all
 *                         that the thread has loaded and stored; direct: to a register of a device
 *   gba_gpu_load(from, order)  load 8 bytes past the caches, with ACQUIRE before all that follows
 *   gba_gpu_add(count, add)  add to a word and return the sum. Nobody else uses its line, but the
 *                         next kernel of the member may run on another core: from memory, to memory
 *   gba_gpu_clean()       return when what the thread has written is in memory
 *   gba_gpu_invalidate()  what the thread loads from now on comes from memory. What it has written
 *                         and not cleaned is written back, not lost
 *   gba_gpu_clock()       ns; and a pause, where polls keep other cores from memory
 *   GBA_GPU_FN            the qualifiers of an inline function
 *
 * Clean and invalidate are empty where releasing and acquiring accesses order all others. Nobody
 * but a device or its driver writes to the 128 bytes around a flag.
 *
 * With GBA_GPU_GRID_SYNC defined, functions GBA_GPU_LANE, GBA_GPU_TOGETHER and GBA_GPU_SHARE make
 * several threads one member, as in gba/gpu.cuh; without it a member is one thread.
 */
#ifndef GBA_GPU_MEMBER_H
#define GBA_GPU_MEMBER_H

#include "gba/gpu.h"

#ifndef GBA_GPU_GRID_SYNC
#define GBA_GPU_LANE(coop)                  0
#define GBA_GPU_TOGETHER(coop)              ((void)(coop))
#define GBA_GPU_SHARE(coop, member, status) ((int)((void)(coop), (void)(member), (status)))
#endif

/* Arrive at the next round. order: RELEASE and ACQ_REL release, the others order nothing. */
GBA_GPU_FN void gba_gpu_arrive(const gba_gpu_member_t *member, gba_gpu_coop_t coop,
                               gba_gpu_order_t order)
{
    uint32_t sequence;

    if (GBA_GPU_ACQ_REL == order || GBA_GPU_RELEASE == order)
        gba_gpu_clean();
    GBA_GPU_TOGETHER(coop);
    if (0 != GBA_GPU_LANE(coop))
        return;
    sequence = gba_gpu_add(member->count, 1);
    gba_gpu_store(member->doorbell, (uint64_t)sequence << 32 | member->member,
                  GBA_GPU_ACQUIRE == order ? GBA_GPU_RELAXED : order, member->direct);
}

/* The arrival of a direct member, or its release, may be lost [SEQ-4]. */
GBA_GPU_FN void gba_gpu_repeat(const gba_gpu_member_t *member, uint32_t sequence)
{
    gba_gpu_store(member->doorbell, (uint64_t)sequence << 32 | member->member, GBA_GPU_RELEASE, 1);
}

/* Poll until the round has ended, the member has failed, or the time is over. The flag of a proxied
 * member is its fate, too, and the round may have ended before the first one that failed. The upper
 * half of a device's flag is the driver's, and the process reads it. */
GBA_GPU_FN int gba_gpu_poll(const gba_gpu_member_t *member, uint32_t sequence,
                            gba_gpu_order_t order, uint64_t limit_ns)
{
    uint64_t began = 0, fate = 0, word;

    for (uint32_t polls = 1;; polls++) {
        word = gba_gpu_load(member->flag, order);
        if ((0 == word >> 32 || member->direct) && (int32_t)((uint32_t)word - sequence) >= 0)
            return GBA_OK;
        if (!member->direct)
            fate = word;
        if (0 != fate >> 32) /* of a direct member stored after the last release, and seen before */
            return !member->direct && (int32_t)(sequence + GBA_GPU_AHEAD - (uint32_t)fate) < 0
                       ? GBA_OK
                       : -(int)(fate >> 32);
        if (0 != polls % 16)
            continue;
        if (member->direct)
            fate = gba_gpu_load(member->fate, GBA_GPU_ACQUIRE);
        if (member->direct && 0 == polls % GBA_GPU_REPEAT)
            gba_gpu_repeat(member, sequence);
        word = gba_gpu_clock();
        began = 0 == began ? word : began;
        if (0 != limit_ns && word - began > limit_ns)
            break;
    }
    /* The arrival remains. A later wait for this round is allowed. */
    if (member->direct)
        gba_gpu_repeat(member, sequence);
    else
        gba_gpu_store(member->doorbell, (uint64_t)sequence << 32 | GBA_GPU_GAVE_UP, GBA_GPU_RELAXED,
                      0);
    return GBA_ERR_TIMEOUT;
}

/*
 * Wait for the round of the last arrival. order: ACQUIRE and ACQ_REL acquire, the others order
 * nothing. limit_ns: 0: none. Returns GBA_OK: all members have arrived; GBA_ERR_TIMEOUT: wait
 * again, but do not arrive again; another error: no further round ends.
 */
GBA_GPU_FN gba_status_t gba_gpu_wait(const gba_gpu_member_t *member, gba_gpu_coop_t coop,
                                     gba_gpu_order_t order, uint64_t limit_ns)
{
    int status = GBA_OK;

    if (0 == GBA_GPU_LANE(coop))
        status = gba_gpu_poll(member, gba_gpu_add(member->count, 0),
                              GBA_GPU_RELEASE == order ? GBA_GPU_RELAXED : order, limit_ns);
    status = GBA_GPU_SHARE(coop, member, status);
    if (GBA_OK == status && (GBA_GPU_ACQ_REL == order || GBA_GPU_ACQUIRE == order))
        gba_gpu_invalidate();
    return (gba_status_t)status;
}

/* Arrive and wait. */
GBA_GPU_FN gba_status_t gba_gpu_barrier(const gba_gpu_member_t *member, gba_gpu_coop_t coop,
                                        gba_gpu_order_t order, uint64_t limit_ns)
{
    gba_gpu_arrive(member, coop, order);
    return gba_gpu_wait(member, coop, order, limit_ns);
}

#endif
