/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams whose group is taken back: all members continue on another path, renegotiate for a group,
 * and report why they have none.
 */
#include "tests/unit/team_harness.h"

static struct harness *harness_reclaiming(const char *path, uint32_t before, uint32_t every)
{
    struct harness *w = harness_on(path);

    w->reclaim.device = w->device;
    w->reclaim.before = before;
    w->reclaim.every = every;
    w->past = true;
    return w;
}

static const uint32_t sizes[] = {1, 2, 3, 7};
#define SIZES (sizeof sizes / sizeof sizes[0])

/* The group is taken back, and the team gets one again after 64 barriers, repeatedly; with software
 * and without. */
TEST(test_reclaimed_and_regained)
{
    for (size_t i = 0; i < SIZES; i++)
        for (int way = 0; way < 8; way++) {
            struct harness *w = harness_reclaiming("sim", 7, 70);

            w->reclaim.silent = 0 == (way & 1);
            w->params.wait = way & 2 ? GBA_WAIT_SLEEP : GBA_WAIT_YIELD;
            w->no_software = way & 4 ? 0 : NOBODY;
            w->steps_every = 5;
            w->rounds = 7 + 3 * 70 + 1;
            w->expected = gba_status_text(GBA_ERR_RECLAIMED);
            harness_run(w, sizes[i], way & 4 ? GBA_PATH_FALLBACK : GBA_PATH_SOFTWARE);
            harness_reclaimed(w, 4);
            /* Taken back in round 147, which members complete by notifications. They leave the
             * group after it if one of them was notified before its arrival, else after the next
             * round, and renegotiate 64 barriers later. */
            assert_in_range(w->moved[0], 147 + 64, 148 + 64);
            harness_end(w);
        }
}

/* The members that are no leaders learn the failure from their leader. */
TEST(test_leaders_of_nodes)
{
    for (uint32_t hosts = 1; hosts <= 4; hosts++)
        for (int flags = 0; flags < 2; flags++) {
            struct harness *w = harness_reclaiming("sim", 3, 66);

            harness_hosts(w, 9, hosts, 2);
            w->reclaim.silent = !flags;
            w->params.hierarchy = GBA_HIERARCHY_NODE;
            w->no_software = hosts % 2 ? NOBODY : 5;
            w->rounds = 3 + 3 * 66 + 65;
            w->expected = "sim: group 0 of 32 among the leaders of";
            harness_run(w, 9, GBA_PATH_SIM);
            harness_reclaimed(w, 4);
            harness_end(w);
        }
}

/* The request of rank 0: it contains a barrier rate from the second one on. */
TEST(test_requests)
{
    struct harness *w = harness_reclaiming("sim", 10, 1000);

    w->params.max_groups = 5;
    w->rounds = 100;
    harness_run(w, 3, GBA_PATH_SIM);
    harness_reclaimed(w, 1);
    assert_int_equal(harness_calls(w, HARNESS_ALLOC), 2);
    assert_int_equal(w->request[0].barrier_rate, 0);
    assert_true(w->request[1].barrier_rate > 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(w->request[i].groups_max, 5);
        assert_int_equal(w->request[i].members, 3);
    }
    /* Requests after 64, 128 and more barriers, until there is a group. */
    gba_word_store_relaxed(&w->calls[HARNESS_ALLOC], 0);
    harness_fail(w, w->device, HARNESS_ALLOC, NOBODY, GBA_ERR_LIMIT);
    w->reclaim.before = UINT32_MAX;
    w->rounds = 64 + 128 + 256;
    w->expected = gba_status_text(GBA_ERR_LIMIT);
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(harness_calls(w, HARNESS_ALLOC), 4);
    assert_int_equal(w->stats[0].renegotiations, 3);
    harness_end(w);
}

/* The barrier rate is that of the last pause, not of the one before it. */
TEST(test_barrier_rate)
{
    struct harness *w = harness_reclaiming("sim", UINT32_MAX, 0);

    harness_fail(w, w->device, HARNESS_ALLOC, NOBODY, GBA_ERR_NO_GROUP);
    w->rounds = 64 + 10;
    w->late_ms = 2; /* one member is late in each round: at least 2 ms a round */
    harness_run(w, 2, GBA_PATH_SOFTWARE);
    assert_int_equal(harness_calls(w, HARNESS_ALLOC), 2);
    assert_in_range(w->request[1].barrier_rate, 1, 501);
    harness_end(w);
}

/* If the device has died as well, that is the reason, and no member requests a group again. */
TEST(test_reclaimed_and_dead)
{
    struct harness *w = harness_reclaiming("sim?die_after=20", UINT32_MAX, 0);

    w->rounds = 200;
    w->expected = gba_status_text(GBA_ERR_DEAD);
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].failovers, 1);
    assert_int_equal(w->stats[0].reclaims, 0);
    assert_int_equal(w->stats[0].renegotiations, 0);
    harness_end(w);
    w = harness_reclaiming("sim?die_after=20", 5, 1000);
    w->rounds = 200;
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].failovers, 1);
    assert_int_equal(w->stats[0].reclaims, 1);
    assert_int_equal(w->stats[0].renegotiations, 1);
    harness_end(w);
}

static void kill_and_revive(struct harness *w, uint32_t round)
{
    if (20 == round || 40 == round)
        harness_device_dead(w->device, 20 == round);
}

/* A device that recovers serves new teams only: a team that has left it does not return. */
TEST(test_comes_back)
{
    struct harness *w = harness_reclaiming("sim", UINT32_MAX, 0);

    w->before = kill_and_revive;
    w->rounds = 300;
    w->expected = gba_status_text(GBA_ERR_DEAD);
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].failovers, 1);
    assert_int_equal(w->stats[0].renegotiations, 0);
    assert_int_equal(harness_calls(w, HARNESS_ALLOC), 1);
    w->before = NULL;
    w->expected = "sim: group";
    harness_run(w, 4, GBA_PATH_SIM);
    harness_end(w);
}

TEST_MAIN()
