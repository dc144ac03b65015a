/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two adversaries over failover_members.h: one tries all orders in a small harness, the other
 * chooses at random in a larger one.
 *
 * The search of all orders leaves out orders that find nothing new:
 *
 * (1) A member receives messages only before its own next action: step, watch or answer. To receive
 *     a message changes the receiver alone, commutes with all actions of other members, and with
 *     the receipt of other messages, because a fact is a maximum or a minimum. So in every order of
 *     events each receipt can be moved to the receiver's next action. A receipt after its last
 *     action changes nothing that is checked. Nothing can hang because of this: more facts never
 *     disable a member, so if no set of messages lets any member continue, neither do all of them.
 *
 * (2) A member that has left answers at once, and always the same. This commutes with all other
 *     actions, and nothing disables it, except that the member leaves MPI (`outside`). With (3) the
 *     same is true of a member that has completed the last round.
 *
 * (3) In a search of one round that does not block, no agreement can follow, so nothing reads
 *     first_bypassed. It is the same in all states then. Such a search checks for early exits and
 *     hangs only.
 *
 * (4) "completed" does not depend on its sender, so two of them to one member are one. What no step
 *     reads any more is cleared (member_forget), and messages that change nothing are dropped.
 */
#ifndef TESTS_UNIT_FAILOVER_SEARCH_H
#define TESTS_UNIT_FAILOVER_SEARCH_H

#include "failover_kept.h"
#include "tests/unit/search.h"

/* ------------------------------------------------------------------------------ everything --- */

/* The successor that the harness is in: whether it differs from `from`. Visits it, unless it shows
 * an error. */
static bool visit_next(struct visited *v, const struct kept *from)
{
    struct kept next;

    if (verdict != FINE)
        return true;
    harness_keep(&next);
    if (memcmp(&next, from, sizeof next) == 0)
        return false;
    visit_bytes(v, &next);
    return true;
}

/* Whether a member that has finished has a message to answer: see (2). If so, visits the successor.
 */
static bool expand_finished(struct visited *v, const struct kept *from)
{
    harness_restore(from);
    for (uint32_t i = message_count; i-- > 0;)
        if (member_finished(&members[messages[i].to])) {
            if (messages[i].state == FLYING)
                message_deliver(i);
            message_answer(i);
            return visit_next(v, from);
        }
    return false;
}

/* The actions of member m in the state `received`, in which it has received some messages. Returns
 * whether any of them changes something. */
static bool expand_received(struct visited *v, const struct kept *received, uint32_t m)
{
    struct action list[2];
    bool any = false;
    uint32_t acts;

    harness_restore(received);
    acts = actions_of_acting(list, m);
    for (uint32_t i = 0; i < acts && verdict == FINE; i++) {
        harness_restore(received);
        action_do(&list[i]);
        any |= visit_next(v, received);
    }
    for (uint32_t i = 0; i < received->count && verdict == FINE; i++) {
        if (received->messages[i].to != m || received->messages[i].state != ASKED)
            continue;
        harness_restore(received);
        message_answer(i);
        any |= visit_next(v, received);
    }
    return any;
}

/* Each set of the messages to member m, received, and then one action of m: see (1). */
static bool expand_member(struct visited *v, const struct kept *from, uint32_t m)
{
    uint32_t flying[SMALL_MESSAGES], count = 0;
    struct kept received;
    bool any = false;

    if (from->members[m].outside)
        return false;
    for (uint32_t i = 0; i < from->count; i++)
        if (from->messages[i].to == m && from->messages[i].state == FLYING)
            flying[count++] = i;
    for (uint32_t set = 0; set < 1u << count && verdict == FINE; set++) {
        harness_restore(from);
        /* From the end, because the last message replaces a dropped one. */
        for (uint32_t i = count; i-- > 0;)
            if (set >> i & 1)
                message_deliver(flying[i]);
        harness_keep(&received);
        any |= expand_received(v, &received, m);
    }
    return any;
}

/* Visit the successors of `from`. Returns whether any of them is certain to happen. */
static bool expand(struct visited *v, const struct kept *from)
{
    static struct action list[ACTIONS_MAX];
    bool any = false;
    uint32_t count;

    if (expand_finished(v, from))
        return true;
    harness_restore(from);
    count = actions_list(list);
    for (uint32_t i = 0; i < count && verdict == FINE; i++) {
        if (list[i].kind == STEP || list[i].kind == WATCH || list[i].kind == DELIVER ||
            list[i].kind == ANSWER)
            continue;
        harness_restore(from);
        action_do(&list[i]);
        any |= visit_next(v, from) && list[i].must;
    }
    for (uint32_t m = 0; m < rules->size && verdict == FINE; m++)
        any |= expand_member(v, from, m);
    return any;
}

/* Try every order of events. `states`: receives the number of states, up to `limit`. */
static enum verdict search_all(const struct rules *r, uint32_t limit, uint32_t *states)
{
    struct visited v;
    enum verdict found = FINE;
    struct kept from;

    visited_open(&v, sizeof from, limit);
    harness_open(r);
    harness_keep(&from);
    visit_bytes(&v, &from);
    while (found == FINE && visited_next(&v, &from)) {
        bool any, ended;

        any = expand(&v, &from);
        found = verdict;
        if (found != FINE)
            break;
        harness_restore(&from);
        ended = harness_ended();
        found = verdict;
        if (found == FINE && !any && !ended)
            found = HANG;
        if (found == FINE && v.states >= limit)
            found = TOO_BIG;
    }
    *states = v.states;
    visited_close(&v);
    harness_close();
    return found;
}

/* ------------------------------------------------------------------------------------ dice --- */

static uint32_t dice(uint32_t sides)
{
    return (uint32_t)((uint64_t)dice_bits() * sides >> 31);
}

/* A sum that changes with every action of a member or a message. */
static uint64_t harness_mark(void)
{
    uint64_t mark = message_count + device_round * 31u;

    for (uint32_t m = 0; m < rules->size; m++) {
        const struct member *me = &members[m];

        mark = mark * 1000003u + round_of(me) * 64 + me->team->under_way * 32u + me->phase * 8u +
               me->outside * 4096u;
        mark = mark * 1000003u + gba_flag_load_relaxed(&me->flag) * 64 + me->rang;
        mark = mark * 1000003u + me->hybrid.phase;
        for (uint32_t slot = 0; slot < SIGNALS_MAX; slot++)
            mark = mark * 31u + me->signal_landed[slot];
    }
    for (uint32_t i = 0; i < message_count; i++)
        mark += messages[i].state;
    return mark;
}

/* Whether the events that are certain to happen change anything. */
static bool anything_moves(void)
{
    static struct action list[ACTIONS_MAX];
    uint64_t mark = harness_mark();
    uint32_t count = actions_list(list);

    /* From the end, because an action replaces a dropped message by the last one. */
    for (uint32_t i = count; i-- > 0;) {
        if (!list[i].must)
            continue;
        action_do(&list[i]);
        if (harness_mark() != mark)
            return true;
    }
    return false;
}

/* The bias of the adversary, drawn anew for each run. */
struct leaning {
    uint32_t dies;      /* of the optional events, one in this number happens */
    uint32_t favourite; /* the member that steps most often */
    uint32_t favour;    /* choices of the favourite, of 100 */
    uint32_t slow;      /* of 100 notifications and stores, the number that is postponed */
};

static bool leaning_skips(const struct leaning *lean, const struct action *action)
{
    switch (action->kind) {
    case STEP:
    case WATCH:
        return action->index != lean->favourite && dice(100) < lean->favour;
    case DIE_ALL:
    case DIE_ONE:
    case REPEAT:
        return dice(lean->dies) != 0;
    default:
        return dice(100) < lean->slow;
    }
}

static enum verdict search_dice(const struct rules *r, uint64_t seed)
{
    static struct action list[ACTIONS_MAX];
    struct leaning lean;
    uint32_t idle = 0;

    dice_seed(seed);
    harness_open(r);
    lean.dies = 1u << (2 + dice(8));
    lean.favourite = dice(r->size);
    lean.favour = dice(2) ? dice(98) : 0;
    lean.slow = dice(99);
    while (verdict == FINE && !harness_ended()) {
        uint64_t mark = harness_mark();
        const struct action *action = &list[dice(actions_list(list))];

        if (!leaning_skips(&lean, action))
            action_do(action);
        idle = harness_mark() == mark ? idle + 1 : 0;
        if (verdict == FINE && idle > 1000) {
            idle = 0;
            if (!harness_ended() && !anything_moves() && verdict == FINE)
                blame(HANG);
        }
    }
    harness_close();
    return verdict;
}

#endif
