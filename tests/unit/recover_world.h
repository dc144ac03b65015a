/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world for the end of rounds of a dead device (gba/recover.c), in one thread: members with the
 * library's own barrier, a device that may die for all or for one, and an adversary that decides
 * who takes the next step and which store or notice comes next, in any order, late, or twice.
 *
 * Each member has a team with an id of its own here, since a process has one member of a team: the
 * carrier puts the receiver's id on a notice.
 */
#ifndef TESTS_UNIT_RECOVER_WORLD_H
#define TESTS_UNIT_RECOVER_WORLD_H

#include <stdlib.h>
#include <string.h>

/* With it its structure and its list, which the search sets back; and so the library's object file
 * of it is not taken. */
#include "gba/recover.c" /* NOLINT(bugprone-suspicious-include) */

#define MEMBERS_MAX  8u
#define MESSAGES_MAX 1024u
#define NONE         15u /* `since` of nobody, in a message */
#define ROUNDS_MAX   12u

enum verdict {
    FINE,
    EARLY,     /* a member completed a round that somebody had not begun */
    HANG,      /* nothing is left that must happen, and somebody waits */
    WRONG_DUE, /* the agreement is due for a member that began no round aside, or the reverse */
    APART,     /* members are in the agreement with different counts of rounds */
    TOO_BIG    /* the search did not end within its limit */
};

/* What is done wrong on purpose: `expected` in test_recover.c says what becomes of it. */
enum fault {
    NO_FAULT,
    HASTY,     /* one other member's notice is taken for those of all */
    SILENT,    /* whoever has completed a round does not answer */
    GUESS,     /* a member that is in a round answers for it */
    ALONE,     /* nothing is said in answers of who is aside */
    MUTE,      /* nothing is said of it in notices */
    DEAF,      /* a notice does not make a member tell in its turn */
    OVERWRITE, /* an older notice that comes later undoes a newer one */
    BOLD,      /* who is aside arrives at the device nevertheless */
    RASH,      /* who knows that the device is lost takes the agreement to be due */
    STALE,     /* after a round aside one arrives at the device again */
    GONE       /* who has left the team does not answer */
};

struct rules {
    uint32_t size, rounds;
    uint32_t blocking; /* bit n: round n may block, so there may be an agreement at its end */
    uint32_t lone;     /* for that many of them the device may die alone */
    bool twice;        /* notices may come twice */
    bool prompt;       /* releases take no time: the last one to arrive sees its own at once */
    enum fault fault;
};

/* FLYING: to be delivered; ASKED: has been, and waits for an answer. */
enum { FLYING, ASKED };

struct message {
    uint8_t from, to, round, since, over, state, again;
};

enum phase { PLAYS, AGREES, LEFT };

struct member {
    struct gba_team *team;
    struct gba_local_state *state;
    gba_word_t flag;
    uint32_t rang; /* its last arrival at the device */
    uint8_t phase;
    uint8_t told;  /* the last round that it told the others */
    uint8_t taken; /* its last arrival that the device has counted */
    bool dead;     /* the device does not answer this member any more */
};

static struct rules rules_now;
static const struct rules *const rules = &rules_now;
static struct member members[MEMBERS_MAX];
static struct message messages[MESSAGES_MAX];
static uint32_t message_count;
static bool dead;            /* for all */
static uint8_t device_round; /* the last that the device has ended */
static uint8_t first_aside;  /* the first round that somebody began aside; NONE */
static enum verdict verdict;
static gba_status_t (*attempt_alive)(struct gba_team *team);

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
 * The device counts an arrival if it is one at the round under way. At once, or never, where it is
 * dead: a later arrival is no different from a release that comes later.
 */
static void device_arrive(struct gba_seat *seat, uint64_t arrival)
{
    struct member *me = (struct member *)(void *)seat;

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
            members[m].flag = device_round;
}

static const struct gba_dev_ops device_ops = {.arrive = device_arrive};

static void member_open(uint32_t rank)
{
    struct member *me = &members[rank];
    struct gba_team *team = calloc(1, sizeof *team + gba_recovery_bytes(rules->size));

    memset(me, 0, sizeof *me);
    me->team = team;
    me->state = aligned_alloc(64, sizeof *me->state);
    if (team == NULL || me->state == NULL)
        abort();
    memset(me->state, 0, sizeof *me->state);
    me->state->flag = &me->flag;
    me->state->ops = &device_ops;
    me->state->seat = (struct gba_seat *)(void *)me;
    me->state->member = rank;
    team->state = me->state;
    team->path = GBA_PATH_SIM;
    team->wait = GBA_WAIT_YIELD; /* one look */
    team->size = rules->size;
    team->rank = rank;
    gba_recovery_register(team, rank + 1);
    gba_wait_init(team);
    attempt_alive = team->attempt;
}

static void world_open(const struct rules *r)
{
    rules_now = *r;
    message_count = 0;
    dead = false;
    device_round = 0;
    first_aside = NONE;
    verdict = FINE;
    for (uint32_t m = 0; m < r->size; m++)
        member_open(m);
}

static void world_close(void)
{
    for (uint32_t m = 0; m < rules->size; m++) {
        gba_recovery_end(members[m].team);
        free(members[m].state);
        free(members[m].team);
    }
    if (registered != NULL)
        abort();
}

/* -------------------------------------------------------------------------------- messages --- */

static void message_post(const gba_notice_t *notice, uint32_t from, uint32_t to)
{
    if (message_count == MESSAGES_MAX)
        abort();
    messages[message_count++] = (struct message){
        .from = (uint8_t)from,
        .to = (uint8_t)to,
        .round = (uint8_t)notice->round,
        .since = notice->since == UINT64_MAX ? NONE : (uint8_t)notice->since,
        .over = (uint8_t)notice->over,
    };
}

static void message_drop(uint32_t index)
{
    messages[index] = messages[--message_count];
}

static gba_notice_t message_notice(const struct message *m)
{
    return (gba_notice_t){.team = m->to + 1u,
                          .round = m->round,
                          .since = m->since == NONE ? UINT64_MAX : m->since,
                          .member = m->from,
                          .over = m->over};
}

static void message_deliver(uint32_t index)
{
    struct message *m = &messages[index];
    gba_notice_t notice = message_notice(m);
    struct gba_recovery *recovery = recovery_find(notice.team);
    uint64_t lost = recovery != NULL ? recovery->lost : 0;

    (void)gba_notice_take(&notice);
    if (recovery != NULL && rules->fault == DEAF)
        recovery->lost = lost;
    if (recovery != NULL && rules->fault == OVERWRITE && !m->over)
        recovery->arrived[m->from] = m->round;
    if (m->over)
        message_drop(index);
    else
        m->state = ASKED;
}

static void message_answer(uint32_t index)
{
    struct message *m = &messages[index];
    gba_notice_t notice = message_notice(m), answer;
    uint32_t from = m->from, to = m->to;
    gba_status_t status = gba_notice_answer(&notice, &answer);

    if (rules->fault == GUESS && status == GBA_INPROGRESS &&
        entered_of(&members[to]) >= notice.round) {
        answer = (gba_notice_t){.round = notice.round, .since = UINT64_MAX, .over = 1};
        status = GBA_OK;
    }
    if (status != GBA_OK)
        return;
    message_drop(index);
    if (rules->fault == SILENT || (rules->fault == GONE && members[to].phase == LEFT))
        return;
    if (rules->fault == ALONE)
        answer.since = UINT64_MAX;
    message_post(&answer, to, from);
}

/* --------------------------------------------------------------------------------- members --- */

/* The questions of all questions, and what the member does next. */
static void member_completed(struct member *me)
{
    uint32_t round = round_of(me);
    bool due = rules->fault == RASH ? gba_recovery_lost(me->team) : gba_team_recover_due(me->team);

    for (uint32_t m = 0; m < rules->size; m++)
        if (entered_of(&members[m]) < round)
            blame(EARLY);
    /* All have begun this round, so nobody goes aside in it, or before it, any more. In the last
     * one who has left the team says nothing of that, and nobody needs it if no agreement follows.
     */
    if (due != (first_aside <= round) && (round < rules->rounds || rules->blocking >> round & 1))
        blame(WRONG_DUE);
    if (due && rules->blocking >> round & 1)
        me->phase = AGREES;
}

static void member_begin(struct member *me)
{
    uint32_t round = round_of(me) + 1;
    uint32_t before = me->rang;
    gba_status_t status = GBA_INPROGRESS;

    if (rules->blocking >> round & 1)
        status = me->team->attempt(me->team); /* as gba_barrier_wait does */
    else
        (void)gba_barrier_start(me->team);
    if (me->rang == before && first_aside > round)
        first_aside = (uint8_t)round;
    if (me->rang == before && rules->fault == BOLD) {
        me->state->sequence = round;
        gba_state_arrive(me->state);
    }
    if (rules->fault == STALE)
        me->team->attempt = attempt_alive;
    if (status == GBA_OK) {
        me->team->rounds++;
        member_completed(me);
    } else {
        me->team->under_way = true;
    }
}

static gba_status_t member_test(struct member *me)
{
    struct gba_team *team = me->team;
    gba_status_t status;

    if (rules->fault == HASTY && gba_recovery_lost(team))
        for (uint32_t m = 0; m < rules->size; m++)
            if (m != team->rank && team->recovery->arrived[m] >= entered_of(me)) {
                team->under_way = false;
                team->rounds++;
                return GBA_OK;
            }
    status = gba_barrier_test(team);
    if (rules->fault == STALE)
        team->attempt = attempt_alive;
    return status;
}

/* Begin the next round, or look at the one under way; leave after the last one. */
static void member_step(struct member *me)
{
    if (me->team->under_way) {
        if (member_test(me) == GBA_OK)
            member_completed(me);
    } else if (round_of(me) < rules->rounds) {
        member_begin(me);
    } else {
        gba_recovery_end(me->team);
        me->phase = LEFT;
    }
}

/* The watchdog of a round that lasts (gba_watch), and what the runtime does when that says DEAD. */
static void member_watch(struct member *me)
{
    gba_notice_t notice;

    if (dead || me->dead)
        gba_recovery_lose(me->team);
    if (!gba_recovery_lost(me->team))
        return;
    if (gba_team_notice(me->team, &notice) != GBA_OK || notice.round <= me->told)
        return;
    me->told = (uint8_t)notice.round;
    if (rules->fault == MUTE)
        notice.since = UINT64_MAX;
    for (uint32_t m = 0; m < rules->size; m++)
        if (m != me->team->rank)
            message_post(&notice, me->team->rank, m);
}

/* --------------------------------------------------------------------------------- actions --- */

enum action_kind { STEP, WATCH, RELEASE, DIE_ALL, DIE_ONE, DELIVER, REPEAT, ANSWER };

struct action {
    uint8_t kind;
    bool must; /* happens sooner or later by itself */
    uint16_t index;
};

#define ACTIONS_MAX (5u * MEMBERS_MAX + 2u * MESSAGES_MAX)

static uint32_t actions_of_member(struct action *list, uint32_t m)
{
    const struct member *me = &members[m];
    bool gone = dead || me->dead;
    uint32_t n = 0;

    if (me->phase == PLAYS) {
        list[n++] = (struct action){STEP, true, (uint16_t)m};
        if (me->team->under_way && (gone || gba_recovery_lost(me->team)))
            list[n++] = (struct action){WATCH, true, (uint16_t)m};
    }
    /* A release store that was under way lands, be the device dead or not; but not at a member that
     * has left. */
    if (me->flag < device_round && me->phase != LEFT)
        list[n++] = (struct action){RELEASE, !gone, (uint16_t)m};
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
        members[action->index].flag = device_round;
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
    case DELIVER:
        message_deliver(action->index);
        break;
    default:
        message_answer(action->index);
    }
}

/* All have left, or all are in the agreement. */
static bool world_ended(void)
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
