/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync.h"

#include <shmem.h>

/* In lane 1 of the time line, beside the phase that waits. */
static double begin(struct moe_pe *pe, const char *name)
{
    timeline_begin(&pe->timeline, 1, name);
    return pool_now();
}

static void end(struct moe_pe *pe, double begun)
{
    pe->sync_time += pool_now() - begun;
    timeline_end(&pe->timeline, 1);
}

void moe_sync_quiet(struct moe_pe *pe)
{
    const double begun = begin(pe, "quiet");

    shmem_quiet();
    end(pe, begun);
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
    begun = begin(pe, "wait");
    for (int i = 0; i < count; i++)
        shmem_long_wait_until(&flags[i].step, SHMEM_CMP_GE, (long)pe->step);
    end(pe, begun);
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
    begun = begin(pe, "barrier");
    if (pe->sync == MOE_BARRIER) {
        shmem_barrier_all();
    } else {
        pe->meetings++;
        pool_run(&pe->pool, meet_core, pe);
    }
    end(pe, begun);
}

size_t moe_step_phases(const struct moe_pe *pe)
{
    /* Six phases, each after a pause, and the comparison; quiets; waits; barriers. */
    const size_t experts = (size_t)pe->config.shape.experts, slots = (size_t)pe->slots;

    return 13 + (3 + experts) + (2 * slots + experts + 1) + 4;
}
