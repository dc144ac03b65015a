/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failover: how the members of a team complete the rounds of a failed device, and agree when to
 * leave the device. No other file changes the state of a team's failover.
 *
 * A device has failed for a team when the device is dead, or when it has taken the team's group
 * back. In both cases the device completes no further round of the team, whichever round a member
 * is in.
 *
 *   state      a round begins with                         a round completes by
 *   NONE       (the team has no device)
 *   RUNNING    an arrival at the device                    the device
 *   FAILED     (it began before the failure was known)     notifications, or the device
 *   BYPASSING  a notification, without an arrival          notifications
 *   DEGRADED   messages                                    messages
 *
 *   event      meaning
 *   REGISTER   the team is about to take a device
 *   FAILURE    this member finds the device failed, or receives another member's notification
 *   START      a round begins
 *   START_DUE  a round begins; all members know that they leave the device, and messages are ready
 *   CLOSE      the team leaves the device, or ends
 *
 *              REGISTER   FAILURE     START       START_DUE   CLOSE
 *   NONE       RUNNING    -           -           -           -
 *   RUNNING    -          FAILED      -           -           NONE
 *   FAILED     -          -           BYPASSING   DEGRADED    NONE
 *   BYPASSING  -          -           -           DEGRADED    NONE
 *   DEGRADED   -          -           -           -           NONE
 *
 * FAILURE comes from any thread. All other events come from the thread that runs the team's
 * barrier.
 *
 * failover.md has the argument: why every member completes the round, and why all members leave the
 * device in the same round.
 */
#include <pthread.h>
#include <string.h>

#include "gba/failover/facts.h"
#include "gba/failover/failover.h"
#include "gba/path/path_hybrid.h"

enum event { REGISTER, FAILURE, START, START_DUE, CLOSE, EVENTS };

/* The transition table of the comment above. */
#define S(state) GBA_FAILOVER_##state
static const uint8_t transitions[GBA_FAILOVER_STATES][EVENTS] = {
    /*                REGISTER      FAILURE       START         START_DUE     CLOSE */
    [S(NONE)] = {S(RUNNING), S(NONE), S(NONE), S(NONE), S(NONE)},
    [S(RUNNING)] = {S(RUNNING), S(FAILED), S(RUNNING), S(RUNNING), S(NONE)},
    [S(FAILED)] = {S(FAILED), S(FAILED), S(BYPASSING), S(DEGRADED), S(NONE)},
    [S(BYPASSING)] = {S(BYPASSING), S(BYPASSING), S(BYPASSING), S(DEGRADED), S(NONE)},
    [S(DEGRADED)] = {S(DEGRADED), S(DEGRADED), S(DEGRADED), S(DEGRADED), S(NONE)},
};

/* Protects the failover of all teams of the process, because notifications come in from any thread.
 * Held for a few loads only. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gba_team *registered;

/* Under the lock. Relaxed: the state alone orders nothing. The facts that belong to a state are
 * read under the lock. */
static gba_failover_state_t failover_step(struct gba_team *team, enum event event)
{
    uint64_t next = transitions[gba_failover_state(team)][event];

    gba_word_store_relaxed(&team->failover.state, next);
    if (FAILURE == event)
        gba_word_store_relaxed(&team->attention_at, 0);
    return (gba_failover_state_t)next;
}

gba_status_t gba_degraded_open(struct gba_team *team, const gba_team_attr_t *attr)
{
    const gba_remote_group_t all = {.size = team->size, .rank = team->rank, .channel = 1};

    if (gba_degraded_ready(team) || !attr->nonblocking)
        return GBA_OK;
    return gba_message_barrier_open(&team->degraded, attr->remote, all,
                                    &gba_algorithms[GBA_ALGORITHM_V1], 2);
}

/* Whether the team accepts notifications. */
static bool is_registered(const struct gba_team *team)
{
    return team->failover.link != NULL;
}

/* Remove the team from the list. */
static void failover_end(struct gba_team *team)
{
    struct gba_failover *failover = &team->failover;

    pthread_mutex_lock(&lock);
    (void)failover_step(team, CLOSE);
    *failover->link = failover->next;
    if (failover->next != NULL)
        failover->next->failover.link = failover->link;
    failover->link = NULL;
    pthread_mutex_unlock(&lock);
}

void gba_failover_register(struct gba_team *team, uint64_t id)
{
    struct gba_failover *failover = &team->failover;

    if (is_registered(team))
        failover_end(team);
    failover->id = id;
    gba_facts_init(&failover->facts, team->rank, team->size);
    pthread_mutex_lock(&lock);
    (void)failover_step(team, REGISTER);
    failover->next = registered;
    failover->link = &registered;
    if (failover->next != NULL)
        failover->next->failover.link = &failover->next;
    registered = team;
    pthread_mutex_unlock(&lock);
}

void gba_failover_close(struct gba_team *team)
{
    if (!is_registered(team))
        return;
    failover_end(team);
    gba_degraded_close(team);
}

/* Under the lock. */
static struct gba_team *team_find(uint64_t id)
{
    struct gba_team *team = registered;

    while (team != NULL && team->failover.id != id)
        team = team->failover.next;
    return team;
}

gba_failover_state_t gba_failover_state(const struct gba_team *team)
{
    return (gba_failover_state_t)gba_word_load_relaxed(&team->failover.state);
}

void gba_failover_fail(struct gba_team *team)
{
    pthread_mutex_lock(&lock);
    (void)failover_step(team, FAILURE);
    pthread_mutex_unlock(&lock);
}

void gba_failover_attend(struct gba_team *team, uint64_t rounds)
{
    /* Under the lock, so that a failure in another thread is either seen here, or overwrites. */
    pthread_mutex_lock(&lock);
    gba_word_store_relaxed(&team->attention_at, gba_failover_failed(team) ? 0 : rounds);
    pthread_mutex_unlock(&lock);
}

gba_status_t gba_failover_start(struct gba_team *team)
{
    struct gba_path_base *path = team->path;
    const uint64_t round = gba_team_rounds(team) + 1;
    const bool due = gba_degraded_ready(team) && gba_failover_leaves(team);
    gba_failover_state_t state;

    pthread_mutex_lock(&lock);
    state = failover_step(team, due ? START_DUE : START);
    if (S(BYPASSING) == state)
        gba_facts_bypass(&team->failover.facts, round);
    pthread_mutex_unlock(&lock);
    if (S(DEGRADED) == state)
        return gba_message_barrier_start(&team->degraded, team->degraded.algo.seq + 1);
    if (path->hybrid != NULL)
        gba_path_hybrid_bypass(path->hybrid);
    return GBA_OK;
}

enum gba_arrived gba_failover_arrived(const struct gba_team *team, uint32_t member)
{
    enum gba_arrived arrived;

    if (member == team->rank)
        return GBA_ARRIVED_YES;
    pthread_mutex_lock(&lock);
    arrived = gba_facts_arrived(&team->failover.facts, member, gba_team_rounds(team) + 1);
    pthread_mutex_unlock(&lock);
    return arrived;
}

void gba_failover_widen(struct gba_team *team)
{
    pthread_mutex_lock(&lock);
    gba_facts_widen(&team->failover.facts);
    pthread_mutex_unlock(&lock);
}

gba_status_t gba_failover_test(struct gba_team *team)
{
    struct gba_path_base *path = team->path;
    gba_status_t status;
    bool complete;

    if (!team->under_way)
        return GBA_OK;
    if (GBA_FAILOVER_DEGRADED == gba_failover_state(team)) {
        status = gba_message_barrier_progress(&team->degraded);
        return GBA_OK == status ? gba_message_barrier_test(&team->degraded) : status;
    }
    /* The lock is the acquire: pairs with the unlock in gba_notification_take, in the thread that
     * stored the notification. The runtime orders what the members wrote before they arrived before
     * their notifications. */
    pthread_mutex_lock(&lock);
    complete = gba_facts_complete(&team->failover.facts, gba_team_rounds(team) + 1);
    pthread_mutex_unlock(&lock);
    if (complete) {
        /* This member does not release its node, whose members may have no neighbour that knows of
         * the failure. */
        gba_node_set_failed(path->node);
        return path->hybrid != NULL ? gba_path_hybrid_withdraw(path->hybrid) : GBA_OK;
    }
    if (GBA_FAILOVER_BYPASSING == gba_failover_state(team))
        return GBA_INPROGRESS;
    if (path->hybrid != NULL)
        path->hybrid->held = true;
    return path->ops->test(path);
}

gba_status_t gba_team_notification(gba_team_t *team, gba_notification_t *notification, uint32_t *to)
{
    const gba_failover_state_t state = gba_failover_state(team);
    const uint64_t round = gba_team_rounds(team) + team->under_way;
    struct gba_extra_peers extra = {0};
    struct gba_facts *facts;
    gba_status_t status;
    bool complete;

    if ((GBA_FAILOVER_FAILED != state && GBA_FAILOVER_BYPASSING != state) || 0 == round)
        return GBA_ERR_BUSY;
    if (team->path->hybrid != NULL)
        gba_path_hybrid_peers(team->path->hybrid, &extra);
    facts = &team->failover.facts;
    pthread_mutex_lock(&lock);
    /* A domain leader that still waits for other leaders (gba_path_hybrid_withdraw) owes
     * "completed" as well: they may need it to send what it waits for. */
    complete = !team->under_way || gba_facts_complete(facts, round);
    status = gba_facts_next(facts, round, complete, &extra, notification, to);
    pthread_mutex_unlock(&lock);
    notification->team = team->failover.id;
    return status;
}

uint64_t gba_team_failed_id(const gba_team_t *team)
{
    return team != NULL && gba_failover_failed(team) ? team->failover.id : 0;
}

gba_status_t gba_notification_take(const gba_notification_t *notification)
{
    struct gba_team *team;
    gba_status_t status = GBA_ERR_STALE;

    pthread_mutex_lock(&lock);
    team = team_find(notification->team);
    if (team != NULL)
        status = gba_facts_take(&team->failover.facts, notification);
    /* No device completes a round at which one member does not arrive. */
    if (GBA_OK == status)
        (void)failover_step(team, FAILURE);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Make the answer of a team that this member has not left. Under the lock. */
static gba_status_t failover_answer(struct gba_team *team, const gba_notification_t *notification,
                                    gba_notification_t *answer)
{
    if (notification->member >= team->size)
        return GBA_ERR_PARAM;
    /* Another thread may be counting the round; the next call then sees it. Acquire: pairs with
     * gba_team_complete. */
    if (gba_word_load_acquire(&team->rounds) < notification->round)
        return GBA_INPROGRESS;
    if (!gba_facts_answer(&team->failover.facts, notification->member, notification->round))
        return GBA_ERR_STALE;
    answer->member = team->rank;
    answer->first_bypassed = team->failover.facts.first_bypassed;
    return GBA_OK;
}

gba_status_t gba_notification_answer(const gba_notification_t *notification,
                                     gba_notification_t *answer)
{
    struct gba_team *team;
    gba_status_t status = GBA_OK;

    *answer = (gba_notification_t){.team = notification->team,
                                   .round = notification->round,
                                   .first_bypassed = UINT64_MAX,
                                   .members = 1,
                                   .completed = 1};
    pthread_mutex_lock(&lock);
    team = team_find(notification->team);
    if (team != NULL)
        status = failover_answer(team, notification, answer);
    pthread_mutex_unlock(&lock);
    return status;
}

bool gba_failover_leaves(const struct gba_team *team)
{
    bool due = false;

    if (!gba_failover_failed(team))
        return false;
    pthread_mutex_lock(&lock);
    due = team->failover.facts.first_bypassed <= gba_team_rounds(team);
    pthread_mutex_unlock(&lock);
    return due;
}
