/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

#include <shmem.h>
#include <time.h>

double moe_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void moe_sync_quiet(struct moe_pe *pe)
{
    const double begin = moe_now();

    shmem_quiet();
    pe->sync_time += moe_now() - begin;
}

void moe_sync_raise(struct moe_pe *pe, struct moe_flag *flag, int to)
{
    const double begin = moe_now();

    /* Atomic: the standard promises no other store to a waiter. */
    if (pe->sync == MOE_FLAGS)
        shmem_long_atomic_set(&flag->step, (long)pe->step, to);
    pe->sync_time += moe_now() - begin;
}

void moe_sync_await(struct moe_pe *pe, struct moe_flag *flags, int count)
{
    const double begin = moe_now();

    for (int i = 0; i < count && pe->sync == MOE_FLAGS; i++)
        shmem_long_wait_until(&flags[i].step, SHMEM_CMP_GE, (long)pe->step);
    pe->sync_time += moe_now() - begin;
}

void moe_sync_meet(struct moe_pe *pe)
{
    const double begin = moe_now();

    if (pe->sync == MOE_BARRIER)
        shmem_barrier_all();
    pe->sync_time += moe_now() - begin;
}
