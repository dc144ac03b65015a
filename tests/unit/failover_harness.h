/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A harness for the failover of a team (gba/failover/failover.c), in one thread: members with the
 * library's own barrier, a device that may die for all members or for one, and the messages between
 * the members. failover_members.h has what members do, and the actions of an adversary. The
 * adversary selects the next member to step, and the next store or notification to arrive, in any
 * order, late, or twice.
 *
 * Each member has its own team id here, because a process normally has one member of a team. The
 * carrier replaces the id of a notification by the receiver's.
 */
#ifndef TESTS_UNIT_FAILOVER_HARNESS_H
#define TESTS_UNIT_FAILOVER_HARNESS_H

#include <stdlib.h>
#include <string.h>

#include "failover_graph.h"
#include "gba/failover/failover.h"
#include "gba/team/barrier.h"
#include "gba/path/path_device.h"

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
    struct gba_team *team = calloc(1, gba_team_bytes(rules->size));

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
    team->waiting.mode = GBA_WAIT_YIELD; /* one test */
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
        if (members[m].team->failover.link != NULL)
            abort();
        free(members[m].path);
        free(members[m].team);
    }
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
    struct gba_team *team = members[notification.team - 1].team;
    struct gba_failover *failover = team->failover.link != NULL ? &team->failover : NULL;
    uint64_t before = failover != NULL ? failover->state : 0;

    (void)gba_notification_take(&notification);
    if (failover != NULL && rules->fault == DEAF)
        failover->state = before;
    if (failover != NULL && rules->fault == OVERWRITE && !m->completed)
        for (uint32_t i = m->from; i < m->from + (uint32_t)m->members; i++)
            failover->facts.members[i].arrived = m->round;
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

#endif
