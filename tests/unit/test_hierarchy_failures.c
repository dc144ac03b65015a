/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A barrier group among the leaders of nodes that cannot be had: how it ends for all members, and
 * who is named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/hierarchy_world.h"
#include "tests/unit/log_catch.h"

/* 7 members, node k has ranks k, k + 3, ...: what fails, how it ends, and who is named. */
static void ends(struct world *w, gba_path_t path, gba_status_t reason, uint32_t culprit)
{
    char name[96];

    snprintf(name, sizeof name, "no device: %s (member %u)", gba_status_text(reason), culprit);
    w->expected = GBA_PATH_SIM == path ? "" : name;
    world_hosts(w, 7, 3, 0);
    world_run(w, 7, path);
}

static void test_no_group(void **state)
{
    struct world *w = world_on("sim?full=1");

    (void)state;
    ends(w, GBA_PATH_SOFT, GBA_ERR_NO_GROUP, 0);
    world_end(w);
}

static void test_no_seat(void **state)
{
    struct world *w = world_on("sim");

    (void)state;
    for (uint32_t node = 0; node < 3; node++) {
        char path[32];
        struct world *refusing;

        no_seat_on = w->device;
        no_seat = node;
        ends(w, GBA_PATH_SOFT, GBA_ERR_OTHER_DEVICE, node);
        no_seat_on = NULL;
        snprintf(path, sizeof path, "sim?refuse_rank=%u", node);
        refusing = world_on(path);
        ends(refusing, GBA_PATH_SOFT, GBA_ERR_REFUSED, node);
        world_end(refusing);
    }
    no_arming_on = w->device;
    ends(w, GBA_PATH_SOFT, GBA_ERR_IO, 0);
    no_arming_on = NULL;
    ends(w, GBA_PATH_SIM, GBA_OK, 0);
    world_end(w);
}

/* Only leaders need a device. */
static void test_a_member_without_device(void **state)
{
    struct world *w = world_on("sim");

    (void)state;
    for (uint32_t member = 0; member < 7; member++) {
        w->no_device = member;
        ends(w, member < 3 ? GBA_PATH_SOFT : GBA_PATH_SIM, GBA_ERR_NO_DEVICE, member);
    }
    world_end(w);
}

/* What concerns the software barrier alone does not matter as long as there is a group. */
static void test_no_software(void **state)
{
    struct world *w = world_on("sim");

    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        gba_path_t path = refused ? GBA_PATH_CALLER : GBA_PATH_SIM;

        no_seat_on = refused ? w->device : NULL;
        no_seat = 1;
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
    no_seat_on = NULL;
    world_end(w);
}

/* Without the memory of its node nobody has either. */
static void test_no_node(void **state)
{
    struct world *w = world_on("sim");

    (void)state;
    w->no_host = 6;
    ends(w, GBA_PATH_CALLER, GBA_ERR_IO, 6);
    w->no_host = NOBODY;
    w->no_attach = 5;
    ends(w, GBA_PATH_CALLER, GBA_ERR_PERM, 5);
    w->no_attach = NOBODY;
    world_end(w);
}

/* Whichever exchange fails, all learn it, and nothing is left. At last none does. */
static int calls_until_none_fails(uint32_t unseated)
{
    int call = 0;
    bool failed;

    no_seat = unseated;
    do {
        struct world *w = world_on("sim");

        no_seat_on = w->device;
        world_hosts(w, 7, 3, 0);
        w->rounds = 1;
        thread_oob_run(7, ++call, world_member, w);
        failed = GBA_ERR_OOB == w->returned[0];
        for (uint32_t r = 0; r < 7; r++)
            assert_int_equal(w->returned[r], w->returned[0]);
        assert_int_equal(world_segments(), 0);
        world_end(w);
    } while (failed);
    no_seat_on = NULL;
    return call;
}

static void test_an_exchange_fails(void **state)
{
    (void)state;
    assert_int_equal(calls_until_none_fails(NOBODY), 8); /* the list in team.c, and one more */
    assert_int_equal(calls_until_none_fails(0), 7);      /* 1 to 5, then 8 */
    assert_int_equal(calls_until_none_fails(2), 8);      /* 1 to 6, then 8 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_group),
        cmocka_unit_test(test_no_seat),
        cmocka_unit_test(test_a_member_without_device),
        cmocka_unit_test(test_no_software),
        cmocka_unit_test(test_no_node),
        cmocka_unit_test(test_an_exchange_fails),
    };

    gba_log_set(log_drop, NULL, GBA_LOG_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
