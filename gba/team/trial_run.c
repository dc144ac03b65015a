/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trial: the members measure other barriers, and all take the fastest one.
 *
 * No table of algorithms is right for all machines, and the barrier that the runtime had before can
 * be the fastest. So a team that has done many barriers in software tries its candidates
 * (gba_trial_list). A trial is a kind of renegotiation. It runs at the end of a blocking barrier
 * that all members count alike, for the reasons in alloc.c. Never before a nonblocking barrier: it
 * measures blocking barriers, which say little about those of a program that has none, and it would
 * wait in progress. No barrier of the team is in progress
 * then, and no member leaves the call before the trial has ended. So the barriers of a trial are
 * additional barriers, which are not counted, and the path changes between two barriers of the
 * program.
 *
 * The collective calls, the same on all members:
 *
 *   the terms of rank 0 (bcast); the trial may end here
 *   for each candidate: the agreement on its path (agree_nodes.c), as in the creation of a team
 *   for each batch: the barriers of the candidate, then its cost (min)
 *
 * A batch is some barriers of one candidate. Its cost is that of the slowest member. The batches of
 * the candidates alternate, and the lowest cost of a candidate counts, because other work of the
 * machine can slow down any of them. The call that reduces the cost is also a fence: no signal of a
 * candidate is in transit when the next one begins, so their transports can share a channel.
 *
 * Every decision follows from the terms and from reduced costs, so all members decide alike.
 */
#include "gba/team/trial_run.h"

#include <stdio.h>
#include <string.h>

#include "gba/base/clock.h"
#include "gba/agree/agree_nodes.h"
#include "gba/agree/outcome.h"
#include "gba/team/barrier.h"
#include "gba/team/wait.h"
#include "gba/team/watchdog.h"

#define PASSES 3    /* batches of each candidate */
#define WARM   3u   /* barriers before each batch, which are not measured */
#define PS     1000 /* of a nanosecond */

struct candidate {
    struct gba_choice choice;
    struct gba_path_base *path; /* NULL: the fallback, or not usable */
    uint64_t cost;              /* ps, the lowest of its batches; UINT64_MAX: not usable */
    bool dropped;               /* too slow to be measured again */
    char why[224];              /* as gba_team.instead */
};

struct trial {
    struct gba_team *team;
    const gba_team_attr_t *attr;
    const gba_oob_t *oob;
    struct gba_trial_terms terms;
    uint32_t count;
    struct candidate candidate[GBA_TRIAL_MOST]; /* [0]: the current barrier */
};

/* --------------------------------------------------------------------- one candidate --- */

/* As gba_barrier_test and gba_barrier_progress, of a barrier that is not counted. */
static gba_status_t trial_test(struct gba_team *team)
{
    return team->path->ops->test(team->path);
}

static gba_status_t trial_progress(struct gba_team *team)
{
    gba_status_t status = GBA_OK;

    if (NULL != team->path->ops->progress)
        status = team->path->ops->progress(team->path);
    if (GBA_OK == status)
        status = trial_test(team);
    return GBA_INPROGRESS == status ? gba_watchdog_check(team) : status;
}

/* One barrier on the team's path. */
static gba_status_t trial_barrier(struct gba_team *team, const gba_team_attr_t *attr)
{
    static const struct gba_wait_steps steps = {trial_test, trial_progress};
    gba_status_t status = team->path->ops->attempt(team->path);

    if (GBA_INPROGRESS == status) {
        status = gba_wait(team, &steps, attr->progress, attr->trial_ctx);
        gba_watchdog_end(team);
        /* Not the number of the next barrier, which is the same for each barrier of a trial. */
        team->watchdog.round = gba_team_rounds(team);
    }
    return status;
}

static gba_status_t candidate_barriers(const struct trial *t, const struct candidate *c,
                                       uint32_t barriers)
{
    gba_status_t status = GBA_OK;

    t->team->path = c->path;
    if (!c->choice.fallback)
        c->path->spins = gba_wait_spins(t->team);
    for (uint32_t i = 0; i < barriers && GBA_OK == status; i++)
        status = c->choice.fallback ? t->attr->fallback(t->attr->trial_ctx)
                                    : trial_barrier(t->team, t->attr);
    return status;
}

/* Measure a batch of a candidate. Returns GBA_OK, GBA_ERR_OOB, or the error of a barrier. */
static gba_status_t candidate_measure(const struct trial *t, struct candidate *c, uint32_t barriers)
{
    gba_status_t status;
    uint64_t began;
    int64_t cost;

    /* Rounds are not counted in a trial, so a period of sleep that began before would not end. */
    t->team->busy = (struct gba_busy){0};
    status = candidate_barriers(t, c, WARM);
    began = gba_clock_ns();
    if (GBA_OK == status)
        status = candidate_barriers(t, c, barriers);
    if (GBA_OK != status)
        return status;
    /* The minimum of the negative costs: the cost of the slowest member. */
    cost = -(int64_t)((gba_clock_ns() - began) * PS / barriers);
    status = t->oob->allreduce_min(t->oob->ctx, cost, &cost);
    if (GBA_OK == status && (uint64_t)-cost < c->cost)
        c->cost = (uint64_t)-cost;
    return status;
}

/* Agree on the path of a candidate. Without one its cost stays UINT64_MAX. */
static gba_status_t candidate_make(struct trial *t, struct candidate *c)
{
    gba_params_t params = *t->attr->params;
    gba_team_attr_t attr = *t->attr;
    struct gba_nodes_outcome outcome;
    gba_status_t status;

    if (c->choice.fallback)
        return GBA_OK;
    params.hierarchy = c->choice.hierarchy; /* rank 0's values count */
    params.sw_algorithm = c->choice.algorithm;
    attr.params = &params;
    status = gba_agree_nodes(&attr, t->oob, NULL, &c->path, &outcome);
    if (GBA_OK != status || NULL == c->path) {
        c->dropped = true;
        return status;
    }
    snprintf(c->why, sizeof c->why, "%s", outcome.why);
    return GBA_OK;
}

/* ---------------------------------------------------------------------------- the trial --- */

static uint64_t trial_fastest(const struct trial *t)
{
    uint64_t fastest = UINT64_MAX;

    for (uint32_t i = 0; i < t->count; i++)
        if (t->candidate[i].cost < fastest)
            fastest = t->candidate[i].cost;
    return UINT64_MAX == fastest ? 0 : fastest;
}

static gba_status_t trial_measure(struct trial *t)
{
    const int passes = 0 != t->terms.rotate ? 1 : PASSES; /* the rotation ignores the costs */
    gba_status_t status = GBA_OK;

    t->team->trial.measuring = true;
    for (int pass = 0; pass < passes; pass++) {
        const uint32_t barriers = gba_trial_batch(trial_fastest(t));

        for (uint32_t i = 0; i < t->count && GBA_OK == status; i++)
            if (!t->candidate[i].dropped)
                status = candidate_measure(t, &t->candidate[i], barriers);
        for (uint32_t i = 0; i < t->count; i++)
            if (gba_trial_hopeless(t->candidate[i].cost, trial_fastest(t)))
                t->candidate[i].dropped = true;
    }
    t->team->trial.measuring = false;
    return status;
}

static bool choices_equal(struct gba_choice a, struct gba_choice b)
{
    return a.fallback == b.fallback &&
           (a.fallback || (a.hierarchy == b.hierarchy && a.algorithm == b.algorithm));
}

/* Make all candidates: the current barrier, then those of the list after it, then those before it.
 */
static gba_status_t trial_prepare(struct trial *t)
{
    struct gba_choice list[GBA_TRIAL_MOST - 1];
    const uint32_t listed = gba_trial_list(&t->terms, t->team->size, list);
    uint32_t current = listed;
    gba_status_t status = GBA_OK;

    t->candidate[0].choice = t->team->trial.choice;
    t->candidate[0].path = t->team->path;
    snprintf(t->candidate[0].why, sizeof t->candidate[0].why, "%s", t->team->instead);
    t->count = 1;
    for (uint32_t i = 0; i < listed; i++)
        if (choices_equal(list[i], t->team->trial.choice))
            current = i;
    for (uint32_t i = 1; i <= listed && GBA_OK == status; i++) {
        struct candidate *c = &t->candidate[t->count];

        c->choice = list[(current + i) % listed];
        if (choices_equal(c->choice, t->team->trial.choice))
            continue;
        t->count++;
        status = candidate_make(t, c);
    }
    for (uint32_t i = 0; i < t->count; i++)
        t->candidate[i].cost = UINT64_MAX;
    return status;
}

/* The index of the candidate to take. */
static uint32_t trial_choose(const struct trial *t)
{
    uint64_t costs[GBA_TRIAL_MOST];
    uint32_t next = 1;

    for (uint32_t i = 0; i < t->count; i++)
        costs[i] = t->candidate[i].cost;
    if (!t->terms.rotate)
        return gba_trial_best(costs, t->count);
    while (next < t->count && UINT64_MAX == costs[next])
        next++;
    return next < t->count ? next : 0;
}

/* The figures for the user: "; measured: node dissemination 12.1 us, ...". */
static void trial_figures(const struct trial *t)
{
    char *text = t->team->measured;
    const size_t len = sizeof t->team->measured;
    size_t used = (size_t)snprintf(text, len, "; measured in us:");

    for (uint32_t i = 0; i < t->count && used < len; i++) {
        const struct candidate *c = &t->candidate[i];
        const uint64_t ns = c->cost / PS;

        if (UINT64_MAX != c->cost)
            used += (size_t)snprintf(
                text + used, len - used, "%s %s %llu.%02llu", 0 == i ? "" : ",",
                gba_trial_name(&c->choice, 1 != t->terms.nodes), (unsigned long long)(ns / 1000),
                (unsigned long long)(ns % 1000 / 10));
    }
}

/* The team continues with this candidate. */
static void trial_take(struct trial *t, uint32_t taken)
{
    struct gba_team *team = t->team;
    const struct candidate *c = &t->candidate[taken];

    for (uint32_t i = 0; i < t->count; i++)
        if (i != taken)
            gba_path_destroy(t->candidate[i].path);
    team->path = c->path;
    team->kind = c->choice.fallback ? GBA_PATH_FALLBACK : GBA_PATH_SOFTWARE;
    team->trial.choice = c->choice;
    if (c->choice.fallback)
        snprintf(team->instead, sizeof team->instead, "the fastest of %u", t->count);
    else
        snprintf(team->instead, sizeof team->instead, "%s", c->why);
    trial_figures(t);
    gba_trial_describe(team);
    team->stats.trials++;
}

/* The terms that rank 0 sends. */
static struct gba_trial_terms terms_make(const struct gba_team *team, const gba_team_attr_t *attr)
{
    const gba_params_t *params = attr->params;
    const uint64_t elapsed = gba_clock_ns() - team->trial.began;
    const uint64_t barriers = gba_team_barriers(team) - team->trial.began_barriers;
    struct gba_trial_terms terms = {
        .rotate = 2 == params->trial_test,
        /* Nonblocking barriers of a team are not those of the runtime, which are not measured. */
        .fallback = NULL != attr->fallback && !team->stepped,
        .nodes = team->apart ? team->size : team->nodes,
        .algorithm = params->sw_algorithm,
        .hierarchy = params->hierarchy,
        .radix = (uint32_t)params->sw_radix};
    struct gba_choice list[GBA_TRIAL_MOST - 1];

    if (gba_trial_list(&terms, team->size, list) > 1)
        terms.run =
            0 != params->trial_test || gba_trial_affordable(elapsed, barriers, team->trial.cost);
    return terms;
}

gba_status_t gba_trial_run(struct gba_team *team, const gba_team_attr_t *attr, const gba_oob_t *oob)
{
    const uint64_t began = gba_clock_ns();
    struct trial t = {.team = team, .attr = attr, .oob = oob};
    gba_status_t status;

    if (0 == oob->rank)
        t.terms = terms_make(team, attr);
    status = oob->bcast(oob->ctx, &t.terms, sizeof t.terms, 0);
    if (GBA_OK == status && 0 != t.terms.run) {
        status = trial_prepare(&t);
        if (GBA_OK == status)
            status = trial_measure(&t);
        trial_take(&t, GBA_OK == status ? trial_choose(&t) : 0);
        team->trial.began = gba_clock_ns();
        team->trial.cost = team->trial.began - began;
        team->trial.began_barriers = gba_team_barriers(team);
    }
    if (GBA_OK != status) {
        gba_renegotiation_cancel(team);
        gba_trial_cancel(team);
        return status;
    }
    if (0 != t.terms.run && 0 == t.terms.rotate) /* a postponed trial is due again soon */
        team->trial.pause = gba_trial_pause(team->trial.pause, team->trial.after);
    team->trial.at = gba_team_barriers(team) + team->trial.pause;
    return GBA_OK;
}
