/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/agree/outcome.h"

#include <stdio.h>
#include <string.h>

#include "gba/agree/alloc.h"

void gba_outcome_path(struct gba_team *team, struct gba_path_base *path)
{
    gba_path_destroy(team->path);
    team->path = path;
}

/* The team has an armed group. */
void gba_outcome_take(struct gba_team *team, gba_path_t kind, struct gba_path_base *path,
                      const char *text)
{
    gba_outcome_path(team, path); /* frees the software path of an earlier agreement */
    team->kind = kind;
    team->reason = GBA_OK;
    team->culprit = 0;
    team->watchdog.inspect_failed = false;
    snprintf(team->why, sizeof team->why, "%s: %s", gba_path_name(kind), text);
    gba_renegotiation_cancel(team);
    gba_trial_cancel(team);
}

/*
 * Describe the failure of a group and the first barrier without it. `member` names the member that
 * observed the failure itself and has the lowest status and rank.
 */
static void describe_failure(const struct gba_agreement *t, const char *member)
{
    struct gba_team *team = t->team;

    snprintf(team->because, sizeof team->because, ", from barrier %llu on; %s in barrier %llu (%s)",
             (unsigned long long)gba_team_rounds(team) + 1, gba_status_text(t->no.reason),
             (unsigned long long)t->round, member);
}

/* Append the switches that were tried to a text for the user. */
void gba_outcome_tried(const struct gba_agreement *t, char *text, size_t len)
{
    const size_t length = strlen(text);

    snprintf(text + length, len - length, "%s", t->tried.text);
}

void gba_trial_describe(struct gba_team *team)
{
    snprintf(team->why, sizeof team->why, "%s: %s%s%s", gba_path_name(team->kind), team->instead,
             team->because, team->measured);
}

/* The team continues without a group. */
void gba_outcome_refused(const struct gba_agreement *t)
{
    struct gba_team *team = t->team;
    char member[96];

    t->oob->name_member(t->oob->ctx, t->no.culprit, member, sizeof member);
    team->reason = t->no.reason;
    team->culprit = t->no.culprit;
    if (0 != t->round)
        describe_failure(t, member);
    else if (NULL != t->text)
        snprintf(team->because, sizeof team->because, "; no device: %s", t->text);
    else
        snprintf(team->because, sizeof team->because, "; %s%s (%s)",
                 GBA_ERR_NO_DEVICE == t->no.reason ? "" : "no device: ",
                 gba_status_text(t->no.reason), member);
    gba_outcome_tried(t, team->because, sizeof team->because);
    gba_trial_describe(team);
    gba_renegotiation_plan(team, t->no.reason, 0 != t->round, t->pause);
}

/* All members have the outcome: set the path without a group, and its reason. */
void gba_outcome_settle(const struct gba_agreement *t, struct gba_path_base *path,
                        const struct gba_nodes_outcome *outcome)
{
    struct gba_team *team = t->team;
    char member[96];

    gba_outcome_path(team, path);
    if (NULL == path) {
        gba_trial_cancel(team);
        team->kind = GBA_PATH_FALLBACK;
        t->oob->name_member(t->oob->ctx, outcome->software.culprit, member, sizeof member);
        snprintf(team->instead, sizeof team->instead, "no software barrier: %s (%s)",
                 gba_status_text(outcome->software.reason), member);
    } else {
        gba_trial_plan(team, outcome->choice);
        team->kind = GBA_PATH_SOFTWARE;
        snprintf(team->instead, sizeof team->instead, "%s", outcome->why);
    }
    gba_outcome_refused(t);
}

/* The group of a switch that was tried first may become free, so that reason counts more than one
 * that does not pass. */
void gba_outcome_reason_keep(struct gba_agreement *t)
{
    const gba_status_t refused = (gba_status_t)t->proposal.refused;

    if (!gba_reason_passes(t->no.reason) && gba_reason_passes(refused))
        t->no = (struct gba_refusal){refused, 0};
}
