/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are killed in a call of the driver's model: rule DRV-10 with half the stores. */
#include "tests/unit/driver_bench.h"

/*
 * A process is killed in a call, after any part of the call's stores. The test restores head and
 * core, and runs repair and reap. Bob is alive; when bob has left, the group must be free. A part
 * is each combination of memberships, table and the rest as before or as after the call.
 */
static void killed_in(void (*call)(void), void (*prepare)(void))
{
    for (uint32_t part = 0; part < 4; part++) {
        struct gba_driver_record old;
        struct gba_model_group old_group;

        power_on();
        prepare();
        old = record;
        old_group = *group;
        call();
        record.head = old.head;
        group->core = old_group.core;
        if (part & 1)
            memcpy(record.membership, old.membership, sizeof(old.membership));
        if (part & 2)
            memcpy(group->table, old_group.table, sizeof(old_group.table));
        gba_driver_repair(&record, group);
        gba_driver_reap(&record, group, only_bob_lives);
        if (record.head.state != GBA_GROUP_FREE) {
            assert_int_equal(record.head.present, 1);
            assert_int_equal(leave(1, bob), GBA_OK);
        }
        is_free();
    }
}

static void prepare_nothing(void)
{
}

static void prepare_allocated(void)
{
    alloc(2, ann);
}

static void prepare_joined(void)
{
    alloc(2, ann);
    join(0, ann);
}

static void prepare_both_joined(void)
{
    prepare_joined();
    join(1, bob);
    map(1, bob);
}

static void prepare_armed(void)
{
    arm(2, 0);
}

static void call_alloc(void)
{
    alloc(2, ann);
}

static void call_join(void)
{
    join(0, ann);
}

static void call_map(void)
{
    map(0, ann);
}

static void call_leave(void)
{
    leave(0, ann);
}

static void test_DRV_10_killed_in_a_call(void **state)
{
    (void)state;
    killed_in(call_alloc, prepare_nothing);
    killed_in(call_join, prepare_allocated);
    killed_in(call_map, prepare_joined);
    killed_in(call_map, prepare_both_joined);
    killed_in(call_leave, prepare_joined);
    killed_in(call_leave, prepare_both_joined);
    killed_in(call_leave, prepare_armed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_DRV_10_killed_in_a_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
