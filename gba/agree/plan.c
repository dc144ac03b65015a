/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/agree/plan.h"

#include <stdio.h>

#include "gba/spec/gba_regs.h"

bool gba_reason_passes(gba_status_t reason)
{
    return GBA_ERR_DEFERRED == reason || GBA_ERR_NO_GROUP == reason || GBA_ERR_LIMIT == reason ||
           GBA_ERR_QUOTA == reason;
}

/* The most members of a group at that switch of rank 0; without a device that of any device. */
static uint32_t members_most(const struct gba_info *info, uint8_t switch_index)
{
    const struct gba_switches *switches = &info->switches;
    const uint32_t most = switch_index < switches->count ? switches->members_max[switch_index]
                                                         : info->terms.members_max;

    return 0 == most ? GBA_MEMBERS_MAX : most;
}

/* The expected time of a path; 0: not known, also as long as the hosts are not, or no group can
 * have the members. */
static uint64_t cost_of(const struct gba_info *info, struct gba_choice choice, uint8_t switch_index)
{
    const uint32_t most = members_most(info, switch_index);

    if (choice.group && GBA_HIERARCHY_FLAT == choice.hierarchy && info->size > most)
        return 0;
    return gba_choice_cost(
        info, choice, GBA_AT_EACH == switch_index ? info->ports : (info->hosts - 1) / most + 1);
}

static enum gba_need candidate_need(const struct gba_info *info, enum gba_kind kind)
{
    const bool same_switch = info->one_device || (GBA_KIND_LEADERS == kind && info->one_host);

    if (kind <= GBA_KIND_LEADERS && !same_switch && 0 == info->switches.count)
        return GBA_NEED_SWITCHES;
    return 0 == info->hosts && (GBA_KIND_LEADERS == kind || GBA_KIND_SOFTWARE == kind)
               ? GBA_NEED_LAYOUT
               : GBA_NEED_NOTHING;
}

static void list_add(struct gba_list *list, const struct gba_info *info, struct gba_choice choice,
                     enum gba_kind kind, uint8_t switch_index, struct gba_refusal refusal)
{
    list->candidates[list->count++] =
        (struct gba_candidate){.kind = (uint8_t)kind,
                               .need = (uint8_t)candidate_need(info, kind),
                               .switch_index = switch_index,
                               .members = GBA_KIND_LEADERS == kind ? info->hosts : info->size,
                               .members_most = members_most(info, switch_index),
                               .choice = choice,
                               .refusal = refusal};
}

static struct gba_refusal software_refusal(const struct gba_info *info)
{
    if (GBA_OK != info->memory.reason)
        return info->memory;
    if (GBA_OK != info->disabled.reason)
        return info->disabled;
    return info->one_host ? (struct gba_refusal){GBA_OK, 0} : info->remote;
}

/* ------------------------------------------------------------------------ barrier groups --- */

/* Why no member is to try a group at that switch of rank 0; GBA_OK: they may. */
static struct gba_refusal switch_refusal(const struct gba_info *info, enum gba_kind kind,
                                         uint8_t switch_index)
{
    const struct gba_switches *switches = &info->switches;
    const bool too_many = GBA_KIND_ALL == kind && info->size > members_most(info, switch_index);
    /* On one host only the leader's device counts, that of rank 0. */
    const bool lacks = switch_index < switches->count &&
                       UINT32_MAX != switches->lacking[switch_index] &&
                       (GBA_KIND_ALL == kind || !info->one_host);

    if (GBA_KIND_LEADERS == kind && GBA_OK != info->memory.reason)
        return info->memory;
    /* Of the reasons of several members the lowest status counts. No device holds too many. */
    if (lacks && !too_many &&
        (GBA_KIND_LEADERS == kind || info->device.reason > GBA_ERR_OTHER_DEVICE))
        return (struct gba_refusal){GBA_ERR_OTHER_DEVICE, switches->lacking[switch_index]};
    if (GBA_KIND_ALL == kind && GBA_OK != info->device.reason &&
        (info->one_device || 0 != switches->count))
        return info->device;
    if (too_many)
        return (struct gba_refusal){GBA_ERR_TOO_MANY, 0};
    return (struct gba_refusal){GBA_OK, 0};
}

static struct gba_choice group_choice(enum gba_kind kind)
{
    return (struct gba_choice){
        .hierarchy = GBA_KIND_ALL == kind ? GBA_HIERARCHY_FLAT : GBA_HIERARCHY_NODE, .group = true};
}

/* Groups of one kind at each switch of rank 0. */
static void list_kind(struct gba_list *list, const struct gba_info *info, enum gba_kind kind)
{
    const uint32_t count = 0 == info->switches.count ? 1 : info->switches.count;

    for (uint8_t switch_index = 0; switch_index < count; switch_index++)
        list_add(list, info, group_choice(kind), kind, switch_index,
                 switch_refusal(info, kind, switch_index));
}

/* Groups at the switch of each leader, if no switch serves all. */
static void list_each(struct gba_list *list, const struct gba_info *info)
{
    for (uint32_t switch_index = 0; switch_index < info->switches.count; switch_index++)
        if (UINT32_MAX == info->switches.lacking[switch_index])
            return;
    if (0 != info->switches.count && !info->one_host)
        list_add(list, info, group_choice(GBA_KIND_LEADERS), GBA_KIND_LEADERS, GBA_AT_EACH,
                 info->memory);
}

/* Whether the team has enough hosts for the device before any measurement. */
static bool device_first(const struct gba_info *info)
{
    const uint32_t least = info->terms.min_hosts;

    return GBA_OFFLOAD_ALWAYS == info->terms.offload || least <= 1 ||
           (!info->one_host && (least <= 2 || least <= info->hosts));
}

/* Whether a software barrier is expected to be so much faster than the device that this outweighs
 * the policy for several hosts. */
static bool device_slower(const struct gba_info *info, enum gba_kind kind)
{
    const uint64_t device = gba_cost_preferred(cost_of(info, group_choice(kind), 0));
    struct gba_choice choices[GBA_CHOICES_MOST];
    const uint32_t count = gba_choices_list(info, false, choices);

    for (uint32_t i = 0; i < count && GBA_OK == software_refusal(info).reason; i++)
        if (cost_of(info, choices[i], 0) < device)
            return true;
    return false;
}

/* Why the team is to have no group, whatever its switches are; GBA_OK: it may. */
static struct gba_refusal groups_refusal(const struct gba_info *info, enum gba_kind kind,
                                         bool trial)
{
    gba_status_t reason = (gba_status_t)info->terms.status;

    if (GBA_OK == reason && GBA_OFFLOAD_NEVER == info->terms.offload)
        reason = GBA_ERR_NOT_WANTED;
    if (GBA_OK == reason && !trial && !device_first(info))
        reason = GBA_ERR_FEW_HOSTS;
    if (GBA_OK == reason && !trial && GBA_OFFLOAD_FASTEST == info->terms.offload &&
        device_slower(info, kind))
        reason = GBA_ERR_SLOWER;
    return (struct gba_refusal){reason, 0};
}

/*
 * Whether groups of the node leaders come before a group of all members: with `offload` fastest, if
 * they are expected to be so much faster. A group of all is preferred, because it needs no shared
 * memory, shows which members are missing, and can serve GPU members directly.
 */
static bool leaders_first(const struct gba_info *info)
{
    const uint64_t all = cost_of(info, group_choice(GBA_KIND_ALL), 0);
    const uint64_t leaders = cost_of(info, group_choice(GBA_KIND_LEADERS), 0);

    return GBA_OFFLOAD_FASTEST == info->terms.offload && GBA_OK == info->memory.reason &&
           0 != leaders && leaders < gba_cost_preferred(all);
}

static void list_groups(struct gba_list *list, const struct gba_info *info, bool trial)
{
    const bool nodes = GBA_HIERARCHY_NODE == info->terms.hierarchy;
    /* On one host a group of one node leader is a detour, so only a user can request it. */
    const bool leaders = nodes || (GBA_HIERARCHY_FLAT != info->terms.hierarchy && !info->one_host);
    const bool too_many = leaders && !nodes && info->size > members_most(info, 0);
    const bool first = leaders && !nodes && !too_many && leaders_first(info);
    const enum gba_kind kind = nodes || too_many || first ? GBA_KIND_LEADERS : GBA_KIND_ALL;
    const struct gba_refusal refusal = groups_refusal(info, kind, trial);

    if (GBA_OK != refusal.reason) {
        if (too_many)
            list_add(list, info, group_choice(GBA_KIND_ALL), GBA_KIND_ALL, 0,
                     (struct gba_refusal){GBA_ERR_TOO_MANY, 0});
        list_add(list, info, group_choice(kind), kind, 0, refusal);
        return;
    }
    if (first)
        list_kind(list, info, GBA_KIND_LEADERS);
    if (!nodes)
        list_kind(list, info, GBA_KIND_ALL);
    if (leaders && !first)
        list_kind(list, info, GBA_KIND_LEADERS);
    if (leaders && !info->together)
        list_each(list, info);
}

/* ----------------------------------------------------------------------- software, in order --- */

/* Sort software barriers by expected cost, if that decides: the chosen one, the first, stays before
 * those that are hardly faster. */
static void sort_software(struct gba_candidate *first, uint32_t count, const struct gba_info *info)
{
    struct gba_candidate moved;
    uint32_t to;

    if (GBA_OFFLOAD_FASTEST != info->terms.offload || 0 == info->hosts)
        return;
    for (uint32_t i = 0; i < count; i++)
        first[i].cost = cost_of(info, first[i].choice, 0);
    first[0].cost = gba_cost_preferred(first[0].cost);
    for (uint32_t i = 1; i < count; i++) {
        moved = first[i];
        for (to = i; to > 0 && first[to - 1].cost > moved.cost; to--)
            first[to] = first[to - 1];
        first[to] = moved;
    }
}

/* The chosen software barrier and those that a trial measures, then the runtime's. */
static void list_software(struct gba_list *list, const struct gba_info *info, bool trial)
{
    const struct gba_choice first = gba_choice_first(info);
    const uint32_t from = list->count;
    struct gba_choice choices[GBA_CHOICES_MOST];
    const uint32_t count =
        gba_choices_list(info, trial && 0 != info->terms.trial_fallback, choices);
    const struct gba_refusal none = {GBA_OK, 0};

    if (!trial)
        list_add(list, info, first, GBA_KIND_SOFTWARE, 0, software_refusal(info));
    for (uint32_t i = 0; i < count; i++)
        if (choices[i].fallback)
            list_add(list, info, choices[i], GBA_KIND_FALLBACK, 0, none);
        else if (trial ? !gba_choice_slow(info, choices, count, i)
                       : !gba_choices_equal(choices[i], first))
            list_add(list, info, choices[i], GBA_KIND_SOFTWARE, 0, software_refusal(info));
    if (trial)
        return;
    sort_software(&list->candidates[from], list->count - from, info);
    list_add(list, info, (struct gba_choice){.fallback = true}, GBA_KIND_FALLBACK, 0, none);
}

/* ----------------------------------------------------------------------------- the list --- */

/* Keep the refusals of the candidates that were tried. */
static void list_keep(struct gba_list *list, const struct gba_list *before)
{
    for (uint32_t i = 0; i < before->count; i++) {
        const struct gba_candidate *tried = &before->candidates[i];

        for (uint32_t k = 0; k < list->count && tried->tried; k++) {
            struct gba_candidate *candidate = &list->candidates[k];

            if (candidate->kind == tried->kind && candidate->switch_index == tried->switch_index &&
                gba_choices_equal(candidate->choice, tried->choice)) {
                *candidate = *tried;
                break;
            }
        }
    }
}

/* The first reason stays, except that a reason that passes replaces one that does not. */
static void reason_add(struct gba_refusal *reason, struct gba_refusal next)
{
    if (GBA_OK != next.reason && (GBA_OK == reason->reason || (!gba_reason_passes(reason->reason) &&
                                                               gba_reason_passes(next.reason))))
        *reason = next;
}

/* Why there is no group of all members. */
static struct gba_refusal reason_of_all(const struct gba_list *list)
{
    struct gba_refusal all = {GBA_OK, 0};

    for (uint32_t i = 0; i < list->count; i++)
        if (GBA_KIND_ALL == list->candidates[i].kind)
            reason_add(&all, list->candidates[i].refusal);
    return all;
}

/* A group of leaders serves only where a group of all members cannot reach all of them. */
static void leaders_refuse(struct gba_list *list)
{
    const struct gba_refusal all = reason_of_all(list);

    if (GBA_OK == all.reason || GBA_ERR_TOO_MANY == all.reason ||
        GBA_ERR_OTHER_DEVICE == all.reason)
        return;
    for (uint32_t i = 0; i < list->count; i++)
        if (GBA_KIND_LEADERS == list->candidates[i].kind)
            list->candidates[i].refusal = all;
}

/* Whether leaders_first could be true for some number of hosts. No leaders are faster than two,
 * each with one other member. */
static bool leaders_may_be_first(const struct gba_info *info)
{
    struct gba_info least = *info;

    least.hosts = 2;
    least.largest = 2;
    return GBA_HIERARCHY_AUTO == info->terms.hierarchy && leaders_first(&least);
}

/* The order of the list depends on the number of hosts, unless the device is faster than one
 * message, and a group of all members as fast as one of two. A member without memory for the layout
 * excludes the paths that the list orders. */
static enum gba_need order_need(const struct gba_info *info)
{
    const struct gba_terms *terms = &info->terms;
    const bool by_hosts =
        GBA_OFFLOAD_FASTEST == terms->offload && GBA_OK == terms->status && 0 == info->hosts &&
        (terms->min_hosts > 2 || gba_cost_preferred(terms->cost.device) > terms->cost.message ||
         leaders_may_be_first(info));

    return GBA_OK == info->memory.reason && by_hosts ? GBA_NEED_LAYOUT : GBA_NEED_NOTHING;
}

void gba_plan_list(struct gba_list *list, const struct gba_info *info, gba_due_t due)
{
    const struct gba_list before = *list;

    list->count = 0;
    list->need = (uint8_t)order_need(info);
    list->needs_more = 0 != info->terms.multi_device && 0 == info->switches.count;
    /* A trial measures the device only where another barrier may take its place. */
    if (GBA_DUE_RECOVER != due &&
        (GBA_DUE_TRIAL != due || GBA_OFFLOAD_FASTEST == info->terms.offload))
        list_groups(list, info, GBA_DUE_TRIAL == due);
    if (GBA_DUE_REQUEST != due)
        list_software(list, info, GBA_DUE_TRIAL == due);
    list_keep(list, &before);
    leaders_refuse(list);
    for (uint32_t i = 0; i < list->count; i++)
        list->candidates[i].cost =
            cost_of(info, list->candidates[i].choice, list->candidates[i].switch_index);
}

enum gba_need gba_plan_next(const struct gba_list *list, uint32_t *place)
{
    for (*place = 0; *place < list->count; ++*place)
        if (!list->candidates[*place].tried && GBA_OK == list->candidates[*place].refusal.reason)
            break;
    if (GBA_NEED_NOTHING != list->need || *place == list->count)
        return (enum gba_need)list->need;
    return (enum gba_need)list->candidates[*place].need;
}

void gba_plan_refuse(struct gba_list *list, uint32_t place, struct gba_refusal refusal, bool alike)
{
    struct gba_candidate *candidate = &list->candidates[place];

    candidate->tried = true;
    candidate->refusal = refusal;
    if (gba_candidate_is_group(candidate)) {
        leaders_refuse(list);
        if (list->needs_more)
            list->need = GBA_NEED_SWITCHES;
    }
    /* What one software barrier lacks, memory or a connection, the others lack as well. */
    for (uint32_t i = place + 1; alike && i < list->count; i++)
        if (GBA_KIND_SOFTWARE == candidate->kind && GBA_KIND_SOFTWARE == list->candidates[i].kind)
            list->candidates[i].refusal = refusal;
}

bool gba_plan_misses(const struct gba_list *list, const struct gba_candidate *candidate)
{
    bool all = false;

    for (uint32_t i = 0; i < list->count; i++)
        all = all || GBA_KIND_ALL == list->candidates[i].kind;
    return gba_candidate_is_group(candidate) && GBA_OK != candidate->refusal.reason &&
           GBA_AT_EACH != candidate->switch_index &&
           (candidate->tried || GBA_KIND_ALL == candidate->kind || !all);
}

struct gba_refusal gba_plan_reason(const struct gba_list *list)
{
    struct gba_refusal of_leaders = {GBA_OK, 0};

    for (uint32_t i = 0; i < list->count; i++) {
        const struct gba_candidate *candidate = &list->candidates[i];

        if (GBA_KIND_LEADERS != candidate->kind)
            continue;
        /* Groups at several switches, the last resort, say more than that no switch serves all. */
        if (GBA_AT_EACH == candidate->switch_index && !gba_reason_passes(of_leaders.reason))
            of_leaders = (struct gba_refusal){GBA_OK, 0};
        reason_add(&of_leaders, candidate->refusal);
    }
    reason_add(&of_leaders, reason_of_all(list)); /* what the leaders were refused came later */
    return of_leaders;
}

struct gba_refusal gba_plan_no_software(const struct gba_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (GBA_KIND_SOFTWARE == list->candidates[i].kind &&
            GBA_OK != list->candidates[i].refusal.reason)
            return list->candidates[i].refusal;
    return (struct gba_refusal){GBA_OK, 0};
}

void gba_plan_words(const struct gba_candidate *candidates, uint32_t count, gba_status_t reason,
                    const char *member, char *text, size_t len)
{
    for (uint32_t i = 0; i < count; i++)
        if (GBA_ERR_TOO_MANY == reason && reason == candidates[i].refusal.reason) {
            snprintf(text, len, "%u members; a group has at most %u", candidates[i].members,
                     candidates[i].members_most);
            return;
        }
    snprintf(text, len, "%s%s%s%s", gba_status_text(reason), member == NULL ? "" : " (",
             member == NULL ? "" : member, member == NULL ? "" : ")");
}
