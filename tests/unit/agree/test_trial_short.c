/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short trials (gba/team/trial_short.c) with a scripted clock: a barrier of a schedule takes what
 * was measured on 16 cores, with some noise, and the members take the fastest. The harness checks
 * in each round that no member leaves early.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>

#include "gba/path/path_shared.h"
#include "gba/agree/agree.h"
#include "tests/unit/team/team_harness.h"

#define SHORT_AFTER 4096u /* as in gba/agree/schedule.c */
#define RADICES     9u    /* 0: dissemination */

static struct {
    uint32_t ns[RADICES]; /* of a barrier with that radix; 0: not a schedule */
    uint32_t noise;       /* the most, of 100 */
    bool poisoned;        /* old values in the slots that are not in use look like new ones */
} script;

/* Barriers of a trial that a member has entered, and those that one has left early. */
static gba_word_t entered[HARNESS_MEMBERS], early;

static _Thread_local uint64_t now = UINT64_C(1000000000000);
static _Thread_local uint32_t seed, of_trial;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int clock_gettime(clockid_t id, struct timespec *time)
{
    if (CLOCK_MONOTONIC != id)
        return (int)syscall(SYS_clock_gettime, id, time);
    time->tv_sec = (time_t)(now / 1000000000u);
    time->tv_nsec = (long)(now % 1000000000u);
    return 0;
}

gba_status_t __real_gba_barrier_wait(gba_team_t *team);
gba_status_t __wrap_gba_barrier_wait(gba_team_t *team);

/* As if the sequence had wrapped since the other schedules were used. */
static void poison(struct gba_team *team, uint8_t radix)
{
    const struct gba_segment *segment = &team->path->node->segment;

    for (uint32_t i = gba_shared_slots(team->size, radix); i < segment->slots; i++)
        gba_shm_mark(segment, team->rank, i, (uint32_t)gba_team_rounds(team) + (1u << 30));
}

/* Member 0 is late at the first barrier of each batch. */
static gba_status_t trial_barrier(gba_team_t *team)
{
    const uint32_t number = ++of_trial;
    gba_status_t status;

    if (0 == team->rank && 1 == number % 12)
        usleep(500);
    gba_word_store_release(&entered[team->rank], number);
    status = __real_gba_barrier_wait(team);
    for (uint32_t i = 0; i < team->size; i++)
        if (gba_word_load_acquire(&entered[i]) < number)
            gba_word_add_relaxed(&early, 1);
    return status;
}

/* A team without an agreement is that of a trial. */
gba_status_t __wrap_gba_barrier_wait(gba_team_t *team)
{
    const uint8_t *radices = NULL;
    uint32_t current = 0;

    if (0 == gba_path_shared_schedules(team->path, &radices, &current) || radices == NULL)
        return __real_gba_barrier_wait(team);
    if (team->agreement == NULL) {
        seed = seed * 1103515245u + 12345u + team->rank;
        now +=
            (uint64_t)script.ns[radices[current]] * (100 + (seed >> 16) % (script.noise + 1)) / 100;
        return trial_barrier(team);
    }
    if (script.poisoned && 0 == current && SHORT_AFTER - 100 == gba_team_rounds(team))
        poison(team, radices[0]);
    return __real_gba_barrier_wait(team);
}

static void let_others_wait(struct harness *w, uint32_t round)
{
    (void)w;
    if (round > SHORT_AFTER)
        usleep(2000);
}

static void run(uint32_t size, uint32_t trial_after, const char *expected)
{
    struct harness *w = harness_on(NULL);

    memset(entered, 0, sizeof entered);
    w->params.trial_after = (int)trial_after;
    w->params.wait = GBA_WAIT_YIELD;
    w->before = let_others_wait;
    w->rounds = SHORT_AFTER + 10;
    w->expected = expected;
    harness_run(w, size, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].trials, trial_after > SHORT_AFTER);
    assert_int_equal(gba_word_load_relaxed(&early), 0);
    harness_end(w);
}

/* MPI_Barrier of Open MPI 6.0.0rc2 on 16 cores of one socket, a core for each rank, medians, ns.
 * [0]: dissemination. */
static const struct {
    uint32_t size, ns[RADICES];
    const char *expected;
} measured[] = {{4, {336, [3] = 431, [4] = 287}, "radix 4 (v2) through"},
                {8, {558, [3] = 516, [4] = 464, [8] = 532}, "radix 4 (v2) through"},
                {12, {720, [3] = 703, [4] = 569, [8] = 657}, "radix 4 (v2) through"},
                {16, {747, [3] = 762, [4] = 641, [8] = 723}, "radix 4 (v2) through"}};

TEST(test_measured)
{
    script.noise = 8;
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        memcpy(script.ns, measured[i].ns, sizeof script.ns);
        run(measured[i].size, 50000, measured[i].expected);
    }
}

/* Each schedule is taken if it is better by 5%, and not if it is better by 2%; also if its slots
 * have old values. */
TEST(test_each)
{
    static const struct {
        uint32_t size, radix;
        const char *expected;
    } cases[] = {{3, 0, "dissemination (v1) through"}, {5, 0, "dissemination (v1) through"},
                 {5, 3, "radix 3 (v2) through"},       {5, 5, "radix 5 (v2) through"},
                 {9, 8, "radix 8 (v2) through"},       {9, 4, "radix 4 (v2) through"}};

    script.noise = 0;
    for (int poisoned = 0; poisoned < 2; poisoned++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            script.poisoned = poisoned;
            for (uint32_t k = 0; k < RADICES; k++)
                script.ns[k] = k == cases[i].radix ? 950 : 1000;
            run(cases[i].size, 50000, cases[i].expected);
        }
    script.poisoned = false;
    script.ns[3] = 980;
    script.ns[4] = 1000;
    run(9, 50000,
        "radix 4 (v2) through shared memory, 9 members on 1 host; there is no device "
        "(member 0); measured in us: radix 4 1.00");
}

/* A short trial is not made where one of all barriers comes before, or none is wanted. */
TEST(test_not_wanted)
{
    run(4, 0, "radix 4 (v2)");
}

/* At most 5% of the barriers before it. */
static void count_barriers(struct harness *w, uint32_t round)
{
    (void)w;
    if (round > SHORT_AFTER)
        assert_in_range(of_trial, 100, 170);
}

HARNESS_TEST(test_cost, harness_on(NULL))
{
    w->params.wait = GBA_WAIT_YIELD;
    w->before = count_barriers;
    w->params.first_sequence = UINT32_MAX - SHORT_AFTER - 20; /* the sequence wraps in the trial */
    w->rounds = SHORT_AFTER + 10;
    w->expected = "measured in us: radix 4 ";
    harness_run(w, 9, GBA_PATH_SOFTWARE);
}

TEST_MAIN()
