/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier. */
#include "ompi/mca/coll/gba_barrier/module.h"
#include "ompi/mca/coll/gba_barrier/agree.h"
#include "ompi/mca/coll/gba_barrier/queue.h"

/* gba_barrier_wait did not return GBA_OK. Not inlined, like barrier_other, because the fast path
 * would save registers for them. */
static int __attribute__((noinline)) barrier_fail(gba_coll_module_t *module, gba_status_t status)
{
    return gba_coll_error(gba_barrier_end(module->base.team, status));
}

/* The fallback: the barrier that was selected before ours. */
static int barrier_fallback(gba_coll_module_t *module)
{
    int rc;

    gba_coll_report_unagreed_begin(module);
    gba_common_stall_begin(&module->base, "fallback", GBA_WHERE_BARRIER,
                           gba_common_number(&module->base) + 1);
    rc = gba_coll_fallback_barrier(module);
    gba_common_stall_end(&module->base, OMPI_SUCCESS == rc);
    module->base.fallbacks++;
    return OMPI_SUCCESS == rc ? gba_coll_error(gba_common_fallback_end(&module->base)) : rc;
}

/* There is no path yet, the path is the fallback, or the queue needs the slow path. */
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
    return gba_coll_ibarrier_wait(module); /* the queue has become empty in this call */
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
    status = gba_barrier_wait(team);
    return OPAL_LIKELY(GBA_OK == status) ? OMPI_SUCCESS : barrier_fail(module, status);
}
