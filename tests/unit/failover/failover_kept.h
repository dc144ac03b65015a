/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A state of failover_members.h as bytes: kept, restored, and reduced to what some later step
 * reads. The numbers in the comments are those of the argument in failover_search.h.
 */
#ifndef TESTS_UNIT_FAILOVER_KEPT_H
#define TESTS_UNIT_FAILOVER_KEPT_H

#include "failover_members.h"

/* Members of the exhaustive search, and the messages that they can have in transit. */
#define SMALL_MEMBERS  4u
#define SMALL_MESSAGES 48u
#define SMALL_SIGNALS  2u

struct kept_member {
    uint8_t phase, pushed, outside, taken, dead, flag, rang, sequence;
    uint8_t rounds, under_way, stale, state, first_bypassed, completed;
    uint8_t sending_round, sending_completed, neighbour_cursor, subtree_sent;
    uint8_t path_phase, path_sequence, held, extra_cursor;
    uint8_t seq, distance, slot; /* of the barrier over messages */
    uint8_t signal_sent[SMALL_SIGNALS], signal_landed[SMALL_SIGNALS];
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

/* Whether first_bypassed is read by no check: see (3). */
static bool bypass_unread(void)
{
    return rules->rounds == 1 && !agrees_after(1);
}

/* Whether the member does nothing any more but answer, and always the same: see (2). */
static bool member_finished(const struct member *me)
{
    return !rules->outside &&
           (me->phase == LEFT ||
            (bypass_unread() && round_of(me) == rules->rounds && !me->team->under_way));
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
    if (kept->sending_round != kept->rounds + kept->under_way ||
        kept->sending_completed == kept->under_way)
        kept->sending_round = kept->sending_completed = kept->neighbour_cursor =
            kept->extra_cursor = 0;
    if (kept->completed <= kept->rounds)
        kept->completed = 0;
    if (kept->subtree_sent <= kept->rounds)
        kept->subtree_sent = 0;
    for (uint32_t m = 0; m < SMALL_MEMBERS; m++)
        if (kept->arrived[m] <= kept->rounds)
            kept->arrived[m] = 0;
}

static void member_keep(struct kept_member *kept, const struct member *me)
{
    const struct gba_failover *failover = &me->team->failover;
    const struct gba_facts *facts = &failover->facts;
    static const struct gba_algo_state none;
    const struct gba_algo_state *algo = me->messages != NULL ? &me->messages->algo : &none;

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
        .sending_round = (uint8_t)facts->sending_round,
        .sending_completed = facts->sending_completed,
        .neighbour_cursor = (uint8_t)facts->neighbour_cursor,
        .subtree_sent = (uint8_t)facts->subtree_sent,
        .path_phase = (uint8_t)me->hybrid.phase,
        .path_sequence = (uint8_t)me->hybrid.sequence,
        .held = me->hybrid.held,
        .extra_cursor = (uint8_t)facts->extra_cursor,
        .seq = (uint8_t)algo->seq,
        .distance = (uint8_t)algo->distance,
        .slot = (uint8_t)algo->slot,
    };
    memcpy(kept->signal_sent, me->signal_sent, sizeof kept->signal_sent);
    memcpy(kept->signal_landed, me->signal_landed, sizeof kept->signal_landed);
    for (uint32_t m = 0; m < rules->size; m++) {
        kept->arrived[m] = (uint8_t)facts->members[m].arrived;
        kept->sent[m] = (uint8_t)facts->members[m].sent;
    }
    if (bypass_unread())
        kept->first_bypassed = NONE;
    if (member_finished(me))
        *kept = (struct kept_member){.phase = LEFT, .taken = me->taken, .rounds = kept->rounds};
    member_forget(kept);
}

/* Whether a message can still change anything: a member that has left takes none, and needs no
 * answer. */
static bool message_counts(const struct message *m)
{
    if (m->completed)
        return members[m->to].phase != LEFT && !member_finished(&members[m->to]);
    return m->state == FLYING ||
           (members[m->from].phase != LEFT && !member_finished(&members[m->from]));
}

/* Two messages of one text have the effect of one, and the receiver of "completed" does not read
 * who sent it. */
static void message_keep(struct kept *kept, struct message message)
{
    if (message.completed)
        message.from = 0;
    if (bypass_unread())
        message.first_bypassed = NONE;
    for (uint32_t i = 0; i < kept->count; i++)
        if (memcmp(&kept->messages[i], &message, sizeof message) == 0 && message.completed)
            return;
    if (kept->count == SMALL_MESSAGES)
        abort();
    kept->messages[kept->count++] = message;
}

static void harness_keep(struct kept *kept)
{
    memset(kept, 0, sizeof *kept);
    for (uint32_t m = 0; m < rules->size; m++)
        member_keep(&kept->members[m], &members[m]);
    kept->dead = dead;
    kept->device_round = device_round;
    kept->first_bypass = bypass_unread() ? NONE : first_bypass;
    for (uint32_t i = 0; i < message_count; i++) {
        if (message_counts(&messages[i]))
            message_keep(kept, messages[i]);
    }
    qsort(kept->messages, kept->count, sizeof messages[0], message_order);
}

static void member_restore(struct member *me, const struct kept_member *kept)
{
    struct gba_failover *failover = &me->team->failover;
    struct gba_facts *facts = &failover->facts;

    me->phase = kept->phase;
    me->pushed = kept->pushed;
    me->outside = kept->outside;
    me->taken = kept->taken;
    me->dead = kept->dead;
    gba_flag_store_relaxed(&me->flag, kept->flag);
    me->rang = kept->rang;
    me->state->sequence = kept->sequence;
    me->hybrid.phase = kept->path_phase;
    me->hybrid.sequence = kept->path_sequence;
    me->hybrid.held = kept->held;
    messages_open(me);
    if (me->messages != NULL) {
        me->messages->algo.seq = kept->seq;
        me->messages->algo.distance = kept->distance;
        me->messages->algo.slot = kept->slot;
    }
    memcpy(me->signal_sent, kept->signal_sent, sizeof kept->signal_sent);
    memcpy(me->signal_landed, kept->signal_landed, sizeof kept->signal_landed);
    me->team->rounds = kept->rounds;
    me->team->under_way = kept->under_way;
    failover->state = GBA_FAILOVER_FAILED; /* temporarily: gba_barrier_init reads it */
    if (failover->link == NULL)
        abort();
    gba_barrier_init(me->team);
    if (kept->stale)
        me->team->attempt = attempt_alive;
    failover->state = kept->state;
    facts->first_bypassed = kept->first_bypassed == NONE ? UINT64_MAX : kept->first_bypassed;
    facts->completed = kept->completed;
    facts->sending_round = kept->sending_round;
    facts->sending_completed = kept->sending_completed;
    facts->neighbour_cursor = kept->neighbour_cursor;
    facts->extra_cursor = kept->extra_cursor;
    facts->subtree_sent = kept->subtree_sent;
    for (uint32_t m = 0; m < rules->size; m++) {
        facts->members[m].arrived = kept->arrived[m];
        facts->members[m].sent = kept->sent[m];
    }
}

static void harness_restore(const struct kept *kept)
{
    /* A registration ends an earlier one; members that have left are removed again. */
    for (uint32_t m = 0; m < rules->size; m++) {
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

#endif
