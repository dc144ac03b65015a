/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem_barrier, shmem_sync, and the barriers inside shmem_malloc, shmem_free, init and finalize.
 * Open MPI has one function for all of them. When all members are seen (activation.c) they agree on
 * a path (agree.c).
 *
 * Puts: a barrier completes them first; a sync does not. Open MPI as usually configured
 * (--enable-oshmem-compat) completes them for both before it calls us. Otherwise it leaves this to
 * the component, and does not distinguish the two, so we do it for both: the parameter `quiet`.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include "opal/runtime/opal_progress.h"

static void barrier_progress(void *arg)
{
    (void)arg;
    (void)opal_progress();
}

static int barrier_peer(const void *set, uint32_t rank)
{
    return (int)((const oshmem_group_t *)set)->proc_vpids[rank];
}

/* The barrier is complete, and the device has failed. */
static gba_status_t barrier_after(gba_scoll_module_t *module)
{
    gba_common_notifications_flush(module->team);
    if (gba_team_recover_due(module->team))
        return gba_scoll_recover(module);
    return gba_team_renegotiate_due(module->team) ? gba_scoll_renegotiate(module) : GBA_OK;
}

/* The device has failed. Other members may have completed this round and be waiting elsewhere, or
 * be in it without knowledge of the failure. So this member notifies all of them, and waits for
 * their notifications and answers. */
static gba_status_t barrier_lost(gba_scoll_module_t *module)
{
    gba_status_t status;

    /* gba_barrier_progress, not gba_barrier_test: it also reports a stalled barrier. */
    while (GBA_ERR_DEAD == (status = gba_barrier_progress(module->team)) ||
           GBA_INPROGRESS == status) {
        gba_common_notifications_tell(module->team, &module->round_reported, module->size,
                                      barrier_peer, module->set);
        (void)opal_progress();
    }
    return GBA_OK == status ? barrier_after(module) : status;
}

/* End the job, because OpenSHMEM's calls return nothing, and Open MPI would let this PE leave a
 * barrier that is not complete. */
static int barrier_error(gba_status_t status)
{
    gba_common_alert("a barrier failed: %s", gba_status_text(status));
    (void)oshmem_shmem_abort(-1);
    return GBA_ERR_NOMEM == status ? OSHMEM_ERR_OUT_OF_RESOURCE : OSHMEM_ERROR;
}

/* The fallback: the barrier that was selected before ours. It finds its module where it has stored
 * it. */
static int barrier_previous(gba_scoll_module_t *module, oshmem_group_t *set, long *pSync, int alg)
{
    gba_status_t status = GBA_OK;
    int rc;

    module->fallbacks++;
    PREVIOUS_SCOLL_FN(module, barrier, set, pSync, alg);
    if (OSHMEM_SUCCESS == rc && GBA_RENEGOTIATE == gba_team_count(module->team))
        status = gba_scoll_renegotiate(module);
    return GBA_OK == status ? rc : barrier_error(status);
}

/* There is no agreement yet: take the fallback barrier, unless the agreement is due in this one. */
static int barrier_first(gba_scoll_module_t *module, oshmem_group_t *set, long *pSync, int alg)
{
    gba_status_t status;
    int rc;

    if (module->agree_at == module->barriers + 1) {
        status = gba_scoll_agree(module);
        return GBA_OK == status ? gba_scoll_barrier(set, pSync, alg) : barrier_error(status);
    }
    status = gba_scoll_activation_before(module);
    if (GBA_OK != status)
        return barrier_error(status);
    rc = barrier_previous(module, set, pSync, alg);
    if (OSHMEM_SUCCESS != rc)
        return rc;
    status = gba_scoll_activation_after(module);
    return GBA_OK == status ? OSHMEM_SUCCESS : barrier_error(status);
}

int gba_scoll_barrier(oshmem_group_t *set, long *pSync, int alg)
{
    gba_scoll_module_t *module = (gba_scoll_module_t *)set->g_scoll.scoll_barrier_module;
    gba_status_t status;

    if (OPAL_UNLIKELY(gba_scoll->quiet))
        MCA_SPML_CALL(quiet(oshmem_ctx_default));
    if (OPAL_UNLIKELY(NULL == module->active))
        return module->agreed ? barrier_previous(module, set, pSync, alg)
                              : barrier_first(module, set, pSync, alg);
    status = gba_barrier_wait(module->active, barrier_progress, NULL);
    if (OPAL_LIKELY(GBA_OK == status))
        return OSHMEM_SUCCESS;
    if (GBA_ERR_DEAD == status)
        status = barrier_lost(module);
    else if (GBA_RENEGOTIATE == status)
        status = gba_scoll_renegotiate(module);
    else if (GBA_NOTIFY == status)
        status = barrier_after(module);
    return GBA_OK == status ? OSHMEM_SUCCESS : barrier_error(status);
}
