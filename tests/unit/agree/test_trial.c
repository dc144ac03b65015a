/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trials: teams that measure other barriers and change to them; test_trial_decisions.c has the
 * decisions. In rotation a team takes its candidates in turn, whatever they cost, so nothing here
 * depends on speed. tests/unit/team/team_harness.c checks in each round that no member leaves
 * early, and after each trial that all members have the same path.
 */
#include "tests/unit/team/team_harness.h"

#include "gba/agree/schedule.h"
#include "gba/agree/trial.h"
#include "gba/dev/member.h"

/* ------------------------------------------------------------------------------- teams --- */

static struct harness *harness_of_trials(int test)
{
    struct harness *w = harness_on(NULL);

    w->params.trial_after = 3;
    w->params.trial_test = test;
    w->past = true;
    w->rounds = 40;
    w->own_barrier = true;
    w->expected = "measured in us: ";
    return w;
}

/* The path at the end of the last trial: the n-th of the rotation. */
static void run_to(struct harness *w, uint32_t size, uint32_t trials, gba_path_t path,
                   const char *expected)
{
    w->rounds = 3 * trials + 1; /* and of passes, if there is no rotation */
    w->expected = expected;
    harness_run(w, size, path);
    assert_int_equal(w->stats[0].trials, 2 == w->params.trial_test ? trials : trials / 3);
}

/* All candidates in turn, the runtime's barrier among them, with late members and with messages
 * that leave late. */
HARNESS_TEST(test_rotation_on_one_host, harness_of_trials(2))
{
    w->late_ms = 1;
    run_to(w, 4, 1, GBA_PATH_SOFTWARE, "tree through shared memory");
    run_to(w, 4, 3, GBA_PATH_FALLBACK, "the fastest of 7");
    run_to(w, 4, 6, GBA_PATH_SOFTWARE, "radix 3 (v2) through shared memory");
    w->oversubscribed = true;
    run_to(w, 2, 1, GBA_PATH_SOFTWARE, "dissemination (v1) through shared memory");
    run_to(w, 7, 5, GBA_PATH_FALLBACK, "the fastest of 6");
    w->oversubscribed = false; /* a core for each member, so that none yields */
    w->params.wait = GBA_WAIT_SPIN;
    w->late_ms = 0;
    run_to(w, 2, 3, GBA_PATH_SOFTWARE, "counter in shared memory");
}

/* Only core 0 of a member is in the barriers of a trial. */
HARNESS_TEST(test_rotation_with_cores, harness_of_trials(2))
{
    w->cores = 3;
    run_to(w, 4, 6, GBA_PATH_SOFTWARE, "radix 3 (v2) through shared memory");
}

TEST(test_rotation_on_hosts)
{
    for (uint32_t hosts = 2; hosts <= 3; hosts++)
        for (int layout = 0; layout < 2; layout++) {
            struct harness *w = harness_of_trials(2);
            const uint32_t cycle = 2 == hosts ? 5 : 7;

            w->late_ms = 0 == layout;
            w->params.sw_radix = 3;
            harness_hosts(w, 6, hosts, layout);
            run_to(w, 6, cycle - 3, GBA_PATH_SOFTWARE, "radix 3 (v2) through messages, 6");
            run_to(w, 6, cycle - 2, GBA_PATH_SOFTWARE, "tree through messages, 6");
            run_to(w, 6, cycle - 1, GBA_PATH_FALLBACK, "the fastest of ");
            run_to(w, 6, cycle + 1, GBA_PATH_SOFTWARE,
                   2 == hosts ? "dissemination (v1) through messages, 6"
                              : "radix 3 (v2) among the leaders");
            harness_end(w);
        }
}

/* Nonblocking barriers count, and a trial waits for a blocking one. A team that has had one keeps
 * its own barriers. */
HARNESS_TEST(test_nonblocking_barriers, harness_of_trials(2))
{
    w->blocks_every = 4; /* trials after rounds 4, 8, 12, ... */
    w->rounds = 21;
    w->expected = "radix 3 (v2) through shared memory";
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].trials, 5);
    w->rounds = 13;
    w->expected = "counter in shared memory";
    harness_run(w, 3, GBA_PATH_SOFTWARE);
}

HARNESS_TEST(test_parameters_restrict_the_choice, harness_of_trials(2))
{
    w->params.sw_algorithm = GBA_ALGORITHM_V2;
    run_to(w, 4, 0, GBA_PATH_SOFTWARE, "radix 4 (v2)");
    w->rounds = 20; /* one candidate is no choice */
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].trials, 0);
    w->params.sw_algorithm = GBA_ALGORITHM_AUTO;
    w->expected = "";
    w->params.trial_after = 0;
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].trials, 0);
    w->params.trial_after = 3; /* too expensive so early */
    w->params.trial_test = 0;
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].trials, 0);
    w->params.trial_test = 2;
    w->params.hierarchy = GBA_HIERARCHY_FLAT;
    run_to(w, 4, 3, GBA_PATH_SOFTWARE, "dissemination (v1)");
    w->params.sw_radix = 3;
    run_to(w, 4, 0, GBA_PATH_SOFTWARE, "radix 3 (v2)");
    run_to(w, 4, 3, GBA_PATH_SOFTWARE, "radix 3 (v2)");
}

/* Whichever candidate is the fastest. Passes come after 3, 6 and 9 rounds. Pauses double without
 * rotation: trials end after 9, 21 and 39 rounds. */
TEST(test_all_take_the_fastest)
{
    static const char *const paths[] = {"radix 4 (v2)",    "counter",      "dissemination (v1)",
                                        "radix 3 (v2)",    "tree through", "central (v3)",
                                        "the fastest of 7"};
    struct harness *w = harness_of_trials(1);

    w->candidates = 7;
    for (uint32_t i = 0; i < 7; i++) {
        for (uint32_t r = 0; r < 4; r++)
            w->fastest[r] = i;
        run_to(w, 4, 3, 6 == i ? GBA_PATH_FALLBACK : GBA_PATH_SOFTWARE, paths[i]);
    }
    harness_end(w);
    for (uint32_t hosts = 1; hosts <= 3; hosts += 2) {
        w = harness_of_trials(1);
        harness_hosts(w, 5, hosts, 0);
        w->rounds = 50;
        w->own_barrier = false;
        harness_run(w, 5, GBA_PATH_SOFTWARE);
        assert_int_equal(w->stats[0].trials, 3);
        harness_end(w);
    }
}

/* A renegotiation between trials gives the team a group, which has no trials. */
HARNESS_TEST(test_a_group_ends_the_trials, harness_on("sim"))
{
    w->past = w->own_barrier = true;
    w->params.trial_after = 3;
    w->params.trial_test = 2;
    w->params.offload_after = 11;
    w->expected = "sim: group";
    w->rounds = 40;
    harness_run_moving(w, 3, 11, 1);
    assert_int_equal(w->stats[0].trials, 3);
}

/* ------------------------------------------------------------------------- the device --- */

static struct harness *harness_of_offload(const char *device, uint32_t size, uint32_t hosts)
{
    struct harness *w = harness_on(device);

    harness_hosts(w, size, hosts, 0);
    w->past = w->own_barrier = true;
    w->params.offload = GBA_OFFLOAD_FASTEST;
    w->params.trial_after = 3;
    w->params.trial_test = 1;
    return w;
}

static uint32_t groups_free(const struct harness *w)
{
    gba_device_info_t info;

    assert_int_equal(gba_device_query(w->device, &info), GBA_OK);
    return info.groups_free;
}

static void see_no_group(struct harness *w, uint32_t round)
{
    if (2 == round || 5 == round || 8 == round || 24 == round)
        assert_int_equal(groups_free(w), 32);
}

/* On one host the team holds no group, until a trial finds the device the fastest. When another
 * barrier is faster, it gives the group back. */
HARNESS_TEST(test_the_fastest_of_one_host, harness_of_offload("sim", 3, 1))
{
    w->before = see_no_group;
    w->rounds = 3;
    w->params.trial_after = 0;
    w->expected = "software: radix 3 (v2) through shared memory, 3 members on 1 host; no "
                  "device: fewer hosts than min_hosts";
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    w->params.trial_after = 3;
    w->candidates = 7; /* radix 3, device, counter, dissemination, tree, central, fallback */
    for (uint32_t r = 0; r < 3; r++)
        w->fastest[r] = 1;
    w->rounds = 11;
    w->expected = "of 32, 3 members; measured in us: radix 3 0.00";
    harness_run(w, 3, GBA_PATH_SIM);
    assert_int_equal(w->reason[0], GBA_OK);
    w->rounds = 24; /* the next trial: device, counter, ... */
    w->expected =
        "software: counter in shared memory, 3 members on one host; no device: "
        "another barrier is measured or expected to be faster; measured in us: device 0.00";
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(w->reason[0], GBA_ERR_SLOWER);
}

/* On several hosts the device comes first, and groups of the leaders are measured, too. */
HARNESS_TEST(test_the_fastest_of_two_hosts, harness_of_offload("sim", 4, 2))
{
    w->params.trial_test = 2;
    run_to(w, 4, 0, GBA_PATH_SIM, "of 32, 4 members");
    run_to(w, 4, 1, GBA_PATH_SIM, "of 32 among the leaders of 2 hosts, 4 members; measured");
    run_to(w, 4, 2, GBA_PATH_SOFTWARE, "dissemination (v1) among the leaders of 2 hosts");
    w->params.min_hosts = 3;
    run_to(w, 4, 0, GBA_PATH_SOFTWARE, "fewer hosts than min_hosts");
    w->params.offload = GBA_OFFLOAD_NEVER;
    run_to(w, 4, 0, GBA_PATH_SOFTWARE, "no device: offload is never");
    w->params.offload = GBA_OFFLOAD_ALWAYS;
    run_to(w, 4, 0, GBA_PATH_SIM, "of 32, 4 members");
    w->rounds = 20;
    harness_run(w, 4, GBA_PATH_SIM);
    assert_int_equal(w->stats[0].trials, 0);
}

/* A trial lacks a group: the next one comes soon, and not after twice as many barriers. */
HARNESS_TEST(test_a_group_is_awaited, harness_of_offload("sim?full=1", 3, 1))
{
    w->own_barrier = false;
    w->expected = "software: ";
    w->rounds = 50;
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].trials, 5); /* after 9, 18, 27, 36 and 45 rounds */
}

/* A device that is measured once, by a group of one member, and is too slow to come first. */
TEST(test_a_slow_device_comes_later)
{
    struct harness *w = harness_of_offload("sim", 4, 2);
    gba_group_handle_t handle;

    gba_round_trip_measure(w->device);
    assert_in_range(gba_word_load_relaxed(&w->device->dev->round_trip), 1, UINT64_MAX - 1);
    assert_int_equal(groups_free(w), 32);
    w->rounds = 2;
    w->expected = "of 32, 4 members";
    gba_word_store_relaxed(&w->device->dev->round_trip, 500);
    harness_run(w, 4, GBA_PATH_SIM);
    gba_word_store_relaxed(&w->device->dev->round_trip, 100000);
    w->expected =
        "among the leaders of 2 hosts, 4 members, at most 2 on a host; no device: another "
        "barrier is measured or expected to be faster";
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    w->params.offload = GBA_OFFLOAD_ALWAYS;
    w->expected = "of 32, 4 members";
    harness_run(w, 4, GBA_PATH_SIM);
    harness_end(w);
    w = harness_of_offload("sim?groups=1", 2, 2);
    w->params.trial_test = 0; /* the agreement measures */
    w->rounds = 2;
    w->expected = "no barrier group is free";
    assert_int_equal(gba_allocate_group(w->device, 1, &handle), GBA_OK);
    harness_run(w, 2, GBA_PATH_SOFTWARE);
    assert_int_equal(gba_word_load_relaxed(&w->device->dev->round_trip), 0); /* not yet */
    gba_free_handle(w->device, &handle);
    gba_round_trip_measure(w->device);
    assert_in_range(gba_word_load_relaxed(&w->device->dev->round_trip), 1, UINT64_MAX - 1);
    harness_end(w);
}

/* The device dies in the middle of a trial: all members take another path. */
TEST(test_the_device_dies_in_a_trial)
{
    for (int hosts = 1; hosts <= 2; hosts++) {
        struct harness *w = harness_of_offload("sim?die_after=12", 4, (uint32_t)hosts);

        w->own_barrier = false; /* else it may be the fastest */
        w->params.retry_after = 5;
        w->rounds = 12;
        w->expected = "software: ";
        harness_run(w, 4, GBA_PATH_SOFTWARE);
        assert_int_equal(w->stats[0].failovers, 0);
        assert_in_range(w->stats[0].trials, 1, 4);
        harness_end(w);
    }
}

/* A group fails: the members agree on a software barrier, and try others from then on. */
HARNESS_TEST(test_trials_after_a_failure, harness_on("sim?die_after=20"))
{
    w->past = true;
    w->params.trial_after = 3;
    w->params.trial_test = 2;
    w->rounds = 40;
    w->expected = "the device stopped answering";
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].failovers, 1);
    assert_true(w->stats[0].trials > 2);
}

static void let_open_fail(struct harness *w, uint32_t round)
{
    w->no_open = 2 == round ? 1 : w->no_open;
}

/* A candidate that one member cannot make is a candidate of no member. */
HARNESS_TEST(test_a_candidate_cannot_be_made, harness_of_trials(2))
{
    harness_hosts(w, 4, 2, 0); /* members 0 and 1 are leaders */
    w->own_barrier = false;
    w->before = let_open_fail;
    w->rounds = 20;
    w->expected = "dissemination (v1) among the leaders";
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].trials, 6);
}

static struct harness *harness_short(int hosts)
{
    struct harness *w = harness_of_trials(2);

    harness_hosts(w, 4, (uint32_t)hosts, 0);
    w->own_barrier = false;
    w->rounds = 4;
    return w;
}

/* All members return the same error, and no member keeps a resource. */
TEST(test_an_exchange_fails)
{
    /* The agreement, the facts of the trial, the exchanges of two to three paths, a batch of each.
     */
    assert_true(harness_fail_calls(harness_short, 1, 4) > 3 + 1 + 3 * 2 + 4);
    assert_true(harness_fail_calls(harness_short, 2, 4) > 4 + 2 + 2 * 2 + 3);
}

/* The faulty variant: one member decides by other costs than the others. */
TEST(test_a_member_that_decides_alone_is_found)
{
    for (uint32_t alone = 0; alone < 3; alone++)
        for (uint32_t choice = 1; choice < 6; choice++) {
            struct harness *w = harness_of_trials(1);

            w->rounds = 10; /* the trial ends after 9 */
            w->candidates = 6;
            w->fastest[alone] = choice;
            thread_oob_run(3, 0, harness_member, w);
            assert_int_equal(gba_word_load_relaxed(&w->split), 3);
            harness_end(w);
        }
}

TEST_MAIN()
