/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the rounds of a dead device end (gba/failover/failover.c), in every order of notifications,
 * stores and deaths. No member completes a round before all have begun it, all members complete all
 * rounds, and the agreement on the next path is due for all members in the same round. The test
 * searches every order for two to four members, and random schedules for up to 16. It also
 * shows that the search finds each faulty variant. In a chain no member has more than two
 * neighbours.
 */

#include "gba/failover/engine.h"
#include "failover_search.h"
#include "tests/suite.h"

#define ALL_ROUND (~0u)

/* States: the largest of the normal searches ends after 711,051. */
#define LIMIT      (1u << 22)
#define DEEP_LIMIT (1u << 26)

#define DEGRADED .size = 2, .rounds = 3, .degraded = true
#define DOMAINS(alone) \
    .size = 3, .rounds = 1, .chain = true, .prompt = true, .single = alone, .between = ALL_ROUND

static void expect_within(uint32_t limit, struct rules r, enum verdict expected)
{
    uint32_t states;
    enum verdict got = search_all(&r, limit, &states);

    if (got != expected)
        print_message("%u members, %u rounds, blocking %x%s%s, fault %d: %d, %u states\n", r.size,
                      r.rounds, r.blocking, r.lone > 0 ? ", one dies" : "",
                      r.twice ? ", twice" : "", (int)r.fault, (int)got, states);
    assert_int_equal(got, expected);
}

static bool deep(void)
{
    const char *given = getenv("GBA_TEST_DEEP");

    return given != NULL && strcmp(given, "1") == 0;
}

static void expect_all(struct rules r, enum verdict expected)
{
    expect_within(LIMIT, r, expected);
}

TEST(test_everything_of_two)
{
    struct rules r = {.size = 2, .rounds = 2, .lone = 1};

    for (r.blocking = 0; r.blocking <= 6; r.blocking += 2) {
        r.prompt = false;
        expect_all(r, FINE);
        r.prompt = true;
        expect_all(r, FINE);
    }
    r = (struct rules){.size = 2, .rounds = 3, .blocking = 1u << 2};
    expect_all(r, FINE);
    r.blocking = ALL_ROUND;
    expect_all(r, FINE);
    expect_all((struct rules){.size = 2, .rounds = 1, .twice = true}, FINE);
    expect_all((struct rules){.size = 2, .rounds = 2, .lone = 1, .outside = true}, FINE);
}

TEST(test_everything_of_three)
{
    expect_all((struct rules){.size = 3, .rounds = 1, .prompt = true, .blocking = ALL_ROUND}, FINE);
    expect_all(
        (struct rules){.size = 3, .rounds = 1, .prompt = true, .chain = true, .outside = true},
        FINE);
    expect_all((struct rules){.size = 3,
                              .rounds = 1,
                              .prompt = true,
                              .chain = true,
                              .lone = 1,
                              .blocking = ALL_ROUND},
               FINE);
}

/*
 * In a chain, which has the fewest neighbours and the deepest tree. Some 4 seconds.
 * GBA_TEST_DEEP=1: also with the agreement after the round, which takes minutes and 1 GB.
 */
TEST(test_everything_of_four)
{
    expect_all((struct rules){.size = 4, .rounds = 1, .chain = true}, FINE);
    if (deep())
        expect_within(DEEP_LIMIT,
                      (struct rules){.size = 4, .rounds = 1, .chain = true, .blocking = ALL_ROUND},
                      FINE);
}

/* A failure, a round that is bypassed, and one that is degraded. */
TEST(test_everything_degraded)
{
    struct rules r = {DEGRADED, .blocking = 1u << 3};

    expect_all(r, FINE);
    r.prompt = true;
    r.lone = 1;
    expect_all(r, FINE);
    r.blocking = 0;
    expect_all(r, FINE);
    r.blocking = ALL_ROUND;
    expect_all(r, FINE);
}

static struct rules rules_drawn(uint64_t seed)
{
    uint64_t drawn = seed * 0xD1342543DE82EF95ull;
    uint32_t size = 2 + (uint32_t)(drawn >> 60) % (MEMBERS_MAX - 1);
    bool domains = size > 2 && (drawn >> 48 & 3) == 0;

    return (struct rules){.size = size,
                          .degraded = !domains && drawn >> 47 & 1,
                          .single = domains ? 1 + (uint32_t)(drawn >> 50 & 15) % (size - 1) : 0,
                          .rounds = 1 + (uint32_t)(drawn >> 56 & 15) % 8,
                          .blocking = (uint32_t)(drawn >> 20),
                          .lone = (uint32_t)(drawn >> 40 & 1) * MEMBERS_MAX,
                          .prompt = drawn >> 42 & 1,
                          .twice = drawn >> 41 & 1,
                          .outside = drawn >> 43 & 1,
                          .widens = drawn >> 46 & 1,
                          .chain = (drawn >> 44 & 3) == 0};
}

/* Some 4 seconds. */
#define RUNS 5000u

TEST(test_dice)
{
    const char *given = getenv("GBA_TEST_SEED");
    uint64_t first = given != NULL ? strtoull(given, NULL, 0) : 1;

    for (uint64_t seed = first; seed < first + RUNS; seed++) {
        struct rules r = rules_drawn(seed);
        enum verdict got = search_dice(&r, seed);

        if (got != FINE)
            print_message("GBA_TEST_SEED=%llu: %u members, %u rounds, blocking %x: %d\n",
                          (unsigned long long)seed, r.size, r.rounds, r.blocking, (int)got);
        assert_int_equal(got, FINE);
    }
}

/*
 * The leaders of two domains are neighbours in the chain (single 1) or not (2). Of three members
 * with neighbours there are too many orders, so of these random ones; of two members, every order.
 * GBA_TEST_DEEP=1: larger searches, which take minutes.
 */
TEST(test_everything_of_two_domains)
{
    struct rules r = {.size = 2, .rounds = 2, .single = 1, .lone = 1, .between = ALL_ROUND};

    expect_all(r, FINE);
    r = (struct rules){DOMAINS(2)};
    expect_all(r, FINE);
    r.prompt = false;
    r.lone = 1;
    for (r.single = 1; r.single <= 2; r.single++)
        for (uint64_t seed = 1; seed <= 4 * RUNS; seed++)
            assert_int_equal(search_dice(&r, seed), FINE);
    r.single = 2;
    if (deep())
        expect_all(r, FINE);
    r.between = 0;
    expect_all(r, FINE);
    r = (struct rules){.size = 3, .rounds = 1, .chain = true, .single = 1, .prompt = true};
    if (deep())
        expect_all(r, FINE);
}

/* -------------------------------------------------------------- the search finds each fault --- */

static const struct {
    struct rules rules;
    enum verdict expected;
} mutants[] = {
    {{.size = 3, .rounds = 1, .fault = HASTY}, EARLY},
    {{.size = 2, .rounds = 1, .fault = SILENT}, HANG},
    {{.size = 3, .rounds = 2, .fault = GUESS}, EARLY},
    {{.size = 2, .rounds = 2, .blocking = ALL_ROUND, .fault = MUTE}, WRONG_DUE},
    {{.size = 2, .rounds = 1, .lone = 2, .fault = DEAF}, HANG},
    {{.size = 2, .rounds = 3, .fault = OVERWRITE}, HANG},
    {{.size = 2, .rounds = 2, .blocking = ALL_ROUND, .lone = 2, .fault = BOLD}, WRONG_DUE},
    {{.size = 2, .rounds = 2, .blocking = ALL_ROUND, .fault = RASH}, WRONG_DUE},
    {{.size = 2, .rounds = 2, .blocking = 1u << 2, .lone = 2, .prompt = true, .fault = STALE},
     EARLY},
    {{.size = 2, .rounds = 1, .fault = GONE}, HANG},
    {{.size = 2, .rounds = 2, .blocking = 1u << 2, .fault = ALONE}, WRONG_DUE},
    {{.size = 2, .rounds = 1, .outside = true, .fault = UNASKED}, HANG},
    {{.size = 4, .rounds = 1, .chain = true, .prompt = true, .fault = UNCOVERED}, HANG},
    {{.size = 3, .rounds = 1, .chain = true, .fault = COVER}, EARLY},
    {{.size = 2, .rounds = 1, .lone = 1, .fault = UPWARD}, HANG},
    {{.size = 4, .rounds = 1, .chain = true, .fault = HASTY}, EARLY},
    {{.size = 4, .rounds = 1, .chain = true, .fault = SILENT}, HANG},
    {{.size = 4, .rounds = 1, .chain = true, .fault = UNCOVERED}, HANG},
    {{.size = 4, .rounds = 1, .chain = true, .fault = COVER}, EARLY},
    {{.size = 4, .rounds = 1, .chain = true, .lone = 1, .fault = UPWARD}, HANG},
    {{DEGRADED, .blocking = 1u << 3, .fault = SOON}, HANG},
    {{DEGRADED, .blocking = 1u << 3, .fault = OWN}, HANG},
    {{DEGRADED, .fault = ALONE}, WRONG_DUE},
    {{DEGRADED, .blocking = 1u << 3, .lone = 1, .prompt = true, .fault = BACK}, EARLY},
    {{DEGRADED, .blocking = 1u << 3, .fault = UNREAD}, EARLY},
    {{DOMAINS(2), .fault = EAGER}, WRONG_DUE},
    {{DOMAINS(2), .fault = RUDE}, LEFT_OVER},
    {{DOMAINS(2), .fault = SILENT}, HANG},
    {{DOMAINS(1), .lone = 1, .fault = STRANGERS}, HANG},
};

TEST(test_faults_are_found)
{
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++)
        expect_all(mutants[i].rules, mutants[i].expected);
}

/* These faults need three members and two or three rounds, which are too many for the search of all
 * orders. */
TEST(test_faults_of_more_members)
{
    static const struct rules rows[] = {
        {.size = 4, .rounds = 4, .chain = true, .blocking = 1u << 4 | 1u << 2, .fault = BARE},
        {.size = 3, .rounds = 4, .degraded = true, .fault = UNREAD},
    };

    for (size_t i = 0; i < 2; i++) {
        enum verdict found = FINE;

        for (uint64_t seed = 1; found == FINE && seed <= RUNS; seed++)
            found = search_dice(&rows[i], seed);
        assert_int_equal(found, rows[i].fault == BARE ? WRONG_DUE : EARLY);
    }
}

/* The members that are in the runtime: they test, receive and answer. */
static void others_run(uint32_t present)
{
    for (uint32_t m = 0; m < rules->size; m++)
        if (present >> m & 1 && members[m].team->under_way) {
            member_watch(&members[m]);
            member_step(&members[m]);
        }
    for (uint32_t i = message_count; i-- > 0;)
        if (present >> messages[i].to & 1 && messages[i].state == FLYING)
            message_deliver(i);
        else if (present >> messages[i].to & 1)
            message_answer(i);
}

/*
 * All members except member 1 have seen the release, and only one of them is in the runtime.
 * Whether that one is a neighbour or not, member 1 completes its round.
 */
TEST(test_any_released_member_helps)
{
    for (uint32_t helper = 0; helper < 8; helper++) {
        harness_open(&(struct rules){.size = 8, .rounds = 2, .widens = true});
        for (uint32_t m = 0; m < 8; m++)
            member_step(&members[m]);
        for (uint32_t m = 0; m < 8; m++)
            if (m != 1) {
                gba_flag_store_relaxed(&members[m].flag, device_round);
                member_step(&members[m]);
            }
        dead = true;
        for (int i = 0; helper != 1 && i < 100; i++)
            others_run(1u << 1 | 1u << helper);
        assert_int_equal(round_of(&members[1]), helper != 1);
        assert_int_equal(verdict, FINE);
        harness_close();
    }
}

/* A member has sent its own arrival, and computes: it delays no other member, wherever it is in the
 * tree. */
TEST(test_arrived_member_holds_up_nobody)
{
    for (uint32_t out = 0; out < 8; out++) {
        harness_open(&(struct rules){.size = 8, .rounds = 1, .widens = true});
        dead = true;
        for (uint32_t m = 0; m < 8; m++)
            member_step(&members[m]);
        member_watch(&members[out]);
        for (int i = 0; i < 100; i++)
            others_run(0xFFu & ~(1u << out));
        for (uint32_t m = 0; m < 8; m++)
            assert_int_equal(round_of(&members[m]), m != out);
        assert_int_equal(verdict, FINE);
        harness_close();
    }
}

TEST_MAIN()
