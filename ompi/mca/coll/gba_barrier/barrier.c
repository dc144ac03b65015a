/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier. agree.c chooses its path. */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include "gba/base/clock.h"
#include "opal/runtime/opal_progress.h"

static void barrier_progress(void *arg)
{
    (void)arg;
    (void)opal_progress();
}

int gba_coll_barrier_after(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    gba_common_notifications_flush(module->team);
    if (OPAL_UNLIKELY(gba_team_recover_due(module->team)))
        return gba_coll_recover(comm, module);
    if (OPAL_UNLIKELY(gba_team_renegotiate_due(module->team)))
        return gba_coll_renegotiate(comm, module);
    return OMPI_SUCCESS;
}

/* The device has failed. Other members may have completed this round and be waiting elsewhere, or
 * be in it without knowledge of the failure. So this member notifies all of them, and waits for
 * their notifications and answers. */
static int barrier_lost(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_status_t status;

    /* gba_barrier_progress, not gba_barrier_test: it also reports a stalled barrier. */
    while (GBA_ERR_DEAD == (status = gba_barrier_progress(module->team)) ||
           GBA_INPROGRESS == status) {
        gba_coll_notifications_tell(module, comm);
        (void)opal_progress();
    }
    return GBA_OK == status ? gba_coll_barrier_after(comm, module) : gba_coll_error(status);
}

/* gba_barrier_wait did not return GBA_OK. Not inlined, like barrier_other, because the fast path
 * would save registers for them. */
static int __attribute__((noinline))
barrier_fail(gba_coll_module_t *module, ompi_communicator_t *comm, gba_status_t status)
{
    if (GBA_RENEGOTIATE == status)
        return gba_coll_renegotiate(comm, module);
    if (GBA_NOTIFY == status)
        return gba_coll_barrier_after(comm, module);
    return GBA_ERR_DEAD == status ? barrier_lost(module, comm) : gba_coll_error(status);
}

/*
 * With the parameter "sample": measure every n-th barrier, from the arrival of this member to its
 * release. That is its wait for the last member to arrive, and thus how early this member was.
 */
static gba_status_t barrier_sampled(gba_coll_module_t *module)
{
    struct gba_coll_waits *waits = &module->waits;
    unsigned long long ns;
    gba_status_t status;
    uint64_t began;

    if (++module->unsampled < gba_coll->sample)
        return gba_barrier_wait(module->team, barrier_progress, NULL);
    module->unsampled = 0;
    began = gba_clock_ns();
    status = gba_barrier_wait(module->team, barrier_progress, NULL);
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
static int barrier_fallback(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    int rc = gba_coll_fallback_barrier(comm, &module->fallback);

    module->fallbacks++;
    if (OMPI_SUCCESS == rc && GBA_RENEGOTIATE == gba_team_count(module->team))
        return gba_coll_renegotiate(comm, module);
    return rc;
}

/* There is no path yet, the path is the fallback, or the queue or "sample" needs the slow path. */
static int __attribute__((noinline))
barrier_other(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_status_t status;

    if (!module->agreed) {
        status = gba_coll_agree(comm, module);
        return GBA_OK == status ? gba_coll_barrier(comm, &module->super) : gba_coll_error(status);
    }
    if (GBA_PATH_FALLBACK == module->path)
        return barrier_fallback(module, comm);
    /* A queued barrier is not measured, because its time would include the barriers before it. */
    if (0 == gba_coll->sample || !gba_coll_ibarrier_idle(module))
        return gba_coll_ibarrier_wait(comm, module);
    status = barrier_sampled(module);
    return GBA_OK == status ? OMPI_SUCCESS : barrier_fail(module, comm, status);
}

int gba_coll_barrier(ompi_communicator_t *comm, mca_coll_base_module_t *super)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;
    /* Acquire: pairs with gba_coll_module_activate. */
    gba_team_t *team = gba_pointer_load_acquire(&module->active);
    gba_status_t status;

    if (OPAL_UNLIKELY(NULL == team))
        return barrier_other(module, comm);
    status = gba_barrier_wait(team, barrier_progress, NULL);
    return OPAL_LIKELY(GBA_OK == status) ? OMPI_SUCCESS : barrier_fail(module, comm, status);
}
