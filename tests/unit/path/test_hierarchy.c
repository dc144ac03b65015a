/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A barrier group among the leaders of nodes: its size, and a device that dies. test_domains.c has
 * nodes of every shape on one switch and on several, many rounds, lost arrivals and releases, and
 * sleeping members. test_hierarchy_failures.c covers refusals.
 */
#include "gba/dev/member.h"
#include "gba/path/path_hybrid.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/team/team_harness.h"

/* Not requested by the user: a group of all members would be too large. */
HARNESS_TEST(test_more_members_than_a_group_can_have, harness_of_leaders("sim"))
{
    w->params.hierarchy = GBA_HIERARCHY_AUTO;
    w->device->members_max = 4;
    harness_hosts(w, 4, 4, 0);
    w->expected = "sim: group 0 of 32, 4 members";
    harness_run(w, 4, GBA_PATH_SIM);
    for (uint32_t hosts = 2; hosts <= 4; hosts++) {
        harness_hosts(w, 9, hosts, 0);
        w->expected = "sim: group 0 of 32 among the leaders of";
        harness_run(w, 9, GBA_PATH_SIM);
    }
    harness_hosts(w, 9, 5, 0); /* and more nodes than a group can have members */
    w->expected = "sim: groups among the leaders of 5 hosts";
    harness_run(w, 9, GBA_PATH_SIM);
    harness_hosts(w, 9, 1, 0); /* on one host a device is a detour */
    w->expected = "through shared memory, 9 members on 1 host; no device: ";
    harness_run(w, 9, GBA_PATH_SOFTWARE);
    assert_non_null(strstr(w->why[0], "9 members; a group has at most 4"));
    harness_hosts(w, 9, 3, 0);
    w->params.hierarchy = GBA_HIERARCHY_FLAT;
    w->expected = "through messages";
    harness_run(w, 9, GBA_PATH_SOFTWARE);
}

/* As many nodes as a group can have members, each with a leader only: the steps, in one thread. */
TEST(test_708_nodes)
{
    static struct gba_path_hybrid leader[GBA_MEMBERS_MAX];
    const struct gba_path_ops *ops = &gba_path_hybrid_ops;
    const uint32_t sequence = UINT32_MAX - 2;
    gba_device_t *device;
    gba_group_handle_t handle;

    assert_int_equal(gba_device_init("sim", NULL, &device), GBA_OK);
    assert_int_equal(gba_allocate_group(device, GBA_MEMBERS_MAX + 1, &handle), GBA_ERR_TOO_MANY);
    assert_int_equal(gba_allocate_group(device, GBA_MEMBERS_MAX, &handle), GBA_OK);
    for (uint32_t node = 0; node < GBA_MEMBERS_MAX; node++) {
        leader[node] = (struct gba_path_hybrid){
            .base = {.ops = &gba_path_hybrid_ops}, .leader = true, .sequence = sequence};
        assert_int_equal(gba_path_hybrid_join(&leader[node].base, device, &handle, node), GBA_OK);
    }
    assert_int_equal(gba_configure_group(leader[0].base.group, sequence), GBA_OK);
    for (uint32_t round = 0; round < 6; round++) {
        for (uint32_t i = 0; i < GBA_MEMBERS_MAX; i++) {
            uint32_t node = (i * 5 + round) % GBA_MEMBERS_MAX; /* 708 is no multiple of 5 */
            uint32_t before = (node + GBA_MEMBERS_MAX - 5) % GBA_MEMBERS_MAX;

            if (i > 0)
                assert_int_equal(ops->test(&leader[before].base), GBA_INPROGRESS);
            assert_int_equal(ops->start(&leader[node].base), GBA_OK);
            (void)ops->test(&leader[node].base); /* the member arrives in its first test */
        }
        for (uint32_t node = 0; node < GBA_MEMBERS_MAX; node++)
            assert_int_equal(ops->test(&leader[node].base), GBA_OK);
    }
    for (uint32_t node = 0; node < GBA_MEMBERS_MAX; node++)
        gba_free_group(leader[node].base.group);
    gba_device_fini(device);
}

/* --------------------------------------------------------------------------- the rounds --- */

/* The device dies as the round would complete, when all leaders wait for their release. */
TEST(test_the_device_dies_as_a_round_ends)
{
    for (uint32_t hosts = 1; hosts <= 4; hosts++)
        for (int after = 1; after <= 64; after *= 4) {
            char path[48];
            struct harness *w;

            snprintf(path, sizeof path, "sim?die_after=%d", after);
            w = harness_of_leaders(path);
            w->rounds = 100;
            w->expected = gba_status_text(GBA_ERR_DEAD);
            harness_hosts(w, 9, hosts, after % 3);
            harness_run(w, 9, GBA_PATH_SOFTWARE);
            assert_int_equal(w->stats[0].failovers, 1);
            harness_end(w);
        }
}

/*
 * The device dies at any moment: while nodes gather, between arrivals, between the releases of
 * different leaders, which take different times, and in the agreement. It dies by itself, or by a
 * process that is killed inside its lock.
 */
TEST(test_the_device_dies_at_any_moment)
{
    unsigned survived = 0;

    srand(1);
    for (int i = 0; i < 150; i++) {
        struct harness *w = harness_of_leaders(i % 2 ? "sim?latency=200000&jitter=3000000" : "sim");

        w->rounds = 5;
        w->until_death = true;
        w->late_ms = i % 3 == 0;
        harness_hosts(w, i % 5 == 4 ? 24 : 7, 1 + (uint32_t)i % 4, i % 4);
        w->kill.which = 1;
        w->kill.in_lock = i % 3 == 1;
        w->kill.after_us = (unsigned)rand() % 12000u;
        harness_run(w, i % 5 == 4 ? 24 : 7, GBA_PATH_SOFTWARE); /* 24: nodes with flags */
        survived += w->stats[0].failovers > 0;
        harness_end(w);
    }
    assert_true(survived > 20); /* the other teams failed in the agreement */
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR))
