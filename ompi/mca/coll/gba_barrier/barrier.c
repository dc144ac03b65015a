/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier. */
#include "ompi/mca/coll/gba_barrier/module.h"
#include "ompi/mca/coll/gba_barrier/agree.h"
#include "ompi/mca/coll/gba_barrier/queue.h"

#include "gba/base/clock.h"

/* gba_barrier_wait did not return GBA_OK. Not inlined, like barrier_other, because the fast path
 * would save registers for them. */
static int __attribute__((noinline)) barrier_fail(gba_coll_module_t *module, gba_status_t status)
{
    return gba_coll_error(gba_common_barrier_end(&module->base, status));
}

/*
 * With the parameter "sample": measure every n-th barrier, from the arrival of this member to its
 * release. That is its wait for the last member to arrive, and thus how early this member was.
 */
static gba_status_t barrier_sampled(gba_coll_module_t *module)
{
    struct gba_common_waits *waits = &module->base.waits;
    unsigned long long ns;
    gba_status_t status;
    uint64_t began;

    if (++module->unsampled < gba_common.own.sample)
        return gba_barrier_wait(module->base.team, gba_common_progress, NULL);
    module->unsampled = 0;
    began = gba_clock_ns();
    status = gba_barrier_wait(module->base.team, gba_common_progress, NULL);
    ns = gba_clock_ns() - began;
    if (status >= GBA_OK) {
        waits->sampled++;
        waits->ns += ns;
        if (waits->max_ns < ns)
            waits->max_ns = ns;
    }
    return status;
}

/* The fallback: the barrier that was selected before ours. */
static int barrier_fallback(gba_coll_module_t *module)
{
    int rc;

    gba_coll_report_unagreed_begin(module);
    rc = gba_coll_fallback_barrier(module);
    module->base.fallbacks++;
    return OMPI_SUCCESS == rc ? gba_coll_error(gba_common_fallback_end(&module->base)) : rc;
}

/* There is no path yet, the path is the fallback, or the queue or "sample" needs the slow path. */
static int __attribute__((noinline)) barrier_other(gba_coll_module_t *module)
{
    gba_status_t status = GBA_OK;

    if (gba_coll_agree_due(module)) {
        if (!gba_coll_agree_declines(module))
            status = gba_common_agree(&module->base);
        return GBA_OK == status ? gba_coll_barrier(module->comm, &module->super)
                                : gba_coll_error(status);
    }
    /* `path` does not change while the queue is empty. */
    if (module->queueing && gba_coll_ibarrier_queues(module))
        return gba_coll_ibarrier_wait(module);
    if (GBA_PATH_FALLBACK == module->base.path)
        return barrier_fallback(module);
    if (0 == gba_common.own.sample) /* the queue has become empty in this call */
        return gba_coll_ibarrier_wait(module);
    /* A queued barrier is not measured, because its time would include the barriers before it. */
    status = barrier_sampled(module);
    return GBA_OK == status ? OMPI_SUCCESS : barrier_fail(module, status);
}

int gba_coll_barrier(ompi_communicator_t *comm, mca_coll_base_module_t *super)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;
    /* Acquire: pairs with gba_coll_agree_apply. */
    gba_team_t *team = gba_pointer_load_acquire(&module->base.active);
    gba_status_t status;

    (void)comm; /* the module's */
    if (OPAL_UNLIKELY(team == NULL))
        return barrier_other(module);
    status = gba_barrier_wait(team, gba_common_progress, NULL);
    return OPAL_LIKELY(GBA_OK == status) ? OMPI_SUCCESS : barrier_fail(module, status);
}
