/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path that a team would take. The decisions are those of plan.c, in the order of agree.c, on
 * made-up information of the members. Nothing is exchanged, and no group is requested.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/dev/member.h"
#include "gba/agree/devices.h"
#include "gba/agree/plan.h"

#define MEMBERS_MOST (UINT32_C(1) << 24)

struct prediction {
    const gba_team_attr_t *attr;
    struct gba_member_info *members; /* [size] */
    uint32_t size, hosts, on_host;
    bool one_device;   /* all hosts reach the same device */
    gba_status_t no;   /* why there is no group */
    uint32_t culprit;  /* the member that causes it */
    gba_path_t path;   /* with a group */
    char instead[192]; /* the description of the path */
    struct gba_tried tried;
};

/* Members of host h have the information of this process, but another host, and another simulated
 * device. */
static void members_fill(struct prediction *p)
{
    gba_member_info_fill(&p->members[0], p->attr, true);
    for (uint32_t rank = 1; rank < p->size; rank++) {
        struct gba_member_info *member = &p->members[rank];
        const uint32_t host = rank / p->on_host;

        *member = p->members[0];
        member->host.word[0] ^= host;
        if (!p->one_device)
            for (unsigned i = 0; i < sizeof host; i++)
                member->port.uuid[i] ^= (uint8_t)(host >> 8 * i);
    }
}

/* Whether the leaders get groups; p->instead then describes them, else p->no has the reason. */
static gba_status_t predict_leaders(struct prediction *p, uint32_t groups)
{
    enum gba_plan_groups wanted =
        GBA_HIERARCHY_FLAT != p->attr->params->hierarchy ? GBA_GROUPS_DOMAINS : GBA_GROUPS_ONE;
    struct gba_shape plan;
    char group[40];
    gba_status_t status;

    memset(&plan, 0, sizeof plan);
    status = gba_plan_make(&plan, wanted, p->members, 0, p->size);
    if (GBA_OK == status) {
        p->no = gba_plan_check_groups(&plan, p->members, &p->culprit);
        snprintf(group, sizeof group, "a group of %u", groups);
        gba_plan_describe_groups(&plan, group, p->instead, sizeof p->instead);
    }
    gba_plan_fini(&plan);
    return status;
}

/* Whether the device has a group for a new team. */
static gba_status_t device_check(gba_device_t *device)
{
    gba_device_info_t info;
    gba_status_t status = gba_device_query(device, &info);

    if (GBA_OK != status)
        return status;
    return info.dead ? GBA_ERR_DEAD : 0 == info.groups_free ? GBA_ERR_NO_GROUP : GBA_OK;
}

/* Like rank 0 of a team: take the first device with a group, if this process has several. attr: its
 * device is set; unchanged if no device has a group. */
static void device_take(gba_team_attr_t *attr, struct gba_tried *tried)
{
    gba_device_t *list[GBA_CANDIDATES_MAX];
    const uint32_t count = NULL == attr->devices ? 0 : gba_devices_list(attr, list);
    gba_status_t status;

    for (uint32_t i = 0; i < count; i++) {
        status = device_check(list[i]);
        if (GBA_OK == status) {
            attr->device = list[i];
            attr->device_status = GBA_OK;
            return;
        }
        gba_tried_add(tried, list[i], status, NULL);
    }
}

/* What rank 0 proposes, and whether the members can join it: p->no. */
static gba_status_t predict_group(struct prediction *p)
{
    const gba_params_t *params = p->attr->params;
    uint32_t members_max;
    gba_device_info_t info;
    bool leaders;
    gba_status_t status;

    p->no = p->attr->device_status;
    if (NULL == p->attr->device)
        return GBA_OK;
    status = gba_device_query(p->attr->device, &info);
    if (GBA_OK != status)
        return status;
    p->path = p->attr->device->simulated ? GBA_PATH_SIM : GBA_PATH_DEVICE;
    p->no = info.dead                   ? GBA_ERR_DEAD
            : params->offload_after > 0 ? GBA_ERR_DEFERRED
            : 0 == info.groups_free     ? GBA_ERR_NO_GROUP
                                        : GBA_OK;
    if (GBA_OK != p->no)
        return GBA_OK;
    members_max = p->attr->device->members_max;
    leaders = gba_plan_leaders(params->hierarchy, p->size, members_max, false);
    if (leaders) {
        p->no = GBA_ERR_TOO_MANY; /* if one host makes a group of leaders a detour */
    } else if (p->size > members_max) {
        p->no = GBA_ERR_TOO_MANY;
        return GBA_OK;
    } else if (p->hosts > 1 && !p->one_device) {
        p->no = GBA_ERR_OTHER_DEVICE;
        p->culprit = p->on_host;
        leaders = GBA_HIERARCHY_FLAT != params->hierarchy;
    }
    if (leaders && (GBA_HIERARCHY_NODE == params->hierarchy || p->hosts > 1)) {
        p->no = gba_member_infos_check_hosts(p->members, p->size, &p->culprit);
        return GBA_OK == p->no ? predict_leaders(p, info.groups) : GBA_OK;
    }
    if (GBA_OK == p->no)
        snprintf(p->instead, sizeof p->instead, "a group of %u, %u members", info.groups, p->size);
    return GBA_OK;
}

/* The path without a group: a software path, or the fallback. */
static gba_status_t predict_software(struct prediction *p)
{
    struct gba_shape plan;
    uint32_t culprit = 0;
    gba_status_t status = gba_member_infos_check(p->members, p->size, &culprit);

    if (GBA_OK != status) {
        p->path = GBA_PATH_FALLBACK;
        snprintf(p->instead, sizeof p->instead, "no software barrier: %s (rank %u)",
                 gba_status_text(status), culprit);
        return GBA_OK;
    }
    memset(&plan, 0, sizeof plan);
    p->path = GBA_PATH_SOFTWARE;
    status = gba_plan_make(&plan, GBA_GROUPS_NONE, p->members, 0, p->size);
    if (GBA_OK == status)
        gba_plan_describe(&plan, p->attr->remote, p->instead, sizeof p->instead);
    gba_plan_fini(&plan);
    return status;
}

static void predict_describe(const struct prediction *p, char *why, size_t len)
{
    const char *path = gba_path_name(p->path);

    if (GBA_OK == p->no)
        snprintf(why, len, "%s: %s%s", path, p->instead, p->tried.text);
    else if (GBA_ERR_NO_DEVICE == p->no)
        snprintf(why, len, "%s: %s; %s", path, p->instead, gba_status_text(p->no));
    else
        snprintf(why, len, "%s: %s; no device: %s (rank %u)%s", path, p->instead,
                 gba_status_text(p->no), p->culprit, p->tried.text);
}

gba_status_t gba_team_predict(const gba_team_attr_t *attr, uint32_t hosts, uint32_t members,
                              gba_path_t *path, char *why, size_t len)
{
    gba_team_attr_t taken = *attr;
    struct prediction p = {.attr = &taken, .hosts = hosts, .on_host = members};
    gba_status_t status;

    if (0 == hosts || 0 == members || hosts > MEMBERS_MOST / members)
        return GBA_ERR_PARAM;
    p.size = hosts * members;
    device_take(&taken, &p.tried);
    p.one_device = NULL == taken.device || !taken.device->simulated;
    p.members = calloc(p.size, sizeof *p.members);
    if (NULL == p.members)
        return GBA_ERR_NOMEM;
    members_fill(&p);
    status = predict_group(&p);
    if (GBA_OK == status && GBA_OK != p.no)
        status = predict_software(&p);
    if (GBA_OK == status) {
        *path = p.path;
        predict_describe(&p, why, len);
    }
    free(p.members);
    return status;
}
