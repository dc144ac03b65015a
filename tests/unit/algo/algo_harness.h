/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A harness for software barriers in one thread: members, their slots, and an adversary that
 * selects the next member to step and the next store to land. A set is "in flight" until it is
 * delivered. Any order is allowed, and a delivered set may be delivered again, as
 * gba/transport/transport.h permits.
 *
 * A harness is one block of memory without pointers, so that the exhaustive search can copy and
 * hash it.
 */
#ifndef TESTS_UNIT_ALGO_HARNESS_H
#define TESTS_UNIT_ALGO_HARNESS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gba/algo/algorithm.h"
#include "gba/algo/numbering.h"
#include "gba/spec/gba_regs.h"
#include "tests/unit/search.h"

enum verdict {
    FINE,
    EARLY,     /* a member left a round that another member had not begun */
    DEADLOCK,  /* nothing is in flight, no member can advance, and a member waits */
    TWO_AHEAD, /* a set arrives two rounds before its reader: breaks promise 5 */
    OVERRUN,   /* two sets of one word are in flight: breaks the reason of promise 4 */
    BAD_SLOT,  /* a slot or a member that does not exist, or a word with two writers */
    TOO_BIG    /* the search did not end within its limit */
};

/* The kind of harness, the same for all its states. */
struct rules {
    const struct gba_algorithm *algorithm;
    uint32_t size, radix;
    uint32_t first;  /* the initial value of all words; the first round is first + 1 */
    uint32_t rounds; /* barriers in a row */
    bool one_word;   /* both parities in one word */
    bool in_order;   /* deliver the sets of one word in their order, once each */
    bool late;       /* a repeat may come after the next set: breaks promise 4 */
    bool stale;      /* peek may return the value of its last call */
    bool keeps;      /* a set leaves its member only while that member is in a barrier */
    bool hasty;      /* `sent` does not wait for that: breaks promise 7 */
    /* The numbers that member m knows: entry n is the member with number n, whose words are those
     * of the number. NULL: each member has the number of its rank. */
    const struct gba_numbered *(*numbered)(uint32_t member);
};

struct member {
    struct gba_algo_state algo;
    uint32_t entered, left; /* rounds */
};

/* One word of one member. */
struct cell {
    uint32_t value;
    uint32_t flying[2], count; /* sets in flight, oldest first */
    uint32_t kept;             /* the newest of these, which have not left their writer */
    uint32_t again;            /* the value that may be delivered again ... */
    uint32_t repeats;          /* ... this often */
    uint32_t writer;           /* 1 + rank of the only writer; 0: not written yet */
};

struct harness {
    uint32_t verdict;
    uint32_t moved; /* 1: something happened; detects deadlocks; not part of the state */
    struct member members[];
    /* then the cells: size * words; then, for stale reads, what each member saw: size * size * 2 */
};

struct fake_transport {
    struct gba_transport base;
    uint32_t rank; /* in the schedule: the number */
};

static const struct rules *rules;
static struct harness *harness;
static uint32_t harness_words; /* of one member */
static size_t harness_bytes;

static uint32_t dice(uint32_t sides)
{
    return dice_bits() % sides;
}

static struct cell *cells(void)
{
    return (struct cell *)(void *)&harness->members[rules->size];
}

/* The number of a member, as it knows it. */
static uint32_t number_of(uint32_t member)
{
    return rules->numbered == NULL
               ? member
               : gba_numbering_find(rules->numbered(member), rules->size, member);
}

/* The member that believes to have the number; the last one if several do. */
static uint32_t member_of(uint32_t number)
{
    uint32_t found = number;

    for (uint32_t m = 0; m < rules->size && rules->numbered != NULL; m++)
        found = number_of(m) == number ? m : found;
    return found;
}

static uint32_t *last_seen(uint32_t reader, uint32_t peer, uint32_t parity)
{
    uint32_t *seen = (uint32_t *)(void *)&cells()[rules->size * harness_words];

    return &seen[(reader * rules->size + peer) * 2 + parity];
}

static void blame(enum verdict verdict)
{
    if (harness->verdict == FINE)
        harness->verdict = verdict;
}

static struct cell *cell_of(uint32_t member, uint32_t slot, uint32_t parity)
{
    uint32_t word = rules->one_word ? slot : slot * 2 + parity;

    if (member >= rules->size || word >= harness_words || parity > 1) {
        blame(BAD_SLOT);
        return &cells()[0];
    }
    return &cells()[member * harness_words + word];
}

static gba_status_t fake_set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                             uint32_t seq)
{
    uint32_t me = ((struct fake_transport *)transport)->rank;
    struct cell *cell = cell_of(peer, slot, seq & 1);

    harness->moved = 1;
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
    cell->kept += rules->keeps;
    return GBA_OK;
}

static gba_status_t fake_sent(struct gba_transport *transport)
{
    uint32_t me = ((struct fake_transport *)transport)->rank;

    for (uint32_t c = 0; c < rules->size * harness_words && !rules->hasty; c++) {
        if (cells()[c].writer == me + 1 && cells()[c].kept > 0)
            return GBA_INPROGRESS;
    }
    return GBA_OK;
}

static uint32_t fake_load(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    return cell_of(((struct fake_transport *)transport)->rank, slot, parity)->value;
}

static uint32_t fake_peek(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                          uint32_t parity)
{
    uint32_t value = cell_of(peer, slot, parity)->value;
    uint32_t *seen =
        last_seen(((struct fake_transport *)transport)->rank, peer % rules->size, parity);

    if (!rules->stale || dice(2) == 0)
        *seen = value;
    return rules->stale ? *seen : value;
}

static const struct gba_transport_ops fake_ops = {
    .name = "adversary", .set = fake_set, .load = fake_load, .peek = fake_peek, .sent = fake_sent};

static void harness_open(const struct rules *r)
{
    rules = r;
    harness_words = r->algorithm->schedule->slots(r->size, r->radix) * (r->one_word ? 1 : 2);
    harness_bytes = sizeof(struct harness) + r->size * sizeof(struct member) +
                    (size_t)r->size * (harness_words + 1) * sizeof(struct cell) +
                    (size_t)r->size * r->size * 2 * sizeof(uint32_t);
    harness = calloc(1, harness_bytes);
    if (harness == NULL)
        abort();
    for (uint32_t m = 0; m < r->size; m++)
        gba_algo_init(&harness->members[m].algo, number_of(m), r->size, r->radix, r->first);
    for (uint32_t c = 0; c < r->size * harness_words; c++)
        cells()[c].value = r->first;
    for (uint32_t s = 0; s < r->size * r->size * 2; s++)
        *last_seen(0, s / 2, s % 2) = r->first;
}

static void harness_close(void)
{
    free(harness);
    harness = NULL;
}

static bool member_done(const struct member *m)
{
    return m->left == rules->rounds;
}

/* One step of a member: start, or test. At the end of a round it checks that all members have begun
 * the round. */
static void member_step(uint32_t member)
{
    struct member *me = &harness->members[member];
    struct fake_transport transport = {.base = {.ops = &fake_ops}, .rank = number_of(member)};
    struct gba_algo_state before = me->algo;

    if (member_done(me))
        return;
    if (me->entered == me->left) {
        me->entered++;
        harness->moved = 1;
        (void)rules->algorithm->start(&me->algo, &transport.base, rules->first + me->entered);
        return;
    }
    if (rules->algorithm->test(&me->algo, &transport.base) == GBA_OK) {
        me->left++;
        harness->moved = 1;
        for (uint32_t other = 0; other < rules->size; other++) {
            if (harness->members[other].entered < me->left)
                blame(EARLY);
        }
    }
    if (memcmp(&before, &me->algo, sizeof before) != 0)
        harness->moved = 1;
}

/* Whether the last set can land once more. */
static bool cell_repeats(const struct cell *cell)
{
    return !rules->in_order && cell->repeats > 0 && cell->value != cell->again;
}

/* The sets of a cell that can land now; with in_order only the oldest. */
static uint32_t cell_landing(const struct cell *cell)
{
    uint32_t landing = cell->count - cell->kept;

    return rules->in_order && landing > 1 ? 1 : landing;
}

/* Whether the oldest set that is still at its writer can leave it. */
static bool cell_leaving(const struct cell *cell)
{
    const struct member *writer = &harness->members[member_of(cell->writer - 1)];

    return cell->kept > 0 && writer->entered > writer->left;
}

/* Deliver set number `which` in flight to that cell. The numbers after these: deliver the last one
 * again; or let a set leave its writer. */
static void cell_deliver(uint32_t index, uint32_t which)
{
    struct cell *cell = &cells()[index];
    uint32_t reader = member_of(index / harness_words);

    harness->moved = 1;
    if (which >= cell_landing(cell)) {
        if (which == cell_landing(cell) && cell_repeats(cell)) {
            cell->value = cell->again;
            cell->repeats--;
        } else {
            cell->kept--;
        }
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
    if (!GBA_SEQ_REACHED(rules->first + harness->members[reader].entered + 1, cell->value))
        blame(TWO_AHEAD);
}

/* The choices of the adversary at a cell: each set in flight, the repeat, and a set that leaves. */
static uint32_t cell_choices(const struct cell *cell)
{
    return cell_landing(cell) + cell_repeats(cell) + cell_leaving(cell);
}

#endif
