/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of the adversaries of algo_search.h and failover_search.h: the states that were
 * seen and those still to visit, and the random numbers.
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
    unsigned char *stack; /* states still to visit */
    size_t bytes;         /* of a state */
    size_t depth, room;
    uint32_t states;
};

/* The search ends when it has seen `limit` states. */
static inline void visited_open(struct visited *v, size_t bytes, uint32_t limit)
{
    *v = (struct visited){.mask = 1, .bytes = bytes};
    while (v->mask + 1 < 2 * (uint64_t)limit)
        v->mask = v->mask * 2 + 1;
    v->hashes = calloc(v->mask + 1, sizeof v->hashes[0]);
    if (v->hashes == NULL)
        abort();
}

static inline void visited_close(struct visited *v)
{
    free(v->stack);
    free(v->hashes);
}

/* Keep that state for later, unless it has been seen. hash: of the state; not 0. */
static inline void visit(struct visited *v, const void *harness, uint64_t hash)
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
        v->stack = v->bytes == 0 ? NULL : realloc(v->stack, v->room * v->bytes);
        if (v->stack == NULL)
            abort();
    }
    memcpy(v->stack + v->depth * v->bytes, harness, v->bytes);
    v->depth++;
}

/* The same, hashed by all of its bytes. Two of 2^22 states have one hash with a probability of
 * 2^-20. Such a collision could only hide an error. */
static inline void visit_bytes(struct visited *v, const void *state)
{
    uint64_t hash = 14695981039346656037ull;

    for (size_t i = 0; i < v->bytes; i += sizeof hash) {
        uint64_t word = 0;

        memcpy(&word, (const unsigned char *)state + i,
               v->bytes - i < sizeof word ? v->bytes - i : sizeof word);
        hash = (hash ^ word) * 1099511628211ull;
        hash ^= hash >> 32;
    }
    visit(v, state, hash == 0 ? 1 : hash);
}

/* Take one of the kept states; false if there is none left. */
static inline bool visited_next(struct visited *v, void *harness)
{
    if (v->depth == 0)
        return false;
    v->depth--;
    memcpy(harness, v->stack + v->depth * v->bytes, v->bytes);
    return true;
}

static uint64_t dice_state = 88172645463325252ull;

static inline void dice_seed(uint64_t seed)
{
    dice_state = seed * 0x9E3779B97F4A7C15ull + 1;
}

/* xorshift64*: the same on every machine, so that a failure can be repeated. 31 bits. Each
 * adversary maps them to a range in its own way, so that old seeds give the same runs. */
static inline uint32_t dice_bits(void)
{
    dice_state ^= dice_state >> 12;
    dice_state ^= dice_state << 25;
    dice_state ^= dice_state >> 27;
    return (uint32_t)((dice_state * 2685821657736338717ull) >> 33);
}

#endif
