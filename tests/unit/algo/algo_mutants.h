/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers with one fault each, which the search must find. The first three are faults of published
 * libraries.
 */
#ifndef TESTS_UNIT_ALGO_MUTANTS_H
#define TESTS_UNIT_ALGO_MUTANTS_H

#include "gba/algo/steps.h"
#include "algo_harness.h"

static uint32_t word_of(struct gba_transport *s, uint32_t slot, uint32_t seq)
{
    return s->ops->load(s, slot, gba_slot_parity(seq));
}

static gba_status_t set_peer(struct gba_algo_state *b, struct gba_transport *s, uint32_t distance,
                             uint32_t slot)
{
    return s->ops->set(s, gba_sched_peer(b->rank, distance, b->size), slot, b->seq);
}

/*
 * Radix (v2) with independent lanes: each lane signals the next round when it has received its own
 * signal, whatever the other lanes have received. `seen` has a field of 4 bits for each of up to 8
 * lanes: its round.
 */
static gba_status_t lanes_start(struct gba_algo_state *b, struct gba_transport *s, uint32_t seq)
{
    b->seq = seq;
    b->seen = 0;
    for (uint32_t lane = 1; lane <= gba_sched_lanes(1, b->size, b->radix); lane++)
        (void)set_peer(b, s, lane, lane - 1);
    return GBA_OK;
}

static uint32_t slot_of(uint32_t round, uint32_t lane, uint32_t radix)
{
    return round * (radix - 1) + lane - 1;
}

static bool lane_test(struct gba_algo_state *b, struct gba_transport *s, uint32_t lane)
{
    uint32_t round = b->seen >> (4 * lane) & 15u, distance = 1;

    for (uint32_t r = 0; r < round; r++)
        distance *= b->radix;
    while (lane * distance < b->size) {
        if (!GBA_SEQ_REACHED(word_of(s, slot_of(round, lane, b->radix), b->seq), b->seq))
            return false;
        round++;
        distance *= b->radix;
        b->seen += 1u << (4 * lane);
        if (lane * distance < b->size)
            (void)set_peer(b, s, lane * distance, slot_of(round, lane, b->radix));
    }
    return true;
}

static gba_status_t lanes_test(struct gba_algo_state *b, struct gba_transport *s)
{
    bool done = true;

    for (uint32_t lane = 1; lane < b->radix; lane++)
        done &= lane_test(b, s, lane);
    return done ? GBA_OK : GBA_INPROGRESS;
}

/* Central (v3) that sets its flag, once more or late, when it has read all others. */
static gba_status_t central_then_set(struct gba_algo_state *b, struct gba_transport *s,
                                     uint32_t value)
{
    if (b->seen > b->size)
        return GBA_OK;
    if (gba_central_test_on(s->ops, b, s) != GBA_OK)
        return GBA_INPROGRESS;
    b->seen++;
    return s->ops->set(s, b->rank, 0, value);
}

/* Central (v3) that reads the other flags before it sets its own. */
static gba_status_t look_first_start(struct gba_algo_state *b, struct gba_transport *s,
                                     uint32_t seq)
{
    (void)s;
    b->seq = seq;
    b->seen = 1;
    return GBA_OK;
}

static gba_status_t look_first_test(struct gba_algo_state *b, struct gba_transport *s)
{
    return central_then_set(b, s, b->seq);
}

/* Central (v3) that resets its flag to the round before when it leaves. */
static gba_status_t reset_test(struct gba_algo_state *b, struct gba_transport *s)
{
    return central_then_set(b, s, b->seq - 2);
}

/* Central (v3) that never reads the last member's flag. */
static gba_status_t skip_test(struct gba_algo_state *b, struct gba_transport *s)
{
    b->size--;
    gba_status_t status = gba_central_test_on(s->ops, b, s);
    b->size++;
    return status;
}

/* Radix (v2) that does not wait for the last lane of a round. */
static gba_status_t short_lane_test(struct gba_algo_state *b, struct gba_transport *s)
{
    while (b->distance < b->size) {
        for (; b->seen + 1 < b->lanes; b->seen++) {
            if (!GBA_SEQ_REACHED(word_of(s, b->slot + b->seen, b->seq), b->seq))
                return GBA_INPROGRESS;
        }
        b->distance *= b->radix;
        b->slot += b->lanes;
        (void)gba_radix_round_on(s->ops, b, s);
    }
    return GBA_OK;
}

/* Dissemination (v1) that sends the signals of all rounds at once. */
static gba_status_t eager_start(struct gba_algo_state *b, struct gba_transport *s, uint32_t seq)
{
    b->seq = seq;
    b->seen = 0;
    for (uint32_t distance = 1, slot = 0; distance < b->size; distance *= 2, slot++)
        (void)set_peer(b, s, distance, slot);
    return GBA_OK;
}

static gba_status_t eager_test(struct gba_algo_state *b, struct gba_transport *s)
{
    for (; b->seen < gba_sched_slots(b->size, 2); b->seen++) {
        if (!GBA_SEQ_REACHED(word_of(s, b->seen, b->seq), b->seq))
            return GBA_INPROGRESS;
    }
    return GBA_OK;
}

/* Dissemination (v1) with another comparison of `word` and `seq`, or with fewer rounds: those of
 * another radix with one signal in each. */
#define V1_TEST(function, size, reached)                                            \
    static gba_status_t function(struct gba_algo_state *b, struct gba_transport *s) \
    {                                                                               \
        for (uint32_t last = (size), seq = b->seq; b->distance < last;) {           \
            uint32_t word = word_of(s, b->slot, seq);                               \
                                                                                    \
            if (!(reached))                                                         \
                return GBA_INPROGRESS;                                              \
            b->distance *= b->radix;                                                \
            b->slot++;                                                              \
            if (b->distance < last)                                                 \
                (void)set_peer(b, s, b->distance, b->slot);                         \
        }                                                                           \
        return GBA_OK;                                                              \
    }

V1_TEST(widened_test, b->size, (uint64_t)word >= (uint64_t)seq)
V1_TEST(signed_test, b->size, (int32_t)word >= (int32_t)seq)
V1_TEST(equal_test, b->size, word == seq)
V1_TEST(round_short_test, b->size / 2 + 1, GBA_SEQ_REACHED(word, seq))
V1_TEST(one_signal_test, b->size, GBA_SEQ_REACHED(word, seq))

/* Tree that signals its parent when the last child has signalled, or with another fault. */
#define TREE_TEST(function, gathered, released)                                     \
    static gba_status_t function(struct gba_algo_state *b, struct gba_transport *s) \
    {                                                                               \
        while (b->seen < b->lanes) {                                                \
            if (!(gathered))                                                        \
                return GBA_INPROGRESS;                                              \
            if (++b->seen == b->lanes)                                              \
                (void)gba_tree_arrive_on(s->ops, b, s);                             \
        }                                                                           \
        if (b->seen == b->lanes) {                                                  \
            if (!(released))                                                        \
                return GBA_INPROGRESS;                                              \
            b->seen++;                                                              \
            (void)gba_tree_release_on(s->ops, b, s);                                \
        }                                                                           \
        return GBA_OK;                                                              \
    }

#define TREE_CHILD(place) \
    GBA_SEQ_REACHED(word_of(s, gba_sched_tree_arrival_slot(place), b->seq), b->seq)
#define TREE_RELEASED (0 == b->rank || GBA_SEQ_REACHED(word_of(s, b->slot, b->seq), b->seq))

TREE_TEST(first_child_test, b->seen > 0 || TREE_CHILD(0), TREE_RELEASED)
TREE_TEST(unreleased_test, TREE_CHILD(b->seen), true)
TREE_TEST(subtree_only_test, TREE_CHILD(b->seen), TREE_RELEASED || b->lanes > 0)

/* Tree in which a member signals its parent before its children have signalled. */
static gba_status_t forward_start(struct gba_algo_state *b, struct gba_transport *s, uint32_t seq)
{
    uint32_t lanes;

    (void)gba_tree_start_on(s->ops, b, s, seq);
    lanes = b->lanes;
    return 0 == lanes ? GBA_OK : gba_tree_arrive_on(s->ops, b, s);
}

static gba_status_t forward_test(struct gba_algo_state *b, struct gba_transport *s)
{
    for (; b->seen < b->lanes; b->seen++)
        if (!TREE_CHILD(b->seen))
            return GBA_INPROGRESS;
    return gba_tree_test_on(s->ops, b, s);
}

/* An algorithm with other steps, or on a transport that breaks promise 4 or 7; and the verdict. */
struct mutant {
    const char *name;
    const struct gba_algorithm *base;
    gba_status_t (*start)(struct gba_algo_state *b, struct gba_transport *s, uint32_t seq);
    gba_status_t (*test)(struct gba_algo_state *b, struct gba_transport *s);
    enum verdict verdict;
    struct rules rules; /* radix 0: 2 */
};

#define V1   &gba_algorithms[GBA_ALGORITHM_V1]
#define V2   &gba_algorithms[GBA_ALGORITHM_V2]
#define V3   &gba_algorithms[GBA_ALGORITHM_V3]
#define TREE &gba_algorithms[GBA_ALGORITHM_TREE]

static const struct mutant mutants[] = {
    {"lanes run ahead", V2, lanes_start, lanes_test, EARLY, {.size = 6, .radix = 3, .rounds = 1}},
    {"look first", V3, look_first_start, look_first_test, DEADLOCK, {.size = 2, .rounds = 1}},
    {"reset",
     V3,
     NULL,
     reset_test,
     DEADLOCK,
     {.size = 2, .rounds = 1, .one_word = true, .in_order = true}},
    {"skip", V3, NULL, skip_test, EARLY, {.size = 3, .rounds = 1}},
    {"short lane", V2, NULL, short_lane_test, EARLY, {.size = 3, .radix = 3, .rounds = 1}},
    {"eager", V1, eager_start, eager_test, EARLY, {.size = 4, .rounds = 1}},
    {"round short", V1, NULL, round_short_test, EARLY, {.size = 3, .rounds = 1}},
    {"widened", V1, NULL, widened_test, EARLY, {.size = 2, .first = 0xFFFFFFFEu, .rounds = 3}},
    {"signed", V1, NULL, signed_test, EARLY, {.size = 2, .first = 0x7FFFFFFEu, .rounds = 3}},
    {"equal",
     V1,
     NULL,
     equal_test,
     DEADLOCK,
     {.size = 2, .rounds = 3, .one_word = true, .in_order = true}},
    {"hasty v1", V1, NULL, NULL, DEADLOCK, {.size = 2, .rounds = 1, .keeps = true, .hasty = true}},
    {"hasty v2",
     V2,
     NULL,
     NULL,
     DEADLOCK,
     {.size = 3, .radix = 3, .rounds = 1, .keeps = true, .hasty = true}},
    {"hasty v3", V3, NULL, NULL, DEADLOCK, {.size = 2, .rounds = 1, .keeps = true, .hasty = true}},
    {"v1, one word", V1, NULL, NULL, DEADLOCK, {.size = 2, .rounds = 3, .one_word = true}},
    {"v1, late", V1, NULL, NULL, DEADLOCK, {.size = 2, .rounds = 4, .late = true}},
    {"v2, one word",
     V2,
     NULL,
     NULL,
     DEADLOCK,
     {.size = 3, .radix = 3, .rounds = 3, .one_word = true}},
    {"first child only", TREE, NULL, first_child_test, EARLY, {.size = 3, .rounds = 1}},
    {"no release", TREE, NULL, unreleased_test, EARLY, {.size = 3, .rounds = 1}},
    {"subtree only", TREE, NULL, subtree_only_test, EARLY, {.size = 4, .rounds = 1}},
    {"forwards at once", TREE, forward_start, forward_test, EARLY, {.size = 4, .rounds = 1}},
    {"hasty tree",
     TREE,
     NULL,
     NULL,
     DEADLOCK,
     {.size = 2, .rounds = 1, .keeps = true, .hasty = true}},
    {"tree, late", TREE, NULL, NULL, DEADLOCK, {.size = 2, .rounds = 4, .late = true}},
};

#endif
