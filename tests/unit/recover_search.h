/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two adversaries over recover_world.h: one tries everything in a small world, one throws dice in a
 * larger one.
 */
#ifndef TESTS_UNIT_RECOVER_SEARCH_H
#define TESTS_UNIT_RECOVER_SEARCH_H

#include "recover_world.h"
#include "search.h"

/* ----------------------------------------------------------------------------- a world kept --- */

/* Members of the exhaustive search, and the messages that they can have under way: in each round
 * each tells the others once, and an answer takes the place of its question; or twice. */
#define SMALL_MEMBERS  3u
#define SMALL_MESSAGES 48u

struct kept_member {
    uint8_t phase, told, taken, dead, flag, rang, sequence;
    uint8_t rounds, under_way, stale, lost, aside, since, over;
    uint8_t arrived[SMALL_MEMBERS];
};

/* All that can change, in bytes, so that equal worlds are equal bytes. */
struct kept {
    struct kept_member members[SMALL_MEMBERS];
    uint8_t dead, device_round, first_aside, count;
    struct message messages[SMALL_MESSAGES];
};

static int message_order(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct message));
}

static void member_keep(struct kept_member *kept, const struct member *me)
{
    const struct gba_recovery *recovery = (const struct gba_recovery *)(me->team + 1);

    *kept = (struct kept_member){
        .phase = me->phase,
        .told = me->told,
        .taken = me->taken,
        .dead = me->dead,
        .flag = (uint8_t)me->flag,
        .rang = (uint8_t)me->rang,
        .sequence = (uint8_t)me->state->sequence,
        .rounds = (uint8_t)round_of(me),
        .under_way = me->team->under_way,
        .stale = me->team->attempt == attempt_alive,
        .lost = (uint8_t)recovery->lost,
        .aside = recovery->aside,
        .since = recovery->since == UINT64_MAX ? NONE : (uint8_t)recovery->since,
        .over = (uint8_t)recovery->over,
    };
    for (uint32_t m = 0; m < rules->size; m++)
        kept->arrived[m] = (uint8_t)recovery->arrived[m];
}

static void world_keep(struct kept *kept)
{
    memset(kept, 0, sizeof *kept);
    for (uint32_t m = 0; m < rules->size; m++)
        member_keep(&kept->members[m], &members[m]);
    kept->dead = dead;
    kept->device_round = device_round;
    kept->first_aside = first_aside;
    if (message_count > SMALL_MESSAGES)
        abort();
    kept->count = (uint8_t)message_count;
    memcpy(kept->messages, messages, message_count * sizeof messages[0]);
    qsort(kept->messages, message_count, sizeof messages[0], message_order);
}

static void member_restore(struct member *me, const struct kept_member *kept)
{
    struct gba_recovery *recovery = (struct gba_recovery *)(void *)(me->team + 1);

    me->phase = kept->phase;
    me->told = kept->told;
    me->taken = kept->taken;
    me->dead = kept->dead;
    me->flag = kept->flag;
    me->rang = kept->rang;
    me->state->sequence = kept->sequence;
    me->team->rounds = kept->rounds;
    me->team->under_way = kept->under_way;
    recovery->lost = 1; /* for a moment: then this chooses what is for a lost team */
    me->team->recovery = recovery;
    if (recovery->link == NULL)
        abort();
    gba_wait_init(me->team);
    if (kept->stale)
        me->team->attempt = attempt_alive;
    recovery->lost = kept->lost;
    recovery->aside = kept->aside;
    recovery->since = kept->since == NONE ? UINT64_MAX : kept->since;
    recovery->over = kept->over;
    for (uint32_t m = 0; m < rules->size; m++)
        recovery->arrived[m] = kept->arrived[m];
}

static void world_restore(const struct kept *kept)
{
    /* The list of those registered, with those that have left again. */
    registered = NULL;
    for (uint32_t m = 0; m < rules->size; m++) {
        members[m].team->recovery = (struct gba_recovery *)(void *)(members[m].team + 1);
        gba_recovery_register(members[m].team, m + 1);
        member_restore(&members[m], &kept->members[m]);
        if (members[m].phase == LEFT)
            gba_recovery_end(members[m].team);
    }
    dead = kept->dead;
    device_round = kept->device_round;
    first_aside = kept->first_aside;
    message_count = kept->count;
    memcpy(messages, kept->messages, message_count * sizeof messages[0]);
    verdict = FINE;
}

/* ------------------------------------------------------------------------------ everything --- */

/* FNV-1a. Two worlds of 2^22 with one hash: odds of 2^-20; an error could only hide. */
static uint64_t kept_hash(const struct kept *kept)
{
    size_t bytes = offsetof(struct kept, messages) + kept->count * sizeof kept->messages[0];
    uint64_t hash = 14695981039346656037ull;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)kept)[i]) * 1099511628211ull;
    hash ^= hash >> 29;
    return hash == 0 ? 1 : hash;
}

/* All that can happen next in `from`. Returns whether anything is bound to. */
static bool expand(struct visited *v, const struct kept *from)
{
    static struct action list[ACTIONS_MAX];
    struct kept next;
    bool any = false;
    uint32_t count;

    world_restore(from);
    count = actions_list(list);
    for (uint32_t i = 0; i < count; i++) {
        world_restore(from);
        action_do(&list[i]);
        if (verdict != FINE)
            return true;
        world_keep(&next);
        if (memcmp(&next, from, sizeof next) == 0)
            continue;
        any |= list[i].must;
        visit(v, &next, kept_hash(&next));
    }
    return any;
}

/* Every order of all that can happen. `states`: how many worlds there are, up to `limit`. */
static enum verdict search_all(const struct rules *r, uint32_t limit, uint32_t *states)
{
    struct visited v;
    enum verdict found = FINE;
    struct kept from;

    visited_open(&v, sizeof from, limit);
    world_open(r);
    world_keep(&from);
    visit(&v, &from, kept_hash(&from));
    while (found == FINE && visited_next(&v, &from)) {
        bool any, ended;

        any = expand(&v, &from);
        found = verdict;
        if (found != FINE)
            break;
        world_restore(&from);
        ended = world_ended();
        found = verdict;
        if (found == FINE && !any && !ended)
            found = HANG;
        if (found == FINE && v.states >= limit)
            found = TOO_BIG;
    }
    *states = v.states;
    visited_close(&v);
    world_close();
    return found;
}

/* ------------------------------------------------------------------------------------ dice --- */

static uint32_t dice(uint32_t sides)
{
    return (uint32_t)((uint64_t)dice_bits() * sides >> 31);
}

/* A sum that changes with all that members and messages do. */
static uint64_t world_mark(void)
{
    uint64_t mark = message_count + device_round * 31u;

    for (uint32_t m = 0; m < rules->size; m++) {
        const struct member *me = &members[m];

        mark = mark * 1000003u + round_of(me) * 64 + me->team->under_way * 32u + me->phase * 8u +
               me->told * 4096u;
        mark = mark * 1000003u + me->flag * 64 + me->rang;
    }
    for (uint32_t i = 0; i < message_count; i++)
        mark += messages[i].state;
    return mark;
}

/* Whether what is bound to happen changes anything. */
static bool anything_moves(void)
{
    static struct action list[ACTIONS_MAX];
    uint64_t mark = world_mark();
    uint32_t count = actions_list(list);

    /* From the end: what an action drops is replaced by what was last. */
    for (uint32_t i = count; i-- > 0;) {
        if (!list[i].must)
            continue;
        action_do(&list[i]);
        if (world_mark() != mark)
            return true;
    }
    return false;
}

/* How the adversary leans; drawn anew for each run. */
struct leaning {
    uint32_t dies;      /* one in so many of what need not happen does */
    uint32_t favourite; /* the member that steps most often */
    uint32_t favour;    /* of 100 choices, how many are the favourite's */
    uint32_t slow;      /* of 100 notices and stores, how many are left for later */
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
    world_open(r);
    lean.dies = 1u << (2 + dice(8));
    lean.favourite = dice(r->size);
    lean.favour = dice(2) ? dice(98) : 0;
    lean.slow = dice(99);
    while (verdict == FINE && !world_ended()) {
        uint64_t mark = world_mark();
        const struct action *action = &list[dice(actions_list(list))];

        if (!leaning_skips(&lean, action))
            action_do(action);
        idle = world_mark() == mark ? idle + 1 : 0;
        if (verdict == FINE && idle > 1000) {
            idle = 0;
            if (!world_ended() && !anything_moves() && verdict == FINE)
                blame(HANG);
        }
    }
    world_close();
    return verdict;
}

#endif
