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
        if (gba_interim_due(team))
            return gba_interim_start(team);
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
    if (__builtin_expect(gba_recovery_lost(team), 0)) {
        if (!team->under_way)
            return GBA_OK;
        return team->interim.under_way ? gba_interim_test(team) : gba_recovery_test(team);
    }
    return NULL != team->software ? gba_software_test(team->software)
                                  : gba_poll_release(team->state);
}

gba_status_t gba_barrier_test(gba_team_t *team)
{
    gba_status_t status = barrier_look(team);

    /* Once, however often the caller asks: gba_team_recover compares these counts, and one too many
     * would let the others out of a round that has not ended. */
    if (GBA_OK == status && team->under_way) {
        team->under_way = team->interim.under_way = false;
        (void)gba_team_complete(team);
        gba_watch_over(team);
        /* From the next round on a member of a lost team does not arrive at the device. Its
         * sequence there may be behind its rounds: it began this one aside, or others ended it by
         * notices before its own arrival went out. The release of a round before would let it out
         * then. */
        if (gba_recovery_lost(team))
            gba_wait_init(team);
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
    return GBA_INPROGRESS == status ? gba_watch(team) : status;
}
