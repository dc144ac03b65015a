/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective agreement of all members about the path of their barriers.
 *
 * Rank 0 allocates a barrier group and proposes it. Every member tries to join it. The minimum of
 * all outcomes decides for all members. After that exchange no member is still joining, so rank 0
 * can arm the group. The last exchange distributes the outcome of arming. Each step is a collective
 * call of the runtime, so all members continue with the same decision.
 *
 * The collective calls, the same on all members. After a call marked "?" the sequence may end; it
 * then ends on all members, and all have the same reason.
 *
 *   1 the proposal of rank 0 (bcast): a group of all, groups of the node leaders, or none
 *   of all:       2 all joined? (min), 3 armed? (bcast)
 *   of leaders:   2 memory? (min), 3 members' information? (allgather), 4 nodes' information
 *                 (allgather), 5 nodes ready? (min),
 *                 if each domain leader has a group: 6 all joined? (min), 7 armed? (min)
 *                 if no group results: 8 ready in software? (min)
 *   none, or not of all:  memory? (min), members' information? (allgather), nodes' information
 *                 (allgather), ready? (min)
 *   not of all, because a member has another device:  of leaders, 2 to 8
 *   not of all, and rank 0 has several devices:  before any other line, the switches of a member
 *                 (bcast), and for each: all have a device there? (min), if so 1 to 3 again
 *   of leaders, and rank 0 has several devices:  before 2: gba_steer_leaders
 *   some switch was tried and yielded no group:  after these attempts, their text (bcast)
 *
 * Call 8 is left out if the members' information excludes software. If call 3 shows that all
 * members are on one host, and rank 0's `hierarchy` is not `node`, calls 4 and 5 agree on a
 * software path and end the sequence.
 *
 * The leader of a node is its lowest rank. The leader of a switch domain is the domain's lowest
 * rank. One group serves a domain, and most teams have one domain. So rank 0 is the leader of node
 * 0 and of domain 0, and member 0 of its group.
 *
 * A team that got no group because none was free repeats the agreement at later renegotiations
 * (alloc.c). If a renegotiation yields no group, the team keeps its path; the line "none, or not of
 * all" is then left out. A trial (trial_run.c) is a renegotiation with calls of its own.
 *
 * A team whose group has failed starts with two calls: the cause (min) and the first failed round
 * (bcast). The line "none, or not of all" follows.
 */
#include <stdio.h>
#include <string.h>

#include "gba/agree/agree.h"
#include "gba/agree/agree_nodes.h"
#include "gba/agree/alloc.h"
#include "gba/failover/degraded.h"
#include "gba/agree/devices.h"
#include "gba/failover/failover.h"
#include "gba/agree/outcome.h"
#include "gba/path/path_device.h"
#include "gba/agree/steer.h"

/* There is no barrier group, for a reason that all members have: agree on a software path. */
static gba_status_t agree_on_software(const struct gba_agreement *t)
{
    struct gba_nodes_outcome outcome;
    struct gba_path_base *path;
    gba_status_t status = gba_agree_nodes(t->attr, t->oob, NULL, &path, &outcome);

    if (GBA_OK != status)
        return status;
    if (!t->team->apart)
        t->team->nodes = outcome.nodes;
    gba_outcome_settle(t, path, &outcome);
    return GBA_OK;
}

/*
 * Agree on groups of the node leaders. Either they are proposed, or not all members can join the
 * proposed group of all and t->no has the reason. The team takes one group for all leaders, one
 * group for each switch domain, or the software path that its members can use. Returns GBA_OK with
 * t->no set, or GBA_ERR_OOB.
 */
static gba_status_t agree_on_leaders(struct gba_agreement *t)
{
    struct gba_team *team = t->team;
    struct gba_leaders_request request = {.request = gba_proposal_request(team, t->attr, 0),
                                          .domains = 0 != t->proposal.domains,
                                          .no = t->no,
                                          .mine = t->mine};
    struct gba_path_base *path;
    struct gba_nodes_outcome outcome;
    gba_status_t status;

    if (GBA_OK == request.no.reason)
        request.no.reason = GBA_ERR_TOO_MANY;
    /* The old path is freed first, because the runtime may have room for the messages of one
     * barrier only. No member opens the messages of the new path before all members are in this
     * agreement, and thus out of the barrier before it. */
    gba_outcome_path(team, NULL);
    team->kind = GBA_PATH_FALLBACK;
    if (0 == team->rank && GBA_PROPOSAL_LEADERS == t->proposal.kind)
        request.handle = t->proposal.handle;
    status = gba_agree_nodes(t->attr, t->oob, &request, &path, &outcome);
    if (0 != request.handle.members) /* the agreement ended before the group was used */
        gba_free_handle(t->attr->device, &request.handle);
    if (GBA_OK != status)
        return status;
    team->nodes = outcome.nodes;
    team->apart = outcome.apart;
    t->no = outcome.group;
    if (GBA_OK == t->no.reason) {
        gba_outcome_take(team, t->proposal.simulated ? GBA_PATH_SIM : GBA_PATH_DEVICE, path,
                         outcome.why);
        gba_outcome_tried(t, team->why, sizeof team->why);
        return GBA_OK;
    }
    gba_outcome_reason_keep(t);
    gba_outcome_settle(t, path, &outcome);
    return GBA_OK;
}

/* Agree on a proposed group of all members. Returns GBA_OK with t->no set, or GBA_ERR_OOB. If
 * t->no.reason is GBA_OK, the team is in the group, and the group is armed. */
static gba_status_t agree_on_all(struct gba_agreement *t)
{
    const struct gba_proposal *proposal = &t->proposal;
    gba_device_t *device = t->attr->device;
    struct gba_path_base *path = NULL;
    int32_t armed = GBA_OK;
    char text[96];
    gba_status_t status = t->attr->device_status;

    if (NULL != device)
        status = gba_path_device_create(device, &proposal->handle, t->team->rank,
                                        proposal->sequence, &path);
    status = gba_agree_least(t->oob, GBA_OK == status ? t->mine : status, &t->no);
    /* A member without a path has contributed an error, so t->no has a reason. */
    if (GBA_OK != status || GBA_OK != t->no.reason || NULL == path)
        goto destroy_path;
    device = path->group->device;
    if (0 == t->team->rank)
        armed = (int32_t)gba_configure_group(path->group, proposal->sequence);
    status = t->oob->bcast(t->oob->ctx, &armed, sizeof armed, 0);
    t->no = (struct gba_refusal){(gba_status_t)armed, 0};
    if (GBA_OK != status || GBA_OK != t->no.reason)
        goto destroy_path;
    snprintf(text, sizeof text, "group %u of %u, %u members", proposal->handle.group,
             device->groups, t->team->size);
    gba_outcome_take(t->team, device->simulated ? GBA_PATH_SIM : GBA_PATH_DEVICE, path, text);
    return GBA_OK;

destroy_path:
    gba_path_destroy(path);
    return status;
}

/* Rank 0 sends the proposal; the other members receive it. Returns GBA_OK or GBA_ERR_OOB; on
 * GBA_ERR_OOB no group is held. */
static gba_status_t proposal_send(struct gba_agreement *t)
{
    struct gba_proposal *proposal = &t->proposal;
    gba_status_t status = t->oob->bcast(t->oob->ctx, proposal, sizeof *proposal, 0);

    if (GBA_OK != status)
        gba_proposal_withdraw(t->attr, t->oob, proposal);
    return status;
}

/* From here on use that device, unless it is NULL. */
static void device_use(struct gba_agreement *t, gba_device_t *device)
{
    t->steered = *t->attr;
    if (NULL != device)
        t->steered.device = device;
    t->attr = &t->steered;
}

/* Agree on a group at a switch at which all members have a device. Returns GBA_OK with t->no set,
 * or GBA_ERR_OOB. */
static gba_status_t agree_on_switch(struct gba_agreement *t, gba_device_t *device)
{
    struct gba_proposal *proposal = &t->proposal;
    gba_group_request_t request = gba_proposal_request(t->team, t->attr, t->team->size);
    gba_status_t status;

    device_use(t, device);
    if (0 == t->team->rank) {
        memset(&proposal->handle, 0, sizeof proposal->handle);
        memcpy(proposal->handle.uuid, device->uuid, sizeof proposal->handle.uuid);
        proposal->simulated = device->simulated;
        proposal->status = (int32_t)gba_request_group(device, &request, &proposal->handle);
    }
    status = proposal_send(t);
    if (GBA_OK != status)
        return status;
    t->no = (struct gba_refusal){(gba_status_t)proposal->status, 0};
    return GBA_OK == t->no.reason ? agree_on_all(t) : GBA_OK;
}

/* The team got no group at that switch, for the reason t->no. Rank 0 records it, and has a device
 * there. */
static void tried_note(struct gba_agreement *t, const uint8_t uuid[GBA_UUID_SIZE])
{
    const gba_device_t *device = gba_devices_find(t->attr, uuid);
    char member[96];

    if (0 != t->team->rank || NULL == device)
        return;
    t->oob->name_member(t->oob->ctx, t->no.culprit, member, sizeof member);
    gba_tried_add(&t->tried, device, t->no.reason, member);
}

/*
 * The team got no group of all at the proposed switch, for the reason t->no. Try the other switches
 * at which all members have a device. Returns GBA_OK with t->no set, or GBA_ERR_OOB.
 */
static gba_status_t agree_on_other_switch(struct gba_agreement *t)
{
    const gba_team_attr_t own = *t->attr;
    const struct gba_proposal proposed = t->proposal;
    struct gba_refusal first = t->no;
    struct gba_switches switches;
    gba_device_t *device;
    gba_status_t status;
    bool all;

    tried_note(t, proposed.handle.uuid);
    t->tried.any = true;
    status = gba_steer_list(&own, t->oob, first.culprit, &switches);
    for (uint32_t i = 0; i < switches.count && GBA_OK == status; i++) {
        if (0 == memcmp(switches.uuid[i], proposed.handle.uuid, GBA_UUID_SIZE))
            continue;
        /* A member that can join no group refuses each switch. */
        device = GBA_OK == t->mine ? gba_devices_find(&own, switches.uuid[i]) : NULL;
        status = gba_steer_vote(t->oob, device, &all);
        if (!all || NULL == device) /* all: this member, too, has a device there */
            continue;
        status = agree_on_switch(t, device);
        if (GBA_OK != status || GBA_OK == t->no.reason)
            return status;
        tried_note(t, switches.uuid[i]);
        if (!gba_reason_passes(first.reason) && gba_reason_passes(t->no.reason))
            first = t->no;
    }
    t->no = first;
    t->steered = own;
    t->proposal = proposed;
    return status;
}

/* Rank 0 makes the proposal and sends it. Returns as proposal_send. */
static gba_status_t proposal_exchange(struct gba_agreement *t)
{
    struct gba_proposal *proposal = &t->proposal;
    gba_device_t *device;
    gba_status_t status;

    if (0 == t->team->rank)
        gba_proposal_make(t->team, t->attr, proposal, &t->tried);
    status = proposal_send(t);
    if (GBA_OK != status)
        return status;
    t->tried.any = GBA_OK != proposal->refused;
    t->pause = proposal->pause;
    t->team->several = 0 != proposal->several;
    t->team->trial.after = proposal->trial_after;
    t->no.reason = (gba_status_t)proposal->status;
    t->text = t->attr->device_text;
    if (GBA_PROPOSAL_NONE == proposal->kind)
        return GBA_OK;
    device_use(t, gba_devices_find(t->attr, proposal->handle.uuid));
    /* From here on this member accepts failure notifications. This precedes the first exchange that
     * no member can leave before all members have entered it. */
    gba_failover_register(t->team, proposal->id);
    t->mine = gba_degraded_open(t->team, t->attr);
    status = gba_steer_leaders(t->team, t->attr, t->oob, proposal, &t->tried, &device);
    device_use(t, device);
    return status;
}

/* Rank 0 sends the text about the switches that were tried, if there is one. Returns GBA_OK or
 * GBA_ERR_OOB. */
static gba_status_t tried_exchange(struct gba_agreement *t)
{
    if (!t->tried.any)
        return GBA_OK;
    return t->oob->bcast(t->oob->ctx, t->tried.text, sizeof t->tried.text, 0);
}

/*
 * Agree on a proposal. Returns GBA_OK with t->no set, or GBA_ERR_OOB. t->no.reason is GBA_OK if the
 * team has a group now. *settled: if the team has no group, its path without a group is already
 * set.
 */
static gba_status_t agree_on_group(struct gba_agreement *t, bool *settled)
{
    gba_status_t status = proposal_exchange(t);
    uint32_t kind = t->proposal.kind;

    *settled = false;
    if (GBA_OK == status && GBA_PROPOSAL_ALL == kind)
        status = agree_on_all(t);
    if (GBA_OK == status && GBA_PROPOSAL_ALL == kind && GBA_OK != t->no.reason &&
        0 != t->proposal.several)
        status = agree_on_other_switch(t);
    if (GBA_OK == status)
        status = tried_exchange(t);
    if (GBA_OK != status)
        return status;
    if (GBA_OK == t->no.reason && GBA_PROPOSAL_ALL == kind)
        gba_outcome_tried(t, t->team->why, sizeof t->team->why);
    *settled = GBA_PROPOSAL_LEADERS == kind || (GBA_PROPOSAL_ALL == kind && t->proposal.domains &&
                                                GBA_ERR_OTHER_DEVICE == t->no.reason);
    if (*settled)
        return agree_on_leaders(t);
    if (GBA_OK != t->no.reason)
        gba_outcome_reason_keep(t);
    return GBA_OK;
}

gba_status_t gba_agree(struct gba_team *team, const gba_team_attr_t *attr, const gba_oob_t *oob)
{
    struct gba_agreement t = {.team = team, .attr = attr, .oob = oob};
    bool settled;
    gba_status_t status = agree_on_group(&t, &settled);

    if (GBA_OK == status && GBA_OK != t.no.reason && !settled)
        status = agree_on_software(&t);
    if (GBA_OK != status || GBA_OK != t.no.reason)
        gba_failover_close(team);
    return status;
}

gba_status_t gba_agree_again(struct gba_team *team, const gba_team_attr_t *attr,
                             const gba_oob_t *oob)
{
    struct gba_agreement t = {.team = team, .attr = attr, .oob = oob};
    bool settled;
    gba_status_t status = agree_on_group(&t, &settled);

    team->stats.renegotiations += GBA_OK == status;
    if (GBA_OK == status && GBA_OK != t.no.reason && !settled)
        gba_outcome_refused(&t);
    if (GBA_OK != status || GBA_OK != t.no.reason)
        gba_failover_close(team);
    if (GBA_OK != status) {
        gba_renegotiation_cancel(team);
        gba_trial_cancel(team);
    }
    return status;
}

gba_status_t gba_agree_recover(struct gba_team *team, const gba_team_attr_t *attr,
                               const gba_oob_t *oob)
{
    struct gba_agreement t = {.team = team, .attr = attr, .oob = oob, .pause = GBA_PAUSE_FIRST};
    gba_status_t status;

    gba_renegotiation_cancel(team); /* stays cancelled if the exchange fails */
    /* Most members have the failure from notifications only and contribute GBA_OK. The minimum is
     * the cause of a member that observed the failure. */
    status = gba_agree_least(oob, team->failure, &t.no);
    if (GBA_OK != status)
        return status;
    t.round = team->failed_round;
    status = oob->bcast(oob->ctx, &t.round, sizeof t.round, t.no.culprit);
    if (GBA_OK != status)
        return status;
    if (GBA_ERR_RECLAIMED != t.no.reason)
        t.no.reason = GBA_ERR_DEAD;
    team->stats.failovers += GBA_ERR_DEAD == t.no.reason;
    team->stats.reclaims += GBA_ERR_RECLAIMED == t.no.reason;
    team->failure = GBA_OK;
    team->watchdog.died = false; /* a death in the group that the team leaves */
    /* All members are here, between two rounds, so no member waits for a notification any more. */
    gba_failover_close(team);
    gba_outcome_path(team, NULL);
    return agree_on_software(&t);
}
