/* SPDX-License-Identifier: BSD-3-Clause */
/* The outcome of an agreement: the path of the team, and its reason in words. */
#include <stdio.h>
#include <string.h>

#include "gba/agree/agree.h"
#include "gba/agree/build.h"
#include "gba/agree/reason.h"
#include "gba/agree/schedule.h"
#include "gba/dev/member.h"
#include "gba/failover/failover.h"

/* Set a->text.tried: this member's devices at the switches of which a group was refused, or that no
 * member tried. "" where the user misses nothing. */
static void tried_set(struct gba_agreement *a)
{
    const bool several = 0 != a->info.terms.multi_device && GBA_OK == a->info.terms.status;
    gba_device_t *device;
    size_t used = 0;
    char member[96], words[192];

    a->text.tried[0] = '\0';
    for (uint32_t i = 0; several && i < a->list.count && used < sizeof a->text.tried; i++) {
        const struct gba_candidate *c = &a->list.candidates[i];

        if (!gba_plan_misses(&a->list, c))
            continue;
        device = gba_build_device(a, c->switch_index);
        if (device == NULL)
            continue;
        a->oob.name_member(a->oob.ctx, c->refusal.culprit, member, sizeof member);
        gba_plan_words(c, 1, c->refusal.reason, NULL, words, sizeof words);
        used += (size_t)snprintf(a->text.tried + used, sizeof a->text.tried - used, "%s%s (%s%s%s)",
                                 0 == used ? "; not at " : ", ", device->path, words,
                                 c->maker_refused ? "" : ", ", c->maker_refused ? "" : member);
    }
}

void gba_reason_describe(struct gba_team *team)
{
    snprintf(team->words.why, sizeof team->words.why, "%s: %s%s%s", gba_path_name(team->kind),
             team->words.path, team->words.no_group, team->words.measured);
}

/* The failure of a group, and the first barrier without it. `member` is a member that observed it
 * itself. */
static void failure_describe(struct gba_agreement *a, gba_status_t reason, const char *member)
{
    struct gba_team *team = a->team;

    snprintf(team->words.no_group, sizeof team->words.no_group,
             ", from barrier %llu on; %s in barrier %llu (%s)",
             (unsigned long long)gba_team_rounds(team) + 1, gba_status_text(reason),
             (unsigned long long)a->info.failed_round, member);
}

/* The team has no group: set the reason, and plan the renegotiation. */
static void no_group(struct gba_agreement *a)
{
    const bool failed = GBA_DUE_RECOVER == a->due;
    const struct gba_refusal refusal = failed ? a->info.failure : gba_plan_reason(&a->list);
    struct gba_team *team = a->team;
    char member[96], words[192];
    size_t length;

    a->oob.name_member(a->oob.ctx, refusal.culprit, member, sizeof member);
    team->reason = refusal.reason;
    team->culprit = refusal.culprit;
    if (failed)
        failure_describe(a, refusal.reason, member);
    else if (a->attr.device_text != NULL)
        snprintf(team->words.no_group, sizeof team->words.no_group, "; no device: %s",
                 a->attr.device_text);
    else {
        gba_plan_words(a->list.candidates, a->list.count, refusal.reason, member, words,
                       sizeof words);
        snprintf(team->words.no_group, sizeof team->words.no_group, "; %s%s",
                 GBA_ERR_NO_DEVICE == refusal.reason ? "" : "no device: ", words);
    }
    length = strlen(team->words.no_group);
    snprintf(team->words.no_group + length, sizeof team->words.no_group - length, "%s",
             a->text.tried);
    gba_reason_describe(team);
    gba_renegotiation_plan(team, refusal.reason, failed, a->info.terms.backoff);
}

/* The team has an armed group. */
static void take_group(struct gba_agreement *a)
{
    struct gba_team *team = a->team;

    team->reason = GBA_OK;
    team->culprit = 0;
    team->watchdog.inspect_failed = false;
    gba_renegotiation_cancel(team);
    if (GBA_OFFLOAD_FASTEST == a->info.terms.offload)
        gba_trial_plan(team, gba_agree_candidate(a)->choice);
    else
        gba_trial_cancel(team);
    snprintf(team->words.path, sizeof team->words.path, "%s", a->text.why);
    snprintf(team->words.no_group, sizeof team->words.no_group, "%s", a->text.tried);
    gba_reason_describe(team);
}

/* The team takes the path a->path. */
static void take(struct gba_agreement *a)
{
    const struct gba_candidate *candidate = gba_agree_candidate(a);
    struct gba_refusal software;
    struct gba_team *team = a->team;
    char member[96];

    gba_path_destroy(team->path); /* of an earlier agreement */
    team->path = a->path;
    a->path = NULL;
    a->record = (struct gba_trial_record){0};
    team->kind = gba_build_kind(a);
    if (gba_candidate_is_group(candidate)) {
        take_group(a);
        return;
    }
    if (GBA_KIND_SOFTWARE == candidate->kind) {
        gba_trial_plan(team, candidate->choice);
        snprintf(team->words.path, sizeof team->words.path, "%s", a->text.why);
    } else {
        gba_trial_cancel(team);
        software = gba_plan_no_software(&a->list);
        a->oob.name_member(a->oob.ctx, software.culprit, member, sizeof member);
        snprintf(team->words.path, sizeof team->words.path, "no software barrier: %s (%s)",
                 gba_status_text(software.reason), member);
    }
    no_group(a);
}

void gba_reason_set(struct gba_agreement *a)
{
    tried_set(a);
    if (a->place < a->list.count)
        take(a);
    else
        no_group(a); /* a renegotiation: the team keeps its path */
}
