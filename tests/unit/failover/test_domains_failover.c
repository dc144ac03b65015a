/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switch domains whose group fails: devices die, at any moment. And teams
 * that renegotiate for their groups.
 */
#include "gba/dev/member.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/team/team_harness.h"

#define SIZE 9u

/* Each device dies as one of its rounds would complete, a round of the gather or of the release;
 * between the arrivals of a round; or between its release stores. */
TEST(test_a_device_dies_in_a_round)
{
    static const char *const options[][2] = {{"die_after", ""},
                                             {"die_arrival", ""},
                                             {"die_after", "&die_release=1"},
                                             {"die_after", "&die_release=2"}};

    for (int run = 0; run < 2 * 2 * 4 * 8; run++) {
        const int d = run % 2, layout = run / 2 % 2, n = 1 + run / 16;
        const char *const *option = options[run / 4 % 4];
        struct harness *w;
        char path[64];

        snprintf(path, sizeof path, "sim?%s=%d%s", option[0], n, option[1]);
        w = harness_of_domains(0 == d ? path : "sim", 1 == d ? path : "sim", "sim");
        w->rounds = 30;
        w->expected = gba_status_text(GBA_ERR_DEAD);
        harness_place(w, SIZE, 5, 2, layout);
        harness_run(w, SIZE, GBA_PATH_SOFTWARE);
        assert_int_equal(w->stats[0].failovers, 1);
        harness_end(w);
    }
}

/* The messages of nonblocking barriers after the failure are separate from those of the domain
 * leaders before it. */
TEST(test_nonblocking_barriers)
{
    for (int after = 1; after <= 8; after++)
        for (int blocks = 0; blocks < 2; blocks++) {
            char path[48];
            struct harness *w;

            snprintf(path, sizeof path, "sim?die_after=%d", after);
            w = harness_of_domains(path, "sim", "sim");
            w->blocks_every = blocks ? 50 : UINT32_MAX;
            w->rounds = 120;
            w->params.first_sequence = 0xFFFFFFF8u;
            w->expected = blocks ? gba_status_text(GBA_ERR_DEAD) : "groups among the leaders";
            harness_place(w, SIZE, 5, 2, after % 2);
            harness_run(w, SIZE, blocks ? GBA_PATH_SOFTWARE : GBA_PATH_SIM);
            harness_end(w);
        }
}

/*
 * One device or several die, at any moment: while nodes gather, while domains gather, during the
 * barrier among the domain leaders, between releases, and in the agreement. All members continue in
 * software, with the same count of rounds, and no message is left unread (harness_run, unread).
 */
TEST(test_devices_die_at_any_moment)
{
    unsigned survived = 0;

    srand(1);
    for (int i = 0; i < 200; i++) {
        const char *slow = "sim?latency=200000&jitter=3000000";
        struct harness *w = harness_of_domains(i % 2 ? slow : "sim", i % 3 ? slow : "sim", "sim");
        uint32_t used = 2 + (uint32_t)i % 2, hosts = used + 1 + (uint32_t)i % 4;

        w->rounds = 5;
        w->until_death = true;
        w->late_ms = i % 3 == 0;
        harness_place(w, SIZE, hosts, used, i % 2);
        /* A domain of one node does not detect that its device died: then the first device dies. */
        w->kill.after_us = (unsigned)rand() % 15000u;
        w->kill.which = hosts < 2 * used ? 1u : 1u + (unsigned)rand() % ((1u << used) - 1u);
        harness_run(w, SIZE, GBA_PATH_SOFTWARE);
        survived += w->stats[0].failovers > 0;
        harness_end(w);
    }
    assert_true(survived > 50); /* the other teams failed in the agreement */
}

/* ------------------------------------------------------------------------ renegotiation --- */

static struct harness *harness_renegotiating(int hierarchy)
{
    struct harness *w = harness_of_domains("sim", "sim", "sim");

    w->params.hierarchy = hierarchy;
    w->accounts = false; /* some members close the old transport when others send on the new one */
    w->past = true;
    w->rounds = 300;
    w->expected = "sim: groups among the leaders of";
    return w;
}

/* Renegotiation after a number of barriers, when there is a group for each domain. The first or the
 * second domain finds its device full before. */
TEST(test_renegotiation)
{
    for (int hierarchy = GBA_HIERARCHY_AUTO; hierarchy <= GBA_HIERARCHY_NODE; hierarchy += 2)
        for (uint32_t full = 0; full < 2; full++) {
            struct harness *w = harness_renegotiating(hierarchy);

            harness_place(w, SIZE, 5, 2, (int)full);
            w->params.offload_after = 30;
            harness_run_moving(w, SIZE, 30, 1);
            w->params.offload_after = 0;
            others_take(w, w->switches[full]);
            w->others.free_before = 70;
            harness_run_moving(w, SIZE, 192, 2);
            others_take(w, w->switches[full]);
            w->params.offload_after = 20;
            harness_run_moving(w, SIZE, 20 + 64, 2);
            harness_end(w);
        }
}

/* One device, and more nodes than its groups can have members: rank 0 knows this from an earlier
 * agreement. */
TEST(test_too_many_renegotiate)
{
    for (int hierarchy = GBA_HIERARCHY_AUTO; hierarchy <= GBA_HIERARCHY_NODE; hierarchy += 2) {
        struct harness *w = harness_renegotiating(hierarchy);

        w->switches[0]->members_max = 3;
        harness_place(w, SIZE, 5, 1, 0);
        w->params.offload_after = 30;
        harness_run_moving(w, SIZE, 30, 1);
        w->params.offload_after = 0;
        others_take(w, w->switches[0]);
        w->others.free_before = 64;
        harness_run_moving(w, SIZE, 64, 1);
        harness_end(w);
    }
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR))
