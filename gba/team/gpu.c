/* SPDX-License-Identifier: BSD-3-Clause */
/* What libgba_gpu needs to know of a team, and the watch over a member whose GPU stores to the
 * device by itself: the registers of the group show what the GPU has done. */
#include <stdio.h>
#include <string.h>

#include "gba/failover/failover.h"
#include "gba/team/wait.h"
#include "gba/team/watchdog.h"

/* Why the GPU cannot use the group of the team by itself; "" if it can. */
static const char *indirect(const gba_team_t *team)
{
    const struct gba_path_base *path = team->path;

    if (GBA_PATH_DEVICE != team->kind)
        return gba_path_name(team->kind);
    if (path == NULL) /* the agreement on another path has failed */
        return "its device has failed";
    if (path->group == NULL || path->hybrid != NULL)
        return "its group is among leaders";
    if (path->state->doorbell == NULL)
        return "its device has no doorbell page";
    if (gba_failover_failed(team))
        return "its device has failed";
    /* All members would have to make trials together. */
    return UINT64_MAX != gba_team_attention(team) ? "it makes trials or renegotiates" : "";
}

void gba_team_own(const gba_team_t *team, gba_team_own_t *own)
{
    char member[96];

    memset(own, 0, sizeof *own);
    gba_team_member(team, team->rank, member, sizeof member);
    snprintf(own->name, sizeof own->name, "%s: %s", team->name, member);
    own->stuck_after = team->watchdog.report_after;
    own->runtime = &team->runtime;
    own->exchange = team->use.exchange;
    own->yields = gba_wait_yields(team->waiting.mode, team->waiting.oversubscribed);
    own->sleep_after = gba_wait_sleep_after(team->waiting.mode);
    own->under_way = team->under_way;
    own->indirect = indirect(team);
    if ('\0' != own->indirect[0])
        return;
    own->doorbell = (void *)(uintptr_t)team->path->state->doorbell;
    own->flag = team->path->state->flag;
    own->member = team->path->state->low;
    own->sequence = team->path->state->sequence;
}

uint32_t gba_team_hold(gba_team_t *team, int by)
{
    return (uint32_t)(gba_word_add_acq_rel(&team->use.holders, (uint64_t)by) + (uint64_t)by);
}

gba_status_t gba_team_watch(gba_team_t *team)
{
    struct gba_local_state *state = team->path->state;
    gba_group_state_t group;
    gba_status_t status = gba_state_failure(state);
    uint32_t ended;

    if (GBA_OK == status)
        status = gba_group_inspect(team->path->group, &group);
    if (GBA_ERR_IO == status)
        return gba_failover_failed(team) ? GBA_ERR_DEAD : GBA_INPROGRESS;
    if (GBA_OK != status)
        return status;
    ended = group.sequence - (state->sequence - (team->under_way ? 1 : 0));
    gba_word_store_release(&team->rounds, gba_team_rounds(team) + ended);
    if (0 != ended && team->under_way)
        gba_watchdog_end(team);
    team->under_way = gba_group_arrived(&group, GBA_ARRIVAL_MEMBER(state->low));
    state->sequence = group.sequence + (team->under_way ? 1 : 0);
    if (!team->under_way)
        return GBA_OK;
    status = gba_watchdog_check(team);
    return GBA_INPROGRESS == status ? GBA_OK : status;
}
