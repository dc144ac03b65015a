/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers outside the fast path: a failed device, the end of a barrier, the fallback. */
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/notifications.h"

bool gba_common_notify(struct gba_common_module *m)
{
    return gba_common_notifications_post(m->team, gba_common_framework.peer, m->owner);
}

gba_status_t gba_common_barrier_after(struct gba_common_module *m)
{
    gba_common_notifications_flush(m->team, gba_common_framework.peer, m->owner);
    return gba_common_agree(m);
}

/* The device has failed. Other members may have completed this round and wait in another call, or
 * they are in the round and have not detected the failure. So this member notifies its neighbours,
 * and waits for their notifications and answers. */
static gba_status_t barrier_failed(struct gba_common_module *m)
{
    gba_status_t status;

    /* gba_barrier_progress, not gba_barrier_test: it also reports a stalled barrier. */
    while (GBA_ERR_DEAD == (status = gba_barrier_progress(m->team)) || GBA_INPROGRESS == status) {
        (void)gba_common_notify(m);
        (void)opal_progress();
    }
    return GBA_OK == status ? gba_common_barrier_after(m) : status;
}

gba_status_t gba_common_barrier_end(struct gba_common_module *m, gba_status_t status)
{
    if (GBA_RENEGOTIATE == status)
        return gba_common_agree(m);
    if (GBA_NOTIFY == status)
        return gba_common_barrier_after(m);
    return GBA_ERR_DEAD == status ? barrier_failed(m) : status;
}

gba_status_t gba_common_fallback_end(struct gba_common_module *m)
{
    return GBA_RENEGOTIATE == gba_team_count(m->team) ? gba_common_agree(m) : GBA_OK;
}
