/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A harness for the failover of a team (gba/team/failover.c), in one thread: members with the
 * library's own barrier, a device that may die for all members or for one, and an adversary. The
 * adversary selects the next member to step, and the next store or notification to arrive, in any
 * order, late, or twice.
 *
 * Each member has its own team id here, because a process normally has one member of a team. The
 * carrier replaces the id of a notification by the receiver's.
 */
#ifndef TESTS_UNIT_RECOVER_HARNESS_H
#define TESTS_UNIT_RECOVER_HARNESS_H

#include <stdlib.h>
#include <string.h>

/* Includes the source, because the search restores its structure and its list. So the object file
 * of the library is not linked. */
#include "gba/team/failover.c" /* NOLINT(bugprone-suspicious-include) */

/* Includes the graph, which is a chain in some searches: the weakest graph that the argument
 * allows. */
#include "gba/algo/graph.h"
static bool chained;
static uint32_t some_next(uint32_t rank, uint32_t size, uint32_t *cursor);
static int some_adjacent(uint32_t a, uint32_t b, uint32_t size);
static uint32_t some_parent(uint32_t rank);
static uint32_t some_members(uint32_t rank, uint32_t size);
#define gba_graph_next     some_next
#define gba_graph_adjacent some_adjacent
#define gba_tree_parent    some_parent
#define gba_tree_members   some_members
#include "gba/team/facts.c" /* NOLINT(bugprone-suspicious-include) */
#undef gba_graph_next
#undef gba_graph_adjacent
#undef gba_tree_parent
#undef gba_tree_members

static uint32_t some_next(uint32_t rank, uint32_t size, uint32_t *cursor)
{
    if (!chained)
        return gba_graph_next(rank, size, cursor);
    for (; *cursor < 2; ++*cursor)
        if (*cursor == 0 ? rank > 0 : rank + 1 < size)
            return rank + 2 * (*cursor)++ - 1;
    return GBA_GRAPH_END;
}

static int some_adjacent(uint32_t a, uint32_t b, uint32_t size)
{
    return chained ? a + 1 == b || b + 1 == a : gba_graph_adjacent(a, b, size);
}

static uint32_t some_parent(uint32_t rank)
{
    return !chained ? gba_tree_parent(rank) : rank == 0 ? 0 : rank - 1;
}

static uint32_t some_members(uint32_t rank, uint32_t size)
{
    return chained ? size - rank : gba_tree_members(rank, size);
}

#include "gba/team/barrier.h"
#include "gba/team/path_device.h"

#define MEMBERS_MAX  16u
#define MESSAGES_MAX 4096u
#define NONE         15u /* no first_bypassed, in a message */
#define ROUNDS_MAX   12u

enum verdict {
    FINE,
    EARLY,     /* a member completed a round that another member had not begun */
    HANG,      /* no certain event is left, and a member waits */
    WRONG_DUE, /* the agreement is due for a member that bypassed no round, or the reverse */
    APART,     /* members are in the agreement with different counts of rounds */
    TOO_BIG    /* the search did not end within its limit */
};

/* The injected faults; `expected` in test_failover.c has the result of each. */
enum fault {
    NO_FAULT,
    HASTY,     /* one other member's notification counts as those of all */
    SILENT,    /* a member that has completed a round does not answer */
    GUESS,     /* a member answers for the round that it is in */
    ALONE,     /* "completed" does not carry first_bypassed */
    MUTE,      /* notifications do not carry first_bypassed */
    DEAF,      /* a notification does not make its receiver notify in turn */
    OVERWRITE, /* an older notification that comes later overwrites a newer one */
    BOLD,      /* a member that bypasses the device arrives there nevertheless */
    RASH,      /* a member that knows of the failure assumes that the agreement is due */
    STALE,     /* a member arrives again after a round that it bypassed */
    GONE,      /* a member that has left the team does not answer */
    UNASKED,   /* a member that completes a round sends no notification of its own */
    UNCOVERED, /* a member does not notify its parent of its subtree */
    COVER,     /* a member notifies its parent of its subtree before that has arrived */
    BARE,      /* that notification does not carry first_bypassed */
    UPWARD     /* a member notifies its parent only */
};

struct rules {
    uint32_t size, rounds;
    uint32_t blocking; /* bit n: round n may block, so an agreement may follow it */
    uint32_t lone;     /* the number of members for which the device may die alone */
    bool twice;        /* notifications may come twice */
    bool outside;      /* a member that has left may have left the runtime, see member_outside */
    bool chain;        /* the graph is a chain, and so is the tree */
    bool widens;       /* rounds last, so members notify those that are no neighbours, too */
    bool prompt; /* releases take no time: the last member to arrive sees its own release at once */
    enum fault fault;
};

/* FLYING: to be delivered. ASKED: delivered, and not answered yet. */
enum { FLYING, ASKED };

struct message {
    uint8_t from, to, round, first_bypassed, completed, members, state, again;
};

enum phase { PLAYS, AGREES, LEFT };

struct member {
    struct gba_team *team;
    struct gba_path_device *path;
    struct gba_local_state *state; /* of the path */
    gba_flag_t flag;
    uint32_t rang; /* its last arrival at the device */
    uint8_t phase;
    uint8_t
        pushed; /* it knew of the failure at the end of its last round, and has sent what it owed */
    bool outside;  /* it no longer receives or answers anything */
    uint8_t taken; /* its last arrival that the device has counted */
    bool dead;     /* the device does not answer this member */
};

static struct rules rules_now;
static const struct rules *const rules = &rules_now;
static struct member members[MEMBERS_MAX];
static struct message messages[MESSAGES_MAX];
static uint32_t message_count;
static bool dead;            /* for all members */
static uint8_t device_round; /* the last round that the device has completed */
static uint8_t first_bypass; /* the first round that any member bypassed; NONE */
static enum verdict verdict;
static gba_status_t (*attempt_alive)(struct gba_path_base *path);

static void blame(enum verdict v)
{
    if (verdict == FINE)
        verdict = v;
}

static uint32_t round_of(const struct member *me) /* completed */
{
    return (uint32_t)me->team->rounds;
}

static uint32_t entered_of(const struct member *me)
{
    return round_of(me) + me->team->under_way;
}

/* ---------------------------------------------------------------------------------- device --- */

/*
 * The device counts an arrival if it belongs to the current round. It counts at once, or never if
 * it is dead: a later arrival has the same effect as a later release.
 */
static void device_arrive(struct gba_membership *membership, uint64_t arrival)
{
    struct member *me = (struct member *)(void *)membership;

    me->rang = GBA_ARRIVAL_SEQ(arrival);
    if (dead || me->dead || me->rang != device_round + 1u)
        return;
    me->taken = (uint8_t)me->rang;
    for (uint32_t m = 0; m < rules->size; m++)
        if (members[m].taken <= device_round)
            return;
    device_round++;
    for (uint32_t m = 0; rules->prompt && m < rules->size; m++)
        if (!members[m].dead)
            gba_flag_store_relaxed(&members[m].flag, device_round);
}

static const struct gba_dev_ops device_ops = {.arrive = device_arrive};

static void member_open(uint32_t rank)
{
    struct member *me = &members[rank];
    struct gba_team *team = calloc(1, sizeof *team + gba_failover_bytes(rules->size));

    memset(me, 0, sizeof *me);
    me->team = team;
    me->path = aligned_alloc(64, sizeof *me->path);
    if (team == NULL || me->path == NULL)
        abort();
    *me->path =
        (struct gba_path_device){.base = {.ops = &gba_path_device_ops, .state = &me->path->state},
                                 .state = {.flag = &me->flag,
                                           .ops = &device_ops,
                                           .membership = (struct gba_membership *)(void *)me,
                                           .member = rank}};
    me->state = &me->path->state;
    team->path = &me->path->base;
    team->wait = GBA_WAIT_YIELD; /* one test */
    team->size = rules->size;
    team->rank = rank;
    gba_failover_register(team, rank + 1);
    gba_barrier_init(team);
    attempt_alive = team->attempt;
}

static void harness_open(const struct rules *r)
{
    rules_now = *r;
    chained = r->chain;
    message_count = 0;
    dead = false;
    device_round = 0;
    first_bypass = NONE;
    verdict = FINE;
    for (uint32_t m = 0; m < r->size; m++)
        member_open(m);
}

static void harness_close(void)
{
    for (uint32_t m = 0; m < rules->size; m++) {
        gba_failover_close(members[m].team);
        free(members[m].path);
        free(members[m].team);
    }
    if (registered != NULL)
        abort();
}

/* -------------------------------------------------------------------------------- messages --- */

static void message_post(const gba_notification_t *notification, uint32_t from, uint32_t to)
{
    if (message_count == MESSAGES_MAX)
        abort();
    messages[message_count++] = (struct message){
        .from = (uint8_t)from,
        .to = (uint8_t)to,
        .round = (uint8_t)notification->round,
        .first_bypassed = notification->first_bypassed == UINT64_MAX
                              ? NONE
                              : (uint8_t)notification->first_bypassed,
        .completed = (uint8_t)notification->completed,
        .members = (uint8_t)notification->members,
    };
}

static void message_drop(uint32_t index)
{
    messages[index] = messages[--message_count];
}

static gba_notification_t message_notification(const struct message *m)
{
    return (gba_notification_t){.team = m->to + 1u,
                                .round = m->round,
                                .first_bypassed =
                                    m->first_bypassed == NONE ? UINT64_MAX : m->first_bypassed,
                                .member = m->from,
                                .members = m->members,
                                .completed = m->completed};
}

static void message_deliver(uint32_t index)
{
    struct message *m = &messages[index];
    gba_notification_t notification = message_notification(m);
    struct gba_failover *failover = failover_find(notification.team);
    uint64_t before = failover != NULL ? failover->state : 0;

    (void)gba_notification_take(&notification);
    if (failover != NULL && rules->fault == DEAF)
        failover->state = before;
    if (failover != NULL && rules->fault == OVERWRITE && !m->completed)
        for (uint32_t i = m->from; i < m->from + (uint32_t)m->members; i++)
            failover->facts->members[i].arrived = m->round;
    if (m->completed)
        message_drop(index);
    else
        m->state = ASKED;
}

static void message_answer(uint32_t index)
{
    struct message *m = &messages[index];
    gba_notification_t notification = message_notification(m), answer;
    uint32_t from = m->from, to = m->to;
    gba_status_t status = gba_notification_answer(&notification, &answer);

    if (rules->fault == GUESS && status == GBA_INPROGRESS &&
        entered_of(&members[to]) >= notification.round) {
        answer = (gba_notification_t){.round = notification.round,
                                      .first_bypassed = UINT64_MAX,
                                      .members = 1,
                                      .completed = 1};
        status = GBA_OK;
    }
    if (status == GBA_INPROGRESS)
        return;
    message_drop(index);
    if (status != GBA_OK)
        return;
    if (rules->fault == SILENT || (rules->fault == GONE && members[to].phase == LEFT))
        return;
    if (rules->fault == ALONE)
        answer.first_bypassed = UINT64_MAX;
    message_post(&answer, to, from);
}

/* --------------------------------------------------------------------------------- members --- */

static void member_notify(struct member *me);

/* The check of a completed round, and the next step of the member. */
static void member_completed(struct member *me)
{
    uint32_t round = round_of(me);
    bool due =
        rules->fault == RASH ? gba_failover_failed(me->team) : gba_team_recover_due(me->team);

    for (uint32_t m = 0; m < rules->size; m++)
        if (entered_of(&members[m]) < round)
            blame(EARLY);
    /* All members have begun this round, so no member bypasses it, or an earlier one, any more. A
     * member that has left the team after the last round does not send first_bypassed, and no
     * member needs it if no agreement follows. */
    if (due != (first_bypass <= round) && (round < rules->rounds || rules->blocking >> round & 1))
        blame(WRONG_DUE);
    me->pushed = gba_failover_failed(me->team);
    member_notify(me);
    if (due && rules->blocking >> round & 1)
        me->phase = AGREES;
}

static void member_begin(struct member *me)
{
    uint32_t round = round_of(me) + 1;
    uint32_t before = me->rang;
    gba_status_t status = GBA_INPROGRESS;

    if (rules->blocking >> round & 1)
        status = me->team->attempt(me->team->path); /* as gba_barrier_wait */
    if (!(rules->blocking >> round & 1) || status == GBA_ERR_BUSY)
        (void)gba_barrier_start(me->team);
    if (me->rang == before && first_bypass > round)
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

static gba_status_t member_test(struct member *me)
{
    struct gba_team *team = me->team;
    gba_status_t status;

    if (rules->fault == HASTY && gba_failover_failed(team))
        for (uint32_t m = 0; m < rules->size; m++)
            if (m != team->rank && team->failover->facts->members[m].arrived >= entered_of(me)) {
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
    const uint32_t rank = me->team->rank, parent = some_parent(rank);

    if (rules->fault == MUTE)
        notification->first_bypassed = UINT64_MAX;
    if (rules->fault == ALONE && notification->completed)
        notification->first_bypassed = UINT64_MAX;
    if (notification->completed)
        return rules->fault != UNASKED;
    if (rules->fault == UPWARD && to != parent)
        return false;
    if (to != parent || some_members(rank, rules->size) == 1)
        return true;
    if (rules->fault == UNCOVERED)
        notification->members = 1;
    if (rules->fault == BARE && notification->members > 1)
        notification->first_bypassed = UINT64_MAX;
    if (rules->fault == COVER)
        notification->members = some_members(rank, rules->size);
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
    if (dead || me->dead)
        gba_failover_fail(me->team);
    if (rules->widens && gba_failover_failed(me->team))
        gba_failover_widen(me->team);
    member_notify(me);
}

/* --------------------------------------------------------------------------------- actions --- */

enum action_kind { STEP, WATCH, RELEASE, DIE_ALL, DIE_ONE, DELIVER, REPEAT, ANSWER, OUTSIDE };

struct action {
    uint8_t kind;
    bool must; /* certain to happen at some time */
    uint16_t index;
};

#define ACTIONS_MAX (6u * MEMBERS_MAX + 2u * MESSAGES_MAX)

static uint32_t actions_of_member(struct action *list, uint32_t m)
{
    const struct member *me = &members[m];
    bool gone = dead || me->dead;
    uint32_t n = 0;

    if (me->phase == PLAYS) {
        list[n++] = (struct action){STEP, true, (uint16_t)m};
        if (me->team->under_way && (gone || gba_failover_failed(me->team)))
            list[n++] = (struct action){WATCH, true, (uint16_t)m};
    }
    /* A release store in transit lands, whether the device is dead or not; but not at a member that
     * has left. */
    if (gba_flag_load_relaxed(&me->flag) < device_round && me->phase != LEFT)
        list[n++] = (struct action){RELEASE, !gone, (uint16_t)m};
    /* A member that knew of the failure when it completed its last round holds up no member. */
    if (rules->outside && me->phase == LEFT && me->pushed && !me->outside)
        list[n++] = (struct action){OUTSIDE, false, (uint16_t)m};
    if (m < rules->lone && !gone)
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
