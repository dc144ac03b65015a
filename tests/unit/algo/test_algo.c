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

/* ------------------------------------------------------- published barriers that are none --- */

/* Let all ranks but `late` make the barrier, until none of them can go on. Returns those that have
 * left it: bit r for rank r. */
static uint32_t leave_without(const struct mutant *published, uint32_t late)
{
    struct gba_algorithm algorithm = *published->base;
    struct rules r = published->rules;
    uint32_t left = 0;

    if (published->start != NULL)
        algorithm.start = published->start;
    algorithm.test = published->test;
    r.algorithm = &algorithm;
    r.rounds = 1;
    r.in_order = true;
    harness_open(&r);
    do {
        harness->moved = 0;
        for (uint32_t m = 0; m < r.size; m++)
            if (m != late)
                member_step(m);
        while (deliver_something(false))
            ;
    } while (0 != harness->moved);
    for (uint32_t m = 0; m < r.size; m++)
        left |= harness->members[m].left << m;
    harness_close();
    return left;
}

/* gba/algo/README.md names their sources. */
TEST(test_published_barriers_that_are_left_early)
{
    static const struct {
        struct mutant barrier;
        uint32_t late, left;
    } published[] = {
        {{"the ring", V1, NULL, round_short_test, EARLY, {.size = 3, .radix = 2}}, 1, 1u << 0},
        {{"3^r", V1, NULL, one_signal_test, EARLY, {.size = 3, .radix = 3}}, 1, 1u << 0},
        {{"4^r", V1, NULL, one_signal_test, EARLY, {.size = 3, .radix = 4}}, 1, 1u << 0},
        {{"8^r", V1, NULL, one_signal_test, EARLY, {.size = 3, .radix = 8}}, 1, 1u << 0},
        {{"3^r, two rounds", V1, NULL, one_signal_test, EARLY, {.size = 5, .radix = 3}},
         0,
         1u << 2},
        {{"2^r", V1, NULL, one_signal_test, EARLY, {.size = 12, .radix = 2}}, 0, 0},
        {{"v2, the cores do not meet",
          V2,
          lanes_start,
          lanes_test,
          EARLY,
          {.size = 12, .radix = 8}},
         0,
         1u << 10 | 1u << 11},
    };

    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        assert_int_equal(leave_without(&published[i].barrier, published[i].late),
                         published[i].left);
}

/* CrossRankSync: a rank has a word for each rank, and its count in a word that is one of them. */
static struct cross {
    uint32_t base;  /* the rank whose word has the count */
    uint32_t count; /* of the barrier in which this rank is */
    uint32_t word[65];
} cross[65];

static void cross_reset(uint32_t base)
{
    memset(cross, 0, sizeof cross);
    for (uint32_t r = 0; r < 65; r++)
        cross[r].base = base;
}

static void cross_enter(uint32_t rank)
{
    cross[rank].count = cross[rank].word[cross[rank].base] + 1;
}

static void cross_signal(uint32_t rank, uint32_t first, uint32_t last)
{
    for (uint32_t to = first; to <= last; to++)
        cross[to].word[rank] = cross[rank].count;
}

static bool cross_leave(uint32_t rank, uint32_t size)
{
    struct cross *me = &cross[rank];

    for (uint32_t from = 0; from < size; from++)
        if (me->word[from] != me->count && me->word[from] != me->count + 1)
            return false;
    me->word[me->base] = me->count;
    return true;
}

/* The rank whose word has the count comes first, and signals rank 0 before that has come: rank 0
 * takes its signal for its own count, and stays for ever. */
static void cross_begin(uint32_t size, uint32_t base)
{
    cross_reset(base);
    cross_enter(base);
    cross_signal(base, 0, 0);
    for (uint32_t r = 0; r < size; r++)
        if (r != base)
            cross_enter(r);
    for (uint32_t r = 0; r < size; r++)
        cross_signal(r, 0, size - 1);
    for (uint32_t r = 0; r < size; r++)
        assert_int_equal(cross_leave(r, size), 0 != r);
}

TEST(test_published_cross_rank_sync)
{
    cross_begin(65, 64); /* the count at word 1024, a flag every 16 words */
    cross_begin(3, 2);   /* at 32 */
    /* The others leave the next barrier, in which rank 0 is not. */
    for (uint32_t r = 1; r < 3; r++) {
        cross_enter(r);
        cross_signal(r, 0, 2);
    }
    assert_true(cross_leave(1, 3));
    /* Core c of a rank signals rank c. Core 1 of rank 0 has come, core 0 has not. */
    cross_reset(64);
    cross_enter(0);
    cross_signal(0, 1, 1);
    cross_enter(1);
    cross_signal(1, 0, 1);
    assert_true(cross_leave(1, 2));
}

TEST_MAIN()
