/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A harness for the failover of a team (gba/failover/failover.c), in one thread: members with the
 * library's own barrier, a device that may die for all members or for one, and the messages between
 * the members. failover_members.h has what members do, and the actions of an adversary. The
 * adversary selects the next member to step, and the next store, message or notification to arrive,
 * in any order, late, or twice.
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
#include "gba/path/path_hybrid.h"

#define MEMBERS_MAX  16u
#define MESSAGES_MAX 4096u
#define NONE         15u /* no first_bypassed, in a message */
#define SIGNALS_MAX  4u  /* slots of a barrier over messages */

enum verdict {
    FINE,
    EARLY,     /* a member completed a round that another member had not begun */
    HANG,      /* no certain event is left, and a member waits */
    WRONG_DUE, /* the agreement is due for a member that bypassed no round, or the reverse */
    APART,     /* members are in the agreement with different counts of rounds */
    LEFT_OVER, /* a domain leader left a round with a message of it not sent or not read */
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
    UPWARD,    /* a member notifies its parent only */
    SOON,      /* a member is degraded as soon as it knows of the failure */
    OWN,       /* only a member that has bypassed the device itself is degraded */
    BACK,      /* a degraded member arrives at the device in a round that blocks */
    UNREAD,    /* a member leaves a degraded round before the last message to it */
    EAGER,     /* a domain leader whose device has failed does not wait for notifications */
    RUDE,      /* a domain leader whose round is complete does not wait for the other one */
    STRANGERS  /* the leaders of a domain are no neighbours */
};

struct rules {
    uint32_t size, rounds;
    uint32_t blocking; /* bit n: round n may block, so an agreement may follow it */
    uint32_t between;  /* bit n: an agreement may follow round n in any case */
    uint32_t lone;     /* the number of members for which the device may die alone */
    bool twice;        /* notifications may come twice */
    bool outside;      /* a member that has left may have left the runtime, see member_outside */
    bool chain;        /* the graph is a chain, and so is the tree */
    bool widens;       /* rounds last, so members notify those that are no neighbours, too */
    bool prompt; /* releases take no time: the last member to arrive sees its own release at once */
    bool degraded; /* rounds are degraded from the one on at whose start the agreement is due */
    /* 0, or two switch domains (path_hybrid.c): this member is alone in the second one, without a
     * group. The device is that of the first one, whose leader is member 0. */
    uint32_t single;
    enum fault fault;
};

/* FLYING: to be delivered. ASKED: delivered, and not answered yet. */
enum { FLYING, ASKED };

struct message {
    uint8_t from, to, round, first_bypassed, completed, members, state, again;
};

enum phase { PLAYS, AGREES, LEFT };

struct member {
    struct gba_transport transport; /* first: see signal_set */
    struct gba_team *team;
    struct gba_path_device device; /* the path, ... */
    struct gba_path_hybrid hybrid; /* ... or this one, with two domains */
    struct gba_local_state *state; /* of the path */
    /* The barrier over messages: of a degraded member, or of a domain leader; NULL: none. In each
     * slot, the last sequence that was sent to this member, and the last that has landed. */
    struct gba_message_barrier *messages;
    uint8_t signal_sent[SIGNALS_MAX], signal_landed[SIGNALS_MAX];
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

static bool agrees_after(uint32_t round)
{
    return (rules->blocking | rules->between) >> round & 1;
}

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

/* Whether a member has a group of the device that may die. */
static bool has_group(uint32_t m)
{
    return rules->single == 0 || m != rules->single;
}

static bool gone(uint32_t m) /* its device */
{
    return has_group(m) && (dead || members[m].dead);
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
        if (has_group(m) && members[m].taken <= device_round)
            return;
    device_round++;
    for (uint32_t m = 0; rules->prompt && m < rules->size; m++)
        if (has_group(m) && !members[m].dead)
            gba_flag_store_relaxed(&members[m].flag, device_round);
}

static const struct gba_dev_ops device_ops = {.arrive = device_arrive};

/* --------------------------------------------------------------------------------- signals --- */

/* peer: a number in the barrier. The leaders of the two domains are members 0 and `single`. */
static gba_status_t signal_set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                               uint32_t seq)
{
    (void)transport;
    members[rules->single > 0 && peer > 0 ? rules->single : peer].signal_sent[slot] = (uint8_t)seq;
    return GBA_OK;
}

static uint32_t signal_load(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    (void)parity;
    return ((struct member *)(void *)transport)->signal_landed[slot];
}

static const struct gba_transport_ops signal_ops = {.set = signal_set, .load = signal_load};

static void messages_open(struct member *me)
{
    const bool leads = rules->single > 0 && (me->team->rank == 0 || !has_group(me->team->rank));
    uint32_t rank = me->team->rank;

    me->transport.ops = &signal_ops;
    me->messages = rules->degraded ? &me->team->degraded : leads ? &me->hybrid.messages : NULL;
    if (me->messages == NULL)
        return;
    *me->messages = (struct gba_message_barrier){.algorithm = &gba_algorithms[GBA_ALGORITHM_V1],
                                                 .transport = &me->transport};
    gba_algo_init(&me->messages->algo, leads ? rank > 0 : rank, leads ? 2 : rules->size, 2, 0);
}

/* --------------------------------------------------------------------------------- members --- */

static struct gba_path_ops domain_ops;
static uint32_t domain[MEMBERS_MAX]; /* the first one */

/* The functions of the path with a fault; the linker puts the last two in their place. */
static gba_status_t domain_test(struct gba_path_base *path)
{
    if (rules->fault == EAGER)
        path->hybrid->held = false;
    return gba_path_hybrid_ops.test(path);
}

gba_status_t __real_gba_path_hybrid_withdraw(struct gba_path_hybrid *hybrid);
gba_status_t __wrap_gba_path_hybrid_withdraw(struct gba_path_hybrid *hybrid);
void __real_gba_path_hybrid_peers(const struct gba_path_hybrid *hybrid,
                                  struct gba_extra_peers *extra);
void __wrap_gba_path_hybrid_peers(const struct gba_path_hybrid *hybrid,
                                  struct gba_extra_peers *extra);

gba_status_t __wrap_gba_path_hybrid_withdraw(struct gba_path_hybrid *hybrid)
{
    return rules->fault == RUDE ? GBA_OK : __real_gba_path_hybrid_withdraw(hybrid);
}

void __wrap_gba_path_hybrid_peers(const struct gba_path_hybrid *hybrid,
                                  struct gba_extra_peers *extra)
{
    if (rules->fault != STRANGERS)
        __real_gba_path_hybrid_peers(hybrid, extra);
}

static void domains_open(void)
{
    uint32_t count = 0;

    for (uint32_t m = 0; m < rules->size; m++)
        if (has_group(m))
            domain[count++] = m;
    domain_ops = gba_path_hybrid_ops;
    domain_ops.test = domain_test;
}

static struct gba_path_base *path_open(struct member *me, uint32_t rank)
{
    const struct gba_local_state state = {.flag = &me->flag,
                                          .ops = &device_ops,
                                          .membership = (struct gba_membership *)(void *)me,
                                          .low = GBA_ARRIVAL_LOW(0, rank)};

    if (rules->single == 0) {
        me->state = &me->device.state;
        me->device = (struct gba_path_device){
            .base = {.ops = &gba_path_device_ops, .state = me->state}, .state = state};
        return &me->device.base;
    }
    me->state = &me->hybrid.state;
    me->hybrid = (struct gba_path_hybrid){.base = {.ops = &domain_ops,
                                                   .state = me->state,
                                                   .node = &me->hybrid.node,
                                                   .hybrid = &me->hybrid},
                                          .leader = true,
                                          .split = true,
                                          .leaders = has_group(rank) ? domain : &rules->single,
                                          .nodes = has_group(rank) ? rules->size - 1 : 1,
                                          .state = state};
    if (has_group(rank))
        me->hybrid.base.group = (gba_group_t *)(void *)me; /* not NULL */
    gba_node_init(&me->hybrid.node, rank);
    return &me->hybrid.base;
}

static void member_open(uint32_t rank)
{
    struct member *me = &members[rank];
    struct gba_team *team = calloc(1, gba_team_bytes(rules->size));

    memset(me, 0, sizeof *me);
    me->team = team;
    if (team == NULL)
        abort();
    team->path = path_open(me, rank);
    team->waiting.mode = GBA_WAIT_YIELD; /* one test */
    team->size = rules->size;
    team->rank = rank;
    messages_open(me);
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
    domains_open();
    for (uint32_t m = 0; m < r->size; m++)
        member_open(m);
}

static void harness_close(void)
{
    for (uint32_t m = 0; m < rules->size; m++) {
        gba_failover_close(members[m].team);
        if (members[m].team->failover.link != NULL)
            abort();
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
