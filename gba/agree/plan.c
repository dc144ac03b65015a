/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/agree/plan.h"

#include <stdio.h>
#include <string.h>

#include "gba/dev/member.h"
#include "gba/transport/shm.h"

/* Largest team for which `auto` takes dissemination. It sends log2(size) signals one after the
 * other. Above this size the rounds that radix saves outweigh its larger number of stores. */
#define AUTO_V1_MAX 16u

#define REMOTE_PUSH 1u
#define REMOTE_PULL 2u

void gba_member_info_fill(struct gba_member_info *member_info, const gba_team_attr_t *attr,
                          bool grouped)
{
    const gba_params_t *params = attr->params;

    memset(member_info, 0, sizeof *member_info);
    member_info->disabled = 0 == params->sw_enable;
    if (params->sw_enable || grouped)
        member_info->status = (int32_t)gba_host_get(&member_info->host);
    if (NULL != attr->remote)
        member_info->remote = attr->remote->pulls ? REMOTE_PULL : REMOTE_PUSH;
    member_info->oversubscribed = attr->oversubscribed;
    member_info->algorithm = params->sw_algorithm;
    member_info->radix = (uint32_t)params->sw_radix;
    member_info->hierarchy = params->hierarchy;
    member_info->sequence = params->first_sequence;
    if (NULL != attr->device) {
        memcpy(member_info->port.uuid, attr->device->uuid, sizeof member_info->port.uuid);
        member_info->port.members_max = attr->device->members_max;
    }
}

static bool member_infos_any(const struct gba_member_info *member_infos, uint32_t size,
                             bool (*is)(const struct gba_member_info *member_info), uint32_t *first)
{
    for (uint32_t rank = 0; rank < size; rank++)
        if (is(&member_infos[rank])) {
            *first = rank;
            return true;
        }
    return false;
}

static bool member_info_oversubscribed(const struct gba_member_info *member_info)
{
    return 0 != member_info->oversubscribed;
}

static bool member_info_disabled(const struct gba_member_info *member_info)
{
    return 0 != member_info->disabled;
}

static bool member_info_no_remote(const struct gba_member_info *member_info)
{
    return 0 == member_info->remote;
}

static bool member_info_no_pull(const struct gba_member_info *member_info)
{
    return REMOTE_PULL != member_info->remote;
}

static bool member_info_cannot(const struct gba_member_info *member_info)
{
    return GBA_OK != member_info->status;
}

bool gba_member_infos_one_host(const struct gba_member_info *member_infos, uint32_t size)
{
    for (uint32_t rank = 1; rank < size; rank++)
        if (0 !=
            memcmp(&member_infos[rank].host, &member_infos[0].host, sizeof member_infos[0].host))
            return false;
    return true;
}

gba_status_t gba_member_infos_check_hosts(const struct gba_member_info *member_infos, uint32_t size,
                                          uint32_t *culprit)
{
    if (member_infos_any(member_infos, size, member_info_cannot, culprit))
        return (gba_status_t)member_infos[*culprit].status;
    return GBA_OK;
}

gba_status_t gba_member_infos_check(const struct gba_member_info *member_infos, uint32_t size,
                                    uint32_t *culprit)
{
    gba_status_t status = gba_member_infos_check_hosts(member_infos, size, culprit);

    if (GBA_OK != status)
        return status;
    if (member_infos_any(member_infos, size, member_info_disabled, culprit))
        return GBA_ERR_DISABLED;
    if (!gba_member_infos_one_host(member_infos, size) &&
        member_infos_any(member_infos, size, member_info_no_remote, culprit))
        return GBA_ERR_NO_TRANSPORT;
    return GBA_OK;
}

/*
 * Choose an algorithm. `auto`, with a core for each member, takes dissemination for a few members,
 * and radix where dissemination has many rounds. gba/algo/README.md has the measurements.
 */
static int32_t algorithm_choose(int32_t wanted, uint32_t size, bool one_host, bool pull)
{
    if (GBA_ALGORITHM_AUTO == wanted)
        return size <= AUTO_V1_MAX ? GBA_ALGORITHM_V1 : GBA_ALGORITHM_V2;
    if (!one_host && GBA_ALGORITHM_V3 == wanted && !pull)
        return GBA_ALGORITHM_V1; /* central (v3) reads flags; messages cannot */
    return wanted;
}

static const struct gba_algorithm *algorithm_table(int32_t chosen, bool one_host)
{
    static const struct gba_algorithm *const general[] = {[GBA_ALGORITHM_V1] =
                                                              &gba_algo_dissemination,
                                                          [GBA_ALGORITHM_V2] = &gba_algo_radix,
                                                          [GBA_ALGORITHM_V3] = &gba_algo_central,
                                                          [GBA_ALGORITHM_TREE] = &gba_algo_tree};
    static const struct gba_algorithm *const shm[] = {[GBA_ALGORITHM_V1] = &gba_shm_dissemination,
                                                      [GBA_ALGORITHM_V2] = &gba_shm_radix,
                                                      [GBA_ALGORITHM_V3] = &gba_shm_central,
                                                      [GBA_ALGORITHM_TREE] = &gba_shm_tree};

    return (one_host ? shm : general)[chosen];
}

static const struct gba_host *member_info_host(const void *member_infos, uint32_t rank)
{
    return &((const struct gba_member_info *)member_infos)[rank].host;
}

static const struct gba_port *member_info_port(const void *member_infos, uint32_t rank)
{
    return &((const struct gba_member_info *)member_infos)[rank].port;
}

/* The device of every node, where one group must serve all nodes or none. */
static const struct gba_port *no_port(const void *ctx, uint32_t rank)
{
    static const struct gba_port port = {.members_max = UINT32_MAX};

    (void)ctx;
    (void)rank;
    return &port;
}

/* Whether rank 0's parameter names central (v3). */
static bool central_requested(const struct gba_member_info *member_infos)
{
    return GBA_ALGORITHM_V3 == member_infos[0].algorithm;
}

/* Assign the node leaders to groups. */
static gba_status_t plan_domains(struct gba_shape *plan, enum gba_plan_groups groups,
                                 const struct gba_member_info *member_infos)
{
    gba_status_t status =
        gba_domains_init(&plan->domains, &plan->topology,
                         GBA_GROUPS_DOMAINS == groups ? member_info_port : no_port, member_infos);

    /* The domain leaders use the runtime's messages without pull, because a domain leader whose
     * flag is read may have left. */
    if (GBA_OK == status)
        plan->upper = algorithm_table(
            algorithm_choose(member_infos[0].algorithm, plan->domains.count, false, false), false);
    plan->upper_replaced = plan->domains.count > 1 && central_requested(member_infos);
    return status;
}

gba_status_t gba_plan_check_groups(const struct gba_shape *plan,
                                   const struct gba_member_info *member_infos, uint32_t *culprit)
{
    const struct gba_domains *domains = &plan->domains;
    uint32_t ignored;

    *culprit = 0;
    if (1 == domains->count)
        return GBA_OK;
    /* The barrier of the domain leaders is a software barrier, so software must be enabled on all
     * members. If no two nodes share a device, a device has nothing to do. */
    if (domains->largest > 1 &&
        !member_infos_any(member_infos, plan->topology.size, member_info_disabled, &ignored))
        return GBA_OK;
    if (1 == domains->switches)
        return GBA_ERR_TOO_MANY;
    *culprit = domains->domain_leaders[1];
    return GBA_ERR_OTHER_DEVICE;
}

gba_status_t gba_plan_make(struct gba_shape *plan, enum gba_plan_groups groups,
                           const struct gba_member_info *member_infos, uint32_t rank, uint32_t size)
{
    const struct gba_member_info *first = &member_infos[0];
    bool one_host, oversubscribed, pull;
    uint32_t members, ignored = 0;
    gba_status_t status;

    status = gba_topology_init(&plan->topology, rank, size, member_info_host, member_infos);
    if (GBA_OK != status)
        return status;
    plan->radix = first->radix;
    plan->sequence = first->sequence;
    one_host = 1 == plan->topology.nodes;
    oversubscribed = member_infos_any(member_infos, size, member_info_oversubscribed, &ignored);
    pull = !member_infos_any(member_infos, size, member_info_no_pull, &ignored);

    if (one_host && GBA_ALGORITHM_AUTO == first->algorithm &&
        (oversubscribed || GBA_HIERARCHY_NODE == first->hierarchy))
        plan->kind = GBA_SOFTWARE_NODE;
    else if (one_host || GBA_HIERARCHY_FLAT == first->hierarchy)
        plan->kind = GBA_SOFTWARE_FLAT;
    else
        plan->kind = GBA_SOFTWARE_HYBRID;
    members = GBA_SOFTWARE_HYBRID == plan->kind ? plan->topology.nodes : size;
    plan->chosen = GBA_ALGORITHM_AUTO;
    if (GBA_SOFTWARE_NODE != plan->kind) {
        plan->chosen = algorithm_choose(first->algorithm, members, one_host, pull);
        plan->algorithm = algorithm_table(plan->chosen, one_host);
    }
    plan->replaced = central_requested(member_infos) && !one_host && !pull;
    plan->slots = 1; /* for gba_node_mark */
    if (GBA_SOFTWARE_FLAT == plan->kind && one_host)
        plan->slots = plan->algorithm->slots(size, plan->radix);
    return GBA_GROUPS_NONE != groups ? plan_domains(plan, groups, member_infos) : GBA_OK;
}

void gba_plan_fini(struct gba_shape *plan)
{
    gba_topology_fini(&plan->topology);
    gba_domains_fini(&plan->domains);
}

struct gba_choice gba_plan_choice(const struct gba_shape *plan)
{
    return (struct gba_choice){.hierarchy = GBA_SOFTWARE_FLAT == plan->kind ? GBA_HIERARCHY_FLAT
                                                                            : GBA_HIERARCHY_NODE,
                               .algorithm = plan->chosen};
}

bool gba_plan_shares(const struct gba_shape *plan)
{
    return 1 == plan->topology.nodes ||
           (GBA_SOFTWARE_HYBRID == plan->kind && plan->topology.local_size > 1);
}

bool gba_plan_leaders(int hierarchy, uint32_t size, uint32_t members_max, bool apart)
{
    return GBA_HIERARCHY_NODE == hierarchy ||
           (GBA_HIERARCHY_AUTO == hierarchy && (apart || size > members_max));
}

void gba_plan_describe_groups(const struct gba_shape *plan, const char *group, char *why,
                              size_t len)
{
    const struct gba_topology *topology = &plan->topology;

    if (plan->domains.count > 1)
        snprintf(why, len,
                 "groups among the leaders of %u hosts, %s among %u switch domains, %u members%s",
                 topology->nodes, plan->upper->name, plan->domains.count, topology->size,
                 plan->upper_replaced ? GBA_PLAN_REPLACED : "");
    else
        snprintf(why, len, "%s among the leaders of %u host%s, %u members", group, topology->nodes,
                 1 == topology->nodes ? "" : "s", topology->size);
}

void gba_plan_describe(const struct gba_shape *plan, const gba_remote_t *remote, char *why,
                       size_t len)
{
    const struct gba_topology *topology = &plan->topology;
    const char *carrier = NULL == remote || NULL == remote->name ? "messages" : remote->name;

    if (GBA_SOFTWARE_NODE == plan->kind)
        snprintf(why, len, "counter in shared memory, %u members on one host", topology->size);
    else if (GBA_SOFTWARE_FLAT == plan->kind)
        snprintf(why, len, "%s through %s, %u members on %u host%s%s", plan->algorithm->name,
                 1 == topology->nodes ? "shared memory" : carrier, topology->size, topology->nodes,
                 1 == topology->nodes ? "" : "s", plan->replaced ? GBA_PLAN_REPLACED : "");
    else
        snprintf(why, len, "%s among the leaders of %u hosts, %u members, at most %u on a host%s",
                 plan->algorithm->name, topology->nodes, topology->size, topology->largest,
                 plan->replaced ? GBA_PLAN_REPLACED : "");
}
