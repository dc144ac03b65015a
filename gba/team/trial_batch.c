/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A batch of a trial, and its vote.
 *
 * A trial makes nothing worse than the time that it takes. A candidate may break under it: its
 * device dies, a member stops for seconds, or fails. Then members leave the candidate in different
 * rounds, so no barrier of that path means anything any more. A member that leaves it in the middle
 * destroys its part of the path at once, and its vote says so. All others destroy theirs when they
 * have the votes, also if it is the team's own path. The path is not in the list any more, nor in
 * the record, so nothing can take it. Its late signals are kept from other paths by its epoch
 * (gba_remote_group_t). After the vote on a batch that all have completed, no signal of that
 * candidate is in transit.
 */
#include "gba/team/trial_batch.h"

#include <stdio.h>
#include <string.h>

#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/team/barrier.h"
#include "gba/team/watchdog.h"

/*
 * A member gives up a batch that lasts longer. In a batch of a group the device may have died,
 * which not every member can detect. In a batch of a software barrier another member may have lost
 * a connection, which this member cannot detect. That limit is longer, because a member that is
 * stopped for some seconds only delays the batch. A batch of the runtime's barrier has no limit,
 * because no member can leave such a barrier.
 */
#define LIMIT_GROUP_NS    UINT64_C(2000000000)
#define LIMIT_SOFTWARE_NS UINT64_C(20000000000)
#define WARM              3u /* barriers before each batch, which are not measured */

void gba_trial_probe(struct gba_team *probe, const struct gba_team *team,
                     struct gba_path_base *path, gba_path_t kind, uint64_t deadline)
{
    *probe =
        (struct gba_team){.path = path,
                          .kind = kind,
                          .size = team->size,
                          .rank = team->rank,
                          .waiting = {team->waiting.mode, team->waiting.oversubscribed, {0}, 0},
                          .runtime = team->runtime,
                          .watchdog = {.report_after = team->watchdog.report_after,
                                       .retry = team->watchdog.retry,
                                       .deadline = deadline},
                          .renegotiation = {.due = UINT64_MAX}};
    snprintf(probe->name, sizeof probe->name, "%.32s, trial after %llu", team->name,
             (unsigned long long)gba_team_rounds(team));
    probe->runtime.place = NULL; /* that name */
    gba_barrier_init(probe);
}

gba_status_t gba_trial_time(struct gba_team *probe, uint32_t warm, uint32_t barriers,
                            uint64_t *cost)
{
    gba_status_t status = GBA_OK;
    uint64_t began = gba_clock_ns();

    for (uint32_t i = 0; i < warm + barriers && GBA_OK == status; i++) {
        if (warm == i)
            began = gba_clock_ns();
        status = probe->path == NULL ? probe->runtime.fallback(probe->runtime.ctx)
                                     : gba_barrier_wait(probe);
    }
    if (GBA_OK != status)
        gba_watchdog_end(probe); /* no barrier follows */
    *cost = (gba_clock_ns() - began) * GBA_TRIAL_PS / (0 == barriers ? 1 : barriers);
    return status;
}

gba_status_t gba_trial_min(const struct gba_team *team, const gba_oob_t *oob, uint64_t *words,
                           uint32_t count)
{
    gba_status_t status = oob->min(oob->ctx, words, count);

    while (GBA_OK == status && GBA_INPROGRESS == (status = oob->test(oob->ctx))) {
        gba_agree_idle(team);
        status = GBA_OK;
    }
    return status;
}

gba_status_t gba_trial_vote(const struct gba_trial *t, struct gba_trial_vote *vote)
{
    uint64_t words[] = {gba_refusal_word(vote->reason, t->oob->rank), ~vote->cost};
    gba_status_t status = gba_trial_min(t->team, t->oob, words, 2);

    *vote = (struct gba_trial_vote){gba_refusal_of(words[0]).reason, ~words[1]};
    return status;
}

void gba_trial_remove(struct gba_trial *t, uint32_t i)
{
    struct gba_trial_candidate *c = &t->candidates.entries[i];

    memmove(c, c + 1, (--t->candidates.count - i) * sizeof *c);
    t->current = t->current && 0 != i;
}

/* Destroy this member's part of a path, whose barriers members have left in different rounds. */
static void candidate_give_up(struct gba_trial *t, struct gba_trial_candidate *c)
{
    if (t->team->path == c->path) {
        t->team->path = NULL;
        t->team->kind = GBA_PATH_FALLBACK; /* until the end of the trial */
    }
    gba_path_give_up(c->path);
    c->path = NULL;
}

/* A member gave the candidate up: it leaves the list and the record. */
static void candidate_lose(struct gba_trial *t, uint32_t i, gba_status_t reason)
{
    struct gba_trial_candidate *c = &t->candidates.entries[i];
    char name[GBA_CHOICE_NAME];

    gba_choice_name(&c->choice, !t->info->one_host, name);
    if (0 == t->oob->rank)
        gba_log(GBA_LOG_INFO, "%s: %s is given up: %s", t->probe.name, name,
                gba_status_text(reason));
    candidate_give_up(t, c);
    gba_trial_lose(&t->team->agreement->record, c->choice);
    if (0 == i && t->current)
        t->lost = reason;
    gba_trial_remove(t, i);
}

gba_status_t gba_trial_measure(struct gba_trial *t, uint32_t i, uint32_t barriers, bool *completed)
{
    struct gba_trial_candidate *c = &t->candidates.entries[i];
    struct gba_trial_vote vote = {GBA_OK, UINT64_MAX};
    uint64_t cost;
    gba_status_t status;

    /* The round that fails ends the batch. */
    gba_trial_probe(&t->probe, t->team, c->path, c->kind,
                    gba_clock_ns() + (c->choice.group ? LIMIT_GROUP_NS : LIMIT_SOFTWARE_NS));
    status = gba_trial_time(&t->probe, WARM, barriers, &cost);
    t->team->stats.retries_arrival += t->probe.stats.retries_arrival;
    t->team->stats.retries_release += t->probe.stats.retries_release;
    if (GBA_OK != status && c->choice.fallback)
        return status;
    vote.reason = status;
    if (GBA_OK == status)
        vote.cost = cost;
    else
        candidate_give_up(t, c);
    status = gba_trial_vote(t, &vote);
    *completed = GBA_OK == vote.reason;
    if (GBA_OK == status && !*completed)
        candidate_lose(t, i, vote.reason);
    else if (vote.cost < c->cost)
        c->cost = vote.cost;
    return status;
}
