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

#include "gba/base/clock.h"
#include "gba/bootstrap.h"
#include "gba/bootstrap/backend.h"
#include "gba/bootstrap/devices.h"
#include "gba/gba.h"
#include "gba/stall.h"

/* What a member passes to all others in one call: the number of the team, a notification, and a
 * byte that is 1 if the member has completed the barrier. The length is odd, so that no other call
 * matches by chance. */
#define NOTICE_BYTES (sizeof(uint64_t) + sizeof(gba_notification_t) + 1)

struct boot_team {
    gba_bootstrap_t *bootstrap;
    const gba_oob_t *oob;
    uint64_t number; /* of the team in the bootstrap */
    gba_params_t params;
    struct gba_boot_devices devices;
    bool choose;          /* a member has several choices of a device */
    gba_remote_t *remote; /* NULL: one host */
    gba_team_t *team;
    gba_team_attr_t attr;
    uint64_t fallbacks;        /* barriers that were made by the exchange */
    gba_stall_t stall;         /* of the exchange */
    void *gathered;            /* for what all members pass in one call */
    gba_notification_t latest; /* of this member; zeros before an agreement */
};

/* Whether all members are ready to make the team, and whether one of them has several choices of a
 * device. A member that is not ready says why in its message. team: NULL on such a member. */
static gba_status_t all_ready(const gba_oob_t *oob, struct boot_team *team, gba_status_t status,
                              char *message, size_t len)
{
    uint64_t words[] = {GBA_OK == status, team == NULL || team->devices.choices.count < 2};
    const gba_status_t sent = oob->min(oob->ctx, words, 2);

    if (GBA_OK != status)
        return status;
    if (GBA_OK == sent && 1 == words[0]) {
        team->choose = 0 == words[1];
        return GBA_OK;
    }
    snprintf(message, len, "%s",
             GBA_OK != sent ? gba_bootstrap_message(oob->ctx)
                            : "another member cannot make a team");
    return GBA_OK != sent ? sent : GBA_ERR_REFUSED;
}

/* Read the parameters, and allocate all that a barrier or its recovery needs. */
static gba_status_t prepare(gba_bootstrap_t *bootstrap, const gba_params_t *params,
                            struct boot_team **team, char *message, size_t len)
{
    struct boot_team *made = calloc(1, sizeof *made);
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
        gba_boot_devices_find(&made->devices, &made->params);
        *team = made;
        return GBA_OK;
    }
    free(made->gathered);
    free(made);
    return status;
}

static void agreement_begin(struct boot_team *team)
{
    team->attr.id = gba_bootstrap_team_id();
    team->latest = (gba_notification_t){0};
}

static void runtime_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    const gba_oob_t *oob = ((struct boot_team *)ctx)->oob;

    oob->name_member(oob->ctx, rank, text, len);
}

static void runtime_place(void *ctx, gba_where_t *place)
{
    const struct boot_team *team = ctx;

    place->id = gba_boot_number(team->bootstrap) + team->number;
    if (1 == team->number)
        snprintf(place->name, sizeof place->name, "%s", team->attr.name);
    else
        snprintf(place->name, sizeof place->name, "%s (team %llu)", team->attr.name,
                 (unsigned long long)team->number);
}

static uint32_t runtime_process(void *ctx, uint32_t rank)
{
    return gba_boot_process(((struct boot_team *)ctx)->bootstrap, rank);
}

static void exchange_look(void *ctx)
{
    struct boot_team *team = ctx;
    const gba_stall_view_t view = {.name = team->stall.place.name,
                                   .path = "exchange",
                                   .of = "members",
                                   .ctx = team,
                                   .size = team->oob->size,
                                   .rank = team->oob->rank,
                                   .name_member = runtime_name_member,
                                   .job = gba_boot_place(team->bootstrap),
                                   .process = runtime_process};

    gba_stall_watch(&team->stall, &view, runtime_place, gba_clock_ns());
}

/* The watched barrier or agreement has ended, if there is one. */
static void exchange_end(struct boot_team *team, bool complete)
{
    if (0 == team->stall.place.number)
        return;
    gba_boot_look(team->bootstrap, NULL, NULL);
    if (0 != team->stall.number)
        gba_stall_end(&team->stall, team->stall.place.name, complete, gba_clock_ns());
    team->stall.place.number = 0;
}

/* Watch the exchange, in which a barrier, or an agreement before one, may stall. After the death of
 * a device a barrier takes several calls of the exchange. */
static void exchange_begin(struct boot_team *team, gba_where_kind_t kind)
{
    gba_team_stats_t stats = {.rounds = 0};
    uint64_t number;

    if (team->team != NULL)
        gba_team_stats(team->team, &stats);
    number = stats.rounds + team->fallbacks + 1;
    if (number != team->stall.place.number || kind != team->stall.place.kind) {
        exchange_end(team, false);
        gba_stall_begin(&team->stall, number, (uint64_t)team->params.stuck_after * 1000000000u, 0,
                        gba_clock_ns());
        team->stall.place.kind = kind;
    }
    gba_boot_look(team->bootstrap, exchange_look, team);
}

static gba_status_t mixed(struct boot_team *team)
{
    snprintf(gba_boot_message(team->bootstrap), GBA_BOOT_MESSAGE,
             "members make barriers of several teams of the bootstrap at the same time");
    return GBA_ERR_BUSY;
}

/*
 * Wait for all members, over the exchange, and find out whether all are in calls of this team. Two
 * threads that make barriers of two teams would else take one for the other, on some members.
 */
static gba_status_t members_meet(struct boot_team *team)
{
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
static gba_status_t notices_exchange(struct boot_team *team, bool done, bool *all_done)
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
static gba_status_t notices_meet(struct boot_team *team)
{
    bool all_done = gba_team_path(team->team) >= GBA_PATH_SOFTWARE;
    gba_status_t status = GBA_OK;

    while (GBA_OK == status && !all_done)
        status = notices_exchange(team, true, &all_done);
    return status;
}

static int runtime_progress(void *ctx)
{
    return gba_bootstrap_progress(((struct boot_team *)ctx)->bootstrap);
}

/* One call of the exchange. A member that has completed the barrier makes none: it makes the next
 * one in its next barrier, or before an agreement. */
static gba_status_t runtime_notify(void *ctx, bool complete)
{
    struct boot_team *team = ctx;
    gba_status_t status;
    bool unused;

    if (complete) {
        exchange_end(team, true);
        return GBA_OK;
    }
    exchange_begin(team, GBA_WHERE_BARRIER);
    status = notices_exchange(team, false, &unused);
    gba_boot_look(team->bootstrap, NULL, NULL);
    if (GBA_OK != status)
        exchange_end(team, false);
    return status;
}

static gba_status_t runtime_fallback(void *ctx)
{
    struct boot_team *team = ctx;
    gba_status_t status;

    exchange_begin(team, GBA_WHERE_BARRIER);
    status = members_meet(team);
    exchange_end(team, GBA_OK == status);
    team->fallbacks++;
    return status;
}

static gba_status_t runtime_prepare(void *ctx, gba_due_t due, gba_team_attr_t *attr, gba_oob_t *oob)
{
    struct boot_team *team = ctx;
    gba_status_t status;

    (void)due;
    exchange_begin(team, GBA_WHERE_AGREEMENT);
    status = notices_meet(team);
    if (GBA_OK == status)
        status = members_meet(team);
    agreement_begin(team);
    *attr = team->attr;
    *oob = *team->oob;
    return status;
}

static void runtime_agreed(void *ctx, gba_due_t due, gba_status_t status)
{
    (void)due;
    exchange_end(ctx, GBA_OK == status);
}

/* Members may need this one in the last barrier, if the device dies. */
static void runtime_leave(void *ctx)
{
    (void)notices_meet(ctx);
}

static void runtime_freed(void *ctx)
{
    struct boot_team *team = ctx;

    exchange_end(team, false); /* of a barrier that has failed outside the exchange */
    gba_bootstrap_remote_close(team->remote);
    gba_boot_devices_close(&team->devices);
    free(team->gathered);
    free(team);
}

static gba_status_t create(struct boot_team *team, char *message, size_t len)
{
    gba_status_t status =
        team->choose ? gba_boot_devices_choose(&team->devices, team->bootstrap, team->gathered)
                     : GBA_OK;

    team->attr = (gba_team_attr_t){.name = "all",
                                   .params = &team->params,
                                   .notifies_together = true,
                                   .oversubscribed = gba_bootstrap_oversubscribed(team->bootstrap),
                                   .runtime = {.ctx = team,
                                               .progress = runtime_progress,
                                               .fallback = runtime_fallback,
                                               .notify = runtime_notify,
                                               .prepare = runtime_prepare,
                                               .agreed = runtime_agreed,
                                               .name_member = runtime_name_member,
                                               .place = runtime_place,
                                               .job = gba_boot_place(team->bootstrap),
                                               .process = runtime_process,
                                               .leave = runtime_leave,
                                               .freed = runtime_freed}};
    if (GBA_OK == status)
        status = gba_bootstrap_remote_open(team->bootstrap, &team->remote, message, len);
    else
        snprintf(message, len, "%s", gba_bootstrap_message(team->bootstrap));
    if (GBA_OK != status)
        return status;
    team->attr.remote = team->remote;
    gba_boot_devices_open(&team->devices, team->bootstrap, &team->attr);
    agreement_begin(team);
    exchange_begin(team, GBA_WHERE_AGREEMENT);
    status = gba_team_create(&team->attr, team->oob, &team->team);
    exchange_end(team, GBA_OK == status);
    /* The other members are in the agreement: a call that does not match theirs fails on all. */
    if (GBA_ERR_NOMEM == status)
        (void)gba_bootstrap_barrier(team->bootstrap);
    if (GBA_OK != status)
        snprintf(message, len, "%s",
                 GBA_ERR_OOB == status ? gba_bootstrap_message(team->bootstrap)
                                       : gba_status_text(status));
    return status;
}

gba_status_t gba_bootstrap_team_create(gba_bootstrap_t *bootstrap, const gba_params_t *params,
                                       gba_team_t **team, char *message, size_t len)
{
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
    struct boot_team *made = NULL;
    const uint64_t number = gba_boot_team_number(bootstrap);
    gba_status_t status = prepare(bootstrap, params, &made, message, len);

    status = all_ready(oob, made, status, message, len);
    if (GBA_OK == status) {
        made->number = number;
        status = create(made, message, len);
    }
    if (GBA_OK == status)
        *team = made->team;
    else if (made != NULL)
        runtime_freed(made);
    return status;
}
