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
#include "gba/bootstrap/settings.h"
#include "gba/gba.h"
#include "gba/stall.h"

/* What a member passes to all others in one call: the number of the team, a notification, and a
 * byte that is 1 if the member has completed the barrier. The length is odd, so that no other call
 * matches by chance. */
#define NOTICE_BYTES (sizeof(uint64_t) + sizeof(gba_notification_t) + 1)

/* Time for a member to open the choices beside its device, ns: that which one device has. */
#define OTHERS_NS UINT64_C(10000000000)

struct boot_team {
    gba_bootstrap_t *bootstrap;
    const gba_oob_t *oob;
    uint64_t number; /* of the team in the bootstrap */
    gba_params_t params;
    gba_device_choices_t choices;                  /* none, if the user set device_path */
    bool choose;                                   /* a member has several choices */
    gba_device_t *device;                          /* the chosen one; NULL: it cannot be opened */
    gba_device_t *devices[GBA_DEVICE_CHOICES_MAX]; /* the other ones by choice, once `opened` */
    bool opened;
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
    uint64_t words[] = {GBA_OK == status, team == NULL || team->choices.count < 2};
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

/* Find the devices among which this member chooses, as a process of MPI does. A parameter that the
 * user has not set is the very string of the defaults. */
static void choices_find(struct boot_team *team)
{
    gba_params_t *params = &team->params, defaults;
    const char *path = params->device_path, *list = params->device_list;

    gba_params_default(&defaults);
    path = gba_device_choices_first(path != defaults.device_path ? path : NULL,
                                    list != defaults.device_list ? list : NULL, &team->choices);
    if (path != NULL)
        params->device_path = (char *)(uintptr_t)path; /* is not written to */
}

/* Choose among several devices, from the words of the members on this host, in the order of the
 * ranks. Without memory for the choice the first one stays: it affects speed only. */
static gba_status_t device_choose(struct boot_team *team)
{
    const gba_oob_t *oob = team->oob;
    const uint64_t mine = team->choices.count > 1 ? gba_device_choices_word(&team->choices) : 0;
    uint64_t *words = team->gathered;
    uint32_t count = 0, self = 0, chosen;
    gba_status_t status;
    char unused[160];

    status = oob->allgather(oob->ctx, &mine, words, sizeof mine);
    for (uint32_t i = 0; GBA_OK == status && i < oob->size; i++) {
        if (i == oob->rank)
            self = count;
        if (gba_boot_same_host(team->bootstrap, i))
            words[count++] = words[i];
    }
    if (GBA_OK == status && team->choices.count > 1 &&
        GBA_OK == gba_device_choose(&team->choices, team->params.device_map, words, count, self,
                                    &chosen, unused, sizeof unused))
        team->params.device_path = team->choices.list[chosen].path;
    return status;
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
        choices_find(made);
        *team = made;
        return GBA_OK;
    }
    free(made->gathered);
    free(made);
    return status;
}

/* timeout_ms: as in gba_device_attr_t. */
static gba_status_t device_open(const struct boot_team *team, const char *path, uint32_t timeout_ms,
                                gba_device_t **device)
{
    const gba_device_attr_t attr = {.job = gba_bootstrap_job(team->bootstrap),
                                    .key_file = team->params.switch_key_file,
                                    .timeout_ms = timeout_ms};

    return gba_global_device_get(path, &attr, device);
}

/* Open all choices but the chosen one. The other members wait meanwhile, so each choice has an
 * equal part of the time that is left: OTHERS_NS, or half of the time that a call of the exchange
 * may take. */
static void others_open(struct boot_team *team)
{
    uint64_t limit = 0, began = gba_clock_ns(), spent = 0;
    char unused[160];

    if (GBA_OK != gba_boot_env_timeout(&limit, unused, sizeof unused) || 0 == limit ||
        limit / 2 > OTHERS_NS)
        limit = 2 * OTHERS_NS;
    for (uint32_t i = 0; i < team->choices.count; i++) {
        const uint64_t left = spent < limit / 2 ? limit / 2 - spent : 0;

        if (0 != strcmp(team->choices.list[i].path, team->params.device_path))
            (void)device_open(team, team->choices.list[i].path,
                              (uint32_t)(left / (team->choices.count - i) / 1000000u) + 1,
                              &team->devices[i]);
        spent = gba_clock_ns() - began;
    }
    team->opened = true;
}

/* The other devices of a member with several choices, opened at the first call. */
static uint32_t devices_get(void *ctx, gba_device_t **list, uint32_t max)
{
    struct boot_team *team = ctx;
    uint32_t count = 0;

    if (!team->opened)
        others_open(team);
    for (uint32_t i = 0; i < team->choices.count && count < max; i++)
        if (team->devices[i] != NULL)
            list[count++] = team->devices[i];
    return count;
}

/* Open the chosen device, or, if that is not possible, the first of the others. */
static void device_get(struct boot_team *team)
{
    gba_team_attr_t *attr = &team->attr;

    attr->device_status = device_open(team, team->params.device_path, 0, &team->device);
    attr->device = team->device;
    if (attr->device == NULL && 0 != devices_get(team, &attr->device, 1))
        attr->device_status = GBA_OK;
    if (attr->device == NULL || team->choices.count < 2)
        return;
    attr->devices = devices_get;
    attr->devices_ctx = team;
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

/* The barrier or agreement has ended. */
static void exchange_end(struct boot_team *team, bool complete)
{
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

    if (team->team != NULL)
        gba_team_stats(team->team, &stats);
    stats.rounds += team->fallbacks + 1;
    if (stats.rounds != team->stall.place.number || kind != team->stall.place.kind) {
        exchange_end(team, false);
        gba_stall_begin(&team->stall, stats.rounds,
                        (uint64_t)team->params.stuck_after * 1000000000u, 0, gba_clock_ns());
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

    gba_bootstrap_remote_close(team->remote);
    gba_global_device_put(team->device);
    for (uint32_t i = 0; i < GBA_DEVICE_CHOICES_MAX; i++)
        gba_global_device_put(team->devices[i]);
    free(team->gathered);
    free(team);
}

static gba_status_t create(struct boot_team *team, char *message, size_t len)
{
    gba_status_t status = team->choose ? device_choose(team) : GBA_OK;

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
    device_get(team);
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
