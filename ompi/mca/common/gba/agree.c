/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of a module's members about the path of their barriers: when all of them are known
 * to have the component, again when the device has failed, and at each renegotiation. The table
 * with which libgba drives them at the end of a barrier (gba_runtime_t).
 */
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/notifications.h"
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/report.h"

#include <stdlib.h>

void gba_common_decline(struct gba_common_module *m, gba_status_t reason, uint32_t reporter,
                        const char *text)
{
    char why[512];

    m->declined = reason;
    m->agreed = true;
    snprintf(why, sizeof why, "%s: %s", gba_path_name(GBA_PATH_FALLBACK), text);
    gba_common_framework.report(m->owner, reporter, reason, reporter, why);
}

/* The device for the team, or the reason why there is none. */
static void agree_device(gba_team_attr_t *attr)
{
    if (GBA_OK != attr->device_status)
        return;
    attr->device = gba_common_device_get(&attr->device_status);
    if (attr->device == NULL)
        return;
    if (OPAL_SUCCESS != gba_common_notifications_start()) {
        attr->device = NULL;
        attr->device_status = GBA_ERR_NOMEM;
        return;
    }
    /* A gba-switchd on this host is one more process. Ranks that spin on all cores starve it. */
    if (gba_device_served_here(attr->device) && gba_common_processors_shared(true))
        attr->oversubscribed = true;
    /* Without notifications this member must join no group, with any of its devices. */
    if (gba_common.device.choices.count > 1)
        attr->devices = gba_common_devices_get;
}

static gba_status_t runtime_prepare(void *ctx, gba_due_t due, gba_team_attr_t *attr,
                                    gba_oob_t *oob);
static void runtime_agreed(void *ctx, gba_due_t due, gba_status_t status);

static gba_status_t runtime_fallback(void *ctx)
{
    return gba_common_framework.fallback(((struct gba_common_module *)ctx)->owner);
}

/* Prepare an agreement before the next barrier. kind: what the process does meanwhile. */
static gba_status_t agree_begin(struct gba_common_module *m, gba_due_t due, gba_where_kind_t kind)
{
    struct gba_common_agreement *a = calloc(1, sizeof *a);
    gba_team_stats_t stats = {.trials = 0};
    gba_status_t status;

    if (a == NULL)
        return GBA_ERR_NOMEM;
    gba_common_stall_begin(m, "agreement", kind, gba_common_number(m) + 1);
    m->agreement = a;
    a->due = due;
    if (m->team != NULL) {
        gba_team_stats(m->team, &stats);
        a->reason = gba_team_reason(m->team);
        a->trials = stats.trials;
    }
    a->params = gba_common.params;
    a->oob = gba_common_oob;
    a->oob.ctx = m;
    a->oob.rank = m->rank;
    a->oob.size = m->size;
    a->attr.params = &a->params;
    a->attr.name = a->name;
    a->attr.runtime = (gba_runtime_t){.ctx = m,
                                      .progress = gba_common_progress,
                                      .fallback = runtime_fallback,
                                      .notify = gba_common_notify,
                                      .prepare = runtime_prepare,
                                      .agreed = runtime_agreed,
                                      .name_member = gba_common_name_member,
                                      .place = gba_common_stall_place,
                                      .job = gba_common.job,
                                      .process = gba_common_process,
                                      .abort = gba_common_stall_abort};
    a->attr.barriers = m->fallbacks;
    gba_common_framework.name_team(m->owner, a->name, sizeof a->name);
    a->attr.oversubscribed = gba_common_oversubscribed();
    if (0 == m->rank)
        a->attr.id = gba_common_notifications_id();
    status = gba_common_framework.prepare(m->owner, a, due >= GBA_DUE_REQUEST);
    if (GBA_OK == status)
        agree_device(&a->attr);
    return status;
}

/* The end of the rounds on the module's path. */
static void tally_note(struct gba_common_module *m)
{
    gba_team_stats_t stats;

    gba_team_stats(m->team, &stats);
    for (int i = 0; i < GBA_COMMON_PATHS; i++)
        stats.rounds -= m->tally.rounds[i];
    m->tally.rounds[m->path] += stats.rounds;
    m->tally.agreements = 1 + stats.renegotiations + stats.failovers;
}

/* Store the path. Another thread may read the counters. */
static void agree_store(struct gba_common_module *m, gba_team_t *team, gba_path_t path)
{
    opal_mutex_lock(&gba_common.lock);
    m->team = team;
    tally_note(m);
    m->path = path;
    opal_mutex_unlock(&gba_common.lock);
    gba_common_framework.apply(m->owner);
}

/*
 * Apply the team's agreement to the module. With a device path, failure notifications may arrive
 * from now on, also at a member without a device whose node's leader has one. (Without a device
 * path no process pays for probes.) Returns GBA_OK or GBA_ERR_NOMEM.
 */
static gba_status_t agree_follow(struct gba_common_module *m, gba_team_t *team)
{
    const struct gba_common_agreement *a = m->agreement;
    gba_status_t status = GBA_OK;
    gba_team_stats_t stats;

    agree_store(m, team, gba_team_path(team));
    m->agreed = true;
    if (m->path <= GBA_PATH_SIM && OPAL_SUCCESS != gba_common_notifications_start())
        status = GBA_ERR_NOMEM;
    gba_team_stats(team, &stats);
    /* The user has read why a team is without a group. */
    if (a->due < GBA_DUE_REQUEST || a->reason != gba_team_reason(team) || a->trials != stats.trials)
        gba_common_framework.report(m->owner, 0, gba_team_reason(team), gba_team_culprit(team),
                                    gba_team_why(team));
    return status;
}

/* The end of an agreement. If a later one of a team has failed, the fallback fails in the next
 * barrier as well, and reports the error. */
static gba_status_t agree_end(struct gba_common_module *m, gba_status_t status, gba_team_t *team)
{
    gba_common_stall_end(m, GBA_OK == status);
    if (GBA_OK == status)
        status = agree_follow(m, team);
    else if (m->team != NULL)
        agree_store(m, m->team, GBA_PATH_FALLBACK);
    if (GBA_ERR_NOMEM == status)
        gba_common_end_job("is out of memory for an agreement about the path of barriers");
    free(m->agreement);
    m->agreement = NULL;
    return status;
}

gba_due_t gba_common_due(const struct gba_common_module *m, bool may_block)
{
    if (!m->agreed)
        return GBA_DUE_CREATE;
    return m->team == NULL ? GBA_DUE_NOTHING : gba_team_due(m->team, may_block);
}

gba_status_t gba_common_agree_start(struct gba_common_module *m, gba_due_t due)
{
    gba_status_t status = agree_begin(m, due, GBA_WHERE_NONBLOCKING);

    if (GBA_OK == status)
        status = gba_agree_start(m->team, due, &m->agreement->attr, &m->agreement->oob,
                                 &m->agreement->running);
    return GBA_OK == status ? GBA_OK : agree_end(m, status, NULL);
}

gba_status_t gba_common_agree_test(struct gba_common_module *m)
{
    gba_team_t *team = m->team;
    gba_status_t status = gba_agree_test(m->agreement->running, &team);

    return GBA_INPROGRESS == status ? status : agree_end(m, status, team);
}

gba_status_t gba_common_agree(struct gba_common_module *m)
{
    gba_team_t *team = NULL;
    gba_status_t status = agree_begin(m, GBA_DUE_CREATE, GBA_WHERE_AGREEMENT);

    if (GBA_OK == status)
        status = gba_team_create(&m->agreement->attr, &m->agreement->oob, &team);
    return agree_end(m, status, team);
}

static gba_status_t runtime_prepare(void *ctx, gba_due_t due, gba_team_attr_t *attr, gba_oob_t *oob)
{
    struct gba_common_module *m = ctx;
    gba_status_t status = agree_begin(m, due, GBA_WHERE_AGREEMENT);

    if (GBA_OK != status)
        return status;
    *attr = m->agreement->attr;
    *oob = m->agreement->oob;
    return GBA_OK;
}

static void runtime_agreed(void *ctx, gba_due_t due, gba_status_t status)
{
    struct gba_common_module *m = ctx;

    (void)due; /* the agreement has it */
    (void)agree_end(m, status, m->team);
}

gba_status_t gba_common_fallback_end(struct gba_common_module *m)
{
    gba_team_count(m->team);
    return gba_barrier_end(m->team, GBA_OK);
}
