/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which path the barriers of a set take: agreed by all members together once they have heard of
 * each other (invite.c), and again when the device was lost, or when the members meet.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

/* What a team is made from, and what that points to. */
struct agreement {
    gba_params_t params;
    struct gba_scoll_remote remote;
    char name[64];
    gba_team_attr_t attr;
    gba_oob_t oob;
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

static void agree_begin(struct agreement *a, gba_scoll_module_t *module, bool meeting)
{
    memset(a, 0, sizeof *a);
    gba_scoll_name_set(module->set, a->name, sizeof a->name);
    a->params = gba_scoll->params;
    a->params.offload_after = 0; /* a set does those barriers before it has a team */
    a->attr.params = &a->params;
    a->attr.name = a->name;
    a->attr.device = set_device(module, &a->attr.device_status);
    a->attr.remote = gba_scoll_remote_init(&a->remote, module, meeting);
    a->attr.name_member = gba_scoll_name_by_module;
    a->attr.name_ctx = module;
    a->attr.crowded = gba_compat_crowded();
    if (NULL != a->attr.device &&
        OMPI_SUCCESS != gba_common_notices_start(&gba_scoll->lock, oshmem_comm_world)) {
        a->attr.device = NULL;
        a->attr.device_status = GBA_ERR_NOMEM;
    }
    if (0 == module->rank)
        a->attr.id = gba_common_notices_id(GBA_COMMON_IDS_SCOLL);
    gba_scoll_oob_init(&a->oob, module);
}

/* The module goes on with what its team has agreed. Notices can come from now on, also to a member
 * that has no device: see agree_follow of coll. Returns GBA_OK or GBA_ERR_NOMEM. */
static gba_status_t agree_follow(gba_scoll_module_t *module, gba_team_t *team)
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
    gba_scoll_report_path(module, gba_team_reason(team), gba_team_why(team));
    return status;
}

/* The end of another agreement of the same team. told: the user knows of this path. */
static gba_status_t agree_end(gba_scoll_module_t *module, gba_status_t status, bool told)
{
    if (GBA_OK != status) {
        module->active = NULL;
        return status;
    }
    status = agree_follow(module, module->team);
    if (!told)
        gba_scoll_report_path(module, gba_team_reason(module->team), gba_team_why(module->team));
    return status;
}

gba_status_t gba_scoll_recover(gba_scoll_module_t *module)
{
    gba_status_t status = gba_scoll_row_agree(module);
    struct agreement a;
    bool again;

    if (GBA_OK == status) {
        agree_begin(&a, module, false);
        status = gba_team_recover(module->team, &a.attr, &a.oob, &again);
    }
    return agree_end(module, status, false);
}

gba_status_t gba_scoll_meet(gba_scoll_module_t *module)
{
    gba_status_t before = gba_team_reason(module->team), status;
    struct agreement a;

    /* The team has its software barrier, whose row is in use. Leaders who are offered a group, and
     * then do not get it, make another one; that goes on by messages. */
    agree_begin(&a, module, true);
    status = gba_team_revisit(module->team, &a.attr, &a.oob);
    return agree_end(module, status, before == gba_team_reason(module->team));
}
