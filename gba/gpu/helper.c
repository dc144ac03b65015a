/* SPDX-License-Identifier: BSD-3-Clause */
/* What blocks, in a thread of its own: the barrier of the runtime, the notifications after the
 * death of a device, and the agreements that are due after a barrier. */
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

/* What the members have to agree on after the barrier, which is complete. */
static gba_status_t agree(struct gba_gpu_group *group)
{
    const gba_due_t due = gba_team_due(group->team, true);
    gba_team_attr_t attr = *group->attr.team_attr;
    gba_status_t status;

    if (GBA_DUE_NOTHING == due)
        return GBA_OK;
    status = gba_notices_meet(&group->notices, group->team);
    if (GBA_OK != status)
        return status;
    group->notices.latest = (gba_notification_t){0};
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
    if (GBA_ERR_DEAD == status)
        status = gba_notices_complete(&group->notices, group->team);
    if (GBA_OK != group->status && status >= GBA_OK)
        gba_gpu_release(group);
    if (status >= GBA_OK)
        status = agree(group);
    if (status < GBA_OK)
        gba_gpu_fail(group, status);
    gba_word_store_release(&group->helped, 1);
    return NULL;
}
