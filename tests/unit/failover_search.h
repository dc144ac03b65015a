/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two adversaries over failover_harness.h: one tries all orders in a small harness, the other
 * chooses at random in a larger one.
 */
#ifndef TESTS_UNIT_RECOVER_SEARCH_H
#define TESTS_UNIT_RECOVER_SEARCH_H

#include "failover_harness.h"
#include "search.h"

/* ---------------------------------------------------------------------------- a state kept --- */

/* Members of the exhaustive search, and the messages that they can have in transit. */
#define SMALL_MEMBERS  4u
#define SMALL_MESSAGES 48u

struct kept_member {
    uint8_t phase, pushed, outside, taken, dead, flag, rang, sequence;
    uint8_t rounds, under_way, stale, state, first_bypassed, completed;
    uint8_t sweep_round, sweep_completed, cursor, covered;
    uint8_t arrived[SMALL_MEMBERS], sent[SMALL_MEMBERS];
};

/* All state that can change, as bytes, so that equal states are equal bytes. */
struct kept {
    struct kept_member members[SMALL_MEMBERS];
    uint8_t dead, device_round, first_bypass, count;
    struct message messages[SMALL_MESSAGES];
};

static int message_order(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct message));
}

/* Clear what no step reads any more, so that fewer states differ. */
static void member_forget(struct kept_member *kept)
{
    if (kept->phase == LEFT) {
        *kept = (struct kept_member){.phase = LEFT,
                                     .pushed = kept->pushed,
                                     .outside = kept->outside,
                                     .taken = kept->taken,
                                     .dead = kept->dead,
                                     .flag = kept->flag,
                                     .rang = kept->rang,
                                     .sequence = kept->sequence,
                                     .rounds = kept->rounds};
        return;
    }
    if (kept->sweep_round != kept->rounds + kept->under_way ||
        kept->sweep_completed == kept->under_way)
        kept->sweep_round = kept->sweep_completed = kept->cursor = 0;
    if (kept->completed <= kept->rounds)
        kept->completed = 0;
    if (kept->covered <= kept->rounds)
        kept->covered = 0;
    for (uint32_t m = 0; m < SMALL_MEMBERS; m++)
        if (kept->arrived[m] <= kept->rounds)
            kept->arrived[m] = 0;
}

static void member_keep(struct kept_member *kept, const struct member *me)
{
    const struct gba_failover *failover = (const struct gba_failover *)(me->team + 1);
    const struct gba_facts *facts = failover->facts;

    *kept = (struct kept_member){
        .phase = me->phase,
        .pushed = me->pushed,
        .outside = me->outside,
        .taken = me->taken,
        .dead = me->dead,
        .flag = (uint8_t)gba_flag_load_relaxed(&me->flag),
        .rang = (uint8_t)me->rang,
        .sequence = (uint8_t)me->state->sequence,
        .rounds = (uint8_t)round_of(me),
        .under_way = me->team->under_way,
        .stale = me->team->attempt == attempt_alive,
        .state = (uint8_t)failover->state,
        .first_bypassed =
            facts->first_bypassed == UINT64_MAX ? NONE : (uint8_t)facts->first_bypassed,
        .completed = (uint8_t)facts->completed,
        .sweep_round = (uint8_t)facts->sweep_round,
        .sweep_completed = facts->sweep_completed,
        .cursor = (uint8_t)facts->cursor,
        .covered = (uint8_t)facts->covered,
    };
    for (uint32_t m = 0; m < rules->size; m++) {
        kept->arrived[m] = (uint8_t)facts->members[m].arrived;
        kept->sent[m] = (uint8_t)facts->members[m].sent;
    }
    member_forget(kept);
}

/* Whether a message can still change anything: a member that has left takes none, and needs no
 * answer. */
static bool message_counts(const struct message *m)
{
    if (m->completed)
        return members[m->to].phase != LEFT;
    return m->state == FLYING || members[m->from].phase != LEFT;
}

static void harness_keep(struct kept *kept)
{
    memset(kept, 0, sizeof *kept);
    for (uint32_t m = 0; m < rules->size; m++)
        member_keep(&kept->members[m], &members[m]);
    kept->dead = dead;
    kept->device_round = device_round;
    kept->first_bypass = first_bypass;
    for (uint32_t i = 0; i < message_count; i++) {
        if (!message_counts(&messages[i]))
            continue;
        if (kept->count == SMALL_MESSAGES)
            abort();
        kept->messages[kept->count++] = messages[i];
    }
    qsort(kept->messages, kept->count, sizeof messages[0], message_order);
}

static void member_restore(struct member *me, const struct kept_member *kept)
{
    struct gba_failover *failover = (struct gba_failover *)(void *)(me->team + 1);
    struct gba_facts *facts = failover->facts;

    me->phase = kept->phase;
    me->pushed = kept->pushed;
    me->outside = kept->outside;
    me->taken = kept->taken;
    me->dead = kept->dead;
    gba_flag_store_relaxed(&me->flag, kept->flag);
    me->rang = kept->rang;
    me->state->sequence = kept->sequence;
    me->team->rounds = kept->rounds;
    me->team->under_way = kept->under_way;
    failover->state = GBA_FAILOVER_FAILED; /* temporarily: gba_barrier_init reads it */
    me->team->failover = failover;
    if (failover->link == NULL)
        abort();
    gba_barrier_init(me->team);
    if (kept->stale)
        me->team->attempt = attempt_alive;
    failover->state = kept->state;
    facts->first_bypassed = kept->first_bypassed == NONE ? UINT64_MAX : kept->first_bypassed;
    facts->completed = kept->completed;
    facts->sweep_round = kept->sweep_round;
    facts->sweep_completed = kept->sweep_completed;
    facts->cursor = kept->cursor;
    facts->covered = kept->covered;
    for (uint32_t m = 0; m < rules->size; m++) {
        facts->members[m].arrived = kept->arrived[m];
        facts->members[m].sent = kept->sent[m];
    }
}

static void harness_restore(const struct kept *kept)
{
    /* Rebuild the list of registered teams; members that have left are removed again. */
    registered = NULL;
    for (uint32_t m = 0; m < rules->size; m++) {
        members[m].team->failover = (struct gba_failover *)(void *)(members[m].team + 1);
        gba_failover_register(members[m].team, m + 1);
        member_restore(&members[m], &kept->members[m]);
        if (members[m].phase == LEFT)
            gba_failover_close(members[m].team);
    }
    dead = kept->dead;
    device_round = kept->device_round;
    first_bypass = kept->first_bypass;
    message_count = kept->count;
    memcpy(messages, kept->messages, message_count * sizeof messages[0]);
    verdict = FINE;
}

/* ------------------------------------------------------------------------------ everything --- */

/* FNV-1a. Two of 2^22 states have one hash with a probability of 2^-20. Such a collision could only
 * hide an error. */
static uint64_t kept_hash(const struct kept *kept)
{
    size_t bytes = offsetof(struct kept, messages) + kept->count * sizeof kept->messages[0];
    uint64_t hash = 14695981039346656037ull;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)kept)[i]) * 1099511628211ull;
    hash ^= hash >> 29;
    return hash == 0 ? 1 : hash;
}

/* Visit all successors of `from`. Returns whether any of them is certain to happen. */
static bool expand(struct visited *v, const struct kept *from)
{
    static struct action list[ACTIONS_MAX];
    struct kept next;
    bool any = false;
    uint32_t count;

    harness_restore(from);
    count = actions_list(list);
    for (uint32_t i = 0; i < count; i++) {
        harness_restore(from);
        action_do(&list[i]);
        if (verdict != FINE)
            return true;
        harness_keep(&next);
        if (memcmp(&next, from, sizeof next) == 0)
            continue;
        any |= list[i].must;
        visit(v, &next, kept_hash(&next));
    }
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
    visit(&v, &from, kept_hash(&from));
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
