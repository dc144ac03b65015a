/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of the members about their nodes: a software path, or a path with barrier groups
 * among the node leaders. agree.c lists its collective calls. plan.c derives the plan from the
 * members' information. The paths prepare what a member can prepare alone.
 *
 * Two votes enclose two exchanges. The first vote is whether all members have the memory to take
 * part; the second is whether all are ready. In the first exchange each member sends its host and
 * its capabilities, and all members derive the same plan. Then the leader of each node creates the
 * shared memory of its node, and sends the handle in the second exchange. The second vote is also a
 * fence: after it no member still maps that memory, and before it no member sends a signal.
 *
 * If barrier groups among the leaders are requested, their handles travel in the second exchange,
 * and the second vote concerns the nodes alone. A vote on the groups follows. If there is no group,
 * the leaders turn to the software path, which needs no exchange and one more vote. Several switch
 * domains use the same calls, with a handle from each domain leader.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/agree/agree_nodes.h"
#include "gba/agree/plan.h"
#include "gba/path/path_hybrid.h"
#include "gba/path/path_software.h"

/* The state that the steps of one agreement share. */
struct agreement {
    const gba_team_attr_t *attr;
    const gba_oob_t *oob;
    bool grouped;                        /* groups among the node leaders are requested */
    struct gba_leaders_request *request; /* NULL: not requested */
    struct gba_member_info *members;     /* [size] */
    struct gba_node_info *nodes;         /* [size] */
    struct gba_shape plan;
    struct gba_node node;           /* until a path takes it over */
    struct gba_path_hybrid *hybrid; /* exists with a plan, if groups are requested */
    struct gba_path_base *path;     /* the agreed path */
    struct gba_nodes_outcome *outcome;
};

/*
 * Packs status and rank into one number. The minimum is the lowest status and, among equal
 * statuses, the lowest rank. GBA_OK is 0 and errors are negative.
 */
gba_status_t gba_agree_least(const gba_oob_t *oob, gba_status_t mine, struct gba_refusal *least)
{
    const int64_t unit = INT64_C(0x100000000);
    int64_t outcome = (int64_t)mine * unit + oob->rank;
    gba_status_t status = oob->allreduce_min(oob->ctx, outcome, &outcome);

    if (GBA_OK != status)
        return status;
    least->culprit = (uint32_t)(outcome & 0xFFFFFFFF);
    least->reason = (gba_status_t)((outcome - (int64_t)least->culprit) / unit);
    return GBA_OK;
}

/* All members are ready: complete the path. */
static void path_finish(struct agreement *a, bool grouped)
{
    if (NULL != a->path) {
        gba_path_software_finish(a->path, &a->node);
    } else {
        gba_path_hybrid_finish(a->hybrid, &a->plan, &a->node, grouped);
        a->path = &a->hybrid->base;
        a->hybrid = NULL;
    }
}

/* --------------------------------------------------------- barrier groups among the leaders --- */

/* The rank that leads this member's switch domain and allocates the group of the domain. */
static uint32_t domain_leader(const struct gba_shape *plan)
{
    return plan->domains.domain_leaders[plan->domains.domain];
}

/* With a plan: a domain leader takes a group and becomes its first member. A domain of one node
 * needs no group if there are several domains. If the whole team is one node, the user requested
 * the group. */
static void group_take(struct agreement *a, struct gba_node_info *mine)
{
    const struct gba_domains *domains = &a->plan.domains;
    struct gba_leaders_request *request = a->request;
    gba_device_t *device = a->attr->device;
    gba_status_t status = GBA_OK;
    uint32_t ignored;

    if (domain_leader(&a->plan) != a->oob->rank || (domains->count > 1 && 1 == domains->size) ||
        GBA_OK != gba_plan_check_groups(&a->plan, a->members, &ignored))
        return;
    if (NULL == device) {
        mine->group_status = a->attr->device_status;
        return;
    }
    request->request.members = domains->size;
    if (request->handle.members != request->request.members) {
        if (0 != request->handle.members) /* rank 0 expected one switch domain */
            gba_free_handle(device, &request->handle);
        request->handle.members = 0;
        status = gba_request_group(device, &request->request, &request->handle);
    }
    mine->group = request->handle;
    request->handle.members = 0; /* the path, or its failure, frees the group from here on */
    if (GBA_OK == status)
        status = gba_path_hybrid_join(a->hybrid, device, &mine->group, 0);
    mine->group_status = status;
    mine->groups = device->groups;
}

/* Why there are no groups, or GBA_OK. Uses only information that all members have. */
static struct gba_refusal groups_refused(const struct agreement *a)
{
    const struct gba_domains *domains = &a->plan.domains;
    struct gba_refusal no = {GBA_OK, 0};

    no.reason = gba_plan_check_groups(&a->plan, a->members, &no.culprit);
    for (uint32_t i = 0; i < domains->count && GBA_OK == no.reason; i++) {
        no.culprit = domains->domain_leaders[i];
        no.reason = (gba_status_t)a->nodes[no.culprit].group_status;
    }
    return no;
}

/* This member's part of joining, up to the arming of the group. */
static gba_status_t group_join(struct agreement *a)
{
    const struct gba_domains *domains = &a->plan.domains;
    uint32_t leader = domain_leader(&a->plan);

    if (GBA_OK != a->request->mine)
        return a->request->mine;
    if (0 != a->plan.topology.local_rank)
        return GBA_OK; /* not the leader of a node */
    if (leader == a->oob->rank)
        return domains->count > 1 ? gba_path_hybrid_open(a->hybrid, &a->plan, a->attr->remote, true)
                                  : GBA_OK;
    if (NULL == a->attr->device)
        return a->attr->device_status;
    return gba_path_hybrid_join(a->hybrid, a->attr->device, &a->nodes[leader].group,
                                domains->place);
}

static void groups_describe(const struct agreement *a, char *why, size_t len)
{
    const struct gba_node_info *first = &a->nodes[0];
    char group[40];

    snprintf(group, sizeof group, "group %u of %u", first->group.group, first->groups);
    gba_plan_describe_groups(&a->plan, group, why, len);
}

/*
 * All nodes are ready: the leaders join, and each domain leader arms its group. Returns GBA_OK with
 * outcome->group set, or GBA_ERR_OOB. Collective.
 */
static gba_status_t groups_agree(struct agreement *a)
{
    struct gba_refusal *no = &a->outcome->group;
    gba_group_t *group = a->hybrid->base.group;
    gba_status_t status = GBA_OK, armed = GBA_OK;

    *no = groups_refused(a);
    if (GBA_OK != no->reason)
        goto leave;
    status = gba_agree_least(a->oob, group_join(a), no);
    if (GBA_OK != status || GBA_OK != no->reason)
        goto leave;
    if (domain_leader(&a->plan) == a->oob->rank && NULL != group)
        armed = gba_configure_group(group, a->plan.sequence);
    status = gba_agree_least(a->oob, armed, no);
    if (GBA_OK != status || GBA_OK != no->reason)
        goto leave;
    groups_describe(a, a->outcome->why, sizeof a->outcome->why);
    path_finish(a, true);
    return GBA_OK;

leave:
    gba_path_hybrid_leave(a->hybrid);
    return status;
}

/* ---------------------------------------------------------------------------- in software ----- */

/* Prepare this member's part of a software path. Not collective. */
static gba_status_t software_make(struct agreement *a)
{
    const gba_remote_t *remote = a->attr->remote;
    gba_status_t status = GBA_OK;

    a->outcome->choice = gba_plan_choice(&a->plan);
    gba_plan_describe(&a->plan, remote, a->outcome->why, sizeof a->outcome->why);
    if (GBA_SOFTWARE_HYBRID != a->plan.kind)
        return gba_path_software_create(&a->plan, remote, a->oob->rank, &a->path);
    if (NULL == a->hybrid)
        status = gba_path_hybrid_create(&a->plan, &a->hybrid);
    if (GBA_OK == status && 0 == a->plan.topology.local_rank)
        status = gba_path_hybrid_open(a->hybrid, &a->plan, remote, false);
    return status;
}

/* All members know that the leaders get no group: agree on the software path. Returns GBA_OK with
 * outcome->software set, or GBA_ERR_OOB. Collective. */
static gba_status_t software_instead(struct agreement *a)
{
    struct gba_refusal *no = &a->outcome->software;
    gba_status_t status;

    no->reason = gba_member_infos_check(a->members, a->oob->size, &no->culprit);
    if (GBA_OK != no->reason)
        return GBA_OK;
    status = gba_agree_least(a->oob, software_make(a), no);
    if (GBA_OK == status && GBA_OK == no->reason)
        path_finish(a, false);
    return status;
}

/* ------------------------------------------------------------------------- the exchanges ------ */

/*
 * The second exchange: the shared memory of each node. planned: GBA_OK, or why this member has no
 * plan; it takes part all the same, because the exchange is collective. Returns this member's own
 * status.
 */
static gba_status_t nodes_exchange(struct agreement *a, gba_status_t planned,
                                   gba_status_t *exchange)
{
    const struct gba_topology *topology = &a->plan.topology;
    bool shares = GBA_OK == planned && gba_plan_shares(&a->plan);
    const struct gba_node_info *leader;
    struct gba_node_info mine;

    memset(&mine, 0, sizeof mine);
    mine.status = planned; /* this member may be a node's leader that has no memory for it */
    if (shares && 0 == topology->local_rank)
        mine.status = gba_node_create(&a->node, &a->plan, &mine.handle);
    if (GBA_OK == planned && a->grouped)
        group_take(a, &mine);
    *exchange = a->oob->allgather(a->oob->ctx, &mine, a->nodes, sizeof mine);
    if (GBA_OK != *exchange || !shares)
        return planned;
    if (0 == topology->local_rank)
        return (gba_status_t)mine.status;
    /* The leader reports its own failure. A member of its node repeats that status. */
    leader = &a->nodes[topology->locals[0]];
    if (GBA_OK != leader->status)
        return (gba_status_t)leader->status;
    return gba_node_attach(&a->node, &a->plan, &leader->handle);
}

/* Make the plan, and the part of the path that the second exchange needs. A failure of this member
 * alone (out of memory) is left to the vote, because this member must take part in the exchange. */
static gba_status_t plan_make(struct agreement *a)
{
    struct gba_nodes_outcome *outcome = a->outcome;
    enum gba_plan_groups groups = GBA_GROUPS_NONE;
    gba_status_t status;

    if (a->grouped)
        groups = a->request->domains ? GBA_GROUPS_DOMAINS : GBA_GROUPS_ONE;
    status = gba_plan_make(&a->plan, groups, a->members, a->oob->rank, a->oob->size);
    if (GBA_OK != status)
        return status;
    outcome->apart = a->plan.domains.count > 1;
    outcome->nodes = outcome->apart ? a->plan.domains.size : a->plan.topology.nodes;
    return a->grouped ? gba_path_hybrid_create(&a->plan, &a->hybrid) : GBA_OK;
}

/* The agreement from the plan on. Returns GBA_OK with outcome->software set, or GBA_ERR_OOB.
 * Collective. */
static gba_status_t path_agree(struct agreement *a)
{
    struct gba_nodes_outcome *outcome = a->outcome;
    gba_status_t exchange = GBA_OK, status;

    /* From here on all members make the same two calls, whatever fails. */
    status = plan_make(a);
    status = nodes_exchange(a, status, &exchange);
    if (GBA_OK != exchange)
        return exchange;
    if (GBA_OK == status && !a->grouped)
        status = software_make(a);
    exchange = gba_agree_least(a->oob, status, &outcome->software);
    if (GBA_OK != exchange || GBA_OK != outcome->software.reason)
        return exchange;
    gba_node_shut(&a->node, &a->plan);
    if (!a->grouped) {
        path_finish(a, false);
        return GBA_OK;
    }
    exchange = groups_agree(a);
    if (GBA_OK == exchange && GBA_OK != outcome->group.reason)
        exchange = software_instead(a);
    return exchange;
}

/* The first exchange, and the refusals that all members derive from it. Returns GBA_OK with
 * outcome->software set, or GBA_ERR_OOB. Collective. */
static gba_status_t members_exchange(struct agreement *a)
{
    struct gba_refusal *no = &a->outcome->software;
    uint32_t size = a->oob->size;
    struct gba_member_info mine;
    gba_status_t status;

    gba_member_info_fill(&mine, a->attr, a->grouped);
    status = a->oob->allgather(a->oob->ctx, &mine, a->members, sizeof mine);
    if (GBA_OK != status)
        return status;
    /* On one host a group of one node leader is a detour, so it is used only if rank 0 requested
     * it. */
    if (a->grouped && GBA_HIERARCHY_NODE != a->members[0].hierarchy &&
        gba_member_infos_one_host(a->members, size)) {
        a->outcome->group = a->request->no;
        a->grouped = false;
    }
    no->reason = a->grouped ? gba_member_infos_check_hosts(a->members, size, &no->culprit)
                            : gba_member_infos_check(a->members, size, &no->culprit);
    return GBA_OK;
}

/*
 * Report once that the requested algorithm is replaced. Rank 0 reports it, because its parameter
 * counts. All members record the report, so that a process does not repeat it for another team with
 * another rank 0. The record is per thread, because members of a team may be threads of one
 * process.
 */
static void replaced_report(const struct agreement *a)
{
    static _Thread_local bool reported;
    bool groups = NULL != a->request && GBA_OK == a->outcome->group.reason;

    if (reported || (groups ? !a->plan.upper_replaced : !a->plan.replaced))
        return;
    reported = true;
    if (0 == a->oob->rank)
        gba_log(
            GBA_LOG_TEAM,
            "%s: sw_algorithm is central (v3), which needs to read remote flags; messages cannot "
            "do that; dissemination (v1) is used",
            a->attr->name);
}

gba_status_t gba_agree_nodes(const gba_team_attr_t *attr, const gba_oob_t *oob,
                             struct gba_leaders_request *request, struct gba_path_base **path,
                             struct gba_nodes_outcome *outcome)
{
    struct agreement a = {.attr = attr,
                          .oob = oob,
                          .grouped = NULL != request,
                          .request = request,
                          .members = calloc(oob->size, sizeof *a.members),
                          .nodes = calloc(oob->size, sizeof *a.nodes),
                          .outcome = outcome};
    bool memory = NULL != a.members && NULL != a.nodes;
    gba_status_t status;

    *path = NULL;
    memset(outcome, 0, sizeof *outcome);
    gba_node_init(&a.node, oob->rank);
    /* The exchanges need memory that grows with the team. A member without that memory must not be
     * missing from them. So all members learn of it first, by the one call that needs no memory. */
    status = gba_agree_least(oob, memory ? GBA_OK : GBA_ERR_NOMEM, &outcome->software);
    if (GBA_OK == status && GBA_OK == outcome->software.reason)
        status = members_exchange(&a);
    if (GBA_OK == status && GBA_OK == outcome->software.reason)
        status = path_agree(&a);
    if (GBA_OK == status && GBA_OK == outcome->software.reason) {
        replaced_report(&a);
        *path = a.path;
        a.path = NULL;
    } else if (GBA_OK == outcome->group.reason) { /* excludes the group, too */
        outcome->group = outcome->software;
    }
    gba_path_destroy(a.path);
    if (NULL != a.hybrid)
        gba_path_destroy(&a.hybrid->base);
    gba_node_close(&a.node);
    gba_plan_fini(&a.plan);
    free(a.nodes);
    free(a.members);
    return status;
}
