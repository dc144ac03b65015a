/* SPDX-License-Identifier: BSD-3-Clause */
/* What blocks, in a thread of its own: the barrier of the runtime, the notifications after the
 * death of a device, and the agreements that are due after a barrier. */
#include <stdlib.h>
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

/* Exchange the failure notifications, and find out whether the round is complete. */
static gba_status_t notify(struct gba_gpu_group *group)
{
    const gba_oob_t *oob = group->attr.oob;
    gba_notification_t *all = calloc(oob->size, sizeof *all), next;
    gba_status_t status = GBA_ERR_NOMEM;
    uint32_t to;

    while (GBA_OK == gba_team_notification(group->team, &next, &to))
        group->notification = next; /* the same facts for each neighbour */
    if (all != NULL)
        status = oob->allgather(oob->ctx, &group->notification, all, sizeof *all);
    while (GBA_OK == status && GBA_INPROGRESS == (status = oob->test(oob->ctx)))
        status = GBA_OK;
    for (uint32_t i = 0; i < oob->size && GBA_OK == status; i++)
        if (i != oob->rank)
            (void)gba_notification_take(&all[i]);
    free(all);
    return GBA_OK == status ? gba_barrier_test(group->team) : status;
}

/* What the members have to agree on after the barrier, which is complete. */
static gba_status_t agree(struct gba_gpu_group *group)
{
    const gba_due_t due = gba_team_due(group->team, true);
    gba_team_attr_t attr = *group->attr.team_attr;
    gba_status_t status;

    if (GBA_DUE_NOTHING == due)
        return GBA_OK;
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
        status = notify(group);
    if (GBA_OK != group->status && status >= GBA_OK)
        gba_gpu_release(group);
    if (status >= GBA_OK)
        status = agree(group);
    if (status < GBA_OK)
        gba_gpu_fail(group, status);
    gba_word_store_release(&group->helped, 1);
    return NULL;
}
