/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A refused barrier group among the leaders of nodes: the path of all members, and the member that
 * is named.
 */
#include "tests/unit/log_catch.h"
#include "tests/unit/team_harness.h"

/* 7 members, node k has ranks k, k + 3, ...: the failure, the path, and the named member. */
static void ends(struct harness *w, gba_path_t path, gba_status_t reason, uint32_t culprit)
{
    char name[96];

    snprintf(name, sizeof name, "%s%s (member %u)",
             GBA_ERR_NO_DEVICE == reason ? "" : "no device: ", gba_status_text(reason), culprit);
    w->expected = GBA_PATH_SIM == path ? "" : name;
    harness_hosts(w, 7, 3, 0);
    harness_run(w, 7, path);
}

TEST(test_no_group)
{
    struct harness *w = harness_of_leaders("sim?full=1");

    ends(w, GBA_PATH_SOFTWARE, GBA_ERR_NO_GROUP, 0);
    harness_end(w);
}

TEST(test_no_membership)
{
    struct harness *w = harness_of_leaders("sim");

    for (uint32_t node = 0; node < 3; node++) {
        char path[32];
        struct harness *refusing;

        harness_fail(w, w->device, HARNESS_JOIN, node, GBA_ERR_OTHER_DEVICE);
        ends(w, GBA_PATH_SOFTWARE, GBA_ERR_OTHER_DEVICE, node);
        snprintf(path, sizeof path, "sim?refuse_rank=%u", node);
        refusing = harness_of_leaders(path);
        ends(refusing, GBA_PATH_SOFTWARE, GBA_ERR_REFUSED, node);
        harness_end(refusing);
    }
    harness_fail(w, w->device, HARNESS_CONFIGURE, 0, GBA_ERR_IO);
    ends(w, GBA_PATH_SOFTWARE, GBA_ERR_IO, 0);
    harness_fail(w, NULL, HARNESS_CONFIGURE, 0, GBA_OK);
    ends(w, GBA_PATH_SIM, GBA_OK, 0);
    harness_end(w);
}

/* Only leaders need a device. */
TEST(test_a_member_without_device)
{
    struct harness *w = harness_of_leaders("sim");

    for (uint32_t member = 0; member < 7; member++) {
        w->no_device = member;
        ends(w, member < 3 ? GBA_PATH_SOFTWARE : GBA_PATH_SIM, GBA_ERR_NO_DEVICE, member);
    }
    harness_end(w);
}

/* A refusal of the software barrier alone has no effect as long as there is a group. */
TEST(test_no_software)
{
    struct harness *w = harness_of_leaders("sim");

    for (int refused = 0; refused < 2; refused++) {
        gba_path_t path = refused ? GBA_PATH_FALLBACK : GBA_PATH_SIM;

        harness_fail(w, w->device, HARNESS_JOIN, 1, refused ? GBA_ERR_OTHER_DEVICE : GBA_OK);
        w->no_remote = 4;
        ends(w, path, GBA_ERR_OTHER_DEVICE, 1);
        w->no_remote = NOBODY;
        w->no_software = 5;
        ends(w, path, GBA_ERR_OTHER_DEVICE, 1);
        w->no_software = NOBODY;
        w->no_open = 2;
        ends(w, path, GBA_ERR_OTHER_DEVICE, 1);
        if (refused)
            assert_non_null(strstr(w->why[0], "no software barrier: out of memory"));
        w->no_open = NOBODY;
    }
    harness_end(w);
}

/* Without the memory of its node the team has neither a group nor a software barrier. */
TEST(test_no_node)
{
    struct harness *w = harness_of_leaders("sim");

    w->no_host = 6;
    ends(w, GBA_PATH_FALLBACK, GBA_ERR_IO, 6);
    w->no_host = NOBODY;
    w->no_attach = 5;
    ends(w, GBA_PATH_FALLBACK, GBA_ERR_STALE, 5);
    w->no_attach = NOBODY;
    harness_end(w);
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR))
