/* SPDX-License-Identifier: BSD-3-Clause */
/* Failure notifications by collective calls. */
#include <string.h>

#include "gba/gba.h"

/*
 * One call of the exchange. done: this member has completed the barrier. A notification of another
 * member is answered in the next call, which its sender makes too, because its barrier has not
 * completed. all_done: set on GBA_OK: no member needs another call.
 */
static gba_status_t notices_exchange(gba_notices_t *notices, gba_team_t *team, bool done,
                                     bool *all_done)
{
    const gba_oob_t *oob = notices->oob;
    gba_notification_t facts = notices->latest, next;
    uint8_t own[GBA_NOTICE_BYTES];
    gba_status_t status;
    uint32_t to;

    while (GBA_OK == gba_team_notification(team, &next, &to))
        facts = next; /* the same facts for each neighbour */
    memcpy(own, &facts, sizeof facts);
    own[sizeof facts] = done;
    status = oob->allgather(oob->ctx, own, notices->all, sizeof own);
    while (GBA_OK == status && GBA_INPROGRESS == (status = oob->test(oob->ctx)))
        status = GBA_OK;
    if (GBA_OK != status)
        return status;
    notices->latest = facts;
    *all_done = true;
    for (uint32_t i = 0; i < oob->size; i++) {
        const uint8_t *notice = notices->all + i * GBA_NOTICE_BYTES;

        memcpy(&facts, notice, sizeof facts);
        *all_done = *all_done && 1 == notice[sizeof facts];
        if (i == oob->rank || 0 == facts.round)
            continue;
        (void)gba_notification_take(&facts);
        if (done && 0 == facts.completed && GBA_OK == gba_notification_answer(&facts, &next))
            notices->latest = next;
    }
    return GBA_OK;
}

/* The leaders of a barrier may also need signals of others, which progress receives. */
gba_status_t gba_notices_complete(gba_notices_t *notices, gba_team_t *team)
{
    gba_status_t status = GBA_INPROGRESS;
    bool unused;

    while (GBA_INPROGRESS == status || GBA_ERR_DEAD == status) {
        status = notices_exchange(notices, team, false, &unused);
        if (GBA_OK == status)
            status = gba_barrier_test(team);
        if (GBA_INPROGRESS == status)
            status = gba_barrier_progress(team);
    }
    return status;
}

gba_status_t gba_notices_meet(gba_notices_t *notices, gba_team_t *team)
{
    bool all_done = gba_team_path(team) >= GBA_PATH_SOFTWARE;
    gba_status_t status = GBA_OK;

    while (GBA_OK == status && !all_done)
        status = notices_exchange(notices, team, true, &all_done);
    return status;
}
