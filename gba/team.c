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
 *                 if rank 0 has got a group: 6 seats taken? (min), 7 armed? (bcast)
 *                 without it: 8 ready in software? (min)
 *   none, or not of all:  memory? (min), cards (allgather)?, deeds (allgather), ready? (min)
 *
 * A leader of a node is its lowest rank, so rank 0 is leader of node 0 and member 0 of either
 * group.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/engine.h"

enum offer_kind { OFFER_NONE, OFFER_ALL, OFFER_LEADERS };

/* What rank 0 sends first. Travels as bytes between processes of one build. */
struct offer {
    uint32_t kind;
    int32_t status; /* gba_status_t: why there is no group */
    uint32_t sequence;
    uint32_t simulated;  /* the device: a member that is no leader may have none */
    uint64_t id;         /* of the team, see gba_team_attr_t */
    gba_ticket_t ticket; /* of a group of all */
};

const char *gba_path_name(gba_path_t path)
{
    static const char *const names[] = {"device", "sim", "software", "fallback"};

    return (unsigned)path < sizeof names / sizeof names[0] ? names[path] : "unknown";
}

/* All members know what became of it: what the team is to be, and why. */
static void team_settle(struct gba_team *team, const gba_oob_t *oob, gba_status_t reason,
                        uint32_t culprit, const struct gba_software_outcome *outcome)
{
    char device[160], software[160], member[96];

    oob->name_member(oob->ctx, culprit, member, sizeof member);
    snprintf(device, sizeof device, "%s (%s)", gba_status_text(reason), member);
    team->reason = reason;
    team->path = NULL != team->software ? GBA_PATH_SOFT : GBA_PATH_CALLER;
    if (NULL == team->software) {
        oob->name_member(oob->ctx, outcome->culprit, member, sizeof member);
        snprintf(software, sizeof software, "no software barrier: %s (%s)",
                 gba_status_text(outcome->reason), member);
    } else {
        snprintf(software, sizeof software, "%s", outcome->why);
    }
    snprintf(team->why, sizeof team->why, "%s: %s; no device: %s", gba_path_name(team->path),
             software, device);
}

/* There is no barrier group, for a reason that all members know: take the next path. */
static gba_status_t team_fall_back(struct gba_team *team, const gba_team_attr_t *attr,
                                   const gba_oob_t *oob, gba_status_t reason, uint32_t culprit)
{
    struct gba_software_outcome outcome;
    gba_status_t status = gba_software_agree(attr, oob, false, &team->software, &outcome);

    if (GBA_OK == status)
        team_settle(team, oob, reason, culprit, &outcome);
    return status;
}

/* The leaders of nodes are to have a group. */
static gba_status_t team_group_leaders(struct gba_team *team, const gba_team_attr_t *attr,
                                       const gba_oob_t *oob, bool simulated)
{
    struct gba_software_outcome outcome;
    gba_status_t status = gba_software_agree(attr, oob, true, &team->software, &outcome);

    if (GBA_OK != status)
        return status;
    if (GBA_OK != outcome.group_reason) {
        team_settle(team, oob, outcome.group_reason, outcome.group_culprit, &outcome);
        return GBA_OK;
    }
    team->path = simulated ? GBA_PATH_SIM : GBA_PATH_DEVICE;
    team->reason = GBA_OK;
    snprintf(team->why, sizeof team->why, "%s: %s", gba_path_name(team->path), outcome.why);
    return GBA_OK;
}

static void team_leave(struct gba_team *team)
{
    gba_local_state_fini(team->state);
    team->state = NULL;
    gba_free_group(team->group);
    team->group = NULL;
}

/* Rank 0: a group, the promise of one for the leaders, or the reason why there is none. */
static void offer_make(const gba_team_attr_t *attr, uint32_t size, struct offer *offer)
{
    int hierarchy = attr->params->hierarchy;

    memset(offer, 0, sizeof *offer);
    offer->sequence = attr->params->first_sequence;
    offer->id = attr->id;
    if (NULL == attr->device) {
        offer->status = attr->device_status;
        return;
    }
    offer->simulated = attr->device->simulated;
    if (GBA_HIERARCHY_NODE == hierarchy ||
        (GBA_HIERARCHY_AUTO == hierarchy && size > attr->device->members_max)) {
        offer->kind = OFFER_LEADERS; /* how many there are it learns from the others */
        return;
    }
    offer->status = gba_allocate_group(attr->device, size, &offer->ticket);
    if (GBA_OK == offer->status)
        offer->kind = OFFER_ALL;
}

/* The agreement. On GBA_OK the team has a path and a reason; it holds a group only if it is armed.
 */
static gba_status_t team_agree(struct gba_team *team, const gba_team_attr_t *attr,
                               const gba_oob_t *oob)
{
    gba_status_t status;
    struct offer offer;
    int64_t outcome;
    int32_t armed;

    if (0 == team->rank)
        offer_make(attr, team->size, &offer);
    status = oob->bcast(oob->ctx, &offer, sizeof offer, 0);
    if (GBA_OK != status)
        goto cancel;
    gba_recovery_register(team, offer.id);
    if (OFFER_NONE == offer.kind)
        return team_fall_back(team, attr, oob, (gba_status_t)offer.status, 0);
    if (OFFER_LEADERS == offer.kind)
        return team_group_leaders(team, attr, oob, 0 != offer.simulated);

    status = attr->device_status;
    if (NULL != attr->device)
        status = gba_group_take(attr->device, &offer.ticket, team->rank, offer.sequence,
                                &team->group, &team->state);
    status = oob->allreduce_min(oob->ctx, gba_outcome_encode(status, team->rank), &outcome);
    if (GBA_OK != status)
        goto leave;
    if (outcome < 0) {
        team_leave(team);
        return team_fall_back(team, attr, oob, gba_outcome_status(outcome),
                              gba_outcome_rank(outcome));
    }

    armed = 0 == team->rank ? (int32_t)gba_configure_group(team->group, offer.sequence) : GBA_OK;
    status = oob->bcast(oob->ctx, &armed, sizeof armed, 0);
    if (GBA_OK != status)
        goto leave;
    if (GBA_OK != armed) {
        team_leave(team);
        return team_fall_back(team, attr, oob, (gba_status_t)armed, 0);
    }
    team->path = team->group->device->simulated ? GBA_PATH_SIM : GBA_PATH_DEVICE;
    team->reason = GBA_OK;
    snprintf(team->why, sizeof team->why, "%s: group %u of %u, %u members",
             gba_path_name(team->path), offer.ticket.group, team->group->device->groups,
             team->size);
    return GBA_OK;

cancel:
    if (0 == team->rank && OFFER_ALL == offer.kind)
        gba_free_ticket(attr->device, &offer.ticket);
leave:
    team_leave(team);
    return status;
}

gba_status_t gba_team_create(const gba_team_attr_t *attr, const gba_oob_t *oob, gba_team_t **team)
{
    struct gba_team *t = calloc(1, sizeof *t + gba_recovery_bytes(oob->size));
    gba_status_t status;

    /* Without memory for a few hundred bytes this member cannot even take part in the agreement, so
     * the runtime must treat it as the failure of a collective call. */
    if (NULL == t)
        return GBA_ERR_NOMEM;
    t->recovery = gba_recovery_init(t + 1, oob->size);
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

gba_status_t gba_team_recover(gba_team_t *team, const gba_team_attr_t *attr, const gba_oob_t *oob,
                              bool *done)
{
    int64_t least;
    gba_status_t status;
    bool over;

    /* Members differ by one round at most, since nobody leaves a round before all arrived at it. So
     * the most rounds that anybody has completed says for each member whether its own is over. The
     * greatest is the least of the negated ones. */
    status = oob->allreduce_min(oob->ctx, -(int64_t)team->stats.rounds, &least);
    if (GBA_OK != status)
        return status;
    over = (int64_t)team->stats.rounds < -least;
    if (over)
        team->stats.rounds++;
    team->under_way = false; /* over and counted, or to be started again */
    gba_recovery_end(team);  /* all are here, so nobody waits for a notice any more */
    team->stats.failovers++;
    team_leave(team);
    gba_software_destroy(team->software); /* nodes with a group of leaders */
    team->software = NULL;
    status = team_fall_back(team, attr, oob, GBA_ERR_DEAD, 0);
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
}
