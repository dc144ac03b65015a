/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem_barrier, shmem_sync, and the barriers inside shmem_malloc, shmem_free, init and finalize:
 * Open MPI has one function for all of them. Once all members have been heard of (invite.c) they
 * agree which path they take (agree.c).
 *
 * Puts: a barrier, but not a sync, completes them first. Open MPI does it for both before it calls
 * us, where it was configured in the usual way (--enable-oshmem-compat). Otherwise it leaves it to
 * us and does not say which of the two it is, so we do it for both: the parameter `quiet`.
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

/* The device has died. Others may have left this round and be waiting for something else, or be in
 * it and not know yet; so this member tells them, and waits for what they say. */
static gba_status_t barrier_lost(gba_scoll_module_t *module)
{
    gba_status_t status;

    /* _progress, and not just _test: it tells of a barrier that does not end. */
    while (GBA_ERR_DEAD == (status = gba_barrier_progress(module->team)) ||
           GBA_INPROGRESS == status) {
        gba_common_notices_tell(module->team, &module->round_told, module->size, barrier_peer,
                                module->set);
        (void)opal_progress();
    }
    gba_common_notices_flush();
    if (GBA_OK == status && gba_team_recover_due(module->team))
        return gba_scoll_recover(module);
    if (GBA_OK == status && gba_team_meet_due(module->team))
        return gba_scoll_meet(module);
    return status;
}

/* OpenSHMEM's calls return nothing, and Open MPI would let this PE out of the barrier: it has to
 * end the job. */
static int barrier_error(gba_status_t status)
{
    opal_output(gba_scoll->output, GBA_SCOLL_LABEL ": a barrier failed: %s",
                gba_status_text(status));
    (void)oshmem_shmem_abort(-1);
    return GBA_ERR_NOMEM == status ? OSHMEM_ERR_OUT_OF_RESOURCE : OSHMEM_ERROR;
}

/* The barrier that was there before us. It finds its own module where it had put it. */
static int barrier_previous(gba_scoll_module_t *module, oshmem_group_t *set, long *pSync, int alg)
{
    gba_status_t status = GBA_OK;
    int rc;

    module->fallbacks++;
    PREVIOUS_SCOLL_FN(module, barrier, set, pSync, alg);
    if (OSHMEM_SUCCESS == rc && GBA_MEET == gba_team_count(module->team))
        status = gba_scoll_meet(module);
    return GBA_OK == status ? rc : barrier_error(status);
}

/* No agreement yet: the previous barrier, unless this is the one that begins with agreeing. */
static int barrier_first(gba_scoll_module_t *module, oshmem_group_t *set, long *pSync, int alg)
{
    gba_status_t status;
    int rc;

    if (module->agree_at == module->barriers + 1) {
        status = gba_scoll_agree(module);
        return GBA_OK == status ? gba_scoll_barrier(set, pSync, alg) : barrier_error(status);
    }
    status = gba_scoll_invite_before(module);
    if (GBA_OK != status)
        return barrier_error(status);
    rc = barrier_previous(module, set, pSync, alg);
    if (OSHMEM_SUCCESS != rc)
        return rc;
    status = gba_scoll_invite_after(module);
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
    else if (GBA_MEET == status)
        status = gba_scoll_meet(module);
    return GBA_OK == status ? OSHMEM_SUCCESS : barrier_error(status);
}
