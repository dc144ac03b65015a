/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem_barrier, shmem_sync, and the barriers inside shmem_malloc, shmem_free, init and finalize:
 * Open MPI has one function for all of them. Once all members have been heard of (invite.c) they
 * agree which path this and all later barriers of the set take.
 *
 * Puts: a barrier, but not a sync, completes them first. Open MPI does it for both before it calls
 * us, where it was configured in the usual way (--enable-oshmem-compat). Otherwise it leaves it to
 * us and does not say which of the two it is, so we do it for both: the parameter `quiet`.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

#include "opal/runtime/opal_progress.h"

static void barrier_progress(void *arg)
{
    (void)arg;
    (void)opal_progress();
}

/* What the attributes of a team point to. */
struct attr_storage {
    gba_params_t params;
    struct gba_scoll_remote remote;
    char name[64];
};

/*
 * The device for this set, or NULL and the reason. Active sets live until the program ends, and a
 * program may use any number of them: they leave some groups to others. The leader decides that for
 * all, by what it offers; two leaders at once may both take the last one.
 */
static gba_device_t *set_device(gba_scoll_module_t *module, gba_status_t *status)
{
    gba_device_t *device = gba_common_device_get(&gba_scoll->device, &gba_scoll->lock,
                                                 gba_scoll->params.device_path, status);
    gba_device_info_t info;

    if (NULL == device || 0 != module->rank || module->set == oshmem_group_all)
        return device;
    *status = gba_device_query(device, &info);
    module->reserved = GBA_OK == *status && info.groups_free <= gba_scoll->group_reserve;
    if (module->reserved)
        *status = GBA_ERR_NO_GROUP;
    return GBA_OK == *status ? device : NULL;
}

static void attr_init(gba_team_attr_t *attr, struct attr_storage *storage,
                      gba_scoll_module_t *module)
{
    memset(attr, 0, sizeof *attr);
    gba_scoll_remote_init(&storage->remote, module);
    gba_scoll_name_set(module->set, storage->name, sizeof storage->name);
    attr->name = storage->name;
    storage->params = gba_scoll->params;
    storage->params.offload_after = 0; /* a set does those barriers before it has a team */
    attr->params = &storage->params;
    attr->device = set_device(module, &attr->device_status);
    attr->remote = &storage->remote.super;
    attr->name_member = gba_scoll_name_by_module;
    attr->name_ctx = module;
    attr->crowded = gba_compat_crowded();
    if (NULL != attr->device &&
        OMPI_SUCCESS != gba_common_notices_start(&gba_scoll->lock, oshmem_comm_world)) {
        attr->device = NULL;
        attr->device_status = GBA_ERR_NOMEM;
    }
    if (0 == module->rank)
        attr->id = gba_common_notices_id(GBA_COMMON_IDS_SCOLL);
}

/* The module goes on with what its team has agreed. Notices can come from now on, also to a member
 * that has no device: see barrier_follow of coll. Returns GBA_OK or GBA_ERR_NOMEM. */
static gba_status_t barrier_follow(gba_scoll_module_t *module, gba_team_t *team)
{
    gba_scoll_row_settle(module, gba_team_path(team));
    opal_mutex_lock(&gba_scoll->lock); /* for a thread that reads the counters */
    module->team = team;
    gba_common_tally_note(&module->tally, team, module->path);
    module->path = gba_team_path(team);
    opal_mutex_unlock(&gba_scoll->lock);
    module->active = GBA_PATH_CALLER == module->path ? NULL : team;
    module->agreed = true;
    if (gba_team_path(team) <= GBA_PATH_SIM &&
        OMPI_SUCCESS != gba_common_notices_start(&gba_scoll->lock, oshmem_comm_world))
        return GBA_ERR_NOMEM;
    return GBA_OK;
}

static gba_status_t barrier_agree(gba_scoll_module_t *module)
{
    struct attr_storage storage;
    gba_team_attr_t attr;
    gba_team_t *team;
    gba_oob_t oob;
    gba_status_t status;

    status = gba_scoll_row_agree(module);
    if (GBA_OK != status)
        return status;
    attr_init(&attr, &storage, module);
    gba_scoll_oob_init(&oob, module);
    status = gba_team_create(&attr, &oob, &team);
    if (GBA_OK != status)
        return status;
    status = barrier_follow(module, team);
    gba_scoll_report_path(module, gba_team_reason(team), gba_team_why(team));
    return status;
}

/* The group is lost, and all members are here: the path from now on. */
static gba_status_t barrier_recover(gba_scoll_module_t *module)
{
    struct attr_storage storage;
    gba_team_attr_t attr;
    gba_oob_t oob;
    gba_status_t status;
    bool again;

    status = gba_scoll_row_agree(module);
    if (GBA_OK == status) {
        attr_init(&attr, &storage, module);
        gba_scoll_oob_init(&oob, module);
        status = gba_team_recover(module->team, &attr, &oob, &again);
    }
    if (GBA_OK != status) {
        module->active = NULL;
        return status;
    }
    status = barrier_follow(module, module->team);
    gba_scoll_report_path(module, gba_team_reason(module->team), gba_team_why(module->team));
    return status;
}

/* At the end of a barrier: the members meet, perhaps there is a barrier group for them now. */
static gba_status_t barrier_meet(gba_scoll_module_t *module)
{
    gba_status_t before = gba_team_reason(module->team), status;
    struct attr_storage storage;
    gba_team_attr_t attr;
    gba_oob_t oob;

    attr_init(&attr, &storage, module);
    /* The team has its software barrier, whose row is in use. Leaders who are offered a group, and
     * then do not get it, make another one; that goes on by messages. */
    attr.remote = &storage.remote.pml;
    gba_scoll_oob_init(&oob, module);
    status = gba_team_revisit(module->team, &attr, &oob);
    if (GBA_OK != status) {
        module->active = NULL;
        return status;
    }
    status = barrier_follow(module, module->team);
    if (before != gba_team_reason(module->team))
        gba_scoll_report_path(module, gba_team_reason(module->team), gba_team_why(module->team));
    return status;
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
        return barrier_recover(module);
    if (GBA_OK == status && gba_team_meet_due(module->team))
        return barrier_meet(module);
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
        status = barrier_meet(module);
    return GBA_OK == status ? rc : barrier_error(status);
}

/* No agreement yet: the previous barrier, unless this is the one that begins with agreeing. */
static int barrier_first(gba_scoll_module_t *module, oshmem_group_t *set, long *pSync, int alg)
{
    gba_status_t status;
    int rc;

    if (module->agree_at == module->barriers + 1) {
        status = barrier_agree(module);
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
        status = barrier_meet(module);
    return GBA_OK == status ? OSHMEM_SUCCESS : barrier_error(status);
}
