/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path that a team would take: the loop of loop.c, over an exchange that replicates this
 * process, the member of rank 0. Nothing is sent, and no group is requested.
 */
#include "gba/agree/predict.h"

#include <stdio.h>
#include <string.h>

#include "gba/agree/agree.h"
#include "gba/agree/software.h"
#include "gba/dev/member.h"

#define MEMBERS_MOST (UINT32_C(1) << 24)

_Static_assert(GBA_LIST_MOST <= GBA_PREDICTED_MAX, "a prediction has room for every candidate");

/* ---------------------------------------------------------------------------- the exchange --- */

struct exchange {
    struct gba_replicas replicas;
    struct gba_agreement *a;
};

static void name_rank(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "rank %u", rank);
}

/* The hosts that share the device of rank 0, or one of its other devices. */
static uint32_t hosts_at(const struct exchange *e, gba_path_t kind)
{
    return GBA_PATH_SIM == kind ? 1 : e->replicas.device_hosts;
}

/* The minima of values that differ, and of their complements. */
static void differ(uint64_t *words, uint32_t count)
{
    words[0] = words[count] = 0;
}

static void facts_replicate(const struct exchange *e, uint64_t *words)
{
    struct gba_terms terms;

    memcpy(&terms, &words[GBA_FACT_TERMS], sizeof terms);
    if (e->replicas.hosts > 1)
        differ(&words[GBA_FACT_HOST], 4);
    if (e->replicas.hosts > hosts_at(e, (gba_path_t)terms.kind))
        differ(&words[GBA_FACT_DEVICE], 2);
    if (e->replicas.cluster != NULL)
        gba_cost_terms_set(&terms.cost, e->replicas.cluster);
    memcpy(&words[GBA_FACT_TERMS], &terms, sizeof terms);
}

/* The first member that has no device at a switch of rank 0. */
static void lacking_replicate(const struct exchange *e, uint64_t *words)
{
    const struct gba_switches *switches = &e->a->info.switches;

    for (uint32_t i = 0; i < switches->count; i++) {
        const uint32_t hosts = hosts_at(e, (gba_path_t)switches->kind[i]);

        if (e->replicas.hosts > hosts)
            words[i] = (uint64_t)hosts * e->replicas.members;
    }
}

static gba_status_t replicate_min(void *ctx, uint64_t *words, uint32_t count)
{
    const struct exchange *e = ctx;

    (void)count;
    if (GBA_AGREE_FACTS == e->a->state)
        facts_replicate(e, words);
    else if (GBA_AGREE_LACKING == e->a->state)
        lacking_replicate(e, words);
    return GBA_OK;
}

static gba_status_t replicate_all(void *ctx, const void *in, void *out, size_t bytes)
{
    const struct exchange *e = ctx;
    struct gba_member_info *members = out;
    uint32_t shared;

    for (uint32_t rank = 0; rank < e->a->info.size; rank++)
        memcpy((char *)out + rank * bytes, in, bytes);
    if (GBA_AGREE_LAYOUT != e->a->state)
        return GBA_OK;
    shared = hosts_at(e, (gba_path_t)e->a->info.terms.kind);
    for (uint32_t rank = 0; rank < e->a->info.size; rank++) {
        const uint32_t host = rank / e->replicas.members, device = host / shared;

        members[rank].host.word[0] ^= host;
        for (unsigned i = 0; i < sizeof device; i++)
            members[rank].port.uuid[i] ^= (uint8_t)(device >> 8 * i);
    }
    return GBA_OK;
}

static gba_status_t replicate_test(void *ctx)
{
    (void)ctx;
    return GBA_OK;
}

/* Let the members of e agree. On GBA_OK the caller ends e->a by agreement_end. */
static gba_status_t agree(const gba_team_attr_t *attr, struct exchange *e)
{
    const gba_oob_t oob = {.ctx = e,
                           .size = e->replicas.hosts * e->replicas.members,
                           .min = replicate_min,
                           .allgather = replicate_all,
                           .test = replicate_test,
                           .name_member = name_rank};
    gba_team_attr_t own = *attr;
    gba_device_t *list[GBA_DEVICE_CHOICES_MAX];
    gba_status_t status;

    if (0 == e->replicas.hosts || 0 == e->replicas.members ||
        e->replicas.hosts > MEMBERS_MOST / e->replicas.members)
        return GBA_ERR_PARAM;
    own.name = "";
    /* A process whose chosen device cannot be opened uses another one. */
    if (own.device == NULL && own.devices != NULL && 0 != gba_switches_devices(&own, list)) {
        own.device = list[0];
        own.device_status = GBA_OK;
    }
    status = gba_agree_begin(NULL, GBA_DUE_CREATE, &own, &oob, true, &e->a);
    return GBA_OK == status ? gba_agree_run(e->a) : status;
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
        gba_build_describe(a, GBA_AT_EACH != candidate->switch_index && a->info.switches.count > 1,
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
    struct exchange e = {
        .replicas = {.hosts = hosts, .members = members, .device_hosts = UINT32_MAX}};
    gba_team_attr_t described = *attr;
    struct gba_cluster cluster;
    char message[1400]; /* logged where the agreement reads the file */
    gba_status_t status;

    prediction->cores = 0;
    gba_cluster_default(&cluster);
    if (gba_cluster_described(attr->params->cluster, &cluster, message, sizeof message)) {
        e.replicas.cluster = &cluster;
        prediction->cores =
            (uint32_t)((cluster.cores + cluster.hosts_per_machine - 1) / cluster.hosts_per_machine);
        described.oversubscribed = members > prediction->cores;
    }
    status = agree(&described, &e);
    if (GBA_OK != status)
        return status;
    prediction->path = e.a->team->kind;
    snprintf(prediction->why, sizeof prediction->why, "%s", e.a->team->words.why);
    status = e.a->nodes == NULL ? GBA_ERR_NOMEM : candidates_show(e.a, prediction);
    agreement_end(e.a);
    return status;
}

gba_status_t gba_predict_list(const gba_team_attr_t *attr, const struct gba_replicas *replicas,
                              struct gba_list *list)
{
    struct exchange e = {.replicas = *replicas};
    gba_status_t status = agree(attr, &e);

    if (GBA_OK != status)
        return status;
    *list = e.a->list;
    status = e.a->nodes == NULL ? GBA_ERR_NOMEM : GBA_OK;
    agreement_end(e.a);
    return status;
}
