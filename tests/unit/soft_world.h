/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world for software barriers in one thread: members, their slots, and an adversary that decides
 * who takes the next step and which store lands next. A set is "in flight" until it is delivered;
 * any order is allowed, and a delivered one may be delivered again, as signal_ops.h permits.
 *
 * A whole world is one block of memory without pointers, so that the exhaustive search can copy and
 * hash it.
 */
#ifndef TESTS_UNIT_SOFT_WORLD_H
#define TESTS_UNIT_SOFT_WORLD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gba/soft/algorithm.h"
#include "gba/spec/gba_regs.h"
#include "search.h"

enum verdict {
    FINE,
    EARLY,     /* a member left a round that somebody had not begun */
    DEADLOCK,  /* nothing in flight, nobody can go on, and somebody waits */
    TWO_AHEAD, /* a set arrives two rounds before its reader is there: breaks promise 5 */
    OVERRUN,   /* two sets of one word in flight: breaks the reason of promise 4 */
    BAD_SLOT,  /* a slot, or a member, that does not exist, or a word with two writers */
    TOO_BIG    /* the search did not end within its limit */
};

/* What kind of world, the same for all its states. */
struct rules {
    const struct gba_algorithm *algorithm;
    uint32_t size, radix;
    uint32_t first;  /* all words hold this; the first round is first + 1 */
    uint32_t rounds; /* barriers in a row */
    bool one_word;   /* both parities in one word */
    bool in_order;   /* deliver the sets of one word in their order, once each */
    bool late;       /* a repeat may come after the next set: breaks promise 4 */
    bool stale;      /* peek may give the value of its last call */
};

struct member {
    struct gba_soft soft;
    uint32_t entered, left; /* rounds */
};

/* One word of one member. */
struct cell {
    uint32_t value;
    uint32_t flying[2], count; /* sets in flight, oldest first */
    uint32_t again;            /* what may be delivered once more ... */
    uint32_t repeats;          /* ... that often */
    uint32_t writer;           /* 1 + rank of the only writer; 0: nobody wrote yet */
};

struct world {
    uint32_t verdict;
    uint32_t
        moved; /* anything that happened, for the detection of deadlocks; not part of the state */
    struct member members[];
    /* then the cells: size * words; then for stale reads what each member saw: size * size * 2 */
};

struct fake_signals {
    struct gba_signals base;
    uint32_t rank;
};

static const struct rules *rules;
static struct world *world;
static uint32_t world_words; /* of one member */
static size_t world_bytes;

static uint32_t dice(uint32_t sides)
{
    return dice_bits() % sides;
}

static struct cell *cells(void)
{
    return (struct cell *)(void *)&world->members[rules->size];
}

static uint32_t *last_seen(uint32_t reader, uint32_t peer, uint32_t parity)
{
    uint32_t *seen = (uint32_t *)(void *)&cells()[rules->size * world_words];

    return &seen[(reader * rules->size + peer) * 2 + parity];
}

static void blame(enum verdict verdict)
{
    if (world->verdict == FINE)
        world->verdict = verdict;
}

static struct cell *cell_of(uint32_t member, uint32_t slot, uint32_t parity)
{
    uint32_t word = rules->one_word ? slot : slot * 2 + parity;

    if (member >= rules->size || word >= world_words || parity > 1) {
        blame(BAD_SLOT);
        return &cells()[0];
    }
    return &cells()[member * world_words + word];
}

static gba_status_t fake_set(struct gba_signals *signals, uint32_t peer, uint32_t slot,
                             uint32_t seq)
{
    uint32_t me = ((struct fake_signals *)signals)->rank;
    struct cell *cell = cell_of(peer, slot, seq & 1);

    world->moved = 1;
    if (cell->writer != 0 && cell->writer != me + 1)
        blame(BAD_SLOT);
    cell->writer = me + 1;
    if (!rules->late)
        cell->repeats = 0; /* promise 4: repeats come before the next set */
    if (cell->count == 2 || (cell->count == 1 && !rules->one_word)) {
        blame(OVERRUN);
        return GBA_OK;
    }
    if (cell->count < 2)
        cell->flying[cell->count++] = seq;
    return GBA_OK;
}

static uint32_t fake_mine(struct gba_signals *signals, uint32_t slot, uint32_t parity)
{
    return cell_of(((struct fake_signals *)signals)->rank, slot, parity)->value;
}

static uint32_t fake_peek(struct gba_signals *signals, uint32_t peer, uint32_t slot,
                          uint32_t parity)
{
    uint32_t value = cell_of(peer, slot, parity)->value;
    uint32_t *seen = last_seen(((struct fake_signals *)signals)->rank, peer % rules->size, parity);

    if (!rules->stale || dice(2) == 0)
        *seen = value;
    return rules->stale ? *seen : value;
}

static const struct gba_signal_ops fake_ops = {
    .name = "adversary", .set = fake_set, .mine = fake_mine, .peek = fake_peek};

static void world_open(const struct rules *r)
{
    rules = r;
    world_words = r->algorithm->slots(r->size, r->radix) * (r->one_word ? 1 : 2);
    world_bytes = sizeof(struct world) + r->size * sizeof(struct member) +
                  (size_t)r->size * (world_words + 1) * sizeof(struct cell) +
                  (size_t)r->size * r->size * 2 * sizeof(uint32_t);
    world = calloc(1, world_bytes);
    if (world == NULL)
        abort();
    for (uint32_t m = 0; m < r->size; m++)
        gba_soft_init(&world->members[m].soft, m, r->size, r->radix, r->first);
    for (uint32_t c = 0; c < r->size * world_words; c++)
        cells()[c].value = r->first;
    for (uint32_t s = 0; s < r->size * r->size * 2; s++)
        *last_seen(0, s / 2, s % 2) = r->first;
}

static void world_close(void)
{
    free(world);
    world = NULL;
}

static bool member_done(const struct member *m)
{
    return m->left == rules->rounds;
}

/* A member takes one step: start, or test, and on the way out the question of all questions. */
static void member_step(uint32_t rank)
{
    struct member *me = &world->members[rank];
    struct fake_signals signals = {.base = {.ops = &fake_ops}, .rank = rank};
    struct gba_soft before = me->soft;

    if (member_done(me))
        return;
    if (me->entered == me->left) {
        me->entered++;
        world->moved = 1;
        (void)rules->algorithm->start(&me->soft, &signals.base, rules->first + me->entered);
        return;
    }
    if (rules->algorithm->test(&me->soft, &signals.base) == GBA_OK) {
        me->left++;
        world->moved = 1;
        for (uint32_t other = 0; other < rules->size; other++) {
            if (world->members[other].entered < me->left)
                blame(EARLY);
        }
    }
    if (memcmp(&before, &me->soft, sizeof before) != 0)
        world->moved = 1;
}

/* Set number `which` in flight to that cell lands; `which` == count: the last one lands again. */
static void cell_deliver(uint32_t index, uint32_t which)
{
    struct cell *cell = &cells()[index];
    uint32_t reader = index / world_words;

    world->moved = 1;
    if (which == cell->count) {
        cell->value = cell->again;
        cell->repeats--;
        return;
    }
    cell->value = cell->flying[which];
    cell->flying[which] = cell->flying[1];
    cell->count--;
    cell->flying[cell->count] = 0; /* equal states must be equal bytes */
    if (!rules->in_order && cell->repeats == 0) {
        cell->again = cell->value;
        cell->repeats = 1;
    }
    if (!GBA_SEQ_REACHED(rules->first + world->members[reader].entered + 1, cell->value))
        blame(TWO_AHEAD);
}

/* Choices that the adversary has at a cell: each set in flight, and the repeat. */
static uint32_t cell_choices(const struct cell *cell)
{
    if (rules->in_order)
        return cell->count > 0;
    return cell->count + (cell->repeats > 0 && cell->value != cell->again);
}

#endif
