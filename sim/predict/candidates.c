/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/predict/candidates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gba/agree/predict.h"
#include "gba/dev/member.h"

/* The device of the cluster: its groups are all free. */
static gba_status_t device_query(struct gba_dev *dev, gba_device_info_t *info)
{
    (void)dev;
    *info = (gba_device_info_t){.groups = GBA_GROUPS, .groups_free = GBA_GROUPS};
    return GBA_OK;
}

/* The list with which the members of such a team end their agreement. */
static gba_status_t list_agree(const struct predict_question *question, uint32_t hosts,
                               uint32_t ranks, struct gba_list *list)
{
    static const struct gba_dev_ops ops = {.name = "cluster", .query = device_query};
    const struct gba_cluster *c = question->setup.cluster;
    const struct gba_replicas replicas = {
        .hosts = hosts, .members = ranks, .device_hosts = GBA_PORTS_MAX, .cluster = c};
    gba_remote_t remote = {.name = "messages"};
    char path[] = "cluster";
    struct gba_dev dev = {.ops = &ops, .groups = GBA_GROUPS};
    struct gba_device device = {
        .dev = &dev, .path = path, .members_max = GBA_MEMBERS_MAX, .kind = GBA_PATH_DEVICE};
    const gba_team_attr_t attr = {.params = question->params,
                                  .device = &device,
                                  .remote = &remote,
                                  .oversubscribed =
                                      (uint64_t)ranks * c->hosts_per_machine > c->cores,
                                  .id = 1};

    return gba_predict_list(&attr, &replicas, list);
}

/* Barriers after which ranks that began together are as far apart as later; for 7200 ranks on 900
 * hosts, among which a delay spreads in steps, it takes most of them. */
#define WARMUP 24u

bool predict_is_steady(const struct predict_question *question, uint32_t size)
{
    return 0 != question->setup.barriers ? question->setup.barriers >= 2 * WARMUP
                                         : size <= question->steady;
}

static void barriers_set(const struct predict_question *question, struct predict_setup *setup)
{
    const uint32_t size = setup->hosts * setup->ranks;
    const bool given = 0 != setup->barriers, steady = !given && predict_is_steady(question, size);
    const uint64_t many = given ? setup->barriers : question->signals / (8 * (uint64_t)size + 1);
    const uint64_t least = steady ? WARMUP : 1;

    if (!given)
        setup->barriers = many < least ? (uint32_t)least : many > 1000 ? 1000 : (uint32_t)many;
    if (0 == setup->warmup)
        setup->warmup = setup->barriers < 10 ? 0 : setup->barriers / 10;
    if (steady && setup->warmup < WARMUP)
        setup->warmup = WARMUP;
}

static gba_status_t candidate_run(const struct predict_question *question, uint32_t hosts,
                                  uint32_t ranks, struct predict_candidate *candidate)
{
    struct predict_setup setup = question->setup;
    gba_status_t status;

    setup.hosts = hosts;
    setup.ranks = ranks;
    setup.radix = 0 != candidate->choice.radix ? candidate->choice.radix : GBA_RADIX_DEFAULT;
    setup.choice = candidate->choice;
    barriers_set(question, &setup);
    status = predict_run(&setup, &candidate->result);
    if (GBA_OK != status && GBA_ERR_NOMEM != status) {
        candidate->refused = status; /* the device has not so many groups */
        snprintf(candidate->words, sizeof candidate->words, "%s", gba_status_text(status));
    }
    return GBA_ERR_NOMEM == status ? status : GBA_OK;
}

gba_status_t predict_candidates(const struct predict_question *question, uint32_t hosts,
                                uint32_t ranks, struct predict_list *list)
{
    struct gba_list *plan = calloc(1, sizeof *plan);
    gba_status_t status = plan == NULL ? GBA_ERR_NOMEM : list_agree(question, hosts, ranks, plan);

    *list = (struct predict_list){.hosts = hosts, .ranks = ranks};
    for (uint32_t i = 0; GBA_OK == status && i < plan->count; i++) {
        const struct gba_candidate *from = &plan->candidates[i];
        struct predict_candidate *to = &list->candidates[list->count];

        /* The same path at another switch: the first one that is not refused. */
        for (uint32_t k = 0; k < list->count; k++)
            if (gba_choices_equal(list->candidates[k].choice, from->choice))
                to = &list->candidates[k];
        if (to == &list->candidates[list->count])
            list->count++;
        else if (GBA_OK == to->refused || GBA_OK != from->refusal.reason)
            continue;
        *to = (struct predict_candidate){
            .choice = from->choice, .formula = 1000 * from->cost, .refused = from->refusal.reason};
        gba_choice_name(&from->choice, hosts > 1, to->name);
        gba_plan_words(from, 1, to->refused, NULL, to->words, sizeof to->words);
        /* Rules for as long as nothing is known. */
        if (GBA_ERR_FEW_HOSTS == to->refused || GBA_ERR_SLOWER == to->refused)
            to->refused = GBA_OK;
        if (from->choice.fallback)
            to->refused = GBA_ERR_UNSUPPORTED;
        if (GBA_OK == to->refused)
            status = candidate_run(question, hosts, ranks, to);
    }
    free(plan);
    return status;
}

gba_status_t predict_own(const struct predict_question *question, struct predict_list *list)
{
    struct predict_candidate *own = &list->candidates[list->count - 1];

    own->choice = (struct gba_choice){.hierarchy = GBA_HIERARCHY_FLAT, .fallback = true};
    own->refused = GBA_OK;
    return candidate_run(question, list->hosts, list->ranks, own);
}

uint64_t predict_device_time(const struct gba_cluster *c)
{
    return c->device_issue + c->device_up + c->device_match + c->device_down;
}

gba_status_t predict_break_even(const struct predict_question *question,
                                const struct predict_list *list,
                                const struct predict_candidate *device, uint64_t wanted,
                                uint64_t *found)
{
    struct gba_cluster slower = *question->setup.cluster;
    struct predict_question changed = *question;
    struct predict_candidate other = *device;
    const double mean = (double)device->result.mean, more = fabs((double)wanted - mean) + 1e6;
    double rise, time;
    gba_status_t status;

    slower.device_down += (uint64_t)more;
    changed.setup.cluster = &slower;
    status = candidate_run(&changed, list->hosts, list->ranks, &other);
    rise = ((double)other.result.mean - mean) / more;
    time = (double)predict_device_time(question->setup.cluster) + ((double)wanted - mean) / rise;
    *found = rise > 0 && time > 0 ? (uint64_t)time : 0;
    return status;
}

const struct predict_candidate *predict_fastest(const struct predict_list *list, bool group)
{
    const struct predict_candidate *best = NULL;

    for (uint32_t i = 0; i < list->count; i++) {
        const struct predict_candidate *candidate = &list->candidates[i];

        if (GBA_OK == candidate->refused && candidate->choice.group == group &&
            !candidate->choice.fallback &&
            (best == NULL || candidate->result.mean < best->result.mean))
            best = candidate;
    }
    return best;
}

/* Whether the device is the faster one on so many hosts. */
static gba_status_t device_wins(const struct predict_question *question, uint32_t hosts,
                                uint32_t ranks, bool *wins)
{
    struct predict_list *list = calloc(1, sizeof *list);
    const struct predict_candidate *device, *software;
    gba_status_t status =
        list == NULL ? GBA_ERR_NOMEM : predict_candidates(question, hosts, ranks, list);

    if (GBA_OK == status) {
        device = predict_fastest(list, true);
        software = predict_fastest(list, false);
        *wins = device != NULL && (software == NULL || device->result.mean < software->result.mean);
    }
    free(list);
    return status;
}

gba_status_t predict_crossover(const struct predict_question *question, uint32_t ranks,
                               uint32_t most, uint32_t *found)
{
    uint32_t low = 0, high = 1; /* the device loses on low hosts */
    bool wins = false;
    gba_status_t status;

    for (;;) {
        status = device_wins(question, high, ranks, &wins);
        if (GBA_OK != status || wins || high == most)
            break;
        low = high;
        high = high > most / 2 ? most : 2 * high;
    }
    *found = wins ? high : 0;
    while (GBA_OK == status && 0 != *found && *found - low > 1) {
        const uint32_t middle = low + (*found - low) / 2;

        status = device_wins(question, middle, ranks, &wins);
        if (wins)
            *found = middle;
        else
            low = middle;
    }
    return status;
}
