/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switch domains whose groups are refused, or that lack another resource: the path of all members,
 * and the member that is named.
 */
#include "tests/unit/log_catch.h"
#include "tests/unit/team_harness.h"

/* 9 members, node k has ranks k and k + 5; the nodes 0, 2 and 4 have one device, 1 and 3 another.
 */
#define SIZE 9u

static void ends(struct harness *w, gba_path_t path, gba_status_t reason, uint32_t culprit)
{
    char name[128];

    snprintf(name, sizeof name, "%s%s (member %u)",
             GBA_ERR_NO_DEVICE == reason ? "" : "no device: ", gba_status_text(reason), culprit);
    w->expected = GBA_PATH_SIM == path ? "groups among the leaders of 5 hosts" : name;
    harness_place(w, SIZE, 5, 2, 0);
    harness_run(w, SIZE, path);
}

TEST(test_no_group)
{
    struct harness *w = harness_of_domains("sim", "sim?full=1", "sim");

    ends(w, GBA_PATH_SOFTWARE, GBA_ERR_NO_GROUP, 1);
    harness_end(w);
    w = harness_of_domains("sim?full=1", "sim", "sim?full=1");
    w->params.hierarchy =
        GBA_HIERARCHY_NODE; /* else there would be no group of all members in the first proposal */
    ends(w, GBA_PATH_SOFTWARE, GBA_ERR_NO_GROUP, 0);
    harness_end(w);
}

TEST(test_no_membership)
{
    struct harness *w = harness_of_domains("sim", "sim", "sim");

    w->params.hierarchy = GBA_HIERARCHY_NODE;
    for (uint32_t node = 0; node < 5; node++) {
        harness_fail(w, w->switches[node % 2], HARNESS_JOIN, node / 2, GBA_ERR_OTHER_DEVICE);
        ends(w, GBA_PATH_SOFTWARE, GBA_ERR_OTHER_DEVICE, node);
    }
    for (uint32_t d = 0; d < 2; d++) {
        harness_fail(w, w->switches[d], HARNESS_CONFIGURE, 0, GBA_ERR_IO);
        ends(w, GBA_PATH_SOFTWARE, GBA_ERR_IO, d);
    }
    harness_fail(w, NULL, HARNESS_CONFIGURE, 0, GBA_OK);
    ends(w, GBA_PATH_SIM, GBA_OK, 0);
    harness_end(w);
}

TEST(test_no_device)
{
    for (int hierarchy = GBA_HIERARCHY_AUTO; hierarchy <= GBA_HIERARCHY_NODE; hierarchy += 2) {
        struct harness *w = harness_of_domains("sim", "sim", "sim");

        w->params.hierarchy = hierarchy;
        for (uint32_t member = 0; member < SIZE; member++) {
            w->no_device = member;
            ends(w, member < 5 ? GBA_PATH_SOFTWARE : GBA_PATH_SIM, GBA_ERR_NO_DEVICE, member);
        }
        harness_end(w);
    }
}

/* The domain leaders need messages, and a software barrier. */
TEST(test_no_messages)
{
    struct harness *w = harness_of_domains("sim", "sim", "sim");

    w->no_remote = 1;
    ends(w, GBA_PATH_FALLBACK, GBA_ERR_UNSUPPORTED, 1);
    w->no_remote = 2; /* not a domain leader */
    ends(w, GBA_PATH_SIM, GBA_OK, 0);
    w->no_remote = NOBODY;
    w->no_open = 0;
    ends(w, GBA_PATH_FALLBACK, GBA_ERR_NOMEM, 0);
    w->no_open = 2;
    ends(w, GBA_PATH_SIM, GBA_OK, 0);
    w->no_open = NOBODY;
    w->no_software = 7;
    ends(w, GBA_PATH_FALLBACK, GBA_ERR_OTHER_DEVICE, 1);
    w->no_software = NOBODY;
    harness_end(w);
}

/* Domains are disabled, or the members cannot notify each other of the death of one device. */
TEST(test_not_wanted)
{
    struct harness *w = harness_of_domains("sim", "sim", "sim");

    w->params.hierarchy = GBA_HIERARCHY_FLAT;
    ends(w, GBA_PATH_SOFTWARE, GBA_ERR_OTHER_DEVICE, 1);
    harness_end(w);
}

/* Members of one host with different devices. */
TEST(test_one_host)
{
    struct harness *w = harness_of_domains("sim", "sim", "sim");

    for (uint32_t r = 0; r < 4; r++)
        w->devices[r] = w->switches[r % 2];
    w->expected = "through shared memory, 4 members on 1 host; no device: this member and";
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    w->params.hierarchy = GBA_HIERARCHY_NODE; /* only its leader's device counts */
    w->expected = "group 0 of 32 among the leaders of 1 host, 4 members";
    harness_run(w, 4, GBA_PATH_SIM);
    harness_end(w);
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR))
