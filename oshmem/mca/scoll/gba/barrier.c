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
static int barrier_fallback(gba_scoll_module_t *module, oshmem_group_t *set, long *pSync, int alg)
{
    int rc;

    PREVIOUS_SCOLL_FN(module, barrier, set, pSync, alg);
    return rc;
}

gba_status_t gba_scoll_barrier_again(void *owner)
{
    gba_scoll_module_t *module = owner;
    int rc = barrier_fallback(module, module->set, module->pSync, module->alg);

    return OSHMEM_SUCCESS == rc ? GBA_OK : GBA_ERR_OOB;
}

/* Keep the arguments of the current barrier for gba_scoll_barrier_again. */
static void barrier_note(gba_scoll_module_t *module, long *pSync, int alg)
{
    module->pSync = pSync;
    module->alg = alg;
}

static int barrier_previous(gba_scoll_module_t *module, oshmem_group_t *set, long *pSync, int alg)
{
    gba_status_t status = GBA_OK;
    int rc;

    gba_common_stall_begin(&module->base, "fallback", GBA_WHERE_BARRIER,
                           gba_common_number(&module->base) + 1);
    module->base.fallbacks++;
    rc = barrier_fallback(module, set, pSync, alg);
    gba_common_stall_end(&module->base, OSHMEM_SUCCESS == rc);
    barrier_note(module, pSync, alg);
    if (OSHMEM_SUCCESS == rc)
        status = gba_common_fallback_end(&module->base);
    return GBA_OK == status ? rc : barrier_error(status);
}

/* There is no agreement yet: take the fallback barrier, unless the agreement is due in this one. */
static int barrier_first(gba_scoll_module_t *module, oshmem_group_t *set, long *pSync, int alg)
{
    gba_status_t status;
    int rc;

    if (module->agree_at == module->barriers + 1) {
        status = gba_common_agree(&module->base);
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

/* Not inlined, because the fast path would save registers for them. */
static int __attribute__((noinline))
barrier_other(gba_scoll_module_t *module, oshmem_group_t *set, long *pSync, int alg)
{
    return module->base.agreed ? barrier_previous(module, set, pSync, alg)
                               : barrier_first(module, set, pSync, alg);
}

static int __attribute__((noinline))
barrier_fail(gba_scoll_module_t *module, gba_status_t status, long *pSync, int alg)
{
    barrier_note(module, pSync, alg);
    status = gba_barrier_end(module->base.team, status);
    return GBA_OK == status ? OSHMEM_SUCCESS : barrier_error(status);
}

int gba_scoll_barrier(oshmem_group_t *set, long *pSync, int alg)
{
    gba_scoll_module_t *module = (gba_scoll_module_t *)set->g_scoll.scoll_barrier_module;
    gba_team_t *team;
    gba_status_t status;

    if (OPAL_UNLIKELY(gba_common.own.quiet))
        MCA_SPML_CALL(quiet(oshmem_ctx_default));
    team = gba_pointer_load_acquire(&module->base.active);
    if (OPAL_UNLIKELY(team == NULL))
        return barrier_other(module, set, pSync, alg);
    status = gba_barrier_wait(team);
    return OPAL_LIKELY(GBA_OK == status) ? OSHMEM_SUCCESS
                                         : barrier_fail(module, status, pSync, alg);
}
