/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams: all members agree, together, which path their barriers take.
 *
 * The leader (rank 0) takes a barrier group and offers it; every member joins it, or finds that it
 * cannot; the least of the outcomes decides for all, and after it nobody is still joining, so the
 * leader can arm the group. Whether that worked is the last thing that all learn. Each step is a
 * collective call of the runtime, so no member can go on with another opinion than the others.
 *
 * The collective calls, the same on all members; after each (?) all may stop, and know why:
 *
 *   1 the offer of rank 0 (bcast): a group of all, a group of the leaders of nodes, or none
 *   of all:       2 seats taken? (min), 3 armed? (bcast)
 *   of leaders:   2 memory? (min), 3 cards (allgather)?, 4 deeds (allgather), 5 nodes ready? (min),
 *                 if each head of an island has got a group: 6 seats taken? (min), 7 armed? (min)
 *                 without it: 8 ready in software? (min)
 *   none, or not of all:  memory? (min), cards (allgather)?, deeds (allgather), ready? (min)
 *   not of all, because a member has another device:  of leaders, 2 to 8
 *
 * A leader of a node is its lowest rank, and so is the head of an island of nodes (one group serves
 * an island, and most often there is but one island); so rank 0 is leader of node 0, head of island
 * 0 and member 0 of its group.
 *
 * A team that got no group for want of one does this again at later meetings (offer.c), and stays
 * what it is if nothing comes of it: then the last line is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/engine.h"
#include "gba/offer.h"
#include "gba/software_agree.h"

/* Why there is no barrier group, known to all members. */
struct refusal {
    gba_status_t reason; /* GBA_OK: there is one */
    uint32_t culprit;
    uint64_t pause; /* barriers until the next meeting, if there is one */
};

const char *gba_path_name(gba_path_t path)
{
    static const char *const names[] = {"device", "sim", "software", "fallback"};

    return (unsigned)path < sizeof names / sizeof names[0] ? names[path] : "unknown";
}

/* The team goes on without a group. */
static void team_refused(struct gba_team *team, const gba_oob_t *oob, const struct refusal *no)
{
    char member[96];

    oob->name_member(oob->ctx, no->culprit, member, sizeof member);
    team->reason = no->reason;
    snprintf(team->why, sizeof team->why, "%s: %s; no device: %s (%s)", gba_path_name(team->path),
             team->instead, gba_status_text(no->reason), member);
    gba_meeting_plan(team, no->reason, no->pause);
}

/* All members know what became of it: what the team is to be without a group, and why. */
static void team_settle(struct gba_team *team, const gba_oob_t *oob, const struct refusal *no,
                        const struct gba_software_outcome *outcome)
{
    char member[96];

    team->path = NULL != team->software ? GBA_PATH_SOFT : GBA_PATH_CALLER;
    if (NULL == team->software) {
        oob->name_member(oob->ctx, outcome->culprit, member, sizeof member);
        snprintf(team->instead, sizeof team->instead, "no software barrier: %s (%s)",
                 gba_status_text(outcome->reason), member);
    } else {
        snprintf(team->instead, sizeof team->instead, "%s", outcome->why);
    }
    team_refused(team, oob, no);
}

/* There is no barrier group, for a reason that all members know: take the next path. */
static gba_status_t team_fall_back(struct gba_team *team, const gba_team_attr_t *attr,
                                   const gba_oob_t *oob, const struct refusal *no)
{
    struct gba_software_outcome outcome;
    gba_status_t status = gba_software_agree(attr, oob, NULL, &team->software, &outcome);

    if (GBA_OK != status)
        return status;
    if (!team->apart)
        team->nodes = outcome.nodes;
    team_settle(team, oob, no, &outcome);
    return GBA_OK;
}

static void team_leave(struct gba_team *team)
{
    gba_local_state_fini(team->state);
    team->state = NULL;
    gba_free_group(team->group);
    team->group = NULL;
}

/* The team has a group: software is the rest of its barrier, or NULL. */
static void team_take(struct gba_team *team, bool simulated, struct gba_software *software,
                      const char *text)
{
    gba_software_destroy(team->software); /* of a team that had none before */
    team->software = software;
    team->path = simulated ? GBA_PATH_SIM : GBA_PATH_DEVICE;
    team->reason = GBA_OK;
    team->inspect_failed = false;
    snprintf(team->why, sizeof team->why, "%s: %s", gba_path_name(team->path), text);
    gba_meeting_cancel(team);
}

/*
 * A group of the leaders of nodes is offered, or one of all that not all can join, and *no says
 * why. The team takes one for the leaders, or for each island of them, or what its members can have
 * without. mine: as in team_group_all. Returns GBA_OK with no->reason set.
 */
static gba_status_t team_group_leaders(struct gba_team *team, const gba_team_attr_t *attr,
                                       const gba_oob_t *oob, const struct gba_offer *offer,
                                       gba_status_t mine, struct refusal *no)
{
    struct gba_wish wish = {.request = gba_offer_request(team, attr, 0),
                            .islands = 0 != offer->islands,
                            .reason = GBA_OK != no->reason ? no->reason : GBA_ERR_TOO_MANY,
                            .culprit = no->culprit,
                            .mine = mine};
    struct gba_software *software = NULL;
    struct gba_software_outcome outcome;
    gba_status_t status;

    /* What there was before goes first, since the runtime may have room for one barrier's signals
     * only. Nobody opens that of the next before all are in this agreement, so out of this one. */
    gba_software_destroy(team->software);
    team->software = NULL;
    team->path = GBA_PATH_CALLER;
    if (0 == team->rank && GBA_OFFER_LEADERS == offer->kind)
        wish.ticket = offer->ticket;
    status = gba_software_agree(attr, oob, &wish, &software, &outcome);
    if (0 != wish.ticket.members) /* it did not come to that */
        gba_free_ticket(attr->device, &wish.ticket);
    if (GBA_OK != status)
        return status;
    team->nodes = outcome.nodes;
    team->apart = outcome.apart;
    no->reason = outcome.group_reason;
    no->culprit = outcome.group_culprit;
    if (GBA_OK == no->reason) {
        team_take(team, 0 != offer->simulated, software, outcome.why);
        return GBA_OK;
    }
    team->software = software;
    team_settle(team, oob, no, &outcome);
    return GBA_OK;
}

/* A group of all is offered. mine: GBA_OK, or why this member cannot take part. Returns GBA_OK with
 * no->reason set; the team has its seat if it is GBA_OK, and then the group is armed. */
static gba_status_t team_group_all(struct gba_team *team, const gba_team_attr_t *attr,
                                   const gba_oob_t *oob, const struct gba_offer *offer,
                                   gba_status_t mine, struct refusal *no)
{
    int32_t armed = GBA_OK;
    char text[96];
    gba_status_t status = attr->device_status;

    if (NULL != attr->device)
        status = gba_group_take(attr->device, &offer->ticket, team->rank, offer->sequence,
                                &team->group, &team->state);
    status = gba_vote(oob, GBA_OK == status ? mine : status, &no->reason, &no->culprit);
    if (GBA_OK == status && GBA_OK == no->reason) {
        if (0 == team->rank)
            armed = (int32_t)gba_configure_group(team->group, offer->sequence);
        status = oob->bcast(oob->ctx, &armed, sizeof armed, 0);
        no->reason = (gba_status_t)armed;
        no->culprit = 0;
    }
    if (GBA_OK != status || GBA_OK != no->reason) {
        team_leave(team);
        return status;
    }
    snprintf(text, sizeof text, "group %u of %u, %u members", offer->ticket.group,
             team->group->device->groups, team->size);
    team_take(team, team->group->device->simulated, NULL, text);
    return GBA_OK;
}

/*
 * The offer of a meeting, followed as far as it leads. Returns GBA_OK with no->reason set: GBA_OK
 * if the team has a group now. *settled: if not, it is settled what it has instead.
 */
static gba_status_t team_group(struct gba_team *team, const gba_team_attr_t *attr,
                               const gba_oob_t *oob, struct refusal *no, bool *settled)
{
    struct gba_offer offer;
    gba_status_t status = gba_offer_exchange(team, attr, oob, &offer), mine = GBA_OK;

    *settled = false;
    if (GBA_OK != status)
        return status;
    no->pause = offer.pause;
    no->reason = (gba_status_t)offer.status;
    if (GBA_OFFER_NONE != offer.kind && 0 != offer.id)
        mine = gba_interim_open(team, attr);
    if (GBA_OFFER_ALL == offer.kind)
        status = team_group_all(team, attr, oob, &offer, mine, no);
    *settled =
        GBA_OFFER_LEADERS == offer.kind || (GBA_OK == status && GBA_OFFER_ALL == offer.kind &&
                                            offer.islands && GBA_ERR_OTHER_DEVICE == no->reason);
    return *settled ? team_group_leaders(team, attr, oob, &offer, mine, no) : status;
}

/* The agreement. On GBA_OK the team has a path and a reason; it holds a group only if it is armed.
 */
static gba_status_t team_agree(struct gba_team *team, const gba_team_attr_t *attr,
                               const gba_oob_t *oob)
{
    struct refusal no = {0};
    bool settled;
    gba_status_t status = team_group(team, attr, oob, &no, &settled);

    if (GBA_OK != status || GBA_OK == no.reason || settled)
        return status;
    return team_fall_back(team, attr, oob, &no);
}

gba_status_t gba_team_create(const gba_team_attr_t *attr, const gba_oob_t *oob, gba_team_t **team)
{
    struct gba_team *t = calloc(1, sizeof *t + gba_recovery_bytes(oob->size));
    gba_status_t status;

    /* Without memory for a few hundred bytes this member cannot even take part in the agreement, so
     * the runtime must treat it as the failure of a collective call. */
    if (NULL == t)
        return GBA_ERR_NOMEM;
    t->rank = oob->rank;
    t->size = oob->size;
    t->wait = attr->params->wait;
    t->crowded = attr->crowded;
    t->stuck_after = (uint64_t)attr->params->stuck_after * 1000000000u;
    t->name_member = attr->name_member;
    t->name_ctx = attr->name_ctx;
    t->retry_after = (uint64_t)attr->params->retry_after * 1000000u;
    snprintf(t->name, sizeof t->name, "%s", attr->name);
    status = team_agree(t, attr, oob);
    if (GBA_OK != status || t->path > GBA_PATH_SIM)
        gba_recovery_end(t);
    if (GBA_OK != status) {
        free(t);
        return status;
    }
    gba_wait_init(t);
    *team = t;
    return GBA_OK;
}

void gba_team_destroy(gba_team_t *team)
{
    if (NULL == team)
        return;
    gba_recovery_end(team);
    team_leave(team);
    gba_software_destroy(team->software);
    free(team);
}

gba_status_t gba_team_revisit(gba_team_t *team, const gba_team_attr_t *attr, const gba_oob_t *oob)
{
    struct refusal no = {0};
    bool settled;
    gba_status_t status = team_group(team, attr, oob, &no, &settled);

    team->stats.meetings += GBA_OK == status;
    if (GBA_OK == status && GBA_OK != no.reason && !settled)
        team_refused(team, oob, &no);
    if (GBA_OK != status || GBA_OK != no.reason)
        gba_recovery_end(team);
    if (GBA_OK != status)
        gba_meeting_cancel(team);
    gba_wait_init(team);
    return status;
}

gba_status_t gba_team_recover(gba_team_t *team, const gba_team_attr_t *attr, const gba_oob_t *oob,
                              bool *done)
{
    struct refusal no = {.pause = GBA_PAUSE_FIRST};
    gba_status_t status, loss;
    uint32_t who; /* nobody's fault */
    int64_t least;
    bool over;

    gba_meeting_cancel(team); /* should the exchange fail */
    /* Members differ by one round at most, since nobody leaves a round before all arrived at it. So
     * the most rounds that anybody has completed says for each member whether its own is over. The
     * greatest is the least of the negated ones. */
    status = oob->allreduce_min(oob->ctx, -(int64_t)gba_team_rounds(team), &least);
    if (GBA_OK != status)
        return status;
    /* Most know it from others only, and have seen nothing themselves. */
    status = gba_vote(oob, team->loss, &loss, &who);
    if (GBA_OK != status)
        return status;
    over = (int64_t)gba_team_rounds(team) < -least;
    if (over)
        (void)gba_team_complete(team);
    no.reason = GBA_ERR_RECLAIMED == loss ? GBA_ERR_RECLAIMED : GBA_ERR_DEAD;
    team->stats.failovers += GBA_ERR_DEAD == no.reason;
    team->stats.reclaims += GBA_ERR_RECLAIMED == no.reason;
    team->loss = GBA_OK;
    team->under_way = false; /* over and counted, or to be started again */
    gba_recovery_end(team);  /* all are here, so nobody waits for a notice any more */
    team_leave(team);
    gba_software_destroy(team->software); /* nodes with a group of leaders */
    team->software = NULL;
    status = team_fall_back(team, attr, oob, &no);
    if (GBA_OK != status)
        return status;
    gba_wait_init(team);
    *done = over;
    return GBA_OK;
}

gba_path_t gba_team_path(const gba_team_t *team)
{
    return team->path;
}

gba_status_t gba_team_reason(const gba_team_t *team)
{
    return team->reason;
}

const char *gba_team_why(const gba_team_t *team)
{
    return team->why;
}

void gba_team_stats(const gba_team_t *team, gba_team_stats_t *stats)
{
    *stats = team->stats;
    stats->rounds = gba_team_rounds(team);
}
