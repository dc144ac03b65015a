/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two adversaries over algo_harness.h: one tries all orders in a small harness, the other chooses
 * at random in a large one.
 */
#ifndef TESTS_UNIT_ALGO_SEARCH_H
#define TESTS_UNIT_ALGO_SEARCH_H

#include "algo_harness.h"

/* ------------------------------------------------------------------------------ everything --- */

#define STATES_MAX (1u << 21)

static void visit_harness(struct visited *v)
{
    harness->moved = 0;
    visit_bytes(v, harness);
}

/* Visit all successors of `from`. Returns whether there are any. */
static bool expand(struct visited *v, const struct harness *from)
{
    bool any = false;

    for (uint32_t m = 0; m < rules->size; m++) {
        memcpy(harness, from, harness_bytes);
        member_step(m);
        any |= harness->moved != 0;
        if (harness->verdict != FINE)
            return true;
        visit_harness(v);
    }
    for (uint32_t c = 0; c < rules->size * harness_words; c++) {
        memcpy(harness, from, harness_bytes);
        uint32_t choices = cell_choices(&cells()[c]);

        any |= cell_landing(&cells()[c]) > 0 ||
               cell_leaving(&cells()[c]); /* a repeat alone resolves no deadlock */
        for (uint32_t which = 0; which < choices; which++) {
            memcpy(harness, from, harness_bytes);
            cell_deliver(c, which);
            if (harness->verdict != FINE)
                return true;
            visit_harness(v);
        }
    }
    return any;
}

static bool all_done(void)
{
    for (uint32_t m = 0; m < rules->size; m++) {
        if (!member_done(&harness->members[m]))
            return false;
    }
    return true;
}

/* Try every order of steps and deliveries. `states`, if not NULL: receives the number of states. */
static enum verdict search_all(const struct rules *r, uint32_t *states)
{
    struct visited v;
    enum verdict verdict = FINE;
    struct harness *from;

    harness_open(r);
    from = malloc(harness_bytes);
    if (from == NULL)
        abort();
    visited_open(&v, harness_bytes, STATES_MAX);
    visit_harness(&v);
    while (verdict == FINE && visited_next(&v, from)) {
        bool any = expand(&v, from);
        verdict = harness->verdict;
        memcpy(harness, from, harness_bytes);
        if (verdict == FINE && !any && !all_done())
            verdict = DEADLOCK;
        if (verdict == FINE && v.states >= STATES_MAX)
            verdict = TOO_BIG;
    }
    if (states != NULL)
        *states = v.states;
    visited_close(&v);
    free(from);
    harness_close();
    return verdict;
}

/* ------------------------------------------------------------------------------------ dice --- */

/* The bias of the adversary, drawn anew for each run. */
struct leaning {
    uint32_t deliver;   /* deliveries, of 100 steps */
    uint32_t favourite; /* the member that steps most often */
    uint32_t favour;    /* steps of the favourite, of 100 steps of members */
    bool newest;        /* of two sets to a word, deliver the newer one first */
};

/* One delivery, searched from a random cell on; false if nothing is in flight. */
static bool deliver_something(bool newest)
{
    uint32_t total = rules->size * harness_words;
    uint32_t from = total > 0 ? dice(total) : 0;

    for (uint32_t i = 0; i < total; i++) {
        uint32_t c = (from + i) % total;
        uint32_t choices = cell_choices(&cells()[c]);

        if (choices > 0) {
            cell_deliver(c, newest ? choices - 1 : dice(choices));
            return true;
        }
    }
    return false;
}

/* Nothing is in flight: whether any member advances. Several passes, because a stale peek is
 * random. */
static bool anybody_moves(void)
{
    harness->moved = 0;
    for (uint32_t pass = 0; pass < (rules->stale ? 64u : 1u) && harness->moved == 0; pass++) {
        for (uint32_t m = 0; m < rules->size; m++)
            member_step(m);
    }
    return harness->moved != 0;
}

static enum verdict search_dice(const struct rules *r, uint64_t seed)
{
    enum verdict verdict;
    struct leaning lean;

    dice_seed(seed);
    harness_open(r);
    lean.deliver = 5 + dice(90);
    lean.favourite = dice(r->size);
    lean.favour = dice(2) ? dice(95) : 0;
    lean.newest = dice(2);
    while (harness->verdict == FINE && !all_done()) {
        for (uint32_t i = 0; i < 4 * r->size && harness->verdict == FINE; i++) {
            if (dice(100) < lean.deliver && deliver_something(lean.newest))
                continue;
            member_step(dice(100) < lean.favour ? lean.favourite : dice(r->size));
        }
        if (harness->verdict == FINE && !all_done() && !deliver_something(lean.newest) &&
            !anybody_moves())
            blame(DEADLOCK);
    }
    verdict = harness->verdict;
    harness_close();
    return verdict;
}

#endif
