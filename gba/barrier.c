/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A barrier of a team in steps: start, test, progress. The wait of callers that have nothing else
 * to do is in wait.c.
 */
#include "gba/engine.h"

gba_status_t gba_barrier_start(gba_team_t *team)
{
    team->under_way = true;
    if (gba_recovery_lost(team)) {
        gba_recovery_begin(team);
        if (NULL != team->software)
            gba_software_aside(team->software);
        return GBA_OK;
    }
    if (NULL != team->software)
        return gba_software_start(team->software);
    gba_send_arrival(team->state);
    return GBA_OK;
}

/* Whether the round under way is over; what says so depends on the path. */
static gba_status_t barrier_look(struct gba_team *team)
{
    if (__builtin_expect(gba_recovery_lost(team), 0))
        return team->under_way ? gba_recovery_test(team) : GBA_OK;
    return NULL != team->software ? gba_software_test(team->software)
                                  : gba_poll_release(team->state);
}

gba_status_t gba_barrier_test(gba_team_t *team)
{
    gba_status_t status = barrier_look(team);

    /* Once, however often the caller asks: gba_team_recover compares these counts, and one too many
     * would let the others out of a round that has not ended. */
    if (GBA_OK == status && team->under_way) {
        team->under_way = false;
        team->stats.rounds++;
        /* Others may have ended it by notices before this member's arrival went out. Then its
         * sequence at the device is one behind, so it must not arrive there any more. */
        if (gba_recovery_lost(team))
            gba_wait_init(team);
        if (team->stuck_told) /* a nonblocking one comes to no other place that says so */
            gba_watch_over(team);
    }
    return status;
}

gba_status_t gba_barrier_progress(gba_team_t *team)
{
    gba_status_t status = GBA_OK;

    if (NULL != team->software)
        status = gba_software_progress(team->software);
    if (GBA_OK == status)
        status = gba_barrier_test(team);
    if (GBA_INPROGRESS == status)
        return gba_watch(team);
    if (GBA_OK == status)
        gba_watch_over(team);
    /* The leader of a node has told the others there. */
    if (GBA_ERR_DEAD == status)
        gba_recovery_lose(team);
    return status;
}
