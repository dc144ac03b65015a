/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams without a group renegotiate: when, with which result, and with which errors.
 */
#include "tests/unit/team/team_harness.h"

static struct harness *harness_renegotiating(const char *path)
{
    struct harness *w = harness_on(path);

    w->past = true;
    return w;
}

static const uint32_t sizes[] = {1, 2, 3, 7, 12};
#define SIZES (sizeof sizes / sizeof sizes[0])

/* Barriers on a software path, and barriers that do not use the team. */
HARNESS_TEST(test_offload_after_so_many_barriers, harness_renegotiating("sim"))
{
    static const int after[] = {1, 2, 10, 59};

    for (size_t i = 0; i < SIZES; i++)
        for (size_t j = 0; j < sizeof after / sizeof after[0]; j++)
            for (int software = 0; software < 2; software++) {
                w->params.offload_after = after[j];
                w->no_software = software ? NOBODY : 0;
                harness_run_moving(w, sizes[i], (uint32_t)after[j], 1);
                assert_int_equal(w->fallback_barriers[0], software ? 0 : after[j]);
            }
    w->no_software = NOBODY;
    w->params.offload_after = 61;
    w->expected = gba_status_text(GBA_ERR_DEFERRED);
    harness_run(w, 3, GBA_PATH_SOFTWARE);
}

/* Nonblocking barriers count, but the members renegotiate at the end of a blocking one. */
HARNESS_TEST(test_nonblocking_barriers_count, harness_renegotiating("sim"))
{
    for (int software = 0; software < 2; software++) {
        w->no_software = software ? NOBODY : 1;
        w->steps_every = 3;
        w->params.offload_after = 11;
        harness_run_moving(w, 3, 11, 1);
        w->params.offload_after = 12;
        harness_run_moving(w, 3, 13, 1);
    }
}

/* Nobody requests a group if there is no device, whatever the reason, and a refused member does not
 * request one again. */
TEST(test_some_reasons_do_not_pass)
{
    struct harness *w = harness_renegotiating("sim");

    w->rounds = 200;
    w->no_device = 0;
    w->params.offload_after = 5;
    w->expected = gba_status_text(GBA_ERR_NO_DEVICE);
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].renegotiations, 0);
    w->no_device = 2; /* detected at the renegotiation */
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].renegotiations, 1);
    w->params.offload_after = 0;
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].renegotiations, 0);
    harness_end(w);
    w = harness_renegotiating("sim?refuse_rank=1");
    w->rounds = 200;
    w->params.offload_after = 5;
    w->expected = gba_status_text(GBA_ERR_REFUSED);
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].renegotiations, 1);
    harness_end(w);
}

/* 64 barriers, then twice as many each time, up to 16384. */
TEST(test_pauses)
{
    static const uint32_t met[] = {64, 192, 448, 960, 1984, 4032, 8128, 16320, 32704, 49088, 65472};

    for (size_t i = 0; i < sizeof met / sizeof met[0]; i++) {
        struct harness *w = harness_renegotiating("sim?groups=2");

        others_take(w, w->device);
        w->others.free_before = met[i]; /* just in time */
        w->rounds = met[i] + 1;
        harness_run_moving(w, 1, met[i], i + 1);
        if (met[i] < 1000) { /* a round too late, or after it */
            others_take(w, w->device);
            w->others.free_before = met[i] + 1;
            w->rounds = met[i + 1] + 5;
            harness_run_moving(w, 3, met[i + 1], i + 2);
        }
        harness_end(w);
    }
}

HARNESS_TEST(test_offload_after_and_then_none_is_free, harness_renegotiating("sim?groups=3"))
{
    others_take(w, w->device);
    w->others.free_before = 100;
    w->params.offload_after = 20;
    w->rounds = 500;
    harness_run_moving(w, 4, 20 + 64 + 128, 3);
    others_take(w, w->device);
    w->others.free_before = UINT32_MAX;
    w->expected = gba_status_text(GBA_ERR_NO_GROUP);
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    assert_int_equal(w->stats[0].renegotiations, 4);
}

/* Node leaders: rank 0 knows the nodes by then, or (no software) does not. */
HARNESS_TEST(test_leaders_of_nodes, harness_renegotiating("sim?groups=1"))
{
    w->params.hierarchy = GBA_HIERARCHY_NODE;
    w->rounds = 300;
    for (uint32_t hosts = 1; hosts <= 4; hosts++)
        for (int software = 0; software < 2; software++) {
            static char text[64];

            harness_hosts(w, 9, hosts, 0);
            w->no_software = software ? NOBODY : 4;
            snprintf(text, sizeof text, "sim: group 0 of 1 among the leaders of %u host", hosts);
            w->expected = text;
            w->params.offload_after = 0;
            others_take(w, w->device);
            w->others.free_before = 65;
            harness_run_moving(w, 9, 192, 2);
            w->params.offload_after = 30;
            others_take(w, w->device);
            harness_run_moving(w, 9, 30 + 64, 2);
            others_take(w, w->device);
            w->others.free_before = 20;
            harness_run_moving(w, 9, 30, 1);
        }
}

/* The leaders had messages among themselves, and have them again when one of them is refused. */
TEST(test_a_leader_is_refused)
{
    for (uint32_t hosts = 2; hosts <= 4; hosts++) {
        struct harness *w = harness_renegotiating("sim?refuse_rank=1");

        harness_hosts(w, 9, hosts, 0);
        w->params.hierarchy = GBA_HIERARCHY_NODE;
        w->params.offload_after = 11;
        w->rounds = 100;
        w->expected = gba_status_text(GBA_ERR_REFUSED);
        harness_run(w, 9, GBA_PATH_SOFTWARE);
        assert_int_equal(w->stats[0].renegotiations, 1);
        assert_int_equal(w->stats[0].rounds, 100);
        harness_end(w);
    }
}

static struct harness *harness_for(int hierarchy)
{
    struct harness *w = harness_renegotiating("sim");

    harness_hosts(w, 5, 2, 0);
    w->params.hierarchy = hierarchy;
    w->params.offload_after = 4;
    w->rounds = 9;
    return w;
}

/* The exchanges of the creation (facts, layout, handles of the nodes, joined), those of the
 * renegotiation (facts, layout of the nodes, handles, joined, armed), and the run without a
 * failure. All members return the same error, and no member keeps a resource. */
TEST(test_an_exchange_fails)
{
    assert_int_equal(harness_fail_calls(harness_for, GBA_HIERARCHY_FLAT, 5), 3 + 4 + 1);
    assert_int_equal(harness_fail_calls(harness_for, GBA_HIERARCHY_NODE, 5), 4 + 5 + 1);
}

/* Requests after 64, 128 and more barriers, until there is a group. */
HARNESS_TEST(test_requests, harness_renegotiating("sim"))
{
    w->params.max_groups = 5;
    harness_fail(w, w->device, HARNESS_ALLOC, NOBODY, GBA_ERR_LIMIT);
    w->rounds = 64 + 128 + 256;
    w->expected = gba_status_text(GBA_ERR_LIMIT);
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(harness_calls(w, HARNESS_ALLOC), 4);
    assert_int_equal(w->stats[0].renegotiations, 3);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(w->request[i].groups_max, 5);
        assert_int_equal(w->request[i].members, 3);
    }
}

static void kill_and_revive(struct harness *w, uint32_t round)
{
    if (20 == round || 40 == round)
        harness_device_dead(w->device, 20 == round);
}

/* A device that recovers serves new teams only: a team that has left it does not return. */
HARNESS_TEST(test_comes_back, harness_renegotiating("sim"))
{
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
}

TEST_MAIN()
