/* SPDX-License-Identifier: BSD-3-Clause */
/* What blocks, in a thread of its own: the barrier of the runtime, the notifications after the
 * death of a device, and the agreements that are due after a barrier. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "gba/gpu/proxy.h"

/* The barrier on GBA_PATH_FALLBACK. */
static gba_status_t fallback(struct gba_gpu_group *group)
{
    const gba_team_attr_t *attr = group->attr.team_attr;
    const gba_oob_t *oob = group->attr.oob;
    gba_status_t status;
    uint64_t word = 0;

    if (attr->fallback != NULL) {
        status = attr->fallback(attr->trial_ctx);
    } else {
        status = oob->min(oob->ctx, &word, 1);
        while (GBA_OK == status && GBA_INPROGRESS == (status = oob->test(oob->ctx)))
            status = GBA_OK;
    }
    return GBA_OK == status ? gba_team_count(group->team) : status;
}

/* One call of the exchange for notifications. Ranks whose barriers gba_bootstrap_team_barrier makes
 * take part: the same bytes, and the same calls in the same order (gba/bootstrap/team.c). done:
 * this rank has completed the barrier. all_done: set on GBA_OK: no rank needs another call. */
static gba_status_t exchange_notices(struct gba_gpu_group *group, bool done, bool *all_done)
{
    const gba_oob_t *oob = group->attr.oob;
    gba_notification_t facts = group->notification, next;
    uint8_t own[sizeof facts + 1], *all = malloc(oob->size * sizeof own);
    gba_status_t status;
    uint32_t to;

    if (all == NULL)
        return GBA_ERR_NOMEM;
    while (GBA_OK == gba_team_notification(group->team, &next, &to))
        facts = next; /* the same facts for each neighbour */
    memcpy(own, &facts, sizeof facts);
    own[sizeof facts] = done;
    status = oob->allgather(oob->ctx, own, all, sizeof own);
    while (GBA_OK == status && GBA_INPROGRESS == (status = oob->test(oob->ctx)))
        status = GBA_OK;
    group->notification = facts;
    *all_done = true;
    for (uint32_t i = 0; i < oob->size && GBA_OK == status; i++) {
        memcpy(&facts, all + i * sizeof own, sizeof facts);
        *all_done = *all_done && 1 == all[i * sizeof own + sizeof facts];
        if (i == oob->rank || 0 == facts.round)
            continue;
        (void)gba_notification_take(&facts);
        if (done && 0 == facts.completed && GBA_OK == gba_notification_answer(&facts, &next))
            group->notification = next;
    }
    free(all);
    return status;
}

/* Complete a barrier whose device has failed. */
static gba_status_t complete(struct gba_gpu_group *group)
{
    bool unused;
    const gba_status_t status = exchange_notices(group, false, &unused);

    return GBA_OK == status ? gba_barrier_test(group->team) : status;
}

/* Meet all ranks after a barrier on a device, which one of them may not have completed yet: it
 * makes calls of that exchange, which must not meet those of an agreement. */
static gba_status_t meet(struct gba_gpu_group *group)
{
    bool all_done = gba_team_path(group->team) >= GBA_PATH_SOFTWARE;
    gba_status_t status = GBA_OK;

    while (GBA_OK == status && !all_done)
        status = exchange_notices(group, true, &all_done);
    return status;
}

/* What the members have to agree on after the barrier, which is complete. */
static gba_status_t agree(struct gba_gpu_group *group)
{
    const gba_due_t due = gba_team_due(group->team, true);
    gba_team_attr_t attr = *group->attr.team_attr;
    gba_status_t status;

    if (GBA_DUE_NOTHING == due)
        return GBA_OK;
    status = meet(group);
    if (GBA_OK != status)
        return status;
    if (sizeof attr.id != getrandom(&attr.id, sizeof attr.id, 0) || 0 == attr.id)
        return GBA_ERR_IO;
    status = (GBA_DUE_RECOVER == due ? gba_team_recover
              : GBA_DUE_TRIAL == due ? gba_team_trial
                                     : gba_team_renegotiate)(group->team, &attr, group->attr.oob);
    gba_team_own(group->team, &group->own);
    return status;
}

void *gba_gpu_help(void *arg)
{
    struct gba_gpu_group *group = arg;
    gba_status_t status = group->status;

    if (GBA_ERR_UNSUPPORTED == status)
        status = fallback(group);
    while (GBA_ERR_DEAD == status || GBA_INPROGRESS == status)
        status = complete(group);
    if (GBA_OK != group->status && status >= GBA_OK)
        gba_gpu_release(group);
    if (status >= GBA_OK)
        status = agree(group);
    if (status < GBA_OK)
        gba_gpu_fail(group, status);
    gba_word_store_release(&group->helped, 1);
    return NULL;
}
