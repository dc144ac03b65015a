/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: create, agree again, destroy, query. */
#include <stdio.h>

#include "gba/agree/agree.h"
#include "gba/failover/failover.h"
#include "gba/team/barrier.h"
#include "gba/team/trial_run.h"
#include "gba/team/watchdog.h"

gba_status_t gba_agree_test(gba_agreement_t *agreement, gba_team_t **team)
{
    gba_team_t *agreed = NULL;
    gba_status_t status = gba_agree_advance(agreement, &agreed);

    if (GBA_OK != status)
        return status;
    gba_barrier_init(agreed);
    *team = agreed;
    return GBA_OK;
}

/* An agreement that is no trial. */
static gba_status_t agree(gba_team_t **team, gba_due_t due, const gba_team_attr_t *attr,
                          const gba_oob_t *oob)
{
    gba_agreement_t *agreement;
    gba_status_t status = gba_agree_start(*team, due, attr, oob, &agreement);

    if (GBA_OK != status)
        return status;
    while (GBA_INPROGRESS == (status = gba_agree_test(agreement, team)))
        gba_agree_idle(agreement->team);
    return status;
}

gba_status_t gba_team_agree(gba_team_t **team, gba_due_t due, const gba_team_attr_t *attr,
                            const gba_oob_t *oob)
{
    if (GBA_DUE_TRIAL == due)
        return (*team)->trial.is_short ? gba_trial_short(*team, oob)
                                       : gba_trial_run(*team, attr, oob);
    return agree(team, due, attr, oob);
}

gba_status_t gba_team_create(const gba_team_attr_t *attr, const gba_oob_t *oob, gba_team_t **team)
{
    gba_team_t *made = NULL;
    gba_status_t status = agree(&made, GBA_DUE_CREATE, attr, oob);

    if (GBA_OK == status)
        *team = made;
    return status;
}

/* Whether a team that ends stays registered, with its memory, as long as the process: this member
 * may have left it in the middle of a round, so nobody answers that it has completed the round. */
static bool stays_registered(const struct gba_team *team)
{
    return team->failover.link != NULL && (team->under_way || gba_team_has_left(team));
}

void gba_team_destroy(gba_team_t *team)
{
    gba_runtime_t runtime;
    char line[160];
    bool stays;

    if (team == NULL)
        return;
    if (0 != gba_team_hold(team, 0)) {
        snprintf(line, sizeof line,
                 "%s: the team is not destroyed: GPU members use it; destroy them before",
                 team->name);
        gba_log_text(GBA_LOG_ERROR, line);
        return;
    }
    runtime = team->runtime;
    if (runtime.leave != NULL && !gba_team_has_left(team))
        runtime.leave(runtime.ctx);
    gba_watchdog_end(team);
    stays = stays_registered(team);
    if (stays)
        gba_degraded_close(team);
    else
        gba_failover_close(team);
    gba_path_destroy(team->path);
    if (!stays)
        gba_agree_free(team);
    if (runtime.freed != NULL)
        runtime.freed(runtime.ctx);
}

gba_path_t gba_team_path(const gba_team_t *team)
{
    return team->kind;
}

gba_status_t gba_team_reason(const gba_team_t *team)
{
    return team->reason;
}

uint32_t gba_team_culprit(const gba_team_t *team)
{
    return team->culprit;
}

const char *gba_team_why(const gba_team_t *team)
{
    return team->words.why;
}

void gba_team_stats(const gba_team_t *team, gba_team_stats_t *stats)
{
    *stats = team->stats;
    stats->rounds = gba_team_rounds(team);
}
