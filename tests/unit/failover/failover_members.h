/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the members of failover_harness.h do, with the injected faults, and the actions among which
 * the adversary chooses.
 */
#ifndef TESTS_UNIT_FAILOVER_MEMBERS_H
#define TESTS_UNIT_FAILOVER_MEMBERS_H

#include "failover_harness.h"

/* --------------------------------------------------------------------------------- members --- */

static void member_notify(struct member *me);

/* Whether a domain leader has sent and read the message of its round. */
static bool messages_read(const struct member *me)
{
    return me->messages->algo.seq == round_of(me) &&
           gba_message_barrier_test(me->messages) == GBA_OK;
}

/* The check of a completed round, and the next step of the member. */
static void member_completed(struct member *me)
{
    uint32_t round = round_of(me);
    bool due = rules->fault == RASH ? gba_failover_failed(me->team)
                                    : (GBA_DUE_RECOVER == gba_team_due(me->team, true));

    for (uint32_t m = 0; m < rules->size; m++)
        if (entered_of(&members[m]) < round)
            blame(EARLY);
    if (rules->single > 0 && me->messages != NULL && !messages_read(me))
        blame(LEFT_OVER);
    /* All members have begun this round, so no member bypasses it, or an earlier one, any more. A
     * member that has left the team after the last round does not send first_bypassed, and no
     * member needs it if no agreement follows. */
    if (due != (first_bypass <= round) && (round < rules->rounds || agrees_after(round)))
        blame(WRONG_DUE);
    me->pushed = gba_failover_failed(me->team);
    member_notify(me);
    if (due && agrees_after(round))
        me->phase = AGREES;
}

/* Start a round, as gba_barrier_wait or gba_barrier_start. */
static gba_status_t member_start(struct member *me, uint32_t round)
{
    struct gba_team *team = me->team;
    const gba_failover_state_t state = gba_failover_state(team);
    uint64_t *first_bypassed = &team->failover.facts.first_bypassed, known = *first_bypassed;
    const bool blocks = rules->blocking >> round & 1;
    const bool hides =
        rules->fault == OWN && state == GBA_FAILOVER_FAILED && gba_failover_leaves(team);
    const bool makes_up = rules->fault == SOON && state >= GBA_FAILOVER_FAILED;
    gba_status_t status = GBA_INPROGRESS;

    if (rules->fault == BACK && blocks && gba_failover_leaves(team)) {
        team->failover.state = GBA_FAILOVER_FAILED;
        (void)team->path->ops->start(team->path);
        return status;
    }
    if (hides || makes_up)
        *first_bypassed = hides ? UINT64_MAX : 0;
    if (blocks)
        status = team->attempt(team->path);
    if (!blocks || status == GBA_ERR_BUSY)
        (void)gba_barrier_start(team);
    if (hides || makes_up)
        *first_bypassed = known;
    return status;
}

static void member_begin(struct member *me)
{
    uint32_t round = round_of(me) + 1;
    uint32_t before = me->rang;
    gba_status_t status = member_start(me, round);
    /* A domain leader may arrive at the device later in the round. */
    const bool bypasses = rules->single > 0 ? gba_failover_state(me->team) == GBA_FAILOVER_BYPASSING
                                            : me->rang == before;

    if (bypasses && first_bypass > round && gba_failover_state(me->team) != GBA_FAILOVER_DEGRADED)
        first_bypass = (uint8_t)round;
    if (me->rang == before && rules->fault == BOLD) {
        me->state->sequence = round;
        gba_state_arrive(me->state);
    }
    if (rules->fault == STALE)
        me->team->attempt = attempt_alive;
    if (status == GBA_OK) {
        me->team->rounds++;
        if (gba_failover_failed(me->team) && rules->fault != STALE)
            gba_barrier_init(me->team);
        member_completed(me);
    } else {
        me->team->under_way = true;
    }
}

/* Whether a member completes a round by a fault. */
static bool fault_completes(const struct member *me)
{
    const struct gba_team *team = me->team;

    if (rules->fault == UNREAD && gba_failover_state(team) == GBA_FAILOVER_DEGRADED)
        return 2 * team->degraded.algo.distance >= rules->size;
    for (uint32_t m = 0; rules->fault == HASTY && m < rules->size; m++)
        if (gba_failover_failed(team) && m != team->rank &&
            team->failover.facts.members[m].arrived >= entered_of(me))
            return true;
    return false;
}

static gba_status_t member_test(struct member *me)
{
    struct gba_team *team = me->team;
    gba_status_t status;

    if (fault_completes(me)) {
        team->under_way = false;
        team->rounds++;
        return GBA_OK;
    }
    status = gba_barrier_test(team);
    if (rules->fault == STALE)
        team->attempt = attempt_alive;
    return status;
}

/* Begin the next round, or test the current one; leave after the last one. */
static void member_step(struct member *me)
{
    if (me->team->under_way) {
        if (member_test(me) == GBA_OK)
            member_completed(me);
    } else if (round_of(me) < rules->rounds) {
        member_begin(me);
    } else {
        gba_failover_close(me->team);
        me->phase = LEFT;
    }
}

/* The notification that a member sends with a fault. Returns whether it sends it. */
static bool fault_sends(const struct member *me, gba_notification_t *notification, uint32_t to)
{
    const uint32_t rank = me->team->rank, parent = gba_tree_parent(rank);

    if (rules->fault == MUTE)
        notification->first_bypassed = UINT64_MAX;
    if (rules->fault == ALONE && notification->completed)
        notification->first_bypassed = UINT64_MAX;
    if (notification->completed)
        return rules->fault != UNASKED;
    if (rules->fault == UPWARD && to != parent)
        return false;
    if (to != parent || gba_tree_members(rank, rules->size) == 1)
        return true;
    if (rules->fault == UNCOVERED)
        notification->members = 1;
    if (rules->fault == BARE && notification->members > 1)
        notification->first_bypassed = UINT64_MAX;
    if (rules->fault == COVER)
        notification->members = gba_tree_members(rank, rules->size);
    return true;
}

/* Send what the member owes, as the runtime does when a barrier returns GBA_ERR_DEAD, and after it.
 */
static void member_notify(struct member *me)
{
    gba_notification_t notification;
    uint32_t to;

    while (gba_team_notification(me->team, &notification, &to) == GBA_OK)
        if (fault_sends(me, &notification, to))
            message_post(&notification, me->team->rank, to);
}

/* The watchdog of a long round (gba_watchdog_check), and the runtime's reaction to GBA_ERR_DEAD. */
static void member_watch(struct member *me)
{
    if (gone(me->team->rank))
        gba_failover_fail(me->team);
    if (rules->widens && gba_failover_failed(me->team))
        gba_failover_widen(me->team);
    member_notify(me);
}

/* --------------------------------------------------------------------------------- actions --- */

enum action_kind {
    STEP,
    WATCH,
    RELEASE,
    SIGNAL,
    DIE_ALL,
    DIE_ONE,
    DELIVER,
    REPEAT,
    ANSWER,
    OUTSIDE
};

struct action {
    uint8_t kind;
    bool must; /* certain to happen at some time */
    uint16_t index;
};

#define ACTIONS_MAX ((6u + SIGNALS_MAX) * MEMBERS_MAX + 2u * MESSAGES_MAX)

/* What a member does itself. */
static uint32_t actions_of_acting(struct action *list, uint32_t m)
{
    const struct member *me = &members[m];
    uint32_t n = 0;

    if (me->phase != PLAYS)
        return 0;
    list[n++] = (struct action){STEP, true, (uint16_t)m};
    if (me->team->under_way && (gone(m) || gba_failover_failed(me->team)))
        list[n++] = (struct action){WATCH, true, (uint16_t)m};
    return n;
}

static uint32_t actions_of_member(struct action *list, uint32_t m)
{
    const struct member *me = &members[m];
    uint32_t n = actions_of_acting(list, m);

    /* A release store in transit lands, whether the device is dead or not; but not at a member that
     * has left. */
    if (has_group(m) && gba_flag_load_relaxed(&me->flag) < device_round && me->phase != LEFT)
        list[n++] = (struct action){RELEASE, !gone(m), (uint16_t)m};
    for (uint32_t slot = 0; slot < SIGNALS_MAX && me->phase != LEFT; slot++)
        if (me->signal_landed[slot] < me->signal_sent[slot])
            list[n++] = (struct action){SIGNAL, true, (uint16_t)(m * SIGNALS_MAX + slot)};
    /* A member that knew of the failure when it completed its last round holds up no member. */
    if (rules->outside && me->phase == LEFT && me->pushed && !me->outside)
        list[n++] = (struct action){OUTSIDE, false, (uint16_t)m};
    if (m < rules->lone && has_group(m) && !gone(m))
        list[n++] = (struct action){DIE_ONE, false, (uint16_t)m};
    return n;
}

static uint32_t actions_list(struct action *list)
{
    uint32_t n = 0;

    for (uint32_t m = 0; m < rules->size; m++)
        n += actions_of_member(list + n, m);
    if (!dead)
        list[n++] = (struct action){DIE_ALL, false, 0};
    for (uint32_t i = 0; i < message_count; i++) {
        list[n++] =
            (struct action){messages[i].state == FLYING ? DELIVER : ANSWER, true, (uint16_t)i};
        if (rules->twice && messages[i].state == FLYING && !messages[i].again)
            list[n++] = (struct action){REPEAT, false, (uint16_t)i};
    }
    return n;
}

static void action_do(const struct action *action)
{
    struct message copy;

    switch (action->kind) {
    case STEP:
        member_step(&members[action->index]);
        break;
    case WATCH:
        member_watch(&members[action->index]);
        break;
    case RELEASE:
        gba_flag_store_relaxed(&members[action->index].flag, device_round);
        break;
    case SIGNAL:
        members[action->index / SIGNALS_MAX].signal_landed[action->index % SIGNALS_MAX]++;
        break;
    case DIE_ALL:
        dead = true;
        break;
    case DIE_ONE:
        members[action->index].dead = true;
        break;
    case REPEAT:
        copy = messages[action->index];
        copy.again = 1;
        messages[message_count++] = copy;
        messages[action->index].again = 1;
        break;
    case OUTSIDE:
        members[action->index].outside = true;
        break;
    case DELIVER:
        if (!members[messages[action->index].to].outside)
            message_deliver(action->index);
        break;
    default:
        if (!members[messages[action->index].to].outside)
            message_answer(action->index);
    }
}

/* Whether all members have left, or all are in the agreement. */
static bool harness_ended(void)
{
    uint32_t agree = 0, left = 0;

    for (uint32_t m = 0; m < rules->size; m++) {
        agree += members[m].phase == AGREES;
        left += members[m].phase == LEFT;
    }
    if (agree < rules->size)
        return left == rules->size;
    for (uint32_t m = 1; m < rules->size; m++)
        if (round_of(&members[m]) != round_of(&members[0]))
            blame(APART);
    return true;
}

#endif
