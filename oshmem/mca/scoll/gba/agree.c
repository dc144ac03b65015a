/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of a set's members about the path of their barriers: when all members are seen
 * (activation.c), again when the device has failed, and at each renegotiation.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

/* The attributes of a team, and the objects that they point to. */
struct agreement {
    gba_params_t params;
    struct gba_scoll_remote remote;
    char name[64];
    gba_team_attr_t attr;
    gba_oob_t oob;
};

/*
 * The device for this set, or NULL with the reason in *status. Active sets live until the program
 * ends, and a program may use any number of them, so they leave some groups free (group_reserve).
 * The leader decides this for all members by its proposal. Two leaders at once may both take the
 * last free group.
 */
static gba_device_t *set_device(gba_scoll_module_t *module, gba_status_t *status)
{
    gba_device_t *device =
        gba_common_device_get(&gba_scoll->device, &gba_scoll->lock, gba_scoll->params.device_path,
                              gba_scoll->device_asked, status);
    gba_device_info_t info;

    if (NULL == device || 0 != module->rank || module->set == oshmem_group_all)
        return device;
    *status = gba_device_query(device, &info);
    module->reserved = GBA_OK == *status && info.groups_free <= gba_scoll->group_reserve;
    if (module->reserved)
        *status = GBA_ERR_NO_GROUP;
    return GBA_OK == *status ? device : NULL;
}

static void agree_begin(struct agreement *a, gba_scoll_module_t *module, bool renegotiation)
{
    memset(a, 0, sizeof *a);
    gba_scoll_name_set(module->set, a->name, sizeof a->name);
    a->params = gba_scoll->params;
    a->params.offload_after = 0; /* those barriers precede the team */
    a->attr.params = &a->params;
    a->attr.name = a->name;
    a->attr.device = set_device(module, &a->attr.device_status);
    a->attr.remote = gba_scoll_remote_init(&a->remote, module, renegotiation);
    a->attr.name_member = gba_scoll_name_by_module;
    a->attr.name_ctx = module;
    a->attr.oversubscribed = gba_compat_oversubscribed();
    if (NULL != a->attr.device &&
        OMPI_SUCCESS != gba_common_notifications_start(&gba_scoll->lock, oshmem_comm_world)) {
        a->attr.device = NULL;
        a->attr.device_status = GBA_ERR_NOMEM;
    }
    if (0 == module->rank)
        a->attr.id = gba_common_notifications_id(GBA_COMMON_IDS_SCOLL);
    gba_scoll_oob_init(&a->oob, module);
}

/* Apply the team's agreement to the module. Failure notifications may arrive from now on, also at a
 * member without a device: see agree_follow of coll. Returns GBA_OK or GBA_ERR_NOMEM. */
static gba_status_t agree_follow(gba_scoll_module_t *module, gba_team_t *team)
{
    gba_scoll_row_settle(module, gba_team_path(team));
    opal_mutex_lock(&gba_scoll->lock); /* another thread may read the counters */
    module->team = team;
    gba_common_tally_note(&module->tally, team, module->path);
    module->path = gba_team_path(team);
    opal_mutex_unlock(&gba_scoll->lock);
    module->active = GBA_PATH_FALLBACK == module->path ? NULL : team;
    module->agreed = true;
    if (gba_team_path(team) <= GBA_PATH_SIM &&
        OMPI_SUCCESS != gba_common_notifications_start(&gba_scoll->lock, oshmem_comm_world))
        return GBA_ERR_NOMEM;
    return GBA_OK;
}

gba_status_t gba_scoll_agree(gba_scoll_module_t *module)
{
    gba_status_t status = gba_scoll_row_agree(module);
    struct agreement a;
    gba_team_t *team;

    if (GBA_OK != status)
        return status;
    agree_begin(&a, module, false);
    status = gba_team_create(&a.attr, &a.oob, &team);
    if (GBA_OK != status)
        return status;
    status = agree_follow(module, team);
    gba_scoll_report_path(module, gba_team_reason(team), gba_team_culprit(team),
                          gba_team_why(team));
    return status;
}

/* The end of a later agreement of the same team. reported: the path has been reported to the user.
 */
static gba_status_t agree_end(gba_scoll_module_t *module, gba_status_t status, bool reported)
{
    if (GBA_OK != status) {
        module->active = NULL;
        return status;
    }
    status = agree_follow(module, module->team);
    if (!reported)
        gba_scoll_report_path(module, gba_team_reason(module->team), gba_team_culprit(module->team),
                              gba_team_why(module->team));
    return status;
}

gba_status_t gba_scoll_recover(gba_scoll_module_t *module)
{
    gba_status_t status = gba_scoll_row_agree(module);
    struct agreement a;

    if (GBA_OK == status) {
        agree_begin(&a, module, false);
        status = gba_team_recover(module->team, &a.attr, &a.oob);
    }
    return agree_end(module, status, false);
}

gba_status_t gba_scoll_renegotiate(gba_scoll_module_t *module)
{
    gba_status_t before = gba_team_reason(module->team), status;
    struct agreement a;

    /* The team has its software barrier, whose slab is in use. Leaders that are offered a group and
     * do not get it build another software barrier. That one uses messages. */
    agree_begin(&a, module, true);
    status = gba_team_renegotiate(module->team, &a.attr, &a.oob);
    return agree_end(module, status, before == gba_team_reason(module->team));
}
