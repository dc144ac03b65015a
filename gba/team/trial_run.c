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
 * A trial makes nothing worse than the time that it takes. A candidate may break under it: its
 * device dies, a member stops for seconds, or fails. Then members leave the candidate in different
 * rounds, so no barrier of that path means anything any more. A member that leaves it in the middle
 * destroys its part of the path at once, and its vote says so. All others destroy theirs when they
 * have the votes, also if it is the team's own path. The path is not in the list any more, nor in
 * the record, so nothing can take it. Its late signals are kept from other paths by its number
 * (gba_remote_group_t). After the vote on a batch that all have completed, no signal of that
 * candidate is in transit.
 *
 * A trial has three such passes, with trial_after barriers between them, and the median of a
 * candidate decides: where the system has placed the processes for one pass does not. Between two
 * passes the team has its own path only, so it holds no group that it does not use.
 */
#include "gba/team/trial_run.h"

#include <stdio.h>
#include <string.h>

#include "gba/agree/agree.h"
#include "gba/agree/schedule.h"
#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/failover/failover.h"
#include "gba/team/barrier.h"

#define BATCHES 2 /* of each candidate in a pass */

/*
 * A member gives up a batch that lasts longer. In a batch of a group the device may have died,
 * which not every member can detect. In a batch of a software barrier another member may have lost
 * a connection, which this member cannot detect. That limit is longer, because a member that is
 * stopped for some seconds only delays the batch. A batch of the runtime's barrier has no limit,
 * because no member can leave such a barrier.
 */
#define LIMIT_GROUP_NS    UINT64_C(2000000000)
#define LIMIT_SOFTWARE_NS UINT64_C(20000000000)
#define WARM              3u   /* barriers before each batch, which are not measured */
#define PS                1000 /* of a nanosecond */

struct trial {
    struct gba_team *team;
    const gba_team_attr_t *attr;
    const gba_oob_t *oob;
    struct gba_info *info; /* of the agreement */
    struct gba_trial_paths paths;
    bool current;          /* paths.entries[0] is the team's own path */
    gba_status_t lost;     /* why that is destroyed, or GBA_OK */
    struct gba_team probe; /* makes the barriers of a batch, on the path of a candidate */
};

/* ------------------------------------------------------------------------ one candidate --- */

void gba_trial_probe(struct gba_team *probe, const struct gba_team *team,
                     struct gba_path_base *path, gba_path_t kind, uint64_t deadline)
{
    *probe = (struct gba_team){.path = path,
                               .kind = kind,
                               .size = team->size,
                               .rank = team->rank,
                               .waiting = {team->waiting.mode, team->waiting.oversubscribed, {0}},
                               .names = team->names,
                               .watchdog = {.report_after = team->watchdog.report_after,
                                            .retry = team->watchdog.retry,
                                            .deadline = deadline},
                               .renegotiation = {.due = UINT64_MAX}};
    snprintf(probe->name, sizeof probe->name, "%.32s, trial after %llu", team->name,
             (unsigned long long)gba_team_rounds(team));
    gba_barrier_init(probe);
}

static gba_status_t candidate_barriers(struct trial *t, const struct gba_trial_path *c,
                                       uint32_t barriers)
{
    gba_status_t status = GBA_OK;

    for (uint32_t i = 0; i < barriers && GBA_OK == status; i++)
        status = c->choice.fallback
                     ? t->attr->fallback(t->attr->trial_ctx)
                     : gba_barrier_wait(&t->probe, t->attr->progress, t->attr->trial_ctx);
    return status;
}

/* What a member says of a batch, then what all say. */
struct vote {
    gba_status_t reason; /* why the batch is not complete, or GBA_OK */
    uint64_t cost;       /* of the slowest member */
};

gba_status_t gba_trial_min(const gba_team_attr_t *attr, const gba_oob_t *oob, uint64_t *words,
                           uint32_t count)
{
    gba_status_t status = oob->min(oob->ctx, words, count);

    while (GBA_OK == status && GBA_INPROGRESS == (status = oob->test(oob->ctx))) {
        gba_agree_idle(attr);
        status = GBA_OK;
    }
    return status;
}

/* The minimum of the statuses, and that of the complements of the costs. Also a fence. */
static gba_status_t members_vote(const struct trial *t, struct vote *vote)
{
    uint64_t words[] = {gba_refusal_word(vote->reason, t->oob->rank), ~vote->cost};
    gba_status_t status = gba_trial_min(t->attr, t->oob, words, 2);

    *vote = (struct vote){gba_refusal_of(words[0]).reason, ~words[1]};
    return status;
}

static void list_remove(struct trial *t, uint32_t i)
{
    struct gba_trial_path *c = &t->paths.entries[i];

    memmove(c, c + 1, (--t->paths.count - i) * sizeof *c);
    t->current = t->current && 0 != i;
}

/* Destroy this member's part of a path, whose barriers members have left in different rounds. */
static void candidate_give_up(struct trial *t, struct gba_trial_path *c)
{
    if (t->team->path == c->path) {
        t->team->path = NULL;
        t->team->kind = GBA_PATH_FALLBACK; /* until the end of the trial */
    }
    gba_path_give_up(c->path);
    c->path = NULL;
}

/* A member gave the candidate up: it leaves the list and the record. */
static void candidate_lose(struct trial *t, uint32_t i, gba_status_t reason)
{
    struct gba_trial_path *c = &t->paths.entries[i];
    char name[GBA_CHOICE_NAME];

    gba_choice_name(&c->choice, !t->info->one_host, name);
    if (0 == t->oob->rank)
        gba_log(GBA_LOG_INFO, "%s: %s is given up: %s", t->probe.name, name,
                gba_status_text(reason));
    candidate_give_up(t, c);
    gba_trial_lose(&t->team->agreement->record, c->choice);
    if (0 == i && t->current)
        t->lost = reason;
    list_remove(t, i);
}

/* Measure a batch of a candidate. completed: set to whether all members have completed it; if not,
 * the list does not have the candidate any more. Returns GBA_OK, GBA_ERR_OOB, or the error of the
 * runtime's barrier. */
static gba_status_t candidate_measure(struct trial *t, uint32_t i, uint32_t barriers,
                                      bool *completed)
{
    struct gba_trial_path *c = &t->paths.entries[i];
    struct vote vote = {GBA_OK, UINT64_MAX};
    gba_status_t status;
    uint64_t began;

    /* The round that fails ends the batch. */
    gba_trial_probe(&t->probe, t->team, c->path, c->kind,
                    gba_clock_ns() + (c->choice.group ? LIMIT_GROUP_NS : LIMIT_SOFTWARE_NS));
    status = candidate_barriers(t, c, WARM);
    began = gba_clock_ns();
    if (GBA_OK == status)
        status = candidate_barriers(t, c, barriers);
    t->team->stats.retries_arrival += t->probe.stats.retries_arrival;
    t->team->stats.retries_release += t->probe.stats.retries_release;
    if (GBA_OK != status && c->choice.fallback)
        return status;
    vote.reason = status;
    if (GBA_OK == status)
        vote.cost = (gba_clock_ns() - began) * PS / barriers;
    else
        candidate_give_up(t, c);
    status = members_vote(t, &vote);
    *completed = GBA_OK == vote.reason;
    if (GBA_OK == status && !*completed)
        candidate_lose(t, i, vote.reason);
    else if (vote.cost < c->cost)
        c->cost = vote.cost;
    return status;
}

/* ---------------------------------------------------------------------------- the trial --- */

static uint64_t trial_fastest(const struct trial *t)
{
    uint64_t fastest = UINT64_MAX;

    for (uint32_t i = 0; i < t->paths.count; i++)
        if (t->paths.entries[i].cost < fastest)
            fastest = t->paths.entries[i].cost;
    return UINT64_MAX == fastest ? 0 : fastest;
}

static gba_status_t trial_measure(struct trial *t)
{
    const int batches =
        0 != t->info->terms.trial_rotates ? 1 : BATCHES; /* the rotation ignores the costs */
    gba_status_t status = GBA_OK;

    for (int batch = 0; batch < batches; batch++) {
        const uint32_t barriers = gba_trial_batch(trial_fastest(t));
        bool completed = true;

        for (uint32_t i = 0; i < t->paths.count && GBA_OK == status; i += completed) {
            completed = true;
            if (!t->paths.entries[i].dropped)
                status = candidate_measure(t, i, barriers, &completed);
        }
        for (uint32_t i = 0; i < t->paths.count; i++)
            if (gba_trial_hopeless(t->paths.entries[i].cost, trial_fastest(t)))
                t->paths.entries[i].dropped = true;
    }
    return status;
}

/* The current path, and those that the members make for the trial. */
static gba_status_t trial_prepare(struct trial *t)
{
    struct gba_trial_path *paths = t->paths.entries;
    gba_agreement_t *agreement;
    gba_status_t status;

    paths[0] = (struct gba_trial_path){.choice = t->team->trial.choice,
                                       .kind = t->team->kind,
                                       .path = t->team->path,
                                       .cost = UINT64_MAX};
    snprintf(paths[0].why, sizeof paths[0].why, "%s", t->team->words.path);
    t->paths.count = 1;
    t->paths.place = UINT32_MAX;
    t->current = true;
    status = gba_agree_start(t->team, GBA_DUE_TRIAL, t->attr, t->oob, &agreement);
    t->info = &t->team->agreement->info;
    t->team->agreement->trial_paths = &t->paths;
    if (GBA_OK != status)
        return status;
    while (GBA_INPROGRESS == (status = gba_agree_advance(agreement, &t->team)))
        gba_agree_idle(t->attr);
    /* The runtime's barrier that has no function for trials, or not for this team. */
    if (paths[0].choice.fallback && !t->info->terms.trial_fallback)
        list_remove(t, 0);
    return status;
}

/* Record this pass. Returns whether it is the last one: also if the team's own path is not in the
 * list, and then this pass decides alone. */
static bool trial_ends(struct trial *t)
{
    struct gba_trial_record *record = &t->team->agreement->record;
    struct gba_trial_path *paths = t->paths.entries;

    for (uint32_t i = 0; i < t->paths.count; i++)
        gba_trial_add(record, paths[i].choice, paths[i].cost);
    if (0 != t->info->terms.trial_rotates || !t->current)
        return true;
    if (++record->passes < GBA_TRIAL_PASSES)
        return false;
    for (uint32_t i = 0; i < t->paths.count; i++)
        if (!gba_trial_median(record, paths[i].choice, &paths[i].cost))
            paths[i].cost = UINT64_MAX; /* too few passes have made it */
    return true;
}

/* Whether the device may be measured later: it had no group for this trial, for a reason that
 * passes. Nothing else requests a group for a team that policy denies one. A gba-switchd that is
 * away is found by the agreements of a renegotiation, not by trials one after the other. */
static bool group_awaited(const struct trial *t)
{
    const gba_status_t reason = gba_plan_reason(&t->team->agreement->list).reason;

    for (uint32_t i = 0; i < t->paths.count; i++)
        if (t->paths.entries[i].choice.group)
            return false;
    return gba_reason_passes(reason) && GBA_ERR_AWAY != reason;
}

/* For tests: the index of the candidate that follows the current one in the list, after the last
 * one the first; 0: there is no other one. */
static uint32_t trial_rotate(const struct trial *t)
{
    uint32_t next = 0, nearest = UINT32_MAX;

    for (uint32_t i = t->current; i < t->paths.count; i++) {
        const uint32_t distance = t->paths.entries[i].place - t->paths.place - 1; /* wraps */

        if (UINT64_MAX != t->paths.entries[i].cost && distance < nearest) {
            nearest = distance;
            next = i;
        }
    }
    return next;
}

/* The index of the candidate to take; the number of candidates: there is none. The team's own path
 * has a cost while it is in the list. */
static uint32_t trial_choose(const struct trial *t)
{
    uint64_t costs[GBA_TRIAL_MOST];
    uint32_t measured[GBA_TRIAL_MOST], count = 0;

    for (uint32_t i = 0; i < t->paths.count; i++)
        if (UINT64_MAX != t->paths.entries[i].cost) {
            costs[count] = t->paths.entries[i].cost;
            measured[count++] = i;
        }
    if (0 == count)
        return t->paths.count;
    if (0 != t->info->terms.trial_rotates)
        return trial_rotate(t);
    return measured[gba_trial_best(costs, count, t->current)];
}

void gba_trial_figures(struct gba_team *team, const struct gba_trial_path *paths, uint32_t count,
                       bool hosts)
{
    char *text = team->words.measured;
    const size_t len = sizeof team->words.measured;
    size_t used = (size_t)snprintf(text, len, "; measured in us:");

    for (uint32_t i = 0; i < count && used < len; i++) {
        const uint64_t ns = paths[i].cost / PS;
        char name[GBA_CHOICE_NAME];

        gba_choice_name(&paths[i].choice, hosts, name);
        if (UINT64_MAX != paths[i].cost)
            used += (size_t)snprintf(text + used, len - used, "%s %s %llu.%02llu",
                                     0 == i ? "" : ",", name, (unsigned long long)(ns / 1000),
                                     (unsigned long long)(ns % 1000 / 10));
    }
}

/* Why the team has no group any more, or has one now. */
static void group_reason(const struct trial *t, bool had, bool has)
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
static gba_status_t group_register(const struct trial *t, bool has, bool changed)
{
    struct gba_team *team = t->team;
    struct vote fence = {GBA_OK, UINT64_MAX};

    if (!has) {
        gba_failover_close(team);
        gba_degraded_close(team); /* opened for a group that was measured only */
        return GBA_OK;
    }
    if (!changed)
        return GBA_OK;
    gba_failover_register(team, t->info->terms.id);
    return members_vote(t, &fence);
}

/* The team continues with this candidate, or without one; all members are here. */
static gba_status_t trial_take(struct trial *t, uint32_t taken)
{
    const struct gba_trial_path none = {.choice.fallback = true,
                                        .kind = GBA_PATH_FALLBACK,
                                        .why = "no other barrier of a trial was completed"};
    const struct gba_trial_path *c = taken < t->paths.count ? &t->paths.entries[taken] : &none;
    struct gba_team *team = t->team;
    const bool had = team->trial.choice.group;
    gba_status_t status = group_register(t, c->choice.group, c->path != team->path);

    for (uint32_t i = 0; i < t->paths.count; i++)
        if (i != taken)
            gba_path_destroy(t->paths.entries[i].path);
    team->path = c->path;
    team->kind = c->kind;
    team->trial.choice = c->choice;
    if (c->choice.fallback && '\0' == c->why[0])
        snprintf(team->words.path, sizeof team->words.path, "the fastest of %u", t->paths.count);
    else
        snprintf(team->words.path, sizeof team->words.path, "%s", c->why);
    group_reason(t, had, c->choice.group);
    gba_trial_figures(team, t->paths.entries, t->paths.count, !t->info->one_host);
    gba_reason_describe(team);
    team->stats.trials++;
    return status;
}

/* The team keeps its path, if it is not lost. */
static void trial_abandon(struct trial *t)
{
    for (uint32_t i = 0; i < t->paths.count; i++)
        if (t->paths.entries[i].path != t->team->path)
            gba_path_destroy(t->paths.entries[i].path);
    if (t->team->path == NULL || GBA_FAILOVER_NONE == gba_failover_state(t->team)) {
        gba_failover_close(t->team);
        gba_degraded_close(t->team);
    }
}

gba_status_t gba_trial_run(struct gba_team *team, const gba_team_attr_t *attr, const gba_oob_t *oob)
{
    const uint64_t began = gba_clock_ns();
    struct trial t = {.team = team, .attr = attr, .oob = oob};
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
