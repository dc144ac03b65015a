/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A short trial: with a core for each member of one host, which radix is the fastest depends on the
 * machine, and most programs end before a trial of all barriers (trial_run.c) pays. The members
 * compare the schedules of their own path (path/path_shared.h): nothing is made, and the only
 * exchange is the one of the costs, at the end.
 *
 * It is at the end of a blocking barrier that all members count alike (agree/schedule.c), as each
 * trial. It costs at most 4 schedules * BATCHES * (WARM + BARRIERS) = 144 barriers, and the
 * exchange, which takes the time of some 30 barriers: less than 5% of the time of the 4096 barriers
 * before it, whatever a barrier takes. So no clock decides whether it is made.
 *
 * Its barriers are those of shared memory: no member can leave one before all have arrived, nor
 * lose a connection in one. A member that stops delays the others, as in each barrier of the team.
 */
#include "gba/agree/plan.h"
#include "gba/agree/reason.h"
#include "gba/agree/schedule.h"
#include "gba/path/path_shared.h"
#include "gba/team/barrier.h"
#include "gba/team/trial_batch.h"
#include "gba/team/trial_run.h"

#define BATCHES  3u  /* of each schedule; the median counts */
#define WARM     2u  /* barriers before each batch, which are not measured */
#define BARRIERS 10u /* of a batch */

/* The schedules in turn. The current one is the first, so all have prepared when a member takes
 * another one. entries: set to the costs of this member. */
static gba_status_t measure(struct gba_team *probe, uint32_t count, uint32_t current,
                            struct gba_trial_candidate entries[GBA_SCHEDULES_MOST])
{
    uint64_t costs[GBA_SCHEDULES_MOST][BATCHES];
    gba_status_t status = GBA_OK;

    gba_path_shared_prepare(probe->path);
    for (uint32_t pass = 0; pass < BATCHES; pass++)
        for (uint32_t i = 0; i < count && GBA_OK == status; i++) {
            gba_path_shared_take(probe->path, (current + i) % count);
            status = gba_trial_time(probe, WARM, BARRIERS, &costs[i][pass]);
        }
    for (uint32_t i = 0; i < count && GBA_OK == status; i++)
        entries[i].cost = gba_trial_middle(costs[i]);
    return status;
}

/* The fastest by the costs of the slowest members: the index in `entries`. */
static gba_status_t choose(const struct gba_team *team, const gba_oob_t *oob, uint32_t count,
                           struct gba_trial_candidate *entries, uint32_t *best)
{
    uint64_t words[GBA_SCHEDULES_MOST], costs[GBA_SCHEDULES_MOST];
    gba_status_t status;

    for (uint32_t i = 0; i < count; i++)
        words[i] = ~entries[i].cost;
    status = gba_trial_min(team, oob, words, count);
    for (uint32_t i = 0; i < count; i++)
        entries[i].cost = costs[i] = ~words[i];
    *best = gba_trial_best(costs, count, true);
    return status;
}

/* The line of the path for the user. */
static void describe(struct gba_team *team)
{
    const struct gba_candidate candidate = {.kind = GBA_KIND_SOFTWARE,
                                            .choice = team->trial.choice};
    struct gba_agreement *a = team->agreement;
    struct gba_shape shape;

    if (GBA_OK == gba_shape_make(&shape, &a->topology, &a->info, &candidate, team->rank))
        gba_shape_describe(&shape, &candidate, "", NULL, team->words.path, sizeof team->words.path);
    gba_reason_describe(team);
}

gba_status_t gba_trial_short(struct gba_team *team, const gba_oob_t *oob)
{
    struct gba_trial_candidate entries[GBA_SCHEDULES_MOST] = {0};
    const uint8_t *radices;
    uint32_t current = 0, best = 0;
    const uint32_t count = gba_path_shared_schedules(team->path, &radices, &current);
    struct gba_team probe;
    gba_status_t status;

    for (uint32_t i = 0; i < count; i++) {
        const uint8_t radix = radices[(current + i) % count];

        entries[i].choice =
            (struct gba_choice){.hierarchy = GBA_HIERARCHY_FLAT,
                                .algorithm = 0 == radix ? GBA_ALGORITHM_V1 : GBA_ALGORITHM_V2,
                                .radix = radix};
    }
    gba_trial_probe(&probe, team, team->path, team->kind, 0);
    status = measure(&probe, count, current, entries);
    if (GBA_OK == status)
        status = choose(team, oob, count, entries, &best);
    team->trial.is_short = false;
    team->trial.due = team->trial.began_barriers + team->trial.after;
    if (GBA_OK == status && count > 0) {
        gba_path_shared_take(team->path, (current + best) % count);
        team->trial.choice = entries[best].choice;
        gba_trial_figures(team, entries, count, false);
        describe(team);
        team->stats.trials++;
    } else {
        gba_renegotiation_cancel(team);
        gba_trial_cancel(team);
    }
    gba_barrier_init(team);
    return status;
}
