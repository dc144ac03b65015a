/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the adversaries of soft_search.h and recover_search.h share: the worlds that one has seen
 * and those that it still has to look at, and the dice that the other throws.
 */
#ifndef TESTS_UNIT_SEARCH_H
#define TESTS_UNIT_SEARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct visited {
    uint64_t *hashes; /* open addressing, 0 = empty */
    uint64_t mask;
    unsigned char *stack; /* worlds still to look at */
    size_t bytes;         /* of a world */
    size_t depth, room;
    uint32_t states;
};

/* The search is to end when it has seen `limit` worlds. */
static void visited_open(struct visited *v, size_t bytes, uint32_t limit)
{
    *v = (struct visited){.mask = 1, .bytes = bytes};
    while (v->mask + 1 < 2 * (uint64_t)limit)
        v->mask = v->mask * 2 + 1;
    v->hashes = calloc(v->mask + 1, sizeof v->hashes[0]);
    if (v->hashes == NULL)
        abort();
}

static void visited_close(struct visited *v)
{
    free(v->stack);
    free(v->hashes);
}

/* Keep that world for later, unless it has been seen. hash: of it; not 0. */
static void visit(struct visited *v, const void *world, uint64_t hash)
{
    uint64_t at = hash & v->mask;

    while (v->hashes[at] != 0 && v->hashes[at] != hash)
        at = (at + 1) & v->mask;
    if (v->hashes[at] == hash)
        return;
    v->hashes[at] = hash;
    v->states++;
    if (v->depth == v->room) {
        v->room = v->room * 2 + 64;
        v->stack = realloc(v->stack, v->room * v->bytes);
        if (v->stack == NULL)
            abort();
    }
    memcpy(v->stack + v->depth * v->bytes, world, v->bytes);
    v->depth++;
}

/* One of those kept; false if there is none left. */
static bool visited_next(struct visited *v, void *world)
{
    if (v->depth == 0)
        return false;
    v->depth--;
    memcpy(world, v->stack + v->depth * v->bytes, v->bytes);
    return true;
}

static uint64_t dice_state = 88172645463325252ull;

static void dice_seed(uint64_t seed)
{
    dice_state = seed * 0x9E3779B97F4A7C15ull + 1;
}

/* xorshift64*: the same on every machine, so that a failure can be had again. 31 bits. Either
 * adversary brings them into a range in a way of its own, so that seeds mean the same runs. */
static uint32_t dice_bits(void)
{
    dice_state ^= dice_state >> 12;
    dice_state ^= dice_state << 25;
    dice_state ^= dice_state >> 27;
    return (uint32_t)((dice_state * 2685821657736338717ull) >> 33);
}

#endif
