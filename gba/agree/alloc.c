/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proposal of rank 0 at each agreement, and the time of the next renegotiation.
 *
 * A device has few groups. A team that gets none takes another path, and its members renegotiate
 * later. Every member computes the same time, because it depends on a count that each member keeps
 * by itself: the barriers that the team has completed. That count is the same on all members at the
 * end of a blocking barrier, and at the start of a nonblocking one, for these reasons:
 *
 * - All members call the barriers of a team in one order, nonblocking ones included. MPI forbids
 *   two concurrent calls of collectives on one communicator. So before this barrier each member has
 *   called the same barriers.
 * - Each member has completed them, because a team has one barrier in progress and later ones are
 *   queued. On GBA_PATH_FALLBACK barriers are counted when they are called, or when they are
 *   complete if the runtime queues them.
 * - No member has completed a later barrier: the blocking one ends, or the nonblocking one starts,
 *   only after the renegotiation.
 *
 * A blocking barrier never matches a nonblocking one, so the count takes effect at one barrier on
 * all members: at the end of the barrier that reaches it, if that is a blocking one, and otherwise
 * at the next one, before a nonblocking barrier or at the end of a blocking one. Before it and not
 * behind it, because a member may make no further call after a nonblocking barrier.
 *
 * The frequency. A renegotiation that yields no group costs one broadcast and one driver call: a
 * few barriers. The first one after 64 barriers thus costs some percent of their time. The pause
 * doubles each time, so the share falls. It stops growing at 16384 barriers, where the share is
 * below a thousandth. A team whose barrier rate rises late then still gets its group within about a
 * tenth of a second.
 */
#include "gba/agree/alloc.h"

#include <string.h>

#include "gba/base/clock.h"
#include "gba/dev/member.h"
#include "gba/agree/plan.h"

#define PAUSE_MOST UINT64_C(16384)

/* Whether this is the agreement that creates the team, not a renegotiation. */
static bool first_renegotiation(const struct gba_team *team)
{
    return 0 == team->renegotiated_ns;
}

/* Barriers per second since the last renegotiation. Rounded up, because 0 means that the team needs
 * no group. */
static uint32_t team_barrier_rate(const struct gba_team *team)
{
    uint64_t barriers = gba_team_rounds(team) - team->renegotiated_rounds + team->fallback_barriers;
    uint64_t ns = gba_clock_ns() - team->renegotiated_ns;
    uint64_t barrier_rate;

    if (first_renegotiation(team))
        return 0;
    barrier_rate = barriers * UINT64_C(1000000000) / (ns > 0 ? ns : 1) + 1;
    return barrier_rate < UINT32_MAX ? (uint32_t)barrier_rate : UINT32_MAX;
}

gba_group_request_t gba_proposal_request(const struct gba_team *team, const gba_team_attr_t *attr,
                                         uint32_t members)
{
    return (gba_group_request_t){.members = members,
                                 .groups_max = (uint32_t)attr->params->max_groups,
                                 .barrier_rate = team_barrier_rate(team)};
}

static uint64_t next_pause(struct gba_team *team)
{
    if (0 == team->pause)
        team->pause = GBA_PAUSE_FIRST;
    else if (team->pause < PAUSE_MOST)
        team->pause *= 2;
    return team->pause;
}

gba_status_t gba_proposal_probe(const struct gba_team *team, const gba_team_attr_t *attr,
                                gba_device_t *device)
{
    gba_group_request_t request = gba_proposal_request(team, attr, 1);
    gba_group_handle_t handle;
    gba_status_t status = gba_request_group(device, &request, &handle);

    if (GBA_OK == status)
        gba_free_handle(device, &handle);
    return status;
}

/* Propose that device. take_back: the device may take a group back from another team. Sets the
 * status. */
static void propose(const struct gba_team *team, const gba_team_attr_t *attr, gba_device_t *device,
                    bool take_back, struct gba_proposal *proposal)
{
    bool leaders =
        gba_plan_leaders(attr->params->hierarchy, team->size, device->members_max, team->apart);
    gba_group_request_t request =
        gba_proposal_request(team, attr, leaders ? team->nodes : team->size);

    if (!take_back)
        request.barrier_rate = 0;
    if (proposal->domains && leaders && request.members > device->members_max)
        request.members = 0; /* the team has several switch domains */
    memset(&proposal->handle, 0, sizeof proposal->handle);
    memcpy(proposal->handle.uuid, device->uuid, sizeof proposal->handle.uuid);
    proposal->simulated = device->simulated;
    /* At the first agreement rank 0 does not know the number of leaders; it requests the group
     * after the exchange of the members' information. */
    proposal->status = GBA_OK;
    if (0 != request.members)
        proposal->status = (int32_t)gba_request_group(device, &request, &proposal->handle);
    else if (proposal->several) /* another switch may have one */
        proposal->status = (int32_t)gba_proposal_probe(team, attr, device);
    if (GBA_OK == proposal->status)
        proposal->kind = leaders ? GBA_PROPOSAL_LEADERS : GBA_PROPOSAL_ALL;
}

/* The first reason stays, except that a reason that passes replaces one that does not. */
static int32_t reason_keep(int32_t first, int32_t next)
{
    return GBA_OK == first || (!gba_reason_passes((gba_status_t)first) &&
                               gba_reason_passes((gba_status_t)next))
               ? next
               : first;
}

/*
 * Propose the first device of rank 0 that yields a group, the chosen device before the others. No
 * device takes a group back from another team while a group is free at another switch, so there
 * are two passes.
 */
static void propose_any(const struct gba_team *team, const gba_team_attr_t *attr,
                        struct gba_proposal *proposal, struct gba_tried *tried)
{
    gba_device_t *list[GBA_CANDIDATES_MAX] = {attr->device};
    uint32_t count = 1;
    bool listed = false;

    for (int take_back = 0; take_back < 2; take_back++)
        for (uint32_t i = 0; i < count;) {
            propose(team, attr, list[i], take_back, proposal);
            if (GBA_OK == proposal->status && take_back) { /* what was tried was no obstacle */
                proposal->refused = GBA_OK;
                memset(tried, 0, sizeof *tried);
            }
            if (GBA_OK == proposal->status)
                return;
            proposal->refused = reason_keep(proposal->refused, proposal->status);
            if (!take_back)
                gba_tried_add(tried, list[i], (gba_status_t)proposal->status, NULL);
            i++;
            if (!listed) { /* most often no other device need be opened */
                listed = true;
                count = gba_devices_list(attr, list);
                i = list[0] == attr->device; /* else that is another port of its switch */
            }
        }
    proposal->status = proposal->refused;
}

void gba_proposal_make(struct gba_team *team, const gba_team_attr_t *attr,
                       struct gba_proposal *proposal, struct gba_tried *tried)
{
    const gba_params_t *params = attr->params;

    memset(proposal, 0, sizeof *proposal);
    memset(tried, 0, sizeof *tried);
    proposal->sequence = params->first_sequence;
    proposal->trial_after = (uint32_t)params->trial_after;
    proposal->id = attr->id;
    if (first_renegotiation(team) && params->offload_after > 0 && NULL != attr->device) {
        proposal->status = GBA_ERR_DEFERRED;
        proposal->pause = (uint64_t)params->offload_after;
        return;
    }
    proposal->pause = next_pause(team);
    if (NULL == attr->device) {
        proposal->status = attr->device_status;
        return;
    }
    /* Without failure notifications no member could complete a round of a failed device. */
    if (0 == attr->id) {
        proposal->status = GBA_ERR_PARAM;
        return;
    }
    proposal->several = NULL != attr->devices;
    proposal->domains = GBA_HIERARCHY_FLAT != params->hierarchy;
    if (proposal->several)
        propose_any(team, attr, proposal, tried);
    else
        propose(team, attr, attr->device, true, proposal);
}

void gba_proposal_withdraw(const gba_team_attr_t *attr, const gba_oob_t *oob,
                           struct gba_proposal *proposal)
{
    if (0 == oob->rank && 0 != proposal->handle.members)
        gba_free_handle(gba_devices_find(attr, proposal->handle.uuid), &proposal->handle);
    memset(&proposal->handle, 0, sizeof proposal->handle);
}

bool gba_reason_passes(gba_status_t reason)
{
    return GBA_ERR_DEFERRED == reason || GBA_ERR_NO_GROUP == reason || GBA_ERR_LIMIT == reason ||
           GBA_ERR_QUOTA == reason || GBA_ERR_RECLAIMED == reason;
}

void gba_renegotiation_plan(struct gba_team *team, gba_status_t reason, bool died, uint64_t pause)
{
    const bool elsewhere = died && team->several;

    gba_renegotiation_cancel(team);
    if (gba_reason_passes(reason) || elsewhere)
        team->renegotiate_at = gba_team_rounds(team) + pause;
    if (GBA_ERR_RECLAIMED == reason || elsewhere)
        team->pause = pause; /* the team had a group: start with the first pause */
    team->renegotiated_rounds = gba_team_rounds(team);
    team->renegotiated_ns = gba_clock_ns();
    if (0 != team->trial.at) { /* it includes those barriers */
        team->trial.at = team->trial.at > team->fallback_barriers
                             ? team->trial.at - team->fallback_barriers
                             : 1; /* overdue */
        team->trial.began_barriers -= team->fallback_barriers;
    }
    team->fallback_barriers = 0;
}

void gba_trial_plan(struct gba_team *team, struct gba_choice choice)
{
    gba_trial_cancel(team);
    team->trial.choice = choice;
    team->trial.pause = team->trial.after;
    team->trial.cost = 0;
    team->trial.began = gba_clock_ns();
    team->trial.began_barriers = gba_team_barriers(team);
    if (0 != team->trial.after)
        team->trial.at = gba_team_barriers(team) + team->trial.after;
}

void gba_trial_cancel(struct gba_team *team)
{
    team->trial.at = 0;
    team->measured[0] = '\0';
}

void gba_renegotiation_cancel(struct gba_team *team)
{
    team->renegotiate_at = UINT64_MAX;
}

bool gba_trial_due(const struct gba_team *team)
{
    return 0 != team->trial.at && gba_team_barriers(team) >= team->trial.at;
}

bool gba_team_request_due(const gba_team_t *team)
{
    return NULL != team && gba_team_barriers(team) >= team->renegotiate_at;
}

bool gba_team_renegotiate_due(const gba_team_t *team)
{
    return NULL != team && gba_team_due(team);
}

gba_status_t gba_team_count(gba_team_t *team)
{
    if (NULL == team)
        return GBA_OK;
    team->fallback_barriers++;
    return gba_team_renegotiate_due(team) ? GBA_RENEGOTIATE : GBA_OK;
}
