/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This member's part of a candidate's path. Leaders make what the others need: rank 0 a group of
 * all members, the leader of a node its shared memory, the leader of a switch domain a group of the
 * node leaders. Then all members join. A failure of one member is a status in the next exchange, so
 * all members learn of it.
 */
#include <stdio.h>
#include <string.h>

#include "gba/agree/agree.h"
#include "gba/agree/build.h"
#include "gba/agree/schedule.h"
#include "gba/base/log.h"
#include "gba/dev/member.h"
#include "gba/failover/failover.h"
#include "gba/path/path_device.h"
#include "gba/path/path_hybrid.h"
#include "gba/path/path_shared.h"

_Static_assert(sizeof(struct gba_segment_handle) <= sizeof(gba_group_handle_t),
               "both handles fit into the words of one exchange");

static bool is_leader(const struct gba_agreement *a)
{
    return 0 == a->topology.local_rank;
}

/* The rank that leads this member's switch domain and allocates the group of the domain. */
static uint32_t domain_leader(const struct gba_agreement *a)
{
    return a->shape.domains.domain_leaders[a->shape.domains.domain];
}

enum gba_handles gba_build_handles(const struct gba_agreement *a)
{
    const struct gba_candidate *candidate = gba_agree_candidate(a);

    if (GBA_KIND_ALL == candidate->kind)
        return GBA_HANDLES_GROUP;
    if (GBA_KIND_LEADERS == candidate->kind)
        return GBA_HANDLES_NODES;
    if (a->info.one_host)
        return GBA_HANDLES_NODE;
    return GBA_HIERARCHY_NODE == candidate->choice.hierarchy ? GBA_HANDLES_NODES : GBA_HANDLES_NONE;
}

gba_path_t gba_build_kind(const struct gba_agreement *a)
{
    const struct gba_candidate *candidate = gba_agree_candidate(a);

    if (GBA_KIND_FALLBACK == candidate->kind)
        return GBA_PATH_FALLBACK;
    if (GBA_KIND_SOFTWARE == candidate->kind)
        return GBA_PATH_SOFTWARE;
    return (gba_path_t)(candidate->switch_index < a->info.switches.count
                            ? a->info.switches.kind[candidate->switch_index]
                            : a->info.terms.kind);
}

gba_device_t *gba_build_device(const struct gba_agreement *a, uint8_t switch_index)
{
    gba_device_t *device;

    if (switch_index < a->info.switches.count)
        return gba_switches_device(&a->attr, a->info.switches.key[switch_index]);
    device = gba_switches_device(&a->attr, gba_switches_key(a->info.terms.uuid));
    return device == NULL && GBA_AT_EACH == switch_index ? a->attr.device : device;
}

gba_status_t gba_build_no_device(const struct gba_agreement *a)
{
    return a->attr.device == NULL && GBA_OK != a->attr.device_status ? a->attr.device_status
                                                                     : GBA_ERR_OTHER_DEVICE;
}

/* ------------------------------------------------------------------------------- making --- */

/* The words of rank 0 have what it has made, or why it has not. */
static void words_fill(struct gba_agreement *a, const void *handle, size_t bytes)
{
    memset(a->words, 0xff, GBA_HANDLES_WORDS * sizeof a->words[0]);
    if (0 != a->oob.rank)
        return;
    a->words[0] = gba_refusal_word(a->part_status, 0);
    memcpy(&a->words[1], handle, bytes);
}

static gba_status_t group_request(const struct gba_agreement *a, uint32_t members,
                                  gba_group_handle_t *handle)
{
    const gba_group_request_t request = {.members = members,
                                         .groups_max = (uint32_t)a->params.max_groups};

    return a->device == NULL ? gba_build_no_device(a)
                             : gba_request_group(a->device, &request, handle);
}

static void group_make(struct gba_agreement *a)
{
    memset(&a->handle, 0, sizeof a->handle);
    if (0 == a->oob.rank)
        a->part_status = group_request(a, a->oob.size, &a->handle);
    words_fill(a, &a->handle, sizeof a->handle);
}

/* A domain leader takes a group and becomes its first member. A domain of one node needs no group
 * if there are several domains. */
static void domain_make(struct gba_agreement *a, struct gba_node_info *info)
{
    const struct gba_domains *domains = &a->shape.domains;
    gba_status_t status;

    if (domain_leader(a) != a->oob.rank || (domains->count > 1 && 1 == domains->size) ||
        GBA_OK != gba_shape_refusal(&a->shape, &a->info).reason)
        return;
    info->groups = a->device != NULL ? a->device->dev->groups : 0;
    status = group_request(a, domains->size, &info->group);
    if (GBA_OK == status) /* the path, or its failure, frees the group from here on */
        status = gba_path_hybrid_join(a->path, a->device, &info->group, 0);
    info->group_status = status;
}

static void node_make(struct gba_agreement *a, struct gba_node_info *info)
{
    const bool leaders = GBA_KIND_LEADERS == gba_agree_candidate(a)->kind;

    if (GBA_OK == a->part_status)
        a->part_status = a->shape.kind >= GBA_SHAPE_MESSAGES
                             ? gba_path_hybrid_create(&a->shape, a->oob.rank, &a->path)
                             : gba_path_shared_create(&a->shape, a->oob.rank, &a->path);
    if (GBA_OK == a->part_status && leaders)
        domain_make(a, info);
    if (GBA_OK == a->part_status && gba_shape_shares(&a->shape) && is_leader(a) &&
        GBA_OK == info->group_status)
        a->part_status = gba_node_create(a->path->node, &a->shape, &info->handle);
    info->status = a->part_status;
}

/* All members try the same candidates, so the team's count is the same on all of them. The id, of
 * one agreement in the job, keeps apart teams that use one channel one after the other. */
static uint64_t path_epoch(const struct gba_agreement *a)
{
    return a->info.terms.id * UINT64_C(0x9E3779B97F4A7C15) + a->team->epoch;
}

/* From here on this member accepts failure notifications. This precedes the first exchange after
 * which a member may have a group. In a trial the team has its own path still. */
static void group_prepare(struct gba_agreement *a)
{
    if (GBA_INPROGRESS != a->join_status)
        return;
    if (GBA_DUE_TRIAL != a->due)
        gba_failover_register(a->team, a->info.terms.id);
    a->join_status = gba_degraded_open(a->team, &a->attr);
}

void gba_build_make(struct gba_agreement *a, struct gba_node_info *node_info)
{
    a->device = NULL;
    if (gba_candidate_is_group(gba_agree_candidate(a))) {
        group_prepare(a);
        a->device = gba_build_device(a, gba_agree_candidate(a)->switch_index);
    }
    memset(node_info, 0, sizeof *node_info);
    a->part_status =
        gba_shape_make(&a->shape, &a->topology, &a->info, gba_agree_candidate(a), a->oob.rank);
    a->shape.epoch = path_epoch(a);
    if (GBA_KIND_ALL == gba_agree_candidate(a)->kind) {
        group_make(a);
        return;
    }
    node_make(a, node_info);
    if (GBA_HANDLES_NODE == gba_build_handles(a))
        words_fill(a, &node_info->handle, sizeof node_info->handle);
}

/* Of several nodes. Uses only information that all members have, until all have a shape. */
static struct gba_refusal nodes_refusal(const struct gba_agreement *a)
{
    const struct gba_domains *domains = &a->shape.domains;
    struct gba_refusal refusal = {GBA_OK, 0};

    for (uint32_t rank = 0; rank < a->oob.size; rank++)
        if (a->nodes[rank].status < (int64_t)refusal.reason)
            refusal = (struct gba_refusal){(gba_status_t)a->nodes[rank].status, rank};
    if (GBA_OK != refusal.reason || GBA_KIND_LEADERS != gba_agree_candidate(a)->kind)
        return refusal;
    refusal = gba_shape_refusal(&a->shape, &a->info);
    for (uint32_t i = 0; i < domains->count && GBA_OK == refusal.reason; i++) {
        const uint32_t leader = domains->domain_leaders[i];

        if (GBA_OK != a->nodes[leader].group_status)
            refusal = (struct gba_refusal){(gba_status_t)a->nodes[leader].group_status, leader};
    }
    return refusal;
}

struct gba_refusal gba_build_refusal(struct gba_agreement *a)
{
    switch (gba_build_handles(a)) {
    case GBA_HANDLES_GROUP:
        memcpy(&a->handle, &a->words[1], sizeof a->handle);
        return gba_refusal_of(a->words[0]);
    case GBA_HANDLES_NODE:
        return gba_refusal_of(a->words[0]);
    case GBA_HANDLES_NODES:
        return nodes_refusal(a);
    default:
        return (struct gba_refusal){GBA_OK, 0};
    }
}

/* ------------------------------------------------------------------------------ joining --- */

static gba_status_t group_join(struct gba_agreement *a)
{
    if (a->device == NULL)
        return gba_build_no_device(a);
    if (GBA_OK != a->join_status) {
        if (0 == a->oob.rank)
            gba_free_handle(a->device, &a->handle);
        return a->join_status;
    }
    return gba_path_device_create(a->device, &a->handle, a->oob.rank, a->info.terms.sequence,
                                  &a->path);
}

/* The node's leader has created its memory. */
static gba_status_t node_join(struct gba_agreement *a)
{
    struct gba_segment_handle handle;

    if (!gba_shape_shares(&a->shape) || is_leader(a))
        return GBA_OK;
    if (GBA_HANDLES_NODE == gba_build_handles(a))
        memcpy(&handle, &a->words[1], sizeof handle);
    else
        handle = a->nodes[a->topology.locals[0]].handle;
    return gba_node_attach(a->path->node, &a->shape, &handle);
}

/* A domain leader is a member of its group already. */
static gba_status_t domain_join(struct gba_agreement *a)
{
    const uint32_t leader = domain_leader(a);

    if (GBA_OK != a->join_status)
        return a->join_status;
    if (!is_leader(a) || leader == a->oob.rank)
        return GBA_OK;
    if (a->device == NULL)
        return gba_build_no_device(a);
    return gba_path_hybrid_join(a->path, a->device, &a->nodes[leader].group,
                                a->shape.domains.place);
}

void gba_build_join(struct gba_agreement *a)
{
    if (GBA_KIND_ALL == gba_agree_candidate(a)->kind) {
        a->part_status = group_join(a);
        return;
    }
    if (GBA_OK == a->part_status)
        a->part_status = node_join(a);
    if (GBA_OK == a->part_status && GBA_KIND_LEADERS == gba_agree_candidate(a)->kind)
        a->part_status = domain_join(a);
    if (GBA_OK == a->part_status && a->shape.kind >= GBA_SHAPE_MESSAGES)
        a->part_status = gba_path_hybrid_open(a->path, &a->shape, a->attr.remote);
}

/* ------------------------------------------------------------------------------- the end --- */

void gba_build_arm(struct gba_agreement *a)
{
    const bool all = GBA_KIND_ALL == gba_agree_candidate(a)->kind;

    a->part_status = GBA_OK;
    if (a->path != NULL && a->path->group != NULL && a->oob.rank == (all ? 0 : domain_leader(a)))
        a->part_status = gba_configure_group(a->path->group, a->info.terms.sequence);
}

/*
 * Report once that the requested algorithm is replaced. Rank 0 reports it, because its parameter
 * counts. All members record the report, so that a process does not repeat it for another team with
 * another rank 0. The record is per thread, because members of a team may be threads of one
 * process.
 */
static void replaced_report(const struct gba_agreement *a)
{
    static _Thread_local bool reported;

    if (reported || !a->shape.replaced)
        return;
    reported = true;
    if (0 == a->oob.rank)
        gba_log(
            GBA_LOG_TEAM,
            "%s: sw_algorithm is central (v3), which needs to read remote flags; messages cannot "
            "do that; dissemination (v1) is used",
            a->team->name);
}

/* Describe the path for the user in one line. */
static void describe(struct gba_agreement *a)
{
    const struct gba_candidate *candidate = gba_agree_candidate(a);
    const bool all = GBA_KIND_ALL == candidate->kind;
    char group[40] = "";

    if (gba_candidate_is_group(candidate))
        snprintf(group, sizeof group, "group %u of %u",
                 all ? a->handle.group : a->nodes[0].group.group,
                 all ? a->device->dev->groups : a->nodes[0].groups);
    gba_shape_describe(&a->shape, candidate, group, a->attr.remote, a->text.why,
                       sizeof a->text.why);
}

void gba_build_finish(struct gba_agreement *a)
{
    const struct gba_candidate *candidate = gba_agree_candidate(a);

    a->text.why[0] = '\0';
    if (GBA_KIND_FALLBACK == candidate->kind)
        return;
    describe(a);
    replaced_report(a);
    if (a->shape.kind >= GBA_SHAPE_MESSAGES)
        gba_path_hybrid_finish(a->path, &a->shape);
    else if (GBA_KIND_ALL != candidate->kind)
        gba_path_shared_finish(a->path);
}

void gba_build_undo(struct gba_agreement *a)
{
    /* Rank 0 has a group that no member has joined. */
    if (GBA_AGREE_HANDLES == a->state && 0 == a->oob.rank && GBA_OK == a->part_status &&
        GBA_KIND_ALL == gba_agree_candidate(a)->kind)
        gba_free_handle(a->device, &a->handle);
    gba_path_destroy(a->path);
    gba_domains_fini(&a->shape.domains);
    a->path = NULL;
}
