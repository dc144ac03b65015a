/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a member reads the registers of the device, and when it takes a loss as proved: the pure
 * function, and whole barriers on a simulated device. The test sets the clock (the linker
 * substitutes clock_gettime), so nothing here depends on speed.
 */
#include <time.h>

#include "gba/failover/engine.h"
#include "tests/unit/pair.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* --- The pure function --- */

/* The first pause of the next round, after `before` rounds that were not waited for. */
static uint64_t first(struct gba_retry *retry, uint64_t before)
{
    gba_retry_begin(retry, 0, 4, before);
    return retry->due;
}

static void rounds_of(struct gba_retry *retry, unsigned rounds, uint64_t took)
{
    while (rounds-- > 0) {
        gba_retry_begin(retry, 0, 4, 0);
        gba_retry_end(retry, took);
    }
}

TEST(test_the_first_reading_follows_the_rounds)
{
    struct gba_retry retry;

    gba_retry_init(&retry, 0);
    assert_int_equal(first(&retry, 0), 20 * MS); /* nothing is measured yet */
    assert_int_equal(first(&retry, 100), 100 * US);
    rounds_of(&retry, 100, 1 * MS);
    assert_in_range(first(&retry, 0), 3 * MS, 5 * MS);
    rounds_of(&retry, 100, 1000 * MS);
    assert_int_equal(first(&retry, 0), 20 * MS);
    rounds_of(&retry, 100, 5 * US);
    assert_int_equal(first(&retry, 0), 100 * US);
    /* Some long rounds are not typical. */
    for (int i = 0; i < 100; i++) {
        rounds_of(&retry, 3, 100 * MS);
        assert_in_range(first(&retry, 4), 100 * US, 500 * US);
    }
}

/* A device that has not answered yet. */
TEST(test_an_answer_is_awaited)
{
    struct gba_retry retry;

    gba_retry_init(&retry, 0);
    (void)first(&retry, 100);
    assert_false(gba_retry_read(&retry, 100 * US, GBA_LOSS_ARRIVAL));
    gba_retry_again(&retry, 200 * US);
    assert_int_equal(retry.due, 1200 * US);
    gba_retry_again(&retry, 1200 * US);
    assert_int_equal(retry.due, 2200 * US);
    assert_true(gba_retry_read(&retry, 2200 * US, GBA_LOSS_ARRIVAL)); /* nothing was forgotten */
}

TEST(test_a_resent_round_is_not_learned)
{
    struct gba_retry retry;

    gba_retry_init(&retry, 0);
    (void)first(&retry, 100);
    for (int i = 0; i < 100; i++) {
        gba_retry_begin(&retry, 0, 4, 0);
        assert_false(gba_retry_read(&retry, 100 * US, GBA_LOSS_ARRIVAL));
        assert_true(gba_retry_read(&retry, 200 * US, GBA_LOSS_ARRIVAL));
        gba_retry_end(&retry, 200 * US);
    }
    assert_int_equal(first(&retry, 0), 100 * US);
}

TEST(test_large_groups_read_later)
{
    struct gba_retry retry;

    for (uint32_t members = 1; members <= 2000; members++) {
        gba_retry_init(&retry, 0);
        gba_retry_begin(&retry, 0, members, 100);
        assert_true(retry.due >= members * 10 * US);
        assert_in_range(retry.due, 100 * US, 20 * MS);
    }
}

/* The readings of a round without a loss within `time`, and the last pause. */
static unsigned readings(struct gba_retry *retry, uint64_t time, uint64_t *pause)
{
    unsigned count = 0;
    uint64_t now;

    for (gba_retry_begin(retry, 0, 4, 0); retry->due <= time; count++) {
        now = retry->due;
        assert_false(gba_retry_read(retry, now, GBA_LOSS_NONE));
        *pause = retry->due - now;
    }
    return count;
}

TEST(test_the_pauses_double)
{
    struct gba_retry retry;
    uint64_t pause = 0;

    gba_retry_init(&retry, 0);
    (void)first(&retry, 100);
    assert_int_equal(readings(&retry, 100 * MS, &pause), 9); /* 0.1, 0.3, 0.7, ... 51.1 ms */
    assert_int_equal(pause, 51200 * US);
    (void)readings(&retry, 60000000000u, &pause);
    assert_int_equal(pause, 1600 * MS);
    /* A fixed pause, independent of the rounds. */
    gba_retry_init(&retry, 5 * MS);
    assert_int_equal(first(&retry, 100), 5 * MS);
    (void)readings(&retry, 60000000000u, &pause);
    assert_int_equal(pause, 80 * MS);
}

/* The same loss in two consecutive readings. */
TEST(test_two_readings_prove_a_loss)
{
    struct gba_retry retry;

    gba_retry_init(&retry, 0);
    (void)first(&retry, 100);
    assert_false(gba_retry_read(&retry, 100 * US, GBA_LOSS_ARRIVAL));
    assert_int_equal(retry.due, 125 * US);
    assert_false(gba_retry_read(&retry, 125 * US, GBA_LOSS_RELEASE));
    assert_int_equal(retry.due, 150 * US);
    assert_true(gba_retry_read(&retry, 150 * US, GBA_LOSS_RELEASE));
    assert_int_equal(retry.due, 350 * US);
    assert_false(gba_retry_read(&retry, 350 * US, GBA_LOSS_RELEASE)); /* lost again */
    gba_retry_later(&retry, 375 * US);                                /* not readable */
    assert_false(gba_retry_read(&retry, 1000 * US, GBA_LOSS_RELEASE));
    assert_false(gba_retry_read(&retry, 1100 * US, GBA_LOSS_NONE));
    assert_false(gba_retry_read(&retry, 2000 * US, GBA_LOSS_RELEASE));
}

/* --- Barriers --- */

static uint64_t clock_ns = 1000000000u; /* every clock of this process */
static uint64_t clock_step;             /* from one call to the next */

int __wrap_clock_gettime(clockid_t id, struct timespec *now);

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    uint64_t ns = __atomic_add_fetch(&clock_ns, clock_step, __ATOMIC_RELAXED);

    (void)id;
    *now = (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
    return 0;
}

void __wrap_gba_flag_park(gba_flag_t *flag, uint64_t seen, uint64_t timeout, gba_word_t *sleepers);

/* No store comes, so the member sleeps until the timeout. */
void __wrap_gba_flag_park(gba_flag_t *flag, uint64_t seen, uint64_t timeout, gba_word_t *sleepers)
{
    (void)flag, (void)seen, (void)sleepers;
    clock_ns += timeout;
}

static unsigned inspections;

gba_status_t __real_gba_group_inspect(gba_group_t *group, gba_group_state_t *state);
gba_status_t __wrap_gba_group_inspect(gba_group_t *group, gba_group_state_t *state);

gba_status_t __wrap_gba_group_inspect(gba_group_t *group, gba_group_state_t *state)
{
    inspections++;
    return __real_gba_group_inspect(group, state);
}

/* A team of which only member 0 does barriers. */
static void begin(const char *path, uint32_t members)
{
    inspections = 0;
    pair_open(path);
    pair_create(members);
}

static uint64_t repaired(const gba_team_t *team)
{
    gba_team_stats_t stats;

    gba_team_stats(team, &stats);
    return stats.retries_arrival + stats.retries_release;
}

/* Make a round, or begin it, with a check each `step`. Returns the time that it took, at most
 * `most`, ns. */
static uint64_t barrier(gba_team_t *team, uint64_t step, uint64_t most)
{
    uint64_t began = clock_ns;

    assert_int_equal(gba_barrier_start(team), GBA_OK);
    while (GBA_OK != gba_barrier_progress(team) && clock_ns - began < most)
        clock_ns += step;
    return clock_ns - began;
}

/* A team of one member: the device completes each round at once, unless a store is lost. */
static void losses_cost_little(const char *path)
{
    uint64_t took;

    begin(path, 1);
    for (int i = 1; i <= 100; i++) {
        took = barrier(pair.team[0], 5 * US, 1000 * MS);
        assert_true(took < 30 * MS);
        assert_true(i < 50 || took <= 150 * US); /* the team has learned the typical round */
    }
    assert_in_range(repaired(pair.team[0]), 9, 12);
    pair_close();
}

TEST(test_a_loss_costs_some_hundred_microseconds)
{
    losses_cost_little("sim?lose_arrival=11");
    losses_cost_little("sim?lose_release=11");
}

/* A sleeping member is awake when a reading is due. */
TEST(test_a_loss_costs_a_sleeping_member_as_much)
{
    uint64_t began;

    begin("sim?lose_arrival=11", 1);
    pair.team[0]->waiting.mode = GBA_WAIT_SLEEP;
    clock_step = US;
    for (int i = 1; i <= 100; i++) {
        began = clock_ns;
        assert_int_equal(gba_barrier_wait(pair.team[0]), GBA_OK);
        assert_true(i < 50 || clock_ns - began < 200 * US);
    }
    clock_step = 0;
    assert_in_range(repaired(pair.team[0]), 9, 12);
    pair_close();
}

TEST(test_a_fixed_pause)
{
    begin("sim?lose_arrival=2", 1);
    gba_retry_init(&pair.team[0]->watchdog.retry, 100 * MS);
    assert_int_equal(barrier(pair.team[0], 100 * US, 1000 * MS), 0);
    assert_in_range(barrier(pair.team[0], 100 * US, 1000 * MS), 100 * MS, 126 * MS);
    pair_close();
}

/* The other member does not come for 10 s. */
TEST(test_a_late_member_is_no_loss)
{
    begin("sim", 2);
    assert_int_equal(barrier(pair.team[0], 20 * US, 10000 * MS), 10000 * MS);
    assert_int_equal(repaired(pair.team[0]), 0);
    assert_in_range(inspections, 5, 20);
    pair_close();
}

/* The releases of a slow device, on their way for 2 ms, are not lost. */
TEST(test_a_slow_release_is_no_loss)
{
    begin("sim?latency=2000000", 1);
    for (int i = 0; i < 200; i++)
        assert_in_range(barrier(pair.team[0], 20 * US, 1000 * MS), 2 * MS, 3 * MS);
    assert_int_equal(repaired(pair.team[0]), 0);
    assert_int_equal(inspections, 0);
    pair_close();
}

/* The round has just ended when the registers are read: not a loss either. */
TEST(test_a_release_on_its_way_is_no_loss)
{
    gba_team_t **team = pair.team;
    uint64_t began, late;

    begin("sim?latency=50000", 2);
    for (unsigned i = 0; i < 400; i++) {
        late = 0 == i % 4 ? i * 5 * US : 0;
        assert_int_equal(gba_barrier_start(team[0]), GBA_OK);
        for (began = clock_ns; clock_ns - began < late; clock_ns += 5 * US)
            assert_int_equal(gba_barrier_progress(team[0]), GBA_INPROGRESS);
        (void)barrier(team[1], 0, 0); /* the late member */
        for (began = clock_ns; GBA_OK != gba_barrier_progress(team[0]); clock_ns += 5 * US)
            assert_true(clock_ns - began <= 50 * US);
        while (GBA_OK != gba_barrier_progress(team[1]))
            clock_ns += US;
    }
    assert_int_equal(repaired(team[0]), 0);
    assert_true(inspections > 50);
    pair_close();
}

TEST_MAIN()
