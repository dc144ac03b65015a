/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: create, destroy, query. */
#include <stdio.h>
#include <stdlib.h>

#include "gba/agree/agree.h"
#include "gba/agree/alloc.h"
#include "gba/failover/failover.h"
#include "gba/team/barrier.h"
#include "gba/team/trial_run.h"

gba_status_t gba_team_create(const gba_team_attr_t *attr, const gba_oob_t *oob, gba_team_t **team)
{
    struct gba_team *t = calloc(1, sizeof *t + gba_failover_bytes(oob->size));
    gba_status_t status;

    /* A member that lacks memory for a few hundred bytes cannot take part in the agreement. The
     * runtime must treat this as a failed collective call. */
    if (NULL == t)
        return GBA_ERR_NOMEM;
    t->rank = oob->rank;
    t->size = oob->size;
    t->wait = attr->params->wait;
    t->oversubscribed = attr->oversubscribed;
    t->name_member = attr->name_member;
    t->name_ctx = attr->name_ctx;
    t->watchdog.report_after = (uint64_t)attr->params->stuck_after * 1000000000u;
    gba_retry_init(&t->watchdog.retry, (uint64_t)attr->params->retry_after * 1000000u);
    snprintf(t->name, sizeof t->name, "%s", attr->name);
    status = gba_agree(t, attr, oob);
    gba_barrier_init(t);
    if (GBA_OK != status) {
        gba_path_destroy(t->path);
        free(t);
        return status;
    }
    *team = t;
    return GBA_OK;
}

gba_status_t gba_team_renegotiate(gba_team_t *team, const gba_team_attr_t *attr,
                                  const gba_oob_t *oob)
{
    gba_status_t status;

    if (gba_trial_due(team) && !gba_team_request_due(team))
        status = gba_trial_run(team, attr, oob);
    else
        status = gba_agree_again(team, attr, oob);
    gba_barrier_init(team);
    return status;
}

gba_status_t gba_team_recover(gba_team_t *team, const gba_team_attr_t *attr, const gba_oob_t *oob)
{
    gba_status_t status = gba_agree_recover(team, attr, oob);

    if (GBA_OK == status)
        gba_barrier_init(team);
    return status;
}

void gba_team_destroy(gba_team_t *team)
{
    if (NULL == team)
        return;
    gba_failover_close(team);
    gba_path_destroy(team->path);
    free(team);
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
    return team->why;
}

void gba_team_stats(const gba_team_t *team, gba_team_stats_t *stats)
{
    *stats = team->stats;
    stats->rounds = gba_team_rounds(team);
}
