/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of a module's members about the path of their barriers: when all of them are known
 * to have the component, again when the device has failed, and at each renegotiation.
 */
#include "ompi/mca/common/gba/module.h"

#include <string.h>

void gba_common_decline(struct gba_common_module *m, gba_status_t reason, uint32_t reporter,
                        const char *text)
{
    char why[512];

    m->declined = reason;
    m->agreed = true;
    snprintf(why, sizeof why, "%s: %s", gba_path_name(GBA_PATH_FALLBACK), text);
    gba_common_framework.report(m->owner, reporter, reason, reporter, why);
}

static int notifications_start(void)
{
    return gba_common_notifications_start(&gba_common.lock, gba_common_framework.world());
}

/* The device for the team, or the reason why there is none. */
static void agree_device(gba_team_attr_t *attr)
{
    if (GBA_OK != attr->device_status)
        return;
    attr->device = gba_common_device_get(&attr->device_status);
    if (NULL == attr->device)
        return;
    if (OPAL_SUCCESS != notifications_start()) {
        attr->device = NULL;
        attr->device_status = GBA_ERR_NOMEM;
        return;
    }
    /* A gba-switchd on this host is one more process. Ranks that spin on all cores starve it. */
    if (gba_device_served_here(attr->device) &&
        gba_compat_local_processes() >= (uint32_t)sysconf(_SC_NPROCESSORS_ONLN))
        attr->oversubscribed = true;
    /* Without notifications this member must join no group, with any of its devices. */
    if (gba_common.device.candidates.count > 1)
        attr->devices = gba_common_choice_devices;
}

static gba_status_t agree_begin(struct gba_common_agreement *a, const struct gba_common_module *m,
                                bool renegotiation)
{
    gba_status_t status;

    memset(a, 0, sizeof *a);
    a->params = gba_common.params;
    a->oob = *gba_common_framework.oob;
    a->oob.ctx = m->owner;
    a->oob.rank = m->rank;
    a->oob.size = m->size;
    a->attr.params = &a->params;
    a->attr.name = a->name;
    a->attr.name_member = a->oob.name_member;
    a->attr.name_ctx = m->owner;
    a->attr.oversubscribed = gba_common_oversubscribed();
    if (0 == m->rank)
        a->attr.id = gba_common_notifications_id(gba_common_framework.ids);
    status = gba_common_framework.prepare(m->owner, a, renegotiation);
    if (GBA_OK == status)
        agree_device(&a->attr);
    return status;
}

/* The end of the rounds on the module's path, and a reason why the team got no group. */
static void tally_note(struct gba_common_module *m)
{
    gba_team_stats_t stats;
    uint64_t agreements;

    gba_team_stats(m->team, &stats);
    agreements = 1 + stats.renegotiations + stats.failovers + stats.reclaims;
    for (int i = 0; i < GBA_COMMON_PATHS; i++)
        stats.rounds -= m->tally.rounds[i];
    m->tally.rounds[m->path] += stats.rounds;
    /* A trial requests no group. */
    if (GBA_OK != gba_team_reason(m->team) && agreements != m->tally.agreements)
        m->tally.refused[-gba_team_reason(m->team)]++;
    m->tally.agreements = agreements;
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
 * path no process pays for probes.) reported: the path has been reported to the user. Returns
 * GBA_OK or GBA_ERR_NOMEM.
 */
static gba_status_t agree_follow(struct gba_common_module *m, gba_team_t *team, bool reported)
{
    gba_status_t status = GBA_OK;

    agree_store(m, team, gba_team_path(team));
    m->agreed = true;
    if (m->path <= GBA_PATH_SIM && OPAL_SUCCESS != notifications_start())
        status = GBA_ERR_NOMEM;
    if (!reported)
        gba_common_framework.report(m->owner, 0, gba_team_reason(team), gba_team_culprit(team),
                                    gba_team_why(team));
    return status;
}

gba_status_t gba_common_agree(struct gba_common_module *m)
{
    struct gba_common_agreement a;
    gba_status_t status = agree_begin(&a, m, false);
    gba_team_t *team = NULL;

    if (GBA_OK == status)
        status = gba_team_create(&a.attr, &a.oob, &team);
    return GBA_OK == status ? agree_follow(m, team, false) : status;
}

/* The end of a later agreement of the same team. If an exchange failed, the fallback fails in the
 * next barrier as well, and reports the error. */
static gba_status_t agree_end(struct gba_common_module *m, gba_status_t status, bool reported)
{
    if (GBA_OK == status)
        return agree_follow(m, m->team, reported);
    agree_store(m, m->team, GBA_PATH_FALLBACK);
    return status;
}

gba_status_t gba_common_recover(struct gba_common_module *m)
{
    struct gba_common_agreement a;
    gba_status_t status = agree_begin(&a, m, false);

    if (GBA_OK == status)
        status = gba_team_recover(m->team, &a.attr, &a.oob);
    return agree_end(m, status, false);
}

gba_status_t gba_common_renegotiate(struct gba_common_module *m)
{
    gba_status_t reason = gba_team_reason(m->team);
    struct gba_common_agreement a;
    gba_team_stats_t before, after;
    gba_status_t status = agree_begin(&a, m, true);

    gba_team_stats(m->team, &before);
    if (GBA_OK == status)
        status = gba_team_renegotiate(m->team, &a.attr, &a.oob);
    gba_team_stats(m->team, &after);
    return agree_end(m, status,
                     reason == gba_team_reason(m->team) && before.trials == after.trials);
}
