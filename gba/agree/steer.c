/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/agree/steer.h"

#include <string.h>

#include "gba/dev/member.h"

gba_status_t gba_steer_list(const gba_team_attr_t *attr, const gba_oob_t *oob, uint32_t root,
                            struct gba_switches *switches)
{
    gba_device_t *list[GBA_CANDIDATES_MAX];

    memset(switches, 0, sizeof *switches);
    if (oob->rank == root)
        switches->count = gba_devices_list(attr, list);
    for (uint32_t i = 0; i < switches->count; i++)
        memcpy(switches->uuid[i], list[i]->uuid, GBA_UUID_SIZE);
    return oob->bcast(oob->ctx, switches, sizeof *switches, root);
}

gba_status_t gba_steer_vote(const gba_oob_t *oob, const gba_device_t *device, bool *all)
{
    int64_t least;
    gba_status_t status = oob->allreduce_min(oob->ctx, NULL != device, &least);

    *all = GBA_OK == status && 0 != least;
    return status;
}

/* Whether rank 0 can propose that switch to the leaders. Not collective. */
static bool has_group(const struct gba_team *team, const gba_team_attr_t *attr,
                      gba_device_t *device, struct gba_tried *tried)
{
    gba_status_t status = gba_proposal_probe(team, attr, device);

    if (GBA_OK != status)
        gba_tried_add(tried, device, status, NULL);
    return GBA_OK == status;
}

/* Find another switch for the leaders, among those of member `root`. */
static gba_status_t leaders_find(const struct gba_team *team, const gba_team_attr_t *attr,
                                 const gba_oob_t *oob, uint32_t root, struct gba_tried *tried,
                                 gba_device_t **device)
{
    struct gba_switches switches;
    gba_device_t *found;
    bool all = false;
    gba_status_t status = gba_steer_list(attr, oob, root, &switches);

    tried->any = true;
    for (uint32_t i = 0; i < switches.count && GBA_OK == status && !all; i++) {
        found = gba_devices_find(attr, switches.uuid[i]);
        if (0 == oob->rank && NULL != found && !has_group(team, attr, found, tried))
            found = NULL;
        status = gba_steer_vote(oob, found, &all);
        if (all)
            *device = found;
    }
    return status;
}

gba_status_t gba_steer_leaders(const struct gba_team *team, const gba_team_attr_t *attr,
                               const gba_oob_t *oob, struct gba_proposal *proposal,
                               struct gba_tried *tried, gba_device_t **device)
{
    int64_t missing; /* the lowest rank without a device at the switch of the proposal */
    gba_status_t status;
    bool here;

    *device = NULL;
    if (GBA_PROPOSAL_LEADERS != proposal->kind || 0 == proposal->several)
        return GBA_OK;
    here = NULL != gba_devices_find(attr, proposal->handle.uuid);
    status = oob->allreduce_min(oob->ctx, here ? INT64_MAX : oob->rank, &missing);
    if (GBA_OK == status && INT64_MAX != missing)
        status = leaders_find(team, attr, oob, (uint32_t)missing, tried, device);
    if (GBA_OK == status && NULL == *device)
        return GBA_OK;
    gba_proposal_withdraw(attr, oob, proposal);
    if (GBA_OK == status)
        proposal->simulated = (*device)->simulated;
    return status;
}
