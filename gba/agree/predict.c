/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path that a team would take: the loop over the list of candidates (plan.c) on made-up
 * information of the members. Nothing is exchanged, and no group is requested.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/agree/agree.h"
#include "gba/agree/schedule.h"
#include "gba/dev/member.h"

#define MEMBERS_MOST (UINT32_C(1) << 24)

_Static_assert(GBA_LIST_MOST <= GBA_PREDICTED_MAX, "a prediction has room for every candidate");

static void name_rank(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "rank %u", rank);
}

/* Another host has another simulated device, and the same real one. */
static bool one_device(const gba_team_attr_t *attr, uint32_t hosts)
{
    return 1 == hosts || attr->device == NULL || GBA_PATH_SIM != attr->device->kind;
}

/* A process whose chosen device cannot be opened uses another one. */
static void device_replace(gba_team_attr_t *attr)
{
    gba_device_t *list[GBA_DEVICE_CHOICES_MAX];

    if (attr->device != NULL || attr->devices == NULL || 0 == gba_switch_devices(attr, list))
        return;
    attr->device = list[0];
    attr->device_status = GBA_OK;
}

/* What all members have in common with this process. */
static void facts_fill(struct gba_agreement *a, uint32_t hosts)
{
    struct gba_info *info = &a->info;
    struct gba_terms terms;
    const struct gba_own own = {.attr = &a->attr, .terms = &terms};

    gba_schedule_terms(a->team, &a->attr, GBA_DUE_CREATE, &terms);
    gba_info_fill(a->words, &own);
    gba_info_read(info, a->words);
    info->one_host = 1 == hosts;
    info->hosts = 1 == hosts;
    info->one_device = one_device(&a->attr, hosts);
}

static void switches_fill(struct gba_agreement *a, uint32_t hosts, uint32_t on_host)
{
    struct gba_switches *switches = &a->info.switches;

    gba_switches_fill(a->words, &a->attr, true);
    gba_switches_read(switches, a->words);
    for (uint32_t i = 0; i < GBA_DEVICE_CHOICES_MAX; i++)
        switches->lacking[i] =
            1 == hosts || GBA_PATH_SIM != switches->kind[i] ? UINT32_MAX : on_host;
}

/* Members of host h have the information of this process, but another host, and another simulated
 * device. */
static void layout_fill(struct gba_agreement *a, uint32_t on_host)
{
    gba_member_info_fill(&a->members[0], &a->attr, a->info.terms.uuid);
    for (uint32_t rank = 1; rank < a->info.size; rank++) {
        struct gba_member_info *member = &a->members[rank];
        const uint32_t host = rank / on_host;

        *member = a->members[0];
        member->host.word[0] ^= host;
        if (!a->info.one_device)
            for (unsigned i = 0; i < sizeof host; i++)
                member->port.uuid[i] ^= (uint8_t)(host >> 8 * i);
    }
    gba_layout_read(&a->info, a->members, a->scratch);
}

/* Whether the device has a group for a new team. groups: set to its groups, 0: not known. */
static gba_status_t device_check(gba_device_t *device, uint32_t *groups)
{
    gba_device_info_t info;
    gba_status_t status;

    *groups = 0;
    if (device == NULL)
        return GBA_ERR_NO_DEVICE;
    status = gba_device_query(device, &info);
    if (GBA_OK != status)
        return status;
    *groups = info.groups;
    return info.dead ? GBA_ERR_DEAD : 0 == info.groups_free ? GBA_ERR_NO_GROUP : GBA_OK;
}

/* Describe the group of the candidate a->at. named: with the device. Returns why there is none. */
static gba_status_t group_describe(struct gba_agreement *a, bool named, char *text, size_t len)
{
    gba_device_t *device = gba_build_device(a, gba_agree_candidate(a)->at);
    uint32_t groups;
    char number[16] = "";
    gba_status_t status = device_check(device, &groups);

    if (0 != groups)
        snprintf(number, sizeof number, " of %u", groups);
    named = named && device != NULL;
    snprintf(text, len, "a group%s%s%s", number, named ? " at " : "", named ? device->path : "");
    return status;
}

/* Describe the candidate a->at for the user. named: with its device, if the members try several.
 * refusal: set to why the team does not get that path. Returns GBA_OK or GBA_ERR_NOMEM. */
static gba_status_t candidate_check(struct gba_agreement *a, bool named, char *text, size_t len,
                                    struct gba_refusal *refusal)
{
    const struct gba_candidate *candidate = gba_agree_candidate(a);
    char group[160] = "";
    gba_status_t status;

    named = named && GBA_AT_EACH != candidate->at && a->info.switches.count > 1;
    *refusal = (struct gba_refusal){GBA_OK, 0};
    if (gba_candidate_is_group(candidate))
        refusal->reason = group_describe(a, named, group, sizeof group);
    if (GBA_KIND_FALLBACK == candidate->kind) {
        snprintf(text, len, "the runtime's own barrier");
        return GBA_OK;
    }
    if (GBA_KIND_LEADERS == candidate->kind && a->attr.device == NULL) { /* it has no shape */
        snprintf(text, len, "a group among the leaders of %u host%s, %u members", a->info.hosts,
                 1 == a->info.hosts ? "" : "s", a->info.size);
        return GBA_OK;
    }
    status = gba_shape_make(&a->shape, &a->topology, &a->info, candidate, 0);
    if (GBA_OK != status)
        return status;
    if (GBA_OK == refusal->reason && GBA_KIND_LEADERS == candidate->kind)
        *refusal = gba_shape_refusal(&a->shape, &a->info);
    gba_shape_describe(&a->shape, candidate, group, a->attr.remote, text, len);
    gba_domains_fini(&a->shape.domains);
    return GBA_OK;
}

/* The loop has ended, at the candidate that the team takes. */
static gba_status_t candidates_show(struct gba_agreement *a, gba_prediction_t *prediction)
{
    const uint32_t taken = a->at;
    gba_status_t status = GBA_OK;

    prediction->count = a->list.count;
    for (a->at = 0; a->at < a->list.count && GBA_OK == status; a->at++) {
        char text[sizeof prediction->candidates[0].text - 16] = "";
        gba_predicted_t *shown = &prediction->candidates[a->at];
        struct gba_refusal refusal = gba_agree_candidate(a)->refusal, now;

        /* The loop passes over the leaders for the reason why there is no group of all. */
        if (a->at < taken && GBA_OK == refusal.reason)
            refusal = gba_plan_reason(&a->list);
        *shown = (gba_predicted_t){.path = gba_build_kind(a),
                                   .taken = a->at == taken,
                                   .cost = gba_agree_candidate(a)->cost,
                                   .reason = refusal.reason,
                                   .culprit = refusal.culprit};
        status = candidate_check(a, true, text, sizeof text, &now);
        snprintf(shown->text, sizeof shown->text, "%s: %s", gba_path_name(shown->path), text);
    }
    return status;
}

/* The loop of agree.c, with the answers of this process. Returns GBA_OK with the outcome in the
 * team, or GBA_ERR_NOMEM. */
static gba_status_t predict(struct gba_agreement *a, uint32_t hosts, uint32_t on_host)
{
    struct gba_refusal refusal;
    gba_status_t status = GBA_OK;

    facts_fill(a, hosts);
    if (hosts > 1) /* at once, because the candidates that are not tried are shown, too */
        layout_fill(a, on_host);
    gba_plan_list(&a->list, &a->info, GBA_DUE_CREATE);
    for (;;) {
        if (GBA_NEXT_SWITCHES == gba_plan_next(&a->list, &a->info, &a->at)) {
            switches_fill(a, hosts, on_host);
            gba_plan_list(&a->list, &a->info, GBA_DUE_CREATE);
            continue;
        }
        status = candidate_check(a, false, a->why, sizeof a->why, &refusal);
        if (GBA_OK != status)
            return status;
        if (GBA_OK == refusal.reason)
            break;
        a->list.at[a->at].unmade = true;
        gba_plan_refuse(&a->list, a->at, refusal, true);
    }
    gba_reason_set(a);
    return GBA_OK;
}

gba_status_t gba_team_predict(const gba_team_attr_t *attr, uint32_t hosts, uint32_t members,
                              gba_prediction_t *prediction)
{
    const size_t each = sizeof(struct gba_member_info) + sizeof(uint64_t);
    struct {
        struct gba_team team;
        struct gba_agreement agreement;
    } * made;
    struct gba_agreement *a;
    uint64_t *memory;
    gba_status_t status = GBA_ERR_NOMEM;

    if (0 == hosts || 0 == members || hosts > MEMBERS_MOST / members)
        return GBA_ERR_PARAM;
    made = calloc(1, sizeof *made);
    memory = calloc((size_t)hosts * members, each);
    if (made == NULL || memory == NULL)
        goto free_memory;
    a = &made->agreement;
    *a = (struct gba_agreement){.team = &made->team,
                                .due = GBA_DUE_CREATE,
                                .attr = *attr,
                                .oob = {.size = hosts * members, .name_member = name_rank},
                                .info = {.size = hosts * members},
                                .scratch = memory,
                                .members =
                                    (struct gba_member_info *)(void *)(memory + hosts * members)};
    gba_held_begin(&a->held, &a->attr);
    device_replace(&a->attr);
    status = predict(a, hosts, members);
    if (GBA_OK == status) {
        prediction->path = made->team.kind;
        snprintf(prediction->why, sizeof prediction->why, "%s", made->team.words.why);
        status = candidates_show(a, prediction);
    }
    gba_topology_fini(&a->topology);
    gba_held_end(&a->held);

free_memory:
    free(memory);
    free(made);
    return status;
}
