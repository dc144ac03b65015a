/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two adversaries over soft_world.h: one tries everything in a small world, one throws dice in a
 * large one.
 */
#ifndef TESTS_UNIT_SOFT_SEARCH_H
#define TESTS_UNIT_SOFT_SEARCH_H

#include "soft_world.h"

/* ------------------------------------------------------------------------------ everything --- */

#define STATES_MAX (1u << 21)

/* FNV-1a over words. Two worlds of 2^21 with one hash: odds of 2^-22; an error could only hide. */
static uint64_t world_hash(void)
{
    const unsigned char *bytes = (const unsigned char *)world;
    uint64_t hash = 14695981039346656037ull, word;

    world->moved = 0;
    for (size_t i = 0; i < world_bytes; i += sizeof word) {
        size_t left = world_bytes - i < sizeof word ? world_bytes - i : sizeof word;

        word = 0;
        memcpy(&word, bytes + i, left);
        hash = (hash ^ word) * 1099511628211ull;
        hash ^= hash >> 32;
    }
    return hash == 0 ? 1 : hash;
}

/* All that can happen next in `from`. Returns whether anything can. */
static bool expand(struct visited *v, const struct world *from)
{
    bool any = false;

    for (uint32_t m = 0; m < rules->size; m++) {
        memcpy(world, from, world_bytes);
        member_step(m);
        any |= world->moved != 0;
        if (world->verdict != FINE)
            return true;
        visit(v, world, world_hash());
    }
    for (uint32_t c = 0; c < rules->size * world_words; c++) {
        memcpy(world, from, world_bytes);
        uint32_t choices = cell_choices(&cells()[c]);

        any |= cells()[c].count > 0; /* a repeat alone need not come: no way out of a deadlock */
        for (uint32_t which = 0; which < choices; which++) {
            memcpy(world, from, world_bytes);
            cell_deliver(c, which);
            if (world->verdict != FINE)
                return true;
            visit(v, world, world_hash());
        }
    }
    return any;
}

static bool all_done(void)
{
    for (uint32_t m = 0; m < rules->size; m++) {
        if (!member_done(&world->members[m]))
            return false;
    }
    return true;
}

/* Every order of steps and deliveries. `states`, if not NULL: how many worlds there are. */
static enum verdict search_all(const struct rules *r, uint32_t *states)
{
    struct visited v;
    enum verdict verdict = FINE;
    struct world *from;

    world_open(r);
    from = malloc(world_bytes);
    if (from == NULL)
        abort();
    visited_open(&v, world_bytes, STATES_MAX);
    visit(&v, world, world_hash());
    while (verdict == FINE && visited_next(&v, from)) {
        bool any = expand(&v, from);
        verdict = world->verdict;
        memcpy(world, from, world_bytes);
        if (verdict == FINE && !any && !all_done())
            verdict = DEADLOCK;
        if (verdict == FINE && v.states >= STATES_MAX)
            verdict = TOO_BIG;
    }
    if (states != NULL)
        *states = v.states;
    visited_close(&v);
    free(from);
    world_close();
    return verdict;
}

/* ------------------------------------------------------------------------------------ dice --- */

/* How the adversary leans; each is drawn anew for each run. */
struct leaning {
    uint32_t deliver;   /* of 100 steps, how many are deliveries */
    uint32_t favourite; /* the member that steps most often */
    uint32_t favour;    /* of 100 steps of members, how many are the favourite's */
    bool newest;        /* of two sets to a word, the newer first */
};

/* One delivery from a random place on; false if nothing is in flight. */
static bool deliver_something(bool newest)
{
    uint32_t total = rules->size * world_words;
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

/* Nothing is in flight: does anybody get on? Several passes, as a stale peek tosses a coin. */
static bool anybody_moves(void)
{
    world->moved = 0;
    for (uint32_t pass = 0; pass < (rules->stale ? 64u : 1u) && world->moved == 0; pass++) {
        for (uint32_t m = 0; m < rules->size; m++)
            member_step(m);
    }
    return world->moved != 0;
}

static enum verdict search_dice(const struct rules *r, uint64_t seed)
{
    enum verdict verdict;
    struct leaning lean;

    dice_seed(seed);
    world_open(r);
    lean.deliver = 5 + dice(90);
    lean.favourite = dice(r->size);
    lean.favour = dice(2) ? dice(95) : 0;
    lean.newest = dice(2);
    while (world->verdict == FINE && !all_done()) {
        for (uint32_t i = 0; i < 4 * r->size && world->verdict == FINE; i++) {
            if (dice(100) < lean.deliver && deliver_something(lean.newest))
                continue;
            member_step(dice(100) < lean.favour ? lean.favourite : dice(r->size));
        }
        if (world->verdict == FINE && !all_done() && !deliver_something(lean.newest) &&
            !anybody_moves())
            blame(DEADLOCK);
    }
    verdict = world->verdict;
    world_close();
    return verdict;
}

#endif
