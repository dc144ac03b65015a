/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path that a team would take: this process, as rank 0, derives what all members would know
 * after their exchanges, and goes through the list of candidates. Nothing is sent, and no group is
 * requested.
 */
#include "gba/agree/build.h"
#include "gba/agree/predict.h"

#include <stdio.h>
#include <string.h>

#include "gba/agree/agree.h"
#include "gba/agree/reason.h"
#include "gba/agree/schedule.h"
#include "gba/agree/software.h"
#include "gba/dev/member.h"

#define MEMBERS_MOST (UINT32_C(1) << 24)

_Static_assert(GBA_LIST_MOST <= GBA_PREDICTED_MAX, "a prediction has room for every candidate");

static void name_rank(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "rank %u", rank);
}

/* ------------------------------------------------------------ what the members would know --- */

/* The hosts that share the device of rank 0, or one of its other devices. */
static uint32_t hosts_at(const struct gba_replicas *replicas, uint8_t kind)
{
    return GBA_PATH_SIM == kind ? 1 : replicas->device_hosts;
}

static void layout_replicate(struct gba_agreement *a, const struct gba_replicas *replicas)
{
    const uint32_t shared = hosts_at(replicas, a->info.terms.kind);
    struct gba_member_info own;

    gba_member_info_fill(&own, &a->attr, a->info.terms.uuid);
    for (uint32_t rank = 0; rank < a->info.size; rank++) {
        const uint32_t host = rank / replicas->members, device = host / shared;

        a->members[rank] = own;
        a->members[rank].host.word[0] ^= host;
        for (unsigned i = 0; i < sizeof device; i++)
            a->members[rank].port.uuid[i] ^= (uint8_t)(device >> 8 * i);
    }
    gba_layout_read(&a->info, a->members, a->scratch);
}

static void info_replicate(struct gba_agreement *a, const struct gba_replicas *replicas)
{
    struct gba_terms terms;
    const struct gba_own own = {.attr = &a->attr, .terms = &terms};

    gba_schedule_terms(a->team, &a->attr, GBA_DUE_CREATE, &terms);
    if (replicas->cluster != NULL)
        gba_cost_terms_set(&terms.cost, replicas->cluster);
    gba_info_fill(a->words, &own);
    gba_info_read(&a->info, a->words);
    a->info.one_host = a->info.one_host && 1 == replicas->hosts;
    a->info.one_device =
        a->info.one_device && replicas->hosts <= hosts_at(replicas, a->info.terms.kind);
    layout_replicate(a, replicas);
}

/* The switches of rank 0; the first member that lacks one is on the first host that does. */
static void switches_replicate(struct gba_agreement *a, const struct gba_replicas *replicas)
{
    struct gba_switches *switches = &a->info.switches;

    gba_switches_fill(a->words, &a->attr, true);
    gba_switches_read(switches, a->words);
    for (uint32_t i = 0; i < switches->count; i++) {
        const uint32_t hosts = hosts_at(replicas, switches->kind[i]);

        switches->lacking[i] = replicas->hosts > hosts ? hosts * replicas->members : UINT32_MAX;
    }
}

/* --------------------------------------------------------------------------- the candidates --- */

/* Whether the device of rank 0 has a group. */
static gba_status_t group_refusal(const struct gba_agreement *a)
{
    gba_device_info_t info;
    gba_status_t status;

    if (a->device == NULL)
        return gba_build_no_device(a);
    status = gba_device_query(a->device, &info);
    if (GBA_OK != status)
        return status;
    return info.dead ? GBA_ERR_DEAD : 0 == info.groups_free ? GBA_ERR_NO_GROUP : GBA_OK;
}

/* Why the members cannot take the candidate a->place. Sets its device, and its shape, which the
 * caller ends. */
static struct gba_refusal candidate_refusal(struct gba_agreement *a)
{
    const struct gba_candidate *candidate = gba_agree_candidate(a);
    const struct gba_domains *domains = &a->shape.domains;
    const bool group = gba_candidate_is_group(candidate);
    struct gba_refusal refusal = {GBA_OK, 0};

    a->device = group ? gba_build_device(a, candidate->switch_index) : NULL;
    refusal.reason = gba_shape_make(&a->shape, &a->topology, &a->info, candidate, 0);
    if (GBA_OK == refusal.reason && GBA_KIND_LEADERS == candidate->kind)
        refusal = gba_shape_refusal(&a->shape, &a->info);
    /* A domain of one node needs no group if there are several domains. */
    if (GBA_OK == refusal.reason && group && (domains->count < 2 || domains->size > 1))
        refusal.reason = group_refusal(a);
    return refusal;
}

/* Describe the candidate a->place, which has a shape. named: with the device of its group. */
static void shape_describe(const struct gba_agreement *a, bool named, char *text, size_t len)
{
    char group[160] = "a group";

    if (a->device != NULL)
        snprintf(group, sizeof group, "a group of %u%s%s", a->device->dev->groups,
                 named ? " at " : "", named ? a->device->path : "");
    gba_shape_describe(&a->shape, gba_agree_candidate(a), group, a->attr.remote, text, len);
}

/* Go through the list as loop.c does, up to the candidate that the members take. */
static void candidate_find(struct gba_agreement *a, const struct gba_replicas *replicas)
{
    struct gba_refusal refusal = {GBA_INPROGRESS, 0};

    gba_plan_list(&a->list, &a->info, GBA_DUE_CREATE);
    while (GBA_OK != refusal.reason) {
        if (GBA_NEED_SWITCHES == gba_plan_next(&a->list, &a->place)) {
            switches_replicate(a, replicas);
            gba_plan_list(&a->list, &a->info, GBA_DUE_CREATE);
            continue;
        }
        refusal = candidate_refusal(a);
        if (GBA_OK != refusal.reason) {
            a->list.candidates[a->place].maker_refused = true;
            gba_plan_refuse(&a->list, a->place, refusal, true);
        } else if (GBA_KIND_FALLBACK != gba_agree_candidate(a)->kind) {
            shape_describe(a, false, a->text.why, sizeof a->text.why);
        }
        gba_domains_fini(&a->shape.domains);
    }
    gba_reason_set(a);
}

/* Let the members agree. On GBA_OK the caller ends *a by agreement_end. */
static gba_status_t agree(const gba_team_attr_t *attr, const struct gba_replicas *replicas,
                          struct gba_agreement **a)
{
    const gba_oob_t oob = {.size = replicas->hosts * replicas->members, .name_member = name_rank};
    gba_team_attr_t own = *attr;
    gba_device_t *list[GBA_DEVICE_CHOICES_MAX];
    gba_status_t status;

    if (0 == replicas->hosts || 0 == replicas->members ||
        replicas->hosts > MEMBERS_MOST / replicas->members)
        return GBA_ERR_PARAM;
    own.name = "";
    /* A process whose chosen device cannot be opened uses another one. */
    if (own.device == NULL && own.devices != NULL && 0 != gba_switches_devices(&own, list)) {
        own.device = list[0];
        own.device_status = GBA_OK;
    }
    status = gba_agree_start(NULL, GBA_DUE_CREATE, &own, &oob, a);
    if (GBA_OK != status)
        return status;
    if ((*a)->nodes == NULL) {
        gba_agree_free((*a)->team);
        return GBA_ERR_NOMEM;
    }
    info_replicate(*a, replicas);
    candidate_find(*a, replicas);
    return GBA_OK;
}

static void agreement_end(struct gba_agreement *a)
{
    gba_agree_end(a);
    gba_agree_free(a->team);
}

/* ----------------------------------------------------------------------------- the outcome --- */

/* Describe the candidate a->place for the user. Returns GBA_OK or GBA_ERR_NOMEM. */
static gba_status_t candidate_describe(struct gba_agreement *a, char *text, size_t len)
{
    const struct gba_candidate *candidate = gba_agree_candidate(a);
    const bool group = gba_candidate_is_group(candidate);
    gba_status_t status;

    a->device = group ? gba_build_device(a, candidate->switch_index) : NULL;
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
    if (GBA_OK == status)
        shape_describe(a, GBA_AT_EACH != candidate->switch_index && a->info.switches.count > 1,
                       text, len);
    gba_domains_fini(&a->shape.domains);
    return status;
}

/* The expected time of the candidate a->place. That of the runtime's barrier does not count in the
 * list: most runtimes exchange messages between all members by dissemination, on several hosts. */
static uint64_t cost_of(const struct gba_agreement *a)
{
    const struct gba_choice own = {.hierarchy = GBA_HIERARCHY_FLAT, .algorithm = GBA_ALGORITHM_V1};
    const struct gba_candidate *candidate = gba_agree_candidate(a);

    return GBA_KIND_FALLBACK == candidate->kind && a->info.hosts > 1
               ? gba_choice_cost(&a->info, own, 1)
               : candidate->cost;
}

/* The loop has ended, at the candidate that the team takes. */
static gba_status_t candidates_show(struct gba_agreement *a, gba_prediction_t *prediction)
{
    const uint32_t taken = a->place;
    gba_status_t status = GBA_OK;

    prediction->count = a->list.count;
    for (a->place = 0; a->place < a->list.count && GBA_OK == status; a->place++) {
        char text[sizeof prediction->candidates[0].text - 16] = "", rank[32];
        gba_predicted_t *shown = &prediction->candidates[a->place];

        *shown = (gba_predicted_t){.path = gba_build_kind(a),
                                   .taken = a->place == taken,
                                   .cost = cost_of(a),
                                   .reason = gba_agree_candidate(a)->refusal.reason,
                                   .culprit = gba_agree_candidate(a)->refusal.culprit};
        name_rank(NULL, shown->culprit, rank, sizeof rank);
        if (GBA_OK != shown->reason)
            gba_plan_words(gba_agree_candidate(a), 1, shown->reason, rank, shown->words,
                           sizeof shown->words);
        status = candidate_describe(a, text, sizeof text);
        snprintf(shown->text, sizeof shown->text, "%s: %s", gba_path_name(shown->path), text);
    }
    return status;
}

gba_status_t gba_team_predict(const gba_team_attr_t *attr, uint32_t hosts, uint32_t members,
                              gba_prediction_t *prediction)
{
    struct gba_replicas replicas = {.hosts = hosts, .members = members, .device_hosts = UINT32_MAX};
    gba_team_attr_t described = *attr;
    struct gba_agreement *a;
    struct gba_cluster cluster;
    char message[1400]; /* logged where the agreement reads the file */
    gba_status_t status;

    prediction->cores = 0;
    gba_cluster_default(&cluster);
    if (gba_cluster_described(attr->params->cluster, &cluster, message, sizeof message)) {
        replicas.cluster = &cluster;
        prediction->cores =
            (uint32_t)((cluster.cores + cluster.hosts_per_machine - 1) / cluster.hosts_per_machine);
        described.oversubscribed = members > prediction->cores;
    }
    status = agree(&described, &replicas, &a);
    if (GBA_OK != status)
        return status;
    prediction->path = a->team->kind;
    snprintf(prediction->why, sizeof prediction->why, "%s", a->team->words.why);
    status = candidates_show(a, prediction);
    agreement_end(a);
    return status;
}

gba_status_t gba_predict_list(const gba_team_attr_t *attr, const struct gba_replicas *replicas,
                              struct gba_list *list)
{
    struct gba_agreement *a;
    gba_status_t status = agree(attr, replicas, &a);

    if (GBA_OK != status)
        return status;
    *list = a->list;
    agreement_end(a);
    return GBA_OK;
}
