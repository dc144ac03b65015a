/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trial: the members measure other barriers, and all take the fastest one. No table of algorithms
 * is right for all machines, and the barrier that the runtime had before can be the fastest.
 *
 * A trial is at the end of a blocking barrier that all members count alike (agree/schedule.c),
 * never before a nonblocking one, where it would wait in progress. So its barriers are additional
 * ones, and protect nothing. All members decide alike, by rank 0's terms and by reduced costs.
 *
 * The exchanges: an agreement (loop.c) that makes all paths of the list and takes none, if rank
 * 0's terms allow it; then, for each batch, the barriers of a candidate, and a vote (min).
 *
 * A batch is some barriers of one candidate. Its cost is that of the slowest member. The batches of
 * the candidates alternate, and the lower cost of two batches counts, because other work of the
 * machine can slow down any of them.
 *
 * A trial has three such passes, with trial_after barriers between them, and the median of a
 * candidate decides: where the system has placed the processes for one pass does not. Between two
 * passes the team has its own path only, so it holds no group that it does not use.
 */
#include "gba/team/trial_run.h"

#include <stdio.h>
#include <string.h>

#include "gba/agree/agree.h"
#include "gba/agree/reason.h"
#include "gba/agree/schedule.h"
#include "gba/base/clock.h"
#include "gba/failover/failover.h"
#include "gba/team/barrier.h"
#include "gba/team/trial_batch.h"

#define BATCHES 2 /* of each candidate in a pass */

static uint64_t trial_fastest(const struct gba_trial *t)
{
    uint64_t fastest = UINT64_MAX;

    for (uint32_t i = 0; i < t->candidates.count; i++)
        if (t->candidates.entries[i].cost < fastest)
            fastest = t->candidates.entries[i].cost;
    return UINT64_MAX == fastest ? 0 : fastest;
}

static gba_status_t trial_measure(struct gba_trial *t)
{
    const int batches =
        0 != t->info->terms.trial_rotates ? 1 : BATCHES; /* the rotation ignores the costs */
    gba_status_t status = GBA_OK;

    for (int batch = 0; batch < batches; batch++) {
        const uint32_t barriers = gba_trial_batch(trial_fastest(t));
        bool completed = true;

        for (uint32_t i = 0; i < t->candidates.count && GBA_OK == status; i += completed) {
            completed = true;
            if (!t->candidates.entries[i].dropped)
                status = gba_trial_measure(t, i, barriers, &completed);
        }
        for (uint32_t i = 0; i < t->candidates.count; i++)
            if (gba_trial_hopeless(t->candidates.entries[i].cost, trial_fastest(t)))
                t->candidates.entries[i].dropped = true;
    }
    return status;
}

/* The current path, and those that the members make for the trial. */
static gba_status_t trial_prepare(struct gba_trial *t)
{
    struct gba_trial_candidate *entries = t->candidates.entries;
    gba_agreement_t *agreement;
    gba_status_t status;

    entries[0] = (struct gba_trial_candidate){.choice = t->team->trial.choice,
                                              .kind = t->team->kind,
                                              .path = t->team->path,
                                              .cost = UINT64_MAX};
    snprintf(entries[0].why, sizeof entries[0].why, "%s", t->team->words.path);
    t->candidates.count = 1;
    t->candidates.place = UINT32_MAX;
    t->current = true;
    status = gba_agree_start(t->team, GBA_DUE_TRIAL, t->attr, t->oob, &agreement);
    t->info = &t->team->agreement->info;
    t->team->agreement->trial = &t->candidates;
    if (GBA_OK != status)
        return status;
    while (GBA_INPROGRESS == (status = gba_agree_advance(agreement, &t->team)))
        gba_agree_idle(t->team);
    /* The runtime's barrier that has no function for trials, or not for this team. */
    if (entries[0].choice.fallback && !t->info->terms.trial_fallback)
        gba_trial_remove(t, 0);
    return status;
}

/* Record this pass. Returns whether it is the last one: also if the team's own path is not in the
 * list, and then this pass decides alone. */
static bool trial_ends(struct gba_trial *t)
{
    struct gba_trial_record *record = &t->team->agreement->record;
    struct gba_trial_candidate *entries = t->candidates.entries;

    for (uint32_t i = 0; i < t->candidates.count; i++)
        gba_trial_add(record, entries[i].choice, entries[i].cost);
    if (0 != t->info->terms.trial_rotates || !t->current)
        return true;
    if (++record->passes < GBA_TRIAL_PASSES)
        return false;
    for (uint32_t i = 0; i < t->candidates.count; i++)
        if (!gba_trial_median(record, entries[i].choice, &entries[i].cost))
            entries[i].cost = UINT64_MAX; /* too few passes have made it */
    return true;
}

/* Whether the device may be measured later: it had no group for this trial, for a reason that
 * passes. Nothing else requests a group for a team that policy denies one. */
static bool group_awaited(const struct gba_trial *t)
{
    for (uint32_t i = 0; i < t->candidates.count; i++)
        if (t->candidates.entries[i].choice.group)
            return false;
    return gba_reason_passes(gba_plan_reason(&t->team->agreement->list).reason);
}

/* For tests: the index of the candidate that follows the current one in the list, after the last
 * one the first; 0: there is no other one. */
static uint32_t trial_rotate(const struct gba_trial *t)
{
    uint32_t next = 0, nearest = UINT32_MAX;

    for (uint32_t i = t->current; i < t->candidates.count; i++) {
        const uint32_t distance =
            t->candidates.entries[i].place - t->candidates.place - 1; /* wraps */

        if (UINT64_MAX != t->candidates.entries[i].cost && distance < nearest) {
            nearest = distance;
            next = i;
        }
    }
    return next;
}

/* The index of the candidate to take; the number of candidates: there is none. The team's own path
 * has a cost while it is in the list. */
static uint32_t trial_choose(const struct gba_trial *t)
{
    uint64_t costs[GBA_TRIAL_MOST];
    uint32_t measured[GBA_TRIAL_MOST], count = 0;

    for (uint32_t i = 0; i < t->candidates.count; i++)
        if (UINT64_MAX != t->candidates.entries[i].cost) {
            costs[count] = t->candidates.entries[i].cost;
            measured[count++] = i;
        }
    if (0 == count)
        return t->candidates.count;
    if (0 != t->info->terms.trial_rotates)
        return trial_rotate(t);
    return measured[gba_trial_best(costs, count, t->current)];
}

void gba_trial_figures(struct gba_team *team, const struct gba_trial_candidate *entries,
                       uint32_t count, bool hosts)
{
    char *text = team->words.measured;
    const size_t len = sizeof team->words.measured;
    size_t used = (size_t)snprintf(text, len, "; measured in us:");

    for (uint32_t i = 0; i < count && used < len; i++) {
        const uint64_t ns = entries[i].cost / GBA_TRIAL_PS;
        char name[GBA_CHOICE_NAME];

        gba_choice_name(&entries[i].choice, hosts, name);
        if (UINT64_MAX != entries[i].cost)
            used += (size_t)snprintf(text + used, len - used, "%s %s %llu.%02llu",
                                     0 == i ? "" : ",", name, (unsigned long long)(ns / 1000),
                                     (unsigned long long)(ns % 1000 / 10));
    }
}

/* Why the team has no group any more, or has one now. */
static void group_reason(const struct gba_trial *t, bool had, bool has)
{
    struct gba_team *team = t->team;

    if (!had && !has)
        return;
    team->watchdog.inspect_failed = team->watchdog.died = false;
    team->culprit = 0;
    if (has)
        team->reason = GBA_OK;
    else
        team->reason = GBA_OK != t->lost ? t->lost : GBA_ERR_SLOWER;
    team->words.no_group[0] = '\0';
    if (!has)
        snprintf(team->words.no_group, sizeof team->words.no_group, "; no device: %s",
                 gba_status_text(team->reason));
    gba_renegotiation_cancel(team);
}

/*
 * The failover of the path that the team continues with. All members are between two rounds, so no
 * member waits for a notification. If the team has another group, the exchange that follows is the
 * fence before which all members accept the notifications of it.
 */
static gba_status_t group_register(const struct gba_trial *t, bool has, bool changed)
{
    struct gba_team *team = t->team;
    struct gba_trial_vote fence = {GBA_OK, UINT64_MAX};

    if (!has) {
        gba_failover_close(team);
        gba_degraded_close(team); /* opened for a group that was measured only */
        return GBA_OK;
    }
    if (!changed)
        return GBA_OK;
    gba_failover_register(team, t->info->terms.id);
    return gba_trial_vote(t, &fence);
}

/* The team continues with this candidate, or without one; all members are here. */
static gba_status_t trial_take(struct gba_trial *t, uint32_t taken)
{
    const struct gba_trial_candidate none = {.choice.fallback = true,
                                             .kind = GBA_PATH_FALLBACK,
                                             .why = "no other barrier of a trial was completed"};
    const struct gba_trial_candidate *c =
        taken < t->candidates.count ? &t->candidates.entries[taken] : &none;
    struct gba_team *team = t->team;
    const bool had = team->trial.choice.group;
    gba_status_t status = group_register(t, c->choice.group, c->path != team->path);

    for (uint32_t i = 0; i < t->candidates.count; i++)
        if (i != taken)
            gba_path_destroy(t->candidates.entries[i].path);
    team->path = c->path;
    team->kind = c->kind;
    team->trial.choice = c->choice;
    if (c->choice.fallback && '\0' == c->why[0])
        snprintf(team->words.path, sizeof team->words.path, "the fastest of %u",
                 t->candidates.count);
    else
        snprintf(team->words.path, sizeof team->words.path, "%s", c->why);
    group_reason(t, had, c->choice.group);
    gba_trial_figures(team, t->candidates.entries, t->candidates.count, !t->info->one_host);
    gba_reason_describe(team);
    team->stats.trials++;
    return status;
}

/* The team keeps its path, if it is not lost. */
static void trial_abandon(struct gba_trial *t)
{
    for (uint32_t i = 0; i < t->candidates.count; i++)
        if (t->candidates.entries[i].path != t->team->path)
            gba_path_destroy(t->candidates.entries[i].path);
    if (t->team->path == NULL || GBA_FAILOVER_NONE == gba_failover_state(t->team)) {
        gba_failover_close(t->team);
        gba_degraded_close(t->team);
    }
}

gba_status_t gba_trial_run(struct gba_team *team, const gba_team_attr_t *attr, const gba_oob_t *oob)
{
    const uint64_t began = gba_clock_ns();
    struct gba_trial t = {.team = team, .attr = attr, .oob = oob};
    gba_status_t status = trial_prepare(&t);
    const bool runs =
        0 != t.info->terms.trial_runs && (team->agreement->list.count > 1 || !t.current);
    const bool awaited = GBA_OK == status && runs && group_awaited(&t);
    bool ends = false;

    if (GBA_OK == status && runs)
        status = trial_measure(&t);
    if (GBA_OK == status && runs)
        ends = trial_ends(&t);
    if (ends)
        status = trial_take(&t, trial_choose(&t));
    else
        trial_abandon(&t);
    if (ends)
        team->agreement->record = (struct gba_trial_record){0};
    if (runs) {
        team->trial.began = gba_clock_ns();
        team->trial.cost = team->trial.began - began;
        team->trial.began_barriers = gba_team_barriers(team);
    }
    gba_barrier_init(team);
    if (GBA_OK != status) {
        gba_renegotiation_cancel(team);
        gba_trial_cancel(team);
        return status;
    }
    /* A postponed trial is due again soon, and one that lacked a group. */
    if (ends && !awaited && 0 == t.info->terms.trial_rotates)
        team->trial.pause = gba_trial_pause(team->trial.pause, team->trial.after);
    team->trial.due = gba_team_barriers(team) +
                      (0 != team->agreement->record.passes ? team->trial.after : team->trial.pause);
    return GBA_OK;
}
