/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

#include <shmem.h>

void moe_sync_quiet(struct moe_pe *pe)
{
    const double begun = pool_now();

    shmem_quiet();
    pe->sync_time += pool_now() - begun;
}

void moe_sync_raise(struct moe_pe *pe, struct moe_flag *flag, int to)
{
    const double begun = pool_now();

    /* Atomic: the standard promises no other store to a waiter. */
    if (pe->sync == MOE_FLAGS)
        shmem_long_atomic_set(&flag->step, (long)pe->step, to);
    pe->sync_time += pool_now() - begun;
}

void moe_sync_await(struct moe_pe *pe, struct moe_flag *flags, int count)
{
    double begun;

    if (pe->sync != MOE_FLAGS)
        return;
    begun = pool_now();
    for (int i = 0; i < count; i++)
        shmem_long_wait_until(&flags[i].step, SHMEM_CMP_GE, (long)pe->step);
    pe->sync_time += pool_now() - begun;
}

/* A flag only increases, so a PE that is one meeting ahead is no fault. */
static void meet_core(void *arg, int core)
{
    struct moe_pe *pe = arg;
    const int pes = pe->config.shape.pes, cores = pe->config.cores;

    for (int p = core; p < pes; p += cores)
        shmem_long_atomic_set(&pe->shared.core_flag[pe->me].step, pe->meetings, p);
    for (int p = core; p < pes; p += cores)
        pool_await(&pe->pool, core, &pe->shared.core_flag[p].step, pe->meetings, p, "the signal");
}

void moe_sync_meet(struct moe_pe *pe)
{
    double begun;

    if (pe->sync == MOE_FLAGS)
        return;
    begun = pool_now();
    if (pe->sync == MOE_BARRIER) {
        shmem_barrier_all();
    } else {
        pe->meetings++;
        pool_run(&pe->pool, meet_core, pe);
    }
    pe->sync_time += pool_now() - begun;
}
