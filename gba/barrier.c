/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A barrier of a team: start, test, progress; and the wait of callers that have nothing else to do.
 * The watchdog in progress mends what got lost on the way to or from the device.
 */
#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/engine.h"
#include "gba/spec/gba_regs.h"

/* The pauses between two looks at the registers double up to this many times retry_after. */
#define RETRY_FACTOR_MAX 16u

gba_status_t gba_barrier_start(gba_team_t *team)
{
    if (NULL != team->software)
        return gba_software_start(team->software);
    team->retry_due = 0;
    gba_send_arrival(team->state);
    return GBA_OK;
}

gba_status_t gba_barrier_test(gba_team_t *team)
{
    gba_status_t status =
        NULL != team->software ? gba_software_test(team->software) : gba_poll_release(team->state);

    if (GBA_OK == status)
        team->stats.rounds++;
    return status;
}

/* Ask the device what became of this round, and mend what was lost. */
static gba_status_t team_inspect(struct gba_team *team)
{
    const struct gba_local_state *state = team->state;
    uint32_t word = state->member / 64, bit = state->member % 64;
    gba_group_state_t group;
    gba_status_t status = gba_group_inspect(team->group, &group);

    if (GBA_ERR_DEAD == status)
        return status;
    if (GBA_OK != status) {
        /* Not a reason to give up the round: the device may still release it. */
        if (!team->inspect_failed)
            gba_log(GBA_LOG_ERROR, "%s: cannot look at the registers of its group: %s", team->name,
                    gba_status_text(status));
        team->inspect_failed = true;
        return GBA_INPROGRESS;
    }
    if (GBA_SEQ_REACHED(group.sequence, state->sequence)) {
        /* The round is over, and yet the flag does not say so: ask for the release again. It may
         * have come since we last looked, and then a second one does no harm. */
        if (GBA_OK == gba_poll_release(team->state))
            return GBA_INPROGRESS; /* the caller's next test sees it */
        team->stats.retries_release++;
    } else if (0 == (group.arrived_mask[word] >> bit & 1)) {
        team->stats.retries_arrival++;
    } else {
        return GBA_INPROGRESS; /* the others are late */
    }
    gba_log(GBA_LOG_INFO, "%s: round %u: %s was lost, sent the arrival again", team->name,
            state->sequence,
            GBA_SEQ_REACHED(group.sequence, state->sequence) ? "a release" : "an arrival");
    gba_resend_arrival(team->state);
    return GBA_INPROGRESS;
}

/* Whether it is time to look at the registers, and what that brought. */
static gba_status_t team_watch(struct gba_team *team)
{
    gba_status_t status = GBA_INPROGRESS;
    uint64_t now = gba_clock_ns();

    if (0 == team->retry_due) {
        team->retry_factor = 1;
        team->retry_due = now + team->retry_after;
    } else if (now >= team->retry_due) {
        status = team_inspect(team);
        if (team->retry_factor < RETRY_FACTOR_MAX)
            team->retry_factor *= 2;
        team->retry_due = now + team->retry_after * team->retry_factor;
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
    if (GBA_INPROGRESS == status && NULL == team->software)
        status = team_watch(team);
    return status;
}
