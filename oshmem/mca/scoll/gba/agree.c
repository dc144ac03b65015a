/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of a set's members about the path of their barriers: when all members are seen
 * (activation.c), again when the device has failed, and at each renegotiation.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

/*
 * Why the set gets no device; GBA_OK: it may have it. Active sets live until the program ends, and
 * a program may use any number of them, so they leave some groups free (group_reserve). The leader
 * decides this for all members by its proposal. Two leaders at once may both take the last free
 * group.
 */
static gba_status_t device_refused(gba_scoll_module_t *module)
{
    gba_status_t status;
    gba_device_t *device = gba_common_device_get(&status);
    gba_device_info_t info;
    bool refused;

    module->reserve_met = false;
    if (device == NULL || 0 != module->base.rank || module->set == oshmem_group_all)
        return device != NULL ? GBA_OK : status;
    status = gba_device_query(device, &info);
    /* A dead device may report no free groups. The agreement has its reason, and other devices. */
    refused = GBA_OK == status && !info.dead && info.groups_free <= gba_common.own.group_reserve;
    module->reserve_met = refused && 0 != gba_common.own.group_reserve;
    return refused ? GBA_ERR_NO_GROUP : status;
}

gba_status_t gba_scoll_agree_prepare(void *owner, struct gba_common_agreement *a,
                                     bool renegotiation)
{
    gba_scoll_module_t *module = owner;
    struct gba_common_messages exchange;
    gba_status_t status;

    gba_scoll_messages(module, GBA_SCOLL_AGREEMENT, &exchange);
    status = gba_common_exchange_open(&module->base, &exchange);
    /* A team that renegotiates has its software barrier, whose slab is in use. Leaders that are
     * offered a group and do not get it build another software barrier. That one uses messages. */
    if (GBA_OK == status && !renegotiation)
        status = gba_scoll_slab_agree(module);
    if (GBA_OK != status)
        return status;
    a->params.offload_after = 0; /* those barriers precede the team */
    a->attr.device_status = device_refused(module);
    a->attr.remote = gba_scoll_remote_init(module, renegotiation);
    gba_common_progress_open(gba_scoll_progress_name());
    return GBA_OK;
}

void gba_scoll_agree_apply(void *owner)
{
    gba_scoll_module_t *module = owner;

    /* A trial requests no group, so the reason of the set is that of an earlier agreement. */
    if (module->agreements != module->base.tally.agreements)
        module->reserved = module->reserve_met;
    module->agreements = module->base.tally.agreements;
    gba_scoll_slab_settle(module, module->base.path);
    gba_pointer_store_release(&module->base.active,
                              GBA_PATH_FALLBACK == module->base.path ? NULL : module->base.team);
}
