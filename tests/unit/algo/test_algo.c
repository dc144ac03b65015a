/* SPDX-License-Identifier: BSD-3-Clause */
/* v1, v2, v3 and tree against an adversary (algo_harness.h), and mutants that it must catch. */

#include "algo_search.h"
#include "algo_mutants.h"
#include "tests/suite.h"

/* Just before the sequence wraps, just before its sign changes, and anywhere. */
static const uint32_t firsts[] = {0xFFFFFFFEu, 0x7FFFFFFEu, 0u, 12345u};

#define ALGORITHMS 4u
#define ALL(a)     (&gba_algorithms[1 + (a)])

/* The largest radix with which the algorithm is searched in every order. */
static uint32_t radix_most(const struct gba_algorithm *algorithm, uint32_t most)
{
    return algorithm->schedule->slots(64, 2) == algorithm->schedule->slots(64, 8) ? 2 : most;
}

static void expect_all(struct rules r, enum verdict expected)
{
    uint32_t states = 0;
    enum verdict got = search_all(&r, &states);

    if (got != expected) {
        print_message("%s size %u radix %u first %u rounds %u: %d, %u states\n", r.algorithm->name,
                      r.size, r.radix, r.first, r.rounds, (int)got, states);
    }
    assert_int_equal(got, expected);
}

/* Three rounds: the third uses the words of the first again. */
TEST(test_every_order_of_two)
{
    for (size_t a = 0; a < ALGORITHMS; a++) {
        for (size_t f = 0; f < 4; f++) {
            struct rules r = {
                .algorithm = ALL(a), .size = 2, .radix = 2, .first = firsts[f], .rounds = 5};

            expect_all(r, FINE);
            r.one_word = r.in_order = true; /* as shared memory */
            expect_all(r, FINE);
            r.keeps = true;
            r.rounds = 3;
            expect_all(r, FINE);
            r.one_word = r.in_order = false; /* as messages */
            expect_all(r, FINE);
        }
    }
}

TEST(test_every_order_of_three)
{
    for (size_t a = 0; a < ALGORITHMS; a++) {
        for (uint32_t radix = 2; radix <= radix_most(ALL(a), 3); radix++) {
            struct rules r = {.algorithm = ALL(a),
                              .size = 3,
                              .radix = radix,
                              .first = firsts[a % 2],
                              .rounds = 3};

            expect_all(r, FINE);
            r.one_word = r.in_order = true;
            expect_all(r, FINE);
            r.one_word = r.in_order = false;
            r.keeps = true;
            r.rounds = 2;
            expect_all(r, FINE);
        }
    }
}

TEST(test_every_order_of_four)
{
    for (size_t a = 0; a < ALGORITHMS; a++) {
        for (uint32_t radix = 2; radix <= radix_most(ALL(a), 4); radix++) {
            struct rules r = {.algorithm = ALL(a),
                              .size = 4,
                              .radix = radix,
                              .first = firsts[a % 2],
                              .rounds = a == 1 ? 2 : 3};

            expect_all(r, FINE);
        }
    }
}

/* Six members and radix 3: the smallest team in which a lane that runs ahead is detected. */
TEST(test_every_order_of_six)
{
    struct rules r = {
        .algorithm = &gba_algorithms[GBA_ALGORITHM_V2], .size = 6, .radix = 3, .rounds = 1};

    expect_all(r, FINE);
}

static void dice_or_fail(struct rules r, uint64_t seed)
{
    enum verdict got = search_dice(&r, seed);

    if (got != FINE)
        print_message("%s size %u radix %u first %u seed %llu: %d\n", r.algorithm->name, r.size,
                      r.radix, r.first, (unsigned long long)seed, (int)got);
    assert_int_equal(got, FINE);
}

TEST(test_dice_every_size)
{
    for (uint32_t size = 1; size <= 64; size++) {
        for (size_t a = 0; a < ALGORITHMS; a++) {
            for (uint32_t run = 0; run < 8; run++) {
                uint64_t seed = (size * ALGORITHMS + a) * 8 + run;
                struct rules r = {.algorithm = ALL(a),
                                  .size = size,
                                  .radix = 2 + (uint32_t)(seed * 7 % 15),
                                  .first = firsts[run % 4],
                                  .rounds = 6,
                                  .stale = run % 2 == 0};

                dice_or_fail(r, seed);
                r.one_word = r.in_order = true;
                dice_or_fail(r, seed);
                r.one_word = r.in_order = false;
                r.keeps = true;
                dice_or_fail(r, seed);
            }
        }
    }
}

/* Many small teams: there two members are often a round apart. */
TEST(test_dice_small_sizes)
{
    for (uint64_t seed = 0; seed < 8000; seed++) {
        struct rules r = {.algorithm = ALL(seed % ALGORITHMS),
                          .size = 2 + (uint32_t)(seed / 3 % 8),
                          .radix = 2 + (uint32_t)(seed / 8 % 7),
                          .first = firsts[seed % 4],
                          .rounds = 9,
                          .stale = seed % 5 == 0,
                          .keeps = seed % 2 == 0};

        dice_or_fail(r, seed);
    }
}

/* test returns GBA_OK again after the end, and a member alone waits for no other. */
TEST(test_done_stays_done)
{
    for (size_t a = 0; a < ALGORITHMS; a++) {
        struct rules r = {.algorithm = ALL(a), .size = 1, .radix = 8, .rounds = 1};
        struct fake_transport transport = {.base = {.ops = &fake_ops}};

        harness_open(&r);
        assert_int_equal(ALL(a)->test(&harness->members[0].algo, &transport.base), GBA_OK);
        assert_int_equal(ALL(a)->start(&harness->members[0].algo, &transport.base, 1), GBA_OK);
        assert_int_equal(ALL(a)->test(&harness->members[0].algo, &transport.base), GBA_OK);
        assert_int_equal(ALL(a)->test(&harness->members[0].algo, &transport.base), GBA_OK);
        harness_close();
    }
}

static gba_status_t broken_set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                               uint32_t seq)
{
    (void)transport;
    (void)peer;
    (void)slot;
    (void)seq;
    return GBA_ERR_IO;
}

/* start reports the error of a transport. */
TEST(test_broken_transport)
{
    struct gba_transport_ops ops = fake_ops;
    struct gba_transport transport = {.ops = &ops};
    struct gba_algo_state algo;

    ops.set = broken_set;
    for (size_t a = 0; a < ALGORITHMS; a++) {
        gba_algo_init(&algo, 1, 2, 2, 0); /* the root of a tree first waits */
        assert_int_equal(ALL(a)->start(&algo, &transport, 1), GBA_ERR_IO);
    }
}

/* ------------------------------------------------------------------- numbers by places ------- */

#define NUMBERED_MAX 24u

static struct gba_numbered numbered[2][NUMBERED_MAX];
static uint32_t other_numbers; /* a bit for each member that uses the second list */

static const struct gba_numbered *numbered_by(uint32_t member)
{
    return numbered[other_numbers >> member & 1];
}

/* Give the members places in three caches, so many in a row, and the numbers of their algorithm.
 * The second list is by rank. Returns whether a number differs from the rank. */
static bool number_them(struct rules *r, uint32_t in_a_row)
{
    bool moved = false;

    for (uint32_t m = 0; m < r->size; m++) {
        numbered[0][m] = numbered[1][m] = (struct gba_numbered){
            .member = m, .place = gba_place_make(0, 0, m / in_a_row % 3, 1 + m)};
    }
    gba_numbering_make(numbered[0], r->size, r->algorithm->schedule, r->radix);
    for (uint32_t m = 0; m < r->size; m++)
        moved |= numbered[0][m].member != m;
    r->numbered = numbered_by;
    return moved;
}

TEST(test_numbers_by_places)
{
    uint32_t moved = 0;

    for (uint32_t size = 3; size <= NUMBERED_MAX; size++)
        for (size_t a = 0; a < ALGORITHMS; a++)
            for (uint32_t run = 0; run < 6; run++) {
                struct rules r = {.algorithm = ALL(a),
                                  .size = size,
                                  .radix = 2 + run / 2,
                                  .first = firsts[run % 4],
                                  .rounds = 4,
                                  .one_word = run % 2,
                                  .in_order = run % 2};

                moved += number_them(&r, 1 + run % 3);
                dice_or_fail(r, size * 64 + run);
                r.rounds = 2;
                if (size <= 4 && r.radix <= radix_most(ALL(a), 3))
                    expect_all(r, FINE);
            }
    assert_in_range(moved, 100, 500);
}

/* Members with other numbers than the rest are found. The lists differ in members 1 and 2. */
TEST(test_numbers_that_differ)
{
    struct rules r = {
        .algorithm = &gba_algorithms[GBA_ALGORITHM_V1], .size = 4, .radix = 2, .rounds = 2};

    assert_true(number_them(&r, 2));
    for (other_numbers = 0; other_numbers < 16; other_numbers++)
        expect_all(r, (other_numbers >> 1 & 1) == (other_numbers >> 2 & 1) ? FINE : OVERRUN);
    other_numbers = 0;
}

/* -------------------------------------------------------------- the search finds each fault --- */

TEST(test_mutants_are_caught)
{
    for (size_t m = 0; m < sizeof mutants / sizeof mutants[0]; m++) {
        struct rules r = mutants[m].rules;
        struct gba_algorithm algorithm = *mutants[m].base;

        algorithm.name = mutants[m].name;
        if (mutants[m].start != NULL)
            algorithm.start = mutants[m].start;
        if (mutants[m].test != NULL)
            algorithm.test = mutants[m].test;
        r.algorithm = &algorithm;
        r.radix = r.radix == 0 ? 2 : r.radix;
        expect_all(r, mutants[m].verdict);
    }
}

TEST_MAIN()
