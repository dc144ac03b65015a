/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/predict/candidates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the members of such a team would have exchanged. */
static void info_fill(struct gba_info *info, const struct predict_question *question,
                      uint32_t hosts, uint32_t ranks)
{
    const struct gba_cluster *c = question->setup.cluster;
    const gba_params_t *params = question->params;
    const bool one_device = hosts <= c->device_hosts;

    memset(info, 0, sizeof *info);
    info->size = hosts * ranks;
    info->hosts = hosts;
    info->one_host = 1 == hosts;
    info->one_device = one_device;
    info->oversubscribed = (uint64_t)ranks * c->hosts_per_machine > c->cores;
    if (!params->sw_enable)
        info->disabled.reason = GBA_ERR_DISABLED;
    info->terms = (struct gba_terms){.members_max = (uint32_t)c->device_members,
                                     .min_hosts = (uint32_t)params->min_hosts,
                                     .algorithm = (uint8_t)params->sw_algorithm,
                                     .radix = (uint8_t)params->sw_radix,
                                     .hierarchy = (uint8_t)params->hierarchy,
                                     .offload = (uint8_t)(GBA_OFFLOAD_AUTO == params->offload
                                                              ? GBA_OFFLOAD_FASTEST
                                                              : (gba_offload_t)params->offload),
                                     .trial_fallback = 1};
    info->largest = ranks;
    for (uint64_t first = 0; first < hosts; first += c->device_hosts)
        info->ports++;
    gba_cost_terms_set(&info->terms.cost, c);
    if (!one_device) {
        info->switches.count = 1;
        info->switches.members_max[0] = (uint16_t)c->device_members;
        info->switches.lacking[0] = (uint32_t)c->device_hosts * ranks;
    }
}

static uint32_t barriers_for(const struct predict_question *question, uint32_t size)
{
    const uint64_t many = question->signals / (8 * (uint64_t)size + 1);

    if (0 != question->setup.barriers)
        return question->setup.barriers;
    return many < 1 ? 1 : many > 1000 ? 1000 : (uint32_t)many;
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
    setup.barriers = barriers_for(question, hosts * ranks);
    setup.warmup = 0 != setup.warmup || setup.barriers < 10 ? setup.warmup : setup.barriers / 10;
    status = predict_run(&setup, &candidate->result);
    if (GBA_OK != status && GBA_ERR_NOMEM != status)
        candidate->refused = status; /* the device has not so many groups */
    return GBA_ERR_NOMEM == status ? status : GBA_OK;
}

gba_status_t predict_candidates(const struct predict_question *question, uint32_t hosts,
                                uint32_t ranks, struct predict_list *list)
{
    struct gba_list *plan = calloc(1, sizeof *plan);
    struct gba_info info;
    gba_status_t status = GBA_OK;

    if (plan == NULL)
        return GBA_ERR_NOMEM;
    info_fill(&info, question, hosts, ranks);
    gba_plan_list(plan, &info, GBA_DUE_CREATE);
    *list = (struct predict_list){.hosts = hosts, .ranks = ranks};
    for (uint32_t i = 0; i < plan->count && GBA_OK == status; i++) {
        const struct gba_candidate *from = &plan->at[i];
        struct predict_candidate *to = &list->at[list->count];

        /* The same path at another switch: the first one that is not refused. */
        for (uint32_t k = 0; k < list->count; k++)
            if (gba_choices_equal(list->at[k].choice, from->choice))
                to = &list->at[k];
        if (to == &list->at[list->count])
            list->count++;
        else if (GBA_OK == to->refused || GBA_OK != from->refusal.reason)
            continue;
        *to = (struct predict_candidate){
            .choice = from->choice, .formula = 1000 * from->cost, .refused = from->refusal.reason};
        gba_trial_name(&from->choice, hosts > 1, to->name);
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

const struct predict_candidate *predict_fastest(const struct predict_list *list, bool group)
{
    const struct predict_candidate *best = NULL;

    for (uint32_t i = 0; i < list->count; i++) {
        const struct predict_candidate *candidate = &list->at[i];

        if (GBA_OK == candidate->refused && candidate->choice.group == group &&
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

/* ------------------------------------------------------------------------------- traces --- */

gba_status_t predict_trace_read(const char *path, struct predict_trace *trace)
{
    double start, length, end = 0;
    uint32_t room = 0;
    int fields;
    gba_status_t status = GBA_OK;
    FILE *file = fopen(path, "re");

    *trace = (struct predict_trace){0};
    if (file == NULL)
        return GBA_ERR_IO;
    while (GBA_OK == status && (fields = fscanf(file, "%lf %lf", &start, &length)) != EOF) {
        if (trace->count == room) {
            uint64_t *more;

            room = 0 == room ? 1024 : 2 * room;
            more = realloc(trace->at, 2 * sizeof *more * room);
            if (more == NULL) {
                status = GBA_ERR_NOMEM;
                break;
            }
            trace->at = more;
        }
        if (fields != 2 || !(start >= end) || !(length > 0) || !(start + length < 1e15))
            status = GBA_ERR_PARAM;
        end = start + length;
        trace->at[2 * trace->count] = (uint64_t)(start * 1000);
        trace->at[2 * trace->count++ + 1] = (uint64_t)(length * 1000);
    }
    fclose(file);
    trace->period = (uint64_t)(end * 1000) + 1;
    return GBA_OK == status && 0 == trace->count ? GBA_ERR_PARAM : status;
}
