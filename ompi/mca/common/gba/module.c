/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of a component's modules, and their counts. */
#include "ompi/mca/common/gba/module.h"

void gba_common_module_init(struct gba_common_module *m, void *owner)
{
    m->owner = owner;
    m->path = GBA_PATH_FALLBACK;
}

void gba_common_module_open(struct gba_common_module *m)
{
    opal_mutex_lock(&gba_common.lock);
    if ('\0' == gba_common.job[0]) {
        gba_compat_job_name(gba_common.job, sizeof gba_common.job);
        gba_where_join(gba_common.job, OPAL_PROC_MY_NAME.vpid);
    }
    m->next = gba_common.modules;
    m->link = &gba_common.modules;
    if (m->next != NULL)
        m->next->link = &m->next;
    gba_common.modules = m;
    opal_mutex_unlock(&gba_common.lock);
}

uint64_t gba_common_number(const struct gba_common_module *m)
{
    gba_team_stats_t stats = {.rounds = 0};

    if (m->team != NULL)
        gba_team_stats(m->team, &stats);
    return stats.rounds + m->fallbacks;
}

uint32_t gba_common_process(void *m, uint32_t member)
{
    const void *owner = ((struct gba_common_module *)m)->owner;

    if (gba_common_framework.of_job != NULL && !gba_common_framework.of_job(owner, member))
        return UINT32_MAX;
    return (uint32_t)gba_common_framework.peer(owner, member);
}

void gba_common_name_member(void *m, uint32_t member, char *text, size_t len)
{
    gba_common_framework.name_member(((struct gba_common_module *)m)->owner, member, text, len);
}

/* With the lock held. */
static void counts_add(struct gba_common_counts *sum, const struct gba_common_module *m)
{
    gba_team_stats_t stats;

    sum->path = m->path;
    sum->barriers[GBA_PATH_FALLBACK] += m->fallbacks;
    if (m->team == NULL)
        return;
    gba_team_stats(m->team, &stats);
    for (int i = 0; i < GBA_COMMON_PATHS; i++) {
        sum->barriers[i] += m->tally.rounds[i];
        stats.rounds -= m->tally.rounds[i];
    }
    sum->barriers[m->path] += stats.rounds;
    sum->retries_arrival += stats.retries_arrival;
    sum->retries_release += stats.retries_release;
    sum->failovers += stats.failovers;
    sum->renegotiations += stats.renegotiations;
}

void gba_common_module_close(struct gba_common_module *m)
{
    gba_common_stall_end(m, false); /* of an agreement that progress would have ended */
    opal_mutex_lock(&gba_common.lock);
    if (m->link != NULL) {
        counts_add(&gba_common.retired, m);
        *m->link = m->next;
        if (m->next != NULL)
            m->next->link = m->link;
        m->link = NULL;
    }
    opal_mutex_unlock(&gba_common.lock);
    gba_common_exchange_close(m);
    gba_team_destroy(m->team);
    m->team = NULL;
    m->path = GBA_PATH_FALLBACK;
    gba_pointer_store_release(&m->active, NULL);
    m->agreed = true; /* later calls use the fallback barrier */
}

void gba_common_modules_close(void)
{
    while (gba_common.modules != NULL)
        gba_common_framework.close(gba_common.modules->owner);
}

void gba_common_counts_sum(struct gba_common_counts *sum, const void *comm)
{
    opal_mutex_lock(&gba_common.lock);
    *sum = comm == NULL ? gba_common.retired : (struct gba_common_counts){.failovers = 0};
    sum->path = GBA_PATH_FALLBACK;
    for (const struct gba_common_module *m = gba_common.modules; m != NULL; m = m->next)
        if (comm == NULL || comm == m->comm)
            counts_add(sum, m);
    opal_mutex_unlock(&gba_common.lock);
}
