/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rank 0 of a team offers when its members meet, and when they meet again.
 *
 * A device has few groups. A team that gets none goes on in another way, and its members meet again
 * later. When, all of them know from a count that each keeps by itself: of the barriers that the
 * team has completed. At the end of a blocking barrier it is the same on all members. For all call
 * the barriers of a team in one order, nonblocking ones included, and MPI forbids two calls of
 * collectives on one communicator at once; so before this barrier each member has called the same
 * ones. Each has seen the end of them, since a team has one barrier under way and the blocking one
 * was queued last (on GBA_PATH_CALLER they are counted when they are called). And nobody has called
 * a later one: it is in this call. So a count that is reached by a nonblocking barrier is seen at
 * the end of the next blocking one, by all at the same.
 *
 * How often. A meeting that ends with "no" costs one broadcast and one call of the driver: a few
 * barriers. The first one after 64 of them is thus some percent of their time, and the pauses
 * double, so it gets less with each. They grow to 16384, no further: a team that becomes the hot
 * one late is to get its group within a tenth of a second or so, and then it is below a thousandth
 * anyway.
 */
#include "gba/offer.h"

#include <string.h>

#include "gba/base/clock.h"

#define PAUSE_MOST UINT64_C(16384)

/* The agreement that makes a team, unlike all later meetings. */
static bool first_meeting(const struct gba_team *team)
{
    return 0 == team->met_ns;
}

/* Barriers a second since the last meeting: rounded up, since 0 would say that it needs none. */
static uint32_t team_heat(const struct gba_team *team)
{
    uint64_t barriers = gba_team_rounds(team) - team->met_rounds + team->elsewhere;
    uint64_t ns = gba_clock_ns() - team->met_ns;
    uint64_t heat;

    if (first_meeting(team))
        return 0;
    heat = barriers * UINT64_C(1000000000) / (ns > 0 ? ns : 1) + 1;
    return heat < UINT32_MAX ? (uint32_t)heat : UINT32_MAX;
}

gba_group_request_t gba_offer_request(const struct gba_team *team, const gba_team_attr_t *attr,
                                      uint32_t members)
{
    return (gba_group_request_t){.members = members,
                                 .groups_max = (uint32_t)attr->params->max_groups,
                                 .heat = team_heat(team)};
}

static uint64_t next_pause(struct gba_team *team)
{
    if (0 == team->pause)
        team->pause = GBA_PAUSE_FIRST;
    else if (team->pause < PAUSE_MOST)
        team->pause *= 2;
    return team->pause;
}

/* Rank 0: a group, the promise of one for the leaders, or the reason why there is none. */
static void offer_make(struct gba_team *team, const gba_team_attr_t *attr, struct gba_offer *offer)
{
    const gba_params_t *params = attr->params;
    bool leaders;
    gba_group_request_t request;

    memset(offer, 0, sizeof *offer);
    offer->sequence = params->first_sequence;
    offer->id = attr->id;
    if (first_meeting(team) && params->offload_after > 0 && NULL != attr->device) {
        offer->status = GBA_ERR_COLD;
        offer->pause = (uint64_t)params->offload_after;
        return;
    }
    offer->pause = next_pause(team);
    if (NULL == attr->device) {
        offer->status = attr->device_status;
        return;
    }
    offer->simulated = attr->device->simulated;
    /* What one device does not tell the nodes of another, notices have to: that it is dead. */
    offer->islands = GBA_HIERARCHY_FLAT != params->hierarchy && 0 != attr->id;
    leaders = GBA_HIERARCHY_NODE == params->hierarchy ||
              (GBA_HIERARCHY_AUTO == params->hierarchy &&
               (team->apart || team->size > attr->device->members_max));
    request = gba_offer_request(team, attr, leaders ? team->nodes : team->size);
    if (offer->islands && leaders && request.members > attr->device->members_max)
        request.members = 0; /* there will be several islands */
    /* How many leaders there are it learns from the others, the first time. */
    if (0 != request.members)
        offer->status = gba_request_group(attr->device, &request, &offer->ticket);
    if (GBA_OK == offer->status)
        offer->kind = leaders ? GBA_OFFER_LEADERS : GBA_OFFER_ALL;
}

gba_status_t gba_offer_exchange(struct gba_team *team, const gba_team_attr_t *attr,
                                const gba_oob_t *oob, struct gba_offer *offer)
{
    gba_status_t status;

    if (0 == team->rank)
        offer_make(team, attr, offer);
    status = oob->bcast(oob->ctx, offer, sizeof *offer, 0);
    if (GBA_OK != status) {
        if (0 == team->rank && 0 != offer->ticket.members)
            gba_free_ticket(attr->device, &offer->ticket);
        return status;
    }
    if (GBA_OFFER_NONE != offer->kind)
        gba_recovery_register(team, offer->id);
    return GBA_OK;
}

/* Whether a team that was refused for this reason may be luckier later. */
static bool reason_passes(gba_status_t reason)
{
    return GBA_ERR_COLD == reason || GBA_ERR_NO_GROUP == reason || GBA_ERR_LIMIT == reason ||
           GBA_ERR_RECLAIMED == reason;
}

void gba_meeting_plan(struct gba_team *team, gba_status_t reason, uint64_t pause)
{
    gba_meeting_cancel(team);
    if (reason_passes(reason))
        team->meet_at = gba_team_rounds(team) + pause;
    if (GBA_ERR_RECLAIMED == reason)
        team->pause = pause; /* it had what it wanted: start anew */
    team->met_rounds = gba_team_rounds(team);
    team->met_ns = gba_clock_ns();
    team->elsewhere = 0;
}

void gba_meeting_cancel(struct gba_team *team)
{
    team->meet_at = UINT64_MAX;
}

bool gba_team_meet_due(const gba_team_t *team)
{
    return NULL != team && gba_team_rounds(team) + team->elsewhere >= team->meet_at;
}

gba_status_t gba_team_count(gba_team_t *team)
{
    if (NULL == team)
        return GBA_OK;
    team->elsewhere++;
    return gba_team_meet_due(team) ? GBA_MEET : GBA_OK;
}
