/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the rounds of a dead device end (gba/recover.c): whatever the order of notices, stores and
 * deaths, nobody completes a round before all have begun it, everybody completes all rounds, and
 * the agreement on the next path is due for all members in the same round. Everything that can
 * happen to two and three members, and random schedules of up to eight; and the search is shown to
 * find what is wrong in variants that are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gba/engine.h"
#include "recover_search.h"

#define ALL_ROUND (~0u)

/* Worlds: the largest of these searches ends after 762,019. */
#define LIMIT (1u << 20)

static void expect_all(struct rules r, enum verdict expected)
{
    uint32_t states;
    enum verdict got = search_all(&r, LIMIT, &states);

    if (got != expected)
        print_message("%u members, %u rounds, blocking %x%s%s, fault %d: %d, %u states\n", r.size,
                      r.rounds, r.blocking, r.lone > 0 ? ", one dies" : "",
                      r.twice ? ", twice" : "", (int)r.fault, (int)got, states);
    assert_int_equal(got, expected);
}

static void test_everything_of_two(void **state)
{
    struct rules r = {.size = 2, .rounds = 2, .lone = 1};

    (void)state;
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
}

static void test_everything_of_three(void **state)
{
    (void)state;
    expect_all((struct rules){.size = 3, .rounds = 1, .prompt = true, .blocking = ALL_ROUND}, FINE);
}

static struct rules rules_drawn(uint64_t seed)
{
    uint64_t drawn = seed * 0xD1342543DE82EF95ull;

    return (struct rules){.size = 2 + (uint32_t)(drawn >> 60) % (MEMBERS_MAX - 1),
                          .rounds = 1 + (uint32_t)(drawn >> 56 & 15) % 8,
                          .blocking = (uint32_t)(drawn >> 20),
                          .lone = (drawn >> 40 & 1) * MEMBERS_MAX,
                          .prompt = drawn >> 42 & 1,
                          .twice = drawn >> 41 & 1};
}

/* Some 4 seconds. */
#define RUNS 20000u

static void test_dice(void **state)
{
    const char *given = getenv("GBA_TEST_SEED");
    uint64_t first = given != NULL ? strtoull(given, NULL, 0) : 1;

    (void)state;
    for (uint64_t seed = first; seed < first + RUNS; seed++) {
        struct rules r = rules_drawn(seed);
        enum verdict got = search_dice(&r, seed);

        if (got != FINE)
            print_message("GBA_TEST_SEED=%llu: %u members, %u rounds, blocking %x: %d\n",
                          (unsigned long long)seed, r.size, r.rounds, r.blocking, (int)got);
        assert_int_equal(got, FINE);
    }
}

/* ---------------------------------------------------------------- the search can find faults ---
 */

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
};

static void test_faults_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++)
        expect_all(mutants[i].rules, mutants[i].expected);
}

static gba_status_t attempt_at_device(struct gba_team *team)
{
    (void)team;
    fail_msg("it arrives at a device that others have given up");
    return GBA_OK;
}

/*
 * A member whose round is ended by the notices of all others, before it has found anything wrong
 * itself, may not have sent its arrival: the leader of a node gathers first. It does not arrive in
 * the next round either, since the device could release it there by the round before.
 */
static void test_who_hears_first_stays_away(void **state)
{
    struct gba_team *team = calloc(1, sizeof *team + gba_recovery_bytes(2));
    const gba_notice_t told = {.team = 77, .round = 1, .since = UINT64_MAX, .member = 1};
    gba_notice_t mine = {0};

    (void)state;
    assert_non_null(team);
    team->size = 2;
    team->meet_at = UINT64_MAX;
    gba_recovery_register(team, told.team);
    team->attempt = attempt_at_device;
    team->under_way = true;
    assert_int_equal(gba_notice_take(&told), GBA_OK);
    assert_int_equal(gba_barrier_test(team), GBA_OK);
    assert_int_equal(team->rounds, 1);
    assert_int_equal(gba_barrier_wait(team, NULL, NULL), GBA_ERR_DEAD);
    assert_int_equal(gba_team_notice(team, &mine), GBA_OK);
    assert_int_equal(mine.round, 2);
    assert_int_equal(mine.since, 2);
    gba_recovery_end(team);
    free(team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_of_two),
        cmocka_unit_test(test_everything_of_three),
        cmocka_unit_test(test_dice),
        cmocka_unit_test(test_faults_are_found),
        cmocka_unit_test(test_who_hears_first_stays_away),
    };

    return cmocka_run_group_tests_name("recover", tests, NULL, NULL);
}
