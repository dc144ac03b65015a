/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of all members about the path of their barriers: one loop over the list of
 * candidates (plan.c). Creation, renegotiation, recovery and trial are this loop over parts of the
 * list.
 *
 * The exchanges, the same on all members; all but LAYOUT and the HANDLES of several nodes are
 * minima:
 *
 *   FACTS      what all have in common, and the terms of rank 0
 *   SWITCHES, LACKING   if devices differ, or to try more: rank 0's switches; the
 *              members without a device there
 *   LAYOUT     if a candidate needs the hosts of all members
 *   for each candidate, until one is taken:
 *     HANDLES  what leaders have made (not for messages between all, and the runtime's barrier)
 *     JOINED   whether all have joined
 *     ARMED    of a group: whether its leaders have armed it
 *
 * JOINED is a fence: after it no member still joins, and before it no member sends a signal. So a
 * leader arms its group after it, and the memory of a node is closed to others. Any refusal is
 * recorded in the list, the same on all members, and the next candidate follows. A member that
 * fails alone contributes its status to the next exchange.
 *
 * The leader of a node is its lowest rank. The leader of a switch domain is the domain's lowest
 * rank. One group serves a domain, and most teams have one domain. So rank 0 is the leader of node
 * 0 and of domain 0, and member 0 of its group.
 */
#include "gba/agree/build.h"
#include "gba/agree/loop.h"

#include <stdio.h>
#include <stdlib.h>

#include "gba/agree/reason.h"
#include "gba/agree/schedule.h"
#include "gba/failover/failover.h"

/* Post a minimum of a->words. */
static gba_status_t post(struct gba_agreement *a, enum gba_agree_state state, uint32_t count)
{
    a->state = state;
    return a->oob.min(a->oob.ctx, a->words, count);
}

/* Whether all members are ready so far. */
static gba_status_t post_vote(struct gba_agreement *a, enum gba_agree_state state)
{
    a->words[0] = gba_refusal_word(a->part_status, a->oob.rank);
    return post(a, state, 1);
}

/* ------------------------------------------------------------------------------- the end --- */

/* The members have the outcome. */
static gba_status_t end(struct gba_agreement *a)
{
    struct gba_team *team = a->team;

    if (GBA_DUE_TRIAL != a->due) {
        gba_reason_set(a);
        team->stats.renegotiations += GBA_DUE_REQUEST == a->due;
        if (GBA_OK != team->reason)
            gba_failover_close(team);
    }
    a->state = GBA_AGREE_DONE;
    return GBA_OK;
}

/* --------------------------------------------------------------------------- a candidate --- */

static gba_status_t next(struct gba_agreement *a);

/* A trial keeps the path, and goes on. */
static gba_status_t keep_path(struct gba_agreement *a)
{
    struct gba_candidate *candidate = &a->list.candidates[a->place];
    struct gba_trial_candidate *path = &a->trial->entries[a->trial->count++];

    path->choice = candidate->choice;
    path->place = a->place;
    path->kind = gba_build_kind(a);
    path->path = a->path;
    path->cost = UINT64_MAX;
    path->dropped = false;
    snprintf(path->why, sizeof path->why, "%s", a->text.why);
    a->path = NULL;
    candidate->tried = true;
    /* One group of each kind is enough. */
    for (uint32_t i = 0; i < a->list.count && gba_candidate_is_group(candidate); i++)
        a->list.candidates[i].tried |= a->list.candidates[i].kind == candidate->kind;
    return next(a);
}

/* All members are ready. */
static gba_status_t take(struct gba_agreement *a)
{
    gba_build_finish(a);
    if (GBA_DUE_TRIAL == a->due)
        return keep_path(a);
    return end(a);
}

static gba_status_t refuse(struct gba_agreement *a, struct gba_refusal refusal)
{
    a->list.candidates[a->place].maker_refused = GBA_AGREE_HANDLES == a->state;
    gba_build_undo(a);
    gba_plan_refuse(&a->list, a->place, refusal, GBA_DUE_TRIAL != a->due);
    return next(a);
}

static gba_status_t join(struct gba_agreement *a)
{
    gba_build_join(a);
    return post_vote(a, GBA_AGREE_JOINED);
}

static gba_status_t handles_read(struct gba_agreement *a)
{
    const struct gba_refusal refusal = gba_build_refusal(a);

    return GBA_OK == refusal.reason ? join(a) : refuse(a, refusal);
}

static gba_status_t vote_read(struct gba_agreement *a)
{
    const struct gba_refusal refusal = gba_refusal_of(a->words[0]);

    if (GBA_OK != refusal.reason)
        return refuse(a, refusal);
    if (a->path != NULL && a->path->node != NULL)
        gba_shm_segment_shut(&a->path->node->segment); /* no other process can map it any more */
    if (GBA_AGREE_ARMED == a->state || !gba_candidate_is_group(gba_agree_candidate(a)))
        return take(a);
    gba_build_arm(a);
    return post_vote(a, GBA_AGREE_ARMED);
}

static gba_status_t candidate_begin(struct gba_agreement *a)
{
    const struct gba_candidate *candidate = gba_agree_candidate(a);
    struct gba_node_info info;

    a->team->epoch++;
    if (GBA_KIND_FALLBACK == candidate->kind)
        return take(a);
    gba_build_make(a, &info);
    switch (gba_build_handles(a)) {
    case GBA_HANDLES_NONE:
        return join(a);
    case GBA_HANDLES_NODES:
        a->state = GBA_AGREE_HANDLES;
        return a->oob.allgather(a->oob.ctx, &info, a->nodes, sizeof info);
    default:
        return post(a, GBA_AGREE_HANDLES, GBA_HANDLES_WORDS);
    }
}

/* ------------------------------------------------------------------------------ the list --- */

/* Whether a trial passes over this path: it has the current one already, and a path that a member
 * gave up in an earlier pass is not made again. */
static bool is_passed_over(struct gba_agreement *a)
{
    const struct gba_choice choice = gba_agree_candidate(a)->choice;
    const bool trial = GBA_DUE_TRIAL == a->due;
    const bool current = trial && gba_choices_equal(choice, a->trial->entries[0].choice);

    if (current)
        a->trial->place = a->place;
    if (current || (trial && gba_trial_lost(&a->record, choice)))
        return a->list.candidates[a->place].tried = true;
    return false;
}

static gba_status_t post_layout(struct gba_agreement *a)
{
    struct gba_member_info own;

    gba_member_info_fill(&own, &a->attr, a->info.terms.uuid);
    a->state = GBA_AGREE_LAYOUT;
    return a->oob.allgather(a->oob.ctx, &own, a->members, sizeof own);
}

static gba_status_t next(struct gba_agreement *a)
{
    enum gba_need need;

    do
        need = gba_plan_next(&a->list, &a->place);
    while (GBA_NEED_NOTHING == need && a->place < a->list.count && is_passed_over(a));
    if (GBA_NEED_SWITCHES == need) {
        gba_switches_fill(a->words, &a->attr, 0 == a->oob.rank);
        return post(a, GBA_AGREE_SWITCHES, GBA_SWITCHES_WORDS);
    }
    if (GBA_NEED_LAYOUT == need)
        return post_layout(a);
    return a->place < a->list.count ? candidate_begin(a) : end(a);
}

static gba_status_t list_make(struct gba_agreement *a)
{
    gba_plan_list(&a->list, &a->info, a->due);
    return next(a);
}

static gba_status_t switches_read(struct gba_agreement *a)
{
    gba_switches_read(&a->info.switches, a->words);
    gba_lacking_fill(a->words, &a->info.switches, &a->attr, a->oob.rank);
    return post(a, GBA_AGREE_LACKING, GBA_LACKING_WORDS);
}

static gba_status_t lacking_read(struct gba_agreement *a)
{
    gba_lacking_read(&a->info.switches, a->words);
    return list_make(a);
}

static gba_status_t layout_read(struct gba_agreement *a)
{
    gba_layout_read(&a->info, a->members, a->scratch);
    return list_make(a);
}

/* Most members have the failure from notifications only and contribute GBA_OK. The minimum is the
 * cause of a member that observed the failure. */
static void recover(struct gba_agreement *a)
{
    struct gba_team *team = a->team;

    a->info.failure.reason = GBA_ERR_DEAD;
    if (UINT64_MAX == a->info.failed_round)
        a->info.failed_round = gba_team_rounds(team);
    team->stats.failovers++;
    team->failure.status = GBA_OK;
    team->watchdog.died = false; /* a death in the group that the team leaves */
    /* All members are here, between two rounds, so no member waits for a notification any more. */
    gba_failover_close(team);
    gba_path_destroy(team->path);
    team->path = NULL;
}

static gba_status_t facts_read(struct gba_agreement *a)
{
    gba_info_read(&a->info, a->words);
    if (GBA_DUE_RECOVER == a->due)
        recover(a);
    else
        a->team->renegotiation.multi_device = 0 != a->info.terms.multi_device;
    a->team->trial.after = a->info.terms.trial_after;
    if (GBA_DUE_TRIAL == a->due && 0 == a->info.terms.trial_runs) {
        a->state = GBA_AGREE_DONE;
        return GBA_OK;
    }
    return list_make(a);
}

static gba_status_t facts_post(struct gba_agreement *a)
{
    struct gba_team *team = a->team;
    struct gba_terms terms;
    struct gba_own own = {.attr = &a->attr,
                          .rank = a->oob.rank,
                          .terms = &terms,
                          .memory = a->nodes == NULL ? GBA_ERR_NOMEM : GBA_OK};

    if (GBA_DUE_RECOVER == a->due) {
        gba_renegotiation_cancel(team); /* stays cancelled if the exchange fails */
        own.failure = team->failure.status;
        own.failed_round = team->failure.round;
    }
    if (0 == a->oob.rank) {
        gba_schedule_measure(&a->attr, a->due);
        gba_schedule_terms(team, &a->attr, a->due, &terms);
    }
    gba_info_fill(a->words, &own);
    return post(a, GBA_AGREE_FACTS, GBA_FACTS);
}

gba_status_t gba_agree_step(struct gba_agreement *a)
{
    static gba_status_t (*const reads[])(struct gba_agreement *) = {
        [GBA_AGREE_START] = facts_post,       [GBA_AGREE_FACTS] = facts_read,
        [GBA_AGREE_SWITCHES] = switches_read, [GBA_AGREE_LACKING] = lacking_read,
        [GBA_AGREE_LAYOUT] = layout_read,     [GBA_AGREE_HANDLES] = handles_read,
        [GBA_AGREE_JOINED] = vote_read,       [GBA_AGREE_ARMED] = vote_read};

    return reads[a->state](a);
}
