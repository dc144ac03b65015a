/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A team of all members of a bootstrap, which survives its device: failure notifications go by the
 * exchange. The exchange is collective, so a member that needs notifications makes a call of it,
 * and all others come to that call: in their next barrier, which does not complete either, before
 * they make an agreement, or when they destroy the team. Members of another switch, which is alive,
 * would not come: so such a team has groups at one switch only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/bootstrap.h"
#include "gba/bootstrap/backend.h"
#include "gba/gba.h"

/* What a member passes to all others in one call: the number of the team, a notification, and a
 * byte that is 1 if the member has completed the barrier. The length is odd, so that no other call
 * matches by chance. */
#define NOTICE_BYTES (sizeof(uint64_t) + sizeof(gba_notification_t) + 1)

/* The switch of a member's device. */
struct device_name {
    uint8_t uuid[GBA_UUID_SIZE];
    uint8_t there; /* 0: the member has no device */
};
_Static_assert(sizeof(struct device_name) <= NOTICE_BYTES, "see prepare");

struct gba_bootstrap_team {
    gba_bootstrap_t *bootstrap;
    const gba_oob_t *oob;
    uint64_t number; /* of the team in the bootstrap */
    gba_params_t params;
    gba_device_t *device; /* NULL: this member has none */
    gba_status_t device_status;
    gba_remote_t *remote; /* NULL: one host */
    gba_team_t *team;
    gba_team_attr_t attr;
    void *gathered;            /* for what all members pass in one call */
    gba_notification_t latest; /* of this member; zeros before an agreement */
    bool mixed;                /* threads of members make barriers of several teams */
    gba_status_t status;       /* of the first barrier that failed */
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
    made->gathered = calloc(made->oob->size, NOTICE_BYTES); /* the longest of them */
    if (made->gathered == NULL)
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
    free(made->gathered);
    free(made);
    return status;
}

static void device_name_get(const gba_bootstrap_team_t *team, struct device_name *name)
{
    gba_device_info_t info;

    memset(name, 0, sizeof *name);
    if (team->device == NULL)
        return;
    name->there = 1;
    if (GBA_OK == gba_device_query(team->device, &info))
        memcpy(name->uuid, info.uuid, sizeof name->uuid);
}

/* Prepare an agreement: take no device on any member if they are at different switches. */
static gba_status_t begin_agreement(gba_bootstrap_team_t *team)
{
    const gba_oob_t *oob = team->oob;
    struct device_name mine, *all = team->gathered;
    const struct device_name *first = NULL;
    gba_status_t status;
    bool same = true;

    team->attr.id = gba_bootstrap_team_id();
    team->attr.device = team->device;
    team->attr.device_status = team->device_status;
    team->latest = (gba_notification_t){0};
    if (team->remote == NULL)
        return GBA_OK;
    device_name_get(team, &mine);
    status = oob->allgather(oob->ctx, &mine, all, sizeof mine);
    if (GBA_OK != status)
        return status;
    for (uint32_t i = 0; i < oob->size; i++) {
        if (0 == all[i].there)
            continue;
        if (first == NULL)
            first = &all[i];
        same = same && 0 == memcmp(first, &all[i], sizeof *first);
    }
    if (!same) {
        team->attr.device = NULL;
        team->attr.device_status = GBA_ERR_OTHER_DEVICE;
    }
    return GBA_OK;
}

static gba_status_t mixed(gba_bootstrap_team_t *team)
{
    team->mixed = true;
    return GBA_ERR_BUSY;
}

/*
 * Wait for all members, over the exchange, and find out whether all are in calls of this team. Two
 * threads that make barriers of two teams would else take one for the other, on some members.
 */
static gba_status_t members_meet(void *ctx)
{
    gba_bootstrap_team_t *team = ctx;
    const gba_oob_t *oob = team->oob;
    const uint64_t *numbers = team->gathered;
    gba_status_t status = oob->allgather(oob->ctx, &team->number, team->gathered, sizeof *numbers);

    for (uint32_t i = 0; GBA_OK == status && i < oob->size; i++)
        if (team->number != numbers[i])
            status = mixed(team);
    return status;
}

/*
 * One call of the exchange. done: this member has completed the barrier. A notification of another
 * member is answered in the next call, which its sender makes too, because its barrier has not
 * completed. all_done: set on GBA_OK: no member needs another call.
 */
static gba_status_t notices_exchange(gba_bootstrap_team_t *team, bool done, bool *all_done)
{
    const gba_oob_t *oob = team->oob;
    gba_notification_t facts = team->latest, next;
    uint8_t own[NOTICE_BYTES];
    gba_status_t status;
    uint32_t to;

    while (GBA_OK == gba_team_notification(team->team, &next, &to))
        facts = next; /* the same facts for each neighbour */
    memcpy(own, &team->number, sizeof team->number);
    memcpy(own + sizeof team->number, &facts, sizeof facts);
    own[NOTICE_BYTES - 1] = done;
    status = oob->allgather(oob->ctx, own, team->gathered, sizeof own);
    if (GBA_OK != status)
        return status;
    team->latest = facts;
    *all_done = true;
    for (uint32_t i = 0; i < oob->size; i++) {
        const uint8_t *notice = (const uint8_t *)team->gathered + i * NOTICE_BYTES;

        if (0 != memcmp(notice, &team->number, sizeof team->number))
            return mixed(team);
        memcpy(&facts, notice + sizeof team->number, sizeof facts);
        *all_done = *all_done && 1 == notice[NOTICE_BYTES - 1];
        if (i == oob->rank || 0 == facts.round)
            continue;
        (void)gba_notification_take(&facts);
        if (done && 0 == facts.completed && GBA_OK == gba_notification_answer(&facts, &next))
            team->latest = next;
    }
    return GBA_OK;
}

/* Meet all members after a barrier, which some may not have completed yet. */
static gba_status_t notices_meet(gba_bootstrap_team_t *team)
{
    bool all_done = gba_team_path(team->team) >= GBA_PATH_SOFTWARE;
    gba_status_t status = GBA_OK;

    while (GBA_OK == status && !all_done)
        status = notices_exchange(team, true, &all_done);
    return status;
}

static int runtime_progress(void *ctx)
{
    return gba_bootstrap_progress(((gba_bootstrap_team_t *)ctx)->bootstrap);
}

static void runtime_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    const gba_oob_t *oob = ((gba_bootstrap_team_t *)ctx)->oob;

    oob->name_member(oob->ctx, rank, text, len);
}

/* One call of the exchange. A member that has completed the barrier makes none: it makes the next
 * one in its next barrier, or before an agreement. */
static gba_status_t runtime_notify(void *ctx, bool complete)
{
    bool unused;

    return complete ? GBA_OK : notices_exchange(ctx, false, &unused);
}

static gba_status_t runtime_prepare(void *ctx, gba_due_t due, gba_team_attr_t *attr, gba_oob_t *oob)
{
    gba_bootstrap_team_t *team = ctx;
    gba_status_t status = notices_meet(team);

    (void)due;
    if (GBA_OK == status)
        status = members_meet(team);
    if (GBA_OK == status)
        status = begin_agreement(team);
    *attr = team->attr;
    *oob = *team->oob;
    return status;
}

static gba_status_t create(gba_bootstrap_team_t *team, char *message, size_t len)
{
    const gba_device_attr_t device_attr = {.job = gba_bootstrap_job(team->bootstrap),
                                           .key_file = team->params.switch_key_file};
    gba_status_t status;

    team->attr = (gba_team_attr_t){.name = "all",
                                   .params = &team->params,
                                   .notifies_together = true,
                                   .oversubscribed = gba_bootstrap_oversubscribed(team->bootstrap),
                                   .runtime = {.ctx = team,
                                               .progress = runtime_progress,
                                               .fallback = members_meet,
                                               .notify = runtime_notify,
                                               .prepare = runtime_prepare,
                                               .name_member = runtime_name_member}};
    team->device_status =
        gba_global_device_get(team->params.device_path, &device_attr, &team->device);
    status = gba_bootstrap_remote_open(team->bootstrap, &team->remote, message, len);
    if (GBA_OK != status)
        return status;
    team->attr.remote = team->remote;
    status = begin_agreement(team);
    if (GBA_OK == status)
        status = gba_team_create(&team->attr, team->oob, &team->team);
    /* The other members are in the agreement: a call that does not match theirs fails on all. */
    if (GBA_ERR_NOMEM == status)
        (void)gba_bootstrap_barrier(team->bootstrap);
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
    free(team->gathered);
    free(team);
}

gba_status_t gba_bootstrap_team_create(gba_bootstrap_t *bootstrap, const gba_params_t *params,
                                       gba_bootstrap_team_t **team, char *message, size_t len)
{
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
    gba_bootstrap_team_t *made = NULL;
    const uint64_t number = gba_boot_team_number(bootstrap);
    gba_status_t status;

    status = all_ready(oob, prepare(bootstrap, params, &made, message, len), message, len);
    if (GBA_OK == status) {
        made->number = number;
        status = create(made, message, len);
    }
    if (GBA_OK == status)
        *team = made;
    else if (made != NULL)
        team_free(made);
    return status;
}

gba_status_t gba_bootstrap_team_barrier(gba_bootstrap_team_t *team)
{
    const gba_status_t status = gba_barrier(team->team);

    if (GBA_OK == status)
        return GBA_OK;
    team->status = GBA_OK == team->status ? status : team->status;
    gba_team_leave(team->team);
    return status;
}

gba_team_t *gba_bootstrap_team_get(const gba_bootstrap_team_t *team)
{
    return team->team;
}

const char *gba_bootstrap_team_message(const gba_bootstrap_team_t *team)
{
    const char *const exchange = gba_bootstrap_message(team->bootstrap);
    const char *const remote = gba_bootstrap_remote_message(team->remote);

    if (!gba_team_has_left(team->team))
        return "";
    if (team->mixed)
        return "members make barriers of several teams of the bootstrap at the same time";
    if ('\0' != exchange[0])
        return exchange;
    /* GPU members have their own status. */
    return '\0' != remote[0]
               ? remote
               : gba_status_text(GBA_OK != team->status ? team->status : GBA_ERR_STALE);
}

void gba_bootstrap_team_destroy(gba_bootstrap_team_t *team)
{
    if (team == NULL)
        return;
    if (0 != gba_team_hold(team->team, 0)) {
        gba_team_destroy(team->team); /* refuses */
        return;
    }
    if (!gba_team_has_left(team->team))
        (void)notices_meet(team);
    team_free(team);
}
