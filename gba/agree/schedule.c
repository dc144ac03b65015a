/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the members of a team agree again.
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
 * The frequency. A renegotiation that yields no group costs two exchanges and one driver call: a
 * few barriers. The first one after 64 barriers thus costs some percent of their time. The backoff
 * doubles each time, so the share falls. It stops growing at 16384 barriers, where the share is
 * below a thousandth.
 */
#include "gba/agree/schedule.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gba/agree/plan.h"
#include "gba/base/clock.h"
#include "gba/dev/member.h"
#include "gba/failover/failover.h"
#include "gba/path/path_shared.h"

#define BACKOFF_MOST UINT64_C(16384)

/* Barriers before a short trial, which takes the time of some 200 barriers (trial_short.c). */
#define SHORT_AFTER UINT64_C(4096)

static uint64_t next_backoff(struct gba_team *team)
{
    if (0 == team->renegotiation.backoff)
        team->renegotiation.backoff = GBA_BACKOFF_FIRST;
    else if (team->renegotiation.backoff < BACKOFF_MOST)
        team->renegotiation.backoff *= 2;
    return team->renegotiation.backoff;
}

/* The parameter `offload`, without AUTO. Who names a simulated device, in the process or as a
 * gba-switchd, wants to see it at work, and its time says nothing about a real one. */
static gba_offload_t offload_of(const gba_team_attr_t *attr)
{
    const gba_device_t *device = attr->device;

    if (GBA_OFFLOAD_AUTO != attr->params->offload)
        return (gba_offload_t)attr->params->offload;
    return device != NULL && GBA_PATH_DEVICE != device->kind ? GBA_OFFLOAD_ALWAYS
                                                             : GBA_OFFLOAD_FASTEST;
}

/* Of rank 0, for a trial. */
static void terms_trial(const struct gba_team *team, const gba_team_attr_t *attr,
                        struct gba_terms *terms)
{
    const uint64_t elapsed = gba_clock_ns() - team->trial.began;
    const uint64_t barriers = gba_team_barriers(team) - team->trial.began_barriers;

    terms->trial_rotates = 2 == attr->params->trial_test;
    /* Nonblocking barriers of a team are not those of the runtime, which are not measured. Nor is
     * an exchange that also delivers notifications. */
    terms->trial_fallback =
        team->runtime.fallback != NULL && !team->use.stepped && !attr->notifies_together;
    terms->trial_runs =
        0 != attr->params->trial_test || gba_trial_affordable(elapsed, barriers, team->trial.cost);
}

/* The file is read once in a process: the parameter does not change. */
static void terms_cost(const gba_team_attr_t *attr, struct gba_cost_terms *cost)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct gba_cost_terms known;
    struct gba_cluster cluster;
    uint64_t round_trip = 0;

    pthread_mutex_lock(&lock);
    if (0 == known.cores) {
        gba_cluster_find(attr->params->cluster, &cluster);
        gba_cost_terms_set(&known, &cluster);
    }
    *cost = known;
    pthread_mutex_unlock(&lock);
    if (attr->device != NULL)
        round_trip = gba_word_load_relaxed(&attr->device->dev->round_trip);
    if (0 != round_trip && round_trip <= UINT32_MAX)
        cost->device = (uint32_t)round_trip;
}

void gba_schedule_measure(const gba_team_attr_t *attr, gba_due_t due)
{
    const bool requests =
        GBA_DUE_REQUEST == due || (GBA_DUE_CREATE == due && attr->params->offload_after <= 0);

    /* Tests that count arrivals make trials without it. */
    if (requests && attr->device != NULL && 0 == attr->params->trial_test &&
        GBA_OFFLOAD_FASTEST == offload_of(attr))
        gba_round_trip_measure(attr->device);
}

void gba_schedule_terms(struct gba_team *team, const gba_team_attr_t *attr, gba_due_t due,
                        struct gba_terms *terms)
{
    const gba_params_t *params = attr->params;

    memset(terms, 0, sizeof *terms);
    terms->sequence = params->first_sequence;
    terms->trial_after = (uint32_t)params->trial_after;
    terms->id = attr->id;
    terms->algorithm = (uint8_t)params->sw_algorithm;
    terms->radix = (uint8_t)params->sw_radix;
    terms->hierarchy = (uint8_t)params->hierarchy;
    terms->multi_device = attr->devices != NULL;
    if (GBA_DUE_TRIAL == due)
        terms_trial(team, attr, terms);
    terms->offload = (uint8_t)offload_of(attr);
    terms_cost(attr, &terms->cost);
    terms->min_hosts = (uint32_t)params->min_hosts;
    if (attr->device != NULL) {
        memcpy(terms->uuid, attr->device->dev->uuid, sizeof terms->uuid);
        terms->members_max = attr->device->members_max;
        terms->kind = (uint8_t)attr->device->kind;
    }
    if (GBA_DUE_CREATE == due && params->offload_after > 0 && attr->device != NULL) {
        terms->status = GBA_ERR_DEFERRED;
        terms->backoff = (uint64_t)params->offload_after;
        return;
    }
    if (GBA_DUE_RECOVER == due || GBA_DUE_TRIAL == due)
        terms->backoff = GBA_BACKOFF_FIRST;
    else
        terms->backoff = next_backoff(team);
    if (attr->device == NULL)
        terms->status = attr->device_status;
    else if (0 == attr->id)
        /* Without failure notifications no member could complete a round of a failed device. */
        terms->status = GBA_ERR_PARAM;
}

void gba_renegotiation_plan(struct gba_team *team, gba_status_t reason, bool died, uint64_t backoff)
{
    const bool elsewhere = died && team->renegotiation.multi_device;

    gba_renegotiation_cancel(team);
    if (gba_reason_passes(reason) || elsewhere)
        team->renegotiation.due = gba_team_barriers(team) + backoff;
    if (elsewhere)
        team->renegotiation.backoff =
            backoff; /* the team had a group: start with the first backoff */
}

void gba_trial_plan(struct gba_team *team, struct gba_choice choice)
{
    const uint8_t *radices;
    uint32_t current;

    gba_trial_cancel(team);
    team->trial.choice = choice;
    team->trial.pause = team->trial.after;
    team->trial.cost = 0;
    team->trial.began = gba_clock_ns();
    team->trial.began_barriers = gba_team_barriers(team);
    if (0 == team->trial.after)
        return;
    team->trial.is_short = team->trial.after > SHORT_AFTER &&
                           gba_path_shared_schedules(team->path, &radices, &current) > 1;
    team->trial.due =
        gba_team_barriers(team) + (team->trial.is_short ? SHORT_AFTER : team->trial.after);
}

void gba_trial_cancel(struct gba_team *team)
{
    team->trial.due = 0;
    team->trial.is_short = false;
    team->words.measured[0] = '\0';
}

void gba_renegotiation_cancel(struct gba_team *team)
{
    team->renegotiation.due = UINT64_MAX;
}

gba_due_t gba_team_due(const gba_team_t *team, bool may_block)
{
    if (team == NULL)
        return GBA_DUE_CREATE;
    if (0 != gba_word_load_relaxed(&team->use.left)) /* an agreement has failed, or a barrier */
        return GBA_DUE_NOTHING;
    if (gba_failover_leaves(team))
        return GBA_DUE_RECOVER;
    if (gba_team_barriers(team) >= team->renegotiation.due)
        return GBA_DUE_REQUEST;
    if (may_block && 0 != team->trial.due && gba_team_barriers(team) >= team->trial.due)
        return GBA_DUE_TRIAL;
    return GBA_DUE_NOTHING;
}

void gba_team_count(gba_team_t *team)
{
    if (team != NULL)
        team->fallback_barriers++;
}
