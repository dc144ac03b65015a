/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watchdog of a stalled barrier: it repairs losses on the way to or from the device, and
 * reports the missing members. It runs in gba_barrier_progress, so only in barriers that take
 * longer than a few spins, and it costs the fast path nothing.
 */
#include "gba/team/watchdog.h"

#include <stdio.h>
#include <string.h>

#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/failover/failover.h"
#include "gba/path/path_hybrid.h"

/* Time from the end of a member of the group to the report of a stall. The member may have arrived
 * before, so the round may still complete; or the job is ending (MPI_Abort, shmem_global_exit), and
 * its launcher ends this process, too. Those of Open MPI take less than five seconds. */
#define DIED_NS 5000000000u

/* A member that has served others so shortly before it reports a stall says so: they work. */
#define SERVES_NS 1000000000u

/* Time between two notifications of a failed team to further members. A round of a failed device
 * takes less if all members are in the runtime. */
#define WIDEN_NS 10000000u

/* Whether a member of a failed team has arrived. Notifications show the arrivals of neighbours, and
 * of subtrees. In degraded mode a member sees only itself. */
static enum gba_arrived failed_arrived(const struct gba_team *team, uint32_t member)
{
    if (GBA_FAILOVER_DEGRADED != gba_failover_state(team))
        return gba_failover_arrived(team, member);
    return member == team->rank ? GBA_ARRIVED_YES : GBA_ARRIVED_UNKNOWN;
}

/* The member whose message this member waits for, or UINT32_MAX. */
static uint32_t late_source(const struct gba_team *team)
{
    const struct gba_path_base *path = team->path;

    if (GBA_FAILOVER_DEGRADED == gba_failover_state(team))
        return gba_message_barrier_late_source(&team->degraded);
    return path->hybrid == NULL ? UINT32_MAX : gba_path_hybrid_late_source(path->hybrid);
}

/* What a report looks at. group: the registers of the group; NULL: they could not be read; ignored
 * for a failed team. */
struct sight {
    const struct gba_team *team;
    const gba_group_state_t *group;
};

static gba_arrived_t sight_arrived(void *ctx, uint32_t member)
{
    const struct sight *sight = ctx;
    const struct gba_team *team = sight->team;

    if (gba_failover_failed(team))
        return failed_arrived(team, member);
    return team->path->ops->arrived(team->path, sight->group, member);
}

/* The name of a member that has not arrived, with the members that it represents. */
static void sight_name(void *ctx, uint32_t member, char *text, size_t len)
{
    const struct gba_team *team = ((const struct sight *)ctx)->team;
    const struct gba_path_base *path = team->path;
    size_t used;

    gba_team_member(team, member, text, len);
    used = strlen(text);
    if (path->hybrid != NULL && !gba_failover_failed(team))
        snprintf(text + used, len - used, "%s", gba_path_hybrid_represented(path->hybrid, member));
}

static uint32_t sight_process(void *ctx, uint32_t member)
{
    const gba_runtime_t *runtime = &((const struct sight *)ctx)->team->runtime;

    return runtime->process == NULL ? member : runtime->process(runtime->ctx, member);
}

/*
 * Whether this member reports the stalled round. Members that share a host or a device see the same
 * state, and the lowest of them that has arrived reports for all. If none of them is missing, the
 * late members are on other hosts, whose members see them better. But a whole host may be late, so
 * a member that waits for the first message of that host reports, too. A member that cannot read
 * the registers of its group shares no view with other members, and reports for itself.
 */
static bool stalled_is_reporter(struct sight *sight, gba_stall_seen_t *seen, uint64_t now)
{
    const struct gba_team *team = sight->team;
    uint32_t source;

    /* In a failed team of many members each member sees other neighbours. */
    if (seen->missing > 0 && seen->unknown > 0 && gba_failover_failed(team))
        return seen->next;
    if (seen->missing > 0)
        return seen->first == team->rank;
    source = late_source(team);
    /* If all have arrived, one does not go on: it is stopped, or computes. Or the last one arrives
     * just now, so the second report of the round says it. */
    if (UINT32_MAX == source)
        return sight->group == NULL ||
               (0 == seen->unknown && seen->first == team->rank && !gba_failover_failed(team) &&
                now - team->watchdog.stall.place.since > 3 * team->watchdog.report_after / 2);
    sight_name(sight, source, seen->names, sizeof seen->names);
    return true;
}

/* Report the stalled round. group: as in struct sight. now: ns. */
static void stalled_report(struct gba_team *team, const gba_group_state_t *group, uint64_t now)
{
    struct sight sight = {team, group};
    char path[32], note[192];
    const gba_stall_view_t view = {.name = team->watchdog.stall.place.name,
                                   .path = path,
                                   .of = "members",
                                   .ctx = &sight,
                                   .size = team->size,
                                   .rank = team->rank,
                                   .arrived = sight_arrived,
                                   .name_member = sight_name,
                                   .job = team->runtime.job,
                                   .process = sight_process};
    gba_stall_seen_t seen;

    gba_stall_see(&team->watchdog.stall, &view, &seen);
    if (!stalled_is_reporter(&sight, &seen, now)) {
        /* The one that reports sees no process of this host. (In a failed team each member sees
         * others, and may report.) */
        if (seen.missing > 0 && seen.local == team->rank && !gba_failover_failed(team))
            gba_stall_places(&team->watchdog.stall, &view);
        return;
    }
    snprintf(path, sizeof path, "%s%s", gba_path_name(team->kind),
             gba_failover_failed(team) ? ", failed" : "");
    snprintf(note, sizeof note, "%s%s%s",
             seen.arrived == team->size ? "; no member is missing, but one does not go on" : "",
             team->waiting.served + SERVES_NS > now
                 ? "; other ranks make progress through this one, so they are at work"
                 : "",
             team->watchdog.died ? "; a member's process has ended: the job ends, or a process or "
                                   "host has died"
                                 : "");
    gba_stall_report(&team->watchdog.stall, &view, &seen, note, now);
}

/* After a death: report a stall soon, unless reports are off. */
static void watch_hasten(struct gba_team *team, uint64_t now)
{
    gba_stall_t *stall = &team->watchdog.stall;

    if (UINT64_MAX != stall->due && !stall->reported && now + DIED_NS < stall->due)
        stall->due = now + DIED_NS;
}

/* Report the end of a barrier whose stall was reported. */
static void stalled_end(struct gba_team *team)
{
    gba_stall_t *stall = &team->watchdog.stall;

    /* Not the name of now: the communicator may have ended. */
    if (0 != stall->number)
        gba_stall_end(stall, stall->place.name, gba_team_rounds(team) >= team->watchdog.round,
                      gba_clock_ns());
}

void gba_watchdog_end(struct gba_team *team)
{
    stalled_end(team);
    if (!team->watchdog.watched)
        return;
    team->watchdog.watched = false;
    gba_retry_end(&team->watchdog.retry, gba_clock_ns() - team->watchdog.stall.place.since);
}

/* What the registers show to be lost. A release that has come since they were read is not. */
static enum gba_loss watch_loss(const struct gba_local_state *state, const gba_group_state_t *group)
{
    if (GBA_OK == gba_state_poll(state))
        return GBA_LOSS_NONE; /* the caller's next test sees it */
    if (GBA_SEQ_REACHED(group->sequence, state->sequence))
        return GBA_LOSS_RELEASE; /* the round is over, but the flag does not show it */
    return gba_group_arrived(group, GBA_ARRIVAL_MEMBER(state->low)) ? GBA_LOSS_NONE
                                                                    : GBA_LOSS_ARRIVAL;
}

/* Compare the device's state of this round with this member's, and repair a lost arrival or
 * release. */
static void watch_repair(struct gba_team *team, const gba_group_state_t *group, uint64_t now)
{
    struct gba_path_base *path = team->path;
    struct gba_local_state *state = path->ops->in_group != NULL ? path->ops->in_group(path) : NULL;
    enum gba_loss loss;

    if (state == NULL) {
        gba_retry_later(&team->watchdog.retry, now); /* a leader that gathers has not arrived */
        return;
    }
    loss = watch_loss(state, group);
    if (!gba_retry_read(&team->watchdog.retry, now, loss))
        return;
    if (GBA_LOSS_RELEASE == loss)
        team->stats.retries_release++;
    else
        team->stats.retries_arrival++;
    gba_log(GBA_LOG_INFO, "%s: round %u: %s lost; arrival resent", team->name, state->sequence,
            GBA_LOSS_RELEASE == loss ? "release" : "arrival");
    /* The device counts a repeated arrival once, and after the round it repeats the release. */
    gba_state_arrive(state);
}

/* Read the registers, if there are any. Returns GBA_OK; GBA_ERR_DEAD; GBA_ERR_IO:
 * they cannot be read; or GBA_INPROGRESS: not yet. */
static gba_status_t watch_inspect(struct gba_team *team, gba_group_state_t *group)
{
    gba_status_t status;

    memset(group, 0, sizeof *group);
    if (team->path->group == NULL)
        return GBA_OK;
    status = gba_group_inspect(team->path->group, group);
    if (GBA_OK == status || GBA_ERR_DEAD == status || GBA_INPROGRESS == status)
        return status;
    /* No reason to give up the round: the device may still release it. */
    if (!team->watchdog.inspect_failed)
        gba_log(GBA_LOG_ERROR, "%s: cannot read the registers of its group: %s", team->name,
                gba_status_text(status));
    team->watchdog.inspect_failed = true;
    return GBA_ERR_IO;
}

/*
 * Ask the driver whether a member of the group has died. The group then completes no round after
 * the one in which that member arrived last, so the report need not wait for the stall to become
 * long.
 */
static void watch_deaths(struct gba_team *team, uint64_t now)
{
    struct gba_membership *membership;

    if (team->watchdog.died || team->path->group == NULL)
        return;
    membership = team->path->group->membership;
    if (membership->dev->ops->died == NULL || !membership->dev->ops->died(membership))
        return;
    team->watchdog.died = true;
    watch_hasten(team, now);
}

/* Start to watch a round, at its first check. */
static void watch_begin(struct gba_team *team, uint64_t now)
{
    const gba_group_t *group = team->path->group;
    uint64_t round = gba_team_rounds(team) + 1;

    stalled_end(team);
    gba_retry_begin(&team->watchdog.retry, now, group != NULL ? group->membership->members : 0,
                    round - team->watchdog.round - 1);
    gba_stall_begin(&team->watchdog.stall, team->watchdog.before + team->fallback_barriers + round,
                    team->watchdog.report_after, team->watchdog.abort_after, now);
    team->watchdog.round = round;
    team->watchdog.widen_due = 0;
    team->watchdog.watched = true;
    if (team->watchdog.died)
        watch_hasten(team, now);
}

uint64_t gba_watchdog_patience(const struct gba_team *team, uint64_t now)
{
    if (!team->watchdog.watched || team->path->group == NULL || gba_failover_failed(team))
        return UINT64_MAX;
    return team->watchdog.retry.due > now ? team->watchdog.retry.due - now : 0;
}

/* This member has found that its group has failed. */
static gba_status_t watch_failed(struct gba_team *team)
{
    gba_node_set_failed(team->path->node);
    if (GBA_FAILOVER_NONE == gba_failover_state(team)) /* in a trial, which drops the path */
        return GBA_ERR_DEAD;
    team->failure.status = GBA_ERR_DEAD;
    team->failure.round = gba_team_rounds(team) + 1;
    gba_failover_fail(team);
    return GBA_ERR_DEAD;
}

/* A member that has died, or has lost its connection to the device, is not in the group any more.
 * In the latter case it waits for notifications, and only this member can find out that it does.
 * The reason of the failure is that member's. */
static gba_status_t watch_died(struct gba_team *team)
{
    gba_node_set_failed(team->path->node);
    gba_failover_fail(team);
    return GBA_ERR_DEAD;
}

/* In a long round, notify one more member: a member that can answer may be no neighbour. */
static void watch_widen(struct gba_team *team, uint64_t now)
{
    if (now < team->watchdog.widen_due)
        return;
    if (0 != team->watchdog.widen_due)
        gba_failover_widen(team);
    team->watchdog.widen_due = now + WIDEN_NS;
}

static void stall_name(void *ctx, gba_where_t *place)
{
    const struct gba_team *team = ctx;

    place->kind = team->use.steps ? GBA_WHERE_NONBLOCKING : GBA_WHERE_BARRIER;
    if (team->runtime.place != NULL)
        team->runtime.place(team->runtime.ctx, place);
    else
        snprintf(place->name, sizeof place->name, "%s", team->name);
}

/* A round of a team whose device has failed: report a stall, and reach further members. */
static gba_status_t check_failed(struct gba_team *team, uint64_t now)
{
    const gba_group_state_t none = {0};

    if (gba_stall_look(&team->watchdog.stall, now, stall_name, team))
        stalled_report(team, &none, now);
    if (GBA_FAILOVER_DEGRADED == gba_failover_state(team))
        return GBA_INPROGRESS;
    watch_widen(team, now);
    return GBA_ERR_DEAD;
}

/* A round of a working path: when they are due, read the registers, report a stall, and repair. */
static gba_status_t check_path(struct gba_team *team, uint64_t now)
{
    const bool retry = team->path->group != NULL && now >= team->watchdog.retry.due;
    const bool stalled = gba_stall_look(&team->watchdog.stall, now, stall_name, team);
    gba_group_state_t group;
    gba_status_t status;

    if (!retry && !stalled)
        return GBA_INPROGRESS;
    watch_deaths(team, now);
    if (team->watchdog.died && team->watchdog.deaths_fail)
        return watch_died(team);
    status = watch_inspect(team, &group);
    if (GBA_INPROGRESS == status) {
        gba_retry_again(&team->watchdog.retry, now);
        if (stalled)
            team->watchdog.stall.due = now;
        return GBA_INPROGRESS;
    }
    if (stalled && (GBA_OK == status || GBA_ERR_IO == status))
        stalled_report(team, GBA_OK == status ? &group : NULL, now);
    if (retry && GBA_OK == status)
        watch_repair(team, &group, now);
    else if (retry)
        gba_retry_later(&team->watchdog.retry, now);
    return GBA_ERR_DEAD == status ? watch_failed(team) : GBA_INPROGRESS;
}

/* After the report of a stall: whether the round lasts too long for the user. */
static void check_abort(const struct gba_team *team, uint64_t now)
{
    const gba_runtime_t *runtime = &team->runtime;

    if (runtime->abort != NULL && gba_stall_ends(&team->watchdog.stall, now))
        runtime->abort(runtime->ctx);
}

static gba_status_t check_round(struct gba_team *team, uint64_t now)
{
    const struct gba_path_base *path = team->path;

    if (0 != team->watchdog.deadline && now > team->watchdog.deadline)
        return GBA_ERR_TIMEOUT;
    /* The leader may have released the node before it found the device dead. This member's next
     * test then sees that release, as in any failed round. */
    if (gba_node_failed(path->node)) {
        if (GBA_FAILOVER_NONE == gba_failover_state(team))
            return GBA_ERR_DEAD;
        gba_failover_fail(team);
    }
    if (gba_failover_failed(team))
        return check_failed(team, now);
    if (path->state != NULL && GBA_OK != gba_state_failure(path->state))
        return watch_failed(team);
    return check_path(team, now);
}

gba_status_t gba_watchdog_check(struct gba_team *team)
{
    const uint64_t now = gba_clock_ns();
    gba_status_t status;

    /* A round is counted when it ends. So a changed count means a new round, and the fast path need
     * not call the watchdog. */
    if (team->watchdog.round != gba_team_rounds(team) + 1)
        watch_begin(team, now);
    status = check_round(team, now);
    check_abort(team, now);
    if (GBA_INPROGRESS != status && GBA_FAILOVER_NONE == gba_failover_state(team))
        gba_watchdog_end(team); /* the barrier ends here */
    return status;
}
