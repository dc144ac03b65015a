/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier. Which path it takes is agreed in agree.c. */
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
    gba_common_notices_flush();
    if (OPAL_UNLIKELY(gba_team_recover_due(module->team)))
        return gba_coll_recover(comm, module);
    if (OPAL_UNLIKELY(gba_team_meet_due(module->team)))
        return gba_coll_meet(comm, module);
    return OMPI_SUCCESS;
}

/* The device has died. Others may have left this round and be waiting for something else, or be in
 * it and not know yet; so this member tells them, and waits for what they say. */
static int barrier_lost(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_status_t status;

    /* _progress, and not just _test: it tells of a barrier that does not end. */
    while (GBA_ERR_DEAD == (status = gba_barrier_progress(module->team)) ||
           GBA_INPROGRESS == status) {
        gba_coll_notices_tell(module, comm);
        (void)opal_progress();
    }
    return GBA_OK == status ? gba_coll_barrier_after(comm, module) : gba_coll_error(status);
}

/* gba_barrier_wait did not say just GBA_OK. Not inline, nor is barrier_other: their registers would
 * be saved on the fast path. */
static int __attribute__((noinline))
barrier_fail(gba_coll_module_t *module, ompi_communicator_t *comm, gba_status_t status)
{
    if (GBA_MEET == status)
        return gba_coll_meet(comm, module);
    return GBA_ERR_DEAD == status ? barrier_lost(module, comm) : gba_coll_error(status);
}

/*
 * With the parameter "sample": measure every n-th, from the arrival to the release as this member
 * sees them. That is how long it waited for the last one, and so by how much it was early.
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
    if (GBA_OK == status || GBA_MEET == status) {
        waits->sampled++;
        waits->ns += ns;
        if (waits->max_ns < ns)
            waits->max_ns = ns;
    }
    return status;
}

/* The barrier that was there before us. */
static int barrier_saved(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    int rc = gba_coll_saved_barrier(comm, &module->saved);

    module->fallbacks++;
    if (OMPI_SUCCESS == rc && GBA_MEET == gba_team_count(module->team))
        return gba_coll_meet(comm, module);
    return rc;
}

/* No path yet, none of ours, or one that is not free. */
static int __attribute__((noinline))
barrier_other(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_status_t status;

    if (!module->agreed) {
        status = gba_coll_agree(comm, module);
        return GBA_OK == status ? gba_coll_barrier(comm, &module->super) : gba_coll_error(status);
    }
    if (GBA_PATH_CALLER == module->path)
        return barrier_saved(module, comm);
    /* The queue has no place for a measurement: it would be one of what is before it. */
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
