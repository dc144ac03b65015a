/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams: all members agree, together, which path their barriers take.
 *
 * The leader (rank 0) takes a barrier group and offers it; every member joins it, or finds that it
 * cannot; the least of the outcomes decides for all, and after it nobody is still joining, so the
 * leader can arm the group. Whether that worked is the last thing that all learn. Each step is a
 * collective call of the runtime, so no member can go on with another opinion than the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/engine.h"

/* What the leader sends first. Travels as bytes between processes of one build. */
struct offer {
    int32_t status; /* gba_status_t: why there is no group */
    uint32_t sequence;
    gba_ticket_t ticket;
};

const char *gba_path_name(gba_path_t path)
{
    static const char *const names[] = {"device", "sim", "software", "fallback"};

    return (unsigned)path < sizeof names / sizeof names[0] ? names[path] : "unknown";
}

/* There is no barrier group, for a reason that all members know: take the next path. */
static gba_status_t team_fall_back(struct gba_team *team, const gba_team_attr_t *attr,
                                   const gba_oob_t *oob, gba_status_t reason, uint32_t culprit)
{
    char device[160], software[160] = "", member[96];
    gba_status_t status, no_software = GBA_OK;

    oob->name_member(oob->ctx, culprit, member, sizeof member);
    snprintf(device, sizeof device, "%s (%s)", gba_status_text(reason), member);
    team->reason = reason;
    status = gba_software_agree(attr, oob, &team->software, software, sizeof software, &no_software,
                                &culprit);
    if (GBA_OK != status)
        return status;
    team->path = NULL != team->software ? GBA_PATH_SOFT : GBA_PATH_CALLER;
    if (NULL == team->software) {
        oob->name_member(oob->ctx, culprit, member, sizeof member);
        snprintf(software, sizeof software, "no software barrier: %s (%s)",
                 gba_status_text(no_software), member);
    }
    snprintf(team->why, sizeof team->why, "%s: %s; no device: %s", gba_path_name(team->path),
             software, device);
    return GBA_OK;
}

static void team_leave(struct gba_team *team)
{
    gba_local_state_fini(team->state);
    team->state = NULL;
    gba_free_group(team->group);
    team->group = NULL;
}

/* Leader only: a group for all, or the reason why there is none. */
static void offer_make(const gba_team_attr_t *attr, uint32_t size, struct offer *offer)
{
    memset(offer, 0, sizeof *offer);
    offer->sequence = attr->params->first_sequence;
    if (NULL == attr->device)
        offer->status = attr->device_status;
    else
        offer->status = gba_allocate_group(attr->device, size, &offer->ticket);
}

/* Take the seat that was offered, up to the point where only arming is missing. */
static gba_status_t offer_take(struct gba_team *team, const gba_team_attr_t *attr,
                               const struct offer *offer)
{
    gba_status_t status;

    if (NULL == attr->device)
        return attr->device_status;
    status = gba_join_group(attr->device, &offer->ticket, team->rank, &team->group);
    if (GBA_OK != status) {
        if (0 == team->rank)
            gba_free_ticket(attr->device, &offer->ticket);
        return status;
    }
    status = gba_dma_map(team->group);
    if (GBA_OK == status)
        status = gba_local_state_init(team->group, offer->sequence, &team->state);
    if (GBA_OK != status)
        team_leave(team);
    return status;
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
    if (GBA_OK != offer.status) {
        return team_fall_back(team, attr, oob, (gba_status_t)offer.status, 0);
    }

    status = offer_take(team, attr, &offer);
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
    team->path = attr->device->simulated ? GBA_PATH_SIM : GBA_PATH_DEVICE;
    team->reason = GBA_OK;
    snprintf(team->why, sizeof team->why, "%s: group %u of %u, %u members",
             gba_path_name(team->path), offer.ticket.group, attr->device->groups, team->size);
    return GBA_OK;

cancel:
    if (0 == team->rank && GBA_OK == offer.status)
        gba_free_ticket(attr->device, &offer.ticket);
leave:
    team_leave(team);
    return status;
}

gba_status_t gba_team_create(const gba_team_attr_t *attr, const gba_oob_t *oob, gba_team_t **team)
{
    struct gba_team *t = calloc(1, sizeof *t);
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
    team->stats.failovers++;
    team_leave(team);
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
