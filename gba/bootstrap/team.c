/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A team of all members of a bootstrap, which survives its device: failure notifications go by the
 * exchange. The exchange is collective, so a member that needs notifications makes a call of it,
 * and all others come to that call: in their next barrier, which does not complete either, or when
 * they destroy the team.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gba/bootstrap.h"
#include "gba/gba.h"

/* What a member passes to all others in one call of the exchange. */
struct notice {
    gba_notification_t facts;
    uint64_t leaves; /* 1: the member destroys the team, and needs no further barrier */
};

struct gba_bootstrap_team {
    gba_bootstrap_t *bootstrap;
    const gba_oob_t *oob;
    gba_params_t params;
    gba_device_t *device; /* NULL: this member has none */
    gba_remote_t *remote; /* NULL: one host */
    gba_team_t *team;
    gba_team_attr_t attr;
    gba_notification_t latest; /* of this member */
    struct notice *notices;    /* of all members, [size] */
    bool broken;               /* a barrier has failed: the members do not meet any more */
    char message[256];
};

/* Whether all members are ready to make the team. A member that is not says why in its message. */
static gba_status_t all_ready(const gba_oob_t *oob, gba_status_t status, char *message, size_t len)
{
    uint64_t ready = GBA_OK == status;
    const gba_status_t sent = oob->min(oob->ctx, &ready, 1);

    if (GBA_OK != status)
        return status;
    if (GBA_OK == sent && 1 == ready)
        return GBA_OK;
    snprintf(message, len, "%s",
             GBA_OK != sent ? gba_bootstrap_message(oob->ctx)
                            : "another member cannot make a team");
    return GBA_OK != sent ? sent : GBA_ERR_REFUSED;
}

/* Read the parameters, and allocate all that a barrier or its recovery needs. */
static gba_status_t prepare(gba_bootstrap_t *bootstrap, const gba_params_t *params,
                            gba_bootstrap_team_t **team, char *message, size_t len)
{
    gba_bootstrap_team_t *made = calloc(1, sizeof *made);
    gba_status_t status = GBA_OK;

    snprintf(message, len, "out of memory");
    if (made == NULL)
        return GBA_ERR_NOMEM;
    made->bootstrap = bootstrap;
    made->oob = gba_bootstrap_oob(bootstrap);
    made->notices = calloc(made->oob->size, sizeof *made->notices);
    if (made->notices == NULL)
        status = GBA_ERR_NOMEM;
    gba_params_default(&made->params);
    if (params != NULL)
        made->params = *params;
    else if (GBA_OK == status)
        status = gba_params_environment(&made->params, message, len);
    if (GBA_OK == status) {
        *team = made;
        return GBA_OK;
    }
    free(made->notices);
    free(made);
    return status;
}

static gba_status_t agree(gba_bootstrap_team_t *team, char *message, size_t len)
{
    gba_status_t status;

    team->attr = (gba_team_attr_t){.name = "all",
                                   .params = &team->params,
                                   .progress = gba_bootstrap_progress,
                                   .trial_ctx = team->bootstrap,
                                   .oversubscribed = gba_bootstrap_oversubscribed(team->bootstrap),
                                   .name_member = team->oob->name_member,
                                   .name_ctx = team->oob->ctx};
    team->attr.device_status =
        gba_bootstrap_device(team->bootstrap, team->params.device_path, NULL, &team->device);
    if (GBA_ERR_OOB == team->attr.device_status) {
        snprintf(message, len, "%s", gba_bootstrap_message(team->bootstrap));
        return GBA_ERR_OOB;
    }
    team->attr.device = team->device;
    status = gba_bootstrap_remote_open(team->bootstrap, &team->remote, message, len);
    if (GBA_OK != status)
        return status;
    team->attr.remote = team->remote;
    team->attr.id = gba_bootstrap_team_id();
    status = gba_team_create(&team->attr, team->oob, &team->team);
    if (GBA_OK != status)
        snprintf(message, len, "%s",
                 GBA_ERR_OOB == status ? gba_bootstrap_message(team->bootstrap)
                                       : gba_status_text(status));
    return status;
}

static void team_free(gba_bootstrap_team_t *team)
{
    gba_team_destroy(team->team);
    gba_bootstrap_remote_close(team->remote);
    if (team->device != NULL)
        gba_global_device_put(team->device);
    free(team->notices);
    free(team);
}

gba_status_t gba_bootstrap_team_create(gba_bootstrap_t *bootstrap, const gba_params_t *params,
                                       gba_bootstrap_team_t **team, char *message, size_t len)
{
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
    gba_bootstrap_team_t *made = NULL;
    gba_status_t status;

    status = all_ready(oob, prepare(bootstrap, params, &made, message, len), message, len);
    if (GBA_OK == status)
        status = agree(made, message, len);
    if (GBA_OK == status)
        *team = made;
    else if (made != NULL)
        team_free(made);
    return status;
}

/*
 * One call of the exchange for notifications. leaves: this member needs no barrier any more. A
 * notification of another member is answered in the next call, which its sender makes too, because
 * its barrier has not completed. all_leave: set on GBA_OK: no member needs another call.
 */
static gba_status_t exchange_notices(gba_bootstrap_team_t *team, bool leaves, bool *all_leave)
{
    const gba_oob_t *oob = team->oob;
    struct notice mine = {.facts = team->latest, .leaves = leaves};
    gba_notification_t next;
    gba_status_t status;
    uint32_t to;

    while (GBA_OK == gba_team_notification(team->team, &next, &to))
        mine.facts = next; /* the same facts for each neighbour */
    status = oob->allgather(oob->ctx, &mine, team->notices, sizeof mine);
    if (GBA_OK != status)
        return status;
    team->latest = mine.facts;
    *all_leave = true;
    for (uint32_t i = 0; i < oob->size; i++) {
        const gba_notification_t *facts = &team->notices[i].facts;

        *all_leave = *all_leave && 1 == team->notices[i].leaves;
        if (i == oob->rank || 0 == facts->round)
            continue;
        (void)gba_notification_take(facts);
        if (leaves && 0 == facts->completed && GBA_OK == gba_notification_answer(facts, &next))
            team->latest = next;
    }
    return GBA_OK;
}

/* Complete a barrier whose device has failed. */
static gba_status_t complete(gba_bootstrap_team_t *team)
{
    gba_status_t status = GBA_INPROGRESS;
    bool unused;

    while (GBA_INPROGRESS == status || GBA_ERR_DEAD == status) {
        status = exchange_notices(team, false, &unused);
        if (GBA_OK == status)
            status = gba_barrier_test(team->team);
    }
    return status;
}

/* What the members agree on between two barriers, if anything. */
static gba_status_t agree_due(gba_bootstrap_team_t *team)
{
    const gba_due_t due = gba_team_due(team->team, true);

    if (GBA_DUE_NOTHING == due)
        return GBA_OK;
    team->attr.id = gba_bootstrap_team_id();
    if (GBA_DUE_RECOVER == due)
        return gba_team_recover(team->team, &team->attr, team->oob);
    if (GBA_DUE_TRIAL == due)
        return gba_team_trial(team->team, &team->attr, team->oob);
    return gba_team_renegotiate(team->team, &team->attr, team->oob);
}

gba_status_t gba_bootstrap_team_barrier(gba_bootstrap_team_t *team)
{
    gba_status_t status;

    if (GBA_PATH_FALLBACK == gba_team_path(team->team)) {
        status = gba_bootstrap_barrier(team->bootstrap);
        if (GBA_OK == status)
            status = gba_team_count(team->team);
    } else {
        status = gba_barrier_wait(team->team, gba_bootstrap_progress, team->bootstrap);
        if (GBA_OK == status) /* nothing is due */
            return GBA_OK;
        if (GBA_ERR_DEAD == status)
            status = complete(team);
    }
    if (GBA_OK == status || GBA_RENEGOTIATE == status || GBA_NOTIFY == status)
        status = agree_due(team);
    team->broken = GBA_OK != status;
    if (team->broken)
        snprintf(team->message, sizeof team->message, "%s",
                 GBA_ERR_OOB == status  ? gba_bootstrap_message(team->bootstrap)
                 : GBA_ERR_IO == status ? gba_bootstrap_remote_message(team->remote)
                                        : gba_status_text(status));
    return status;
}

const gba_team_t *gba_bootstrap_team_get(const gba_bootstrap_team_t *team)
{
    return team->team;
}

const char *gba_bootstrap_team_message(const gba_bootstrap_team_t *team)
{
    return team->message;
}

void gba_bootstrap_team_destroy(gba_bootstrap_team_t *team)
{
    gba_status_t status = GBA_OK;
    bool all_leave;

    if (team == NULL)
        return;
    /* A member that a device has not released may still be in the last barrier. */
    all_leave = gba_team_path(team->team) >= GBA_PATH_SOFTWARE || team->broken;
    while (GBA_OK == status && !all_leave)
        status = exchange_notices(team, true, &all_leave);
    team_free(team);
}
