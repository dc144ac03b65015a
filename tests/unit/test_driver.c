/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of gba/spec/device.md, chapter "Driver", on the driver's model. */
#include "tests/unit/driver_bench.h"

/* QUERY adds up the counters of all lives of a group. */
static void test_DRV_1_query_sums_over_lives(void **state)
{
    (void)state;
    power_on();
    for (uint64_t life = 1; life <= 3; life++) {
        arm(2, 0);
        bench_arrive(4, 0, 1);
        bench_arrive(4, 1, 1);
        assert_int_equal(leave(0, ann), GBA_OK);
        assert_int_equal(leave(1, bob), GBA_OK);
        assert_int_equal(record.head.state, GBA_LIFE_FREE);
        assert_true(bench_counter(4, GBA_COUNTER_ROUNDS) == life);
    }
}

static void test_DRV_2_alloc(void **state)
{
    (void)state;
    power_on();
    assert_int_equal(alloc(0, ann), GBA_ERR_PARAM);
    assert_int_equal(alloc(GBA_MEMBERS_MAX + 1, ann), GBA_ERR_PARAM);
    assert_int_equal(alloc(65, ann), GBA_OK);
    assert_int_equal(alloc(1, bob), GBA_ERR_NO_GROUP);
    assert_int_equal(bench_reg(4, GBA_REG_MEMBER_COUNT), 65);
    assert_true(group->core.member_mask[0] == ~0ull && group->core.member_mask[1] == 1);
    assert_int_equal(bench_reg(4, GBA_REG_STATUS), 0);
}

static void test_DRV_2_generations_differ(void **state)
{
    uint32_t last;

    (void)state;
    power_on();
    record.head.generation = 0xFFFFFFFEu;
    for (int i = 0; i < 5; i++) {
        last = generation();
        assert_int_equal(alloc(2, ann), GBA_OK);
        assert_int_not_equal(generation(), last);
        /* The handle of the previous life, with the key of this one. */
        assert_int_equal(gba_driver_join(&record, last, record.head.key, 0, bob), GBA_ERR_STALE);
        assert_int_equal(leave(GBA_MEMBER_NONE, ann), GBA_OK);
    }
}

/* Whatever state a group was left in, the next allocation finds it reset and its memberships
 * empty. */
static void test_DRV_2_reset_on_reallocation(void **state)
{
    (void)state;
    power_on();
    arm(3, 77);
    bench_arrive(4, 1, 78);
    leave(0, ann);
    leave(1, bob);
    leave(2, bob);
    /* Even if a process wrote to the group in the meantime. */
    bench_arm(4, 5, 5);
    assert_int_equal(alloc(2, eve), GBA_OK);
    assert_int_equal(bench_reg(4, GBA_REG_CONTROL), 0);
    assert_int_equal(bench_reg(4, GBA_REG_MEMBER_COUNT), 2);
    assert_true(bench_read(8, GBA_GROUP_REG(4, GBA_REG_ARRIVAL)) == 0);
    for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++) {
        assert_int_equal(group->table[member], 0);
        assert_true(member >= 2 || GBA_MEMBERSHIP_EMPTY == record.membership[member].state);
    }
}

static void test_DRV_3_join_needs_the_handle_and_a_membership(void **state)
{
    (void)state;
    power_on();
    assert_int_equal(join(0, ann), GBA_ERR_STALE);
    alloc(2, ann);
    assert_int_equal(gba_driver_join(&record, generation() + 1, KEY, 0, ann), GBA_ERR_STALE);
    assert_int_equal(gba_driver_join(&record, generation(), record.head.key ^ 1, 0, ann),
                     GBA_ERR_STALE);
    assert_int_equal(join(2, ann), GBA_ERR_PARAM);
    assert_int_equal(join(GBA_MEMBER_NONE, ann), GBA_ERR_PARAM);
    assert_int_equal(join(1, ann), GBA_OK);
    assert_int_equal(join(1, ann), GBA_ERR_BUSY);
    assert_int_equal(join(1, bob), GBA_ERR_BUSY);
    assert_int_equal(join(0, bob), GBA_OK);
    leave(1, ann);
    assert_int_equal(join(1, eve), GBA_ERR_BUSY); /* a membership that was left */
}

static void test_DRV_3_members_hold_the_group(void **state)
{
    (void)state;
    power_on();
    alloc(2, ann);
    join(1, bob);
    assert_int_equal(leave(GBA_MEMBER_NONE, ann), GBA_ERR_PARAM);
    assert_int_equal(join(0, ann), GBA_OK); /* the allocator as one of them */
    assert_int_equal(leave(1, bob), GBA_OK);
    assert_int_equal(record.head.state, GBA_LIFE_ALLOCATED);
    assert_int_equal(leave(0, ann), GBA_OK);
    is_free();
}

static void test_DRV_4_map_flag(void **state)
{
    (void)state;
    power_on();
    alloc(2, ann);
    assert_int_equal(map(0, ann), GBA_ERR_PARAM); /* not joined */
    join(0, ann);
    assert_int_equal(map(0, bob), GBA_ERR_PARAM);
    assert_int_equal(map(0, GBA_DRIVER_NOBODY), GBA_ERR_PARAM);
    assert_int_equal(map(2, ann), GBA_ERR_PARAM);
    assert_int_equal(map(GBA_MEMBER_NONE, ann), GBA_ERR_PARAM);
    assert_int_equal(gba_driver_map(&record, group, generation(), 0, 0, ann), GBA_ERR_PARAM);
    assert_int_equal(gba_driver_map(&record, group, generation(), 0, 12, ann), GBA_ERR_PARAM);
    assert_int_equal(gba_driver_map(&record, group, generation() - 1, 0, 8, ann), GBA_ERR_STALE);
    assert_int_equal(map(0, ann), GBA_OK);
    assert_true(group->table[0] == bench_flag(4, 0));
    assert_int_equal(map(0, ann), GBA_ERR_BUSY);
    leave(0, ann);
    is_free();
}

static void test_DRV_5_configure_when_all_are_mapped(void **state)
{
    (void)state;
    power_on();
    alloc(2, ann);
    join(0, ann);
    map(0, ann);
    assert_int_equal(configure(5, eve), GBA_ERR_PARAM); /* no member */
    assert_int_equal(configure(5, ann), GBA_ERR_BUSY);  /* a membership is empty */
    join(1, bob);
    assert_int_equal(configure(5, ann), GBA_ERR_BUSY); /* a flag is missing */
    map(1, bob);
    assert_int_equal(gba_driver_configure(&record, group, generation() + 1, 5, ann, 0),
                     GBA_ERR_STALE);
    assert_int_equal(bench_reg(4, GBA_REG_CONTROL), 0);
    assert_int_equal(configure(0xFFFFFFFFu, bob), GBA_OK);
    assert_int_equal(bench_reg(4, GBA_REG_STATUS), GBA_STATUS_READY);
    assert_int_equal(configure(7, bob), GBA_ERR_BUSY);
    bench_arrive(4, 0, 0);
    assert_int_equal(bench_arrive(4, 1, 0), 2);
    assert_int_equal(group->core.counters[GBA_COUNTER_ERR_CONFIG], 0);
}

static void test_DRV_5_never_with_a_member_that_left(void **state)
{
    (void)state;
    power_on();
    alloc(2, ann);
    join(0, ann);
    join(1, bob);
    map(0, ann);
    map(1, bob);
    leave(1, bob);
    assert_int_equal(configure(5, ann), GBA_ERR_BUSY);
}

static void test_DRV_6_leave_withdraws_first(void **state)
{
    (void)state;
    power_on();
    arm(3, 0);
    bench_arrive(4, 1, 1);
    assert_int_equal(leave(1, ann), GBA_ERR_PARAM);
    assert_int_equal(leave(1, bob), GBA_OK);
    assert_int_equal(group->table[1], 0);
    assert_int_equal(leave(1, bob), GBA_ERR_PARAM);
    assert_int_equal(leave(3, bob), GBA_ERR_PARAM);
    bench_arrive(4, 0, 1);
    assert_int_equal(bench_arrive(4, 2, 1), 2);
    bench_released(0, 4, 0, 1);
    bench_released(1, 4, 2, 1);
    assert_int_equal(leave(2, bob), GBA_OK);
    assert_int_equal(record.head.state, GBA_LIFE_ARMED);
    assert_int_equal(leave(0, ann), GBA_OK);
    is_free();
}

static void test_DRV_6_giving_up_an_allocation(void **state)
{
    (void)state;
    power_on();
    assert_int_equal(leave(GBA_MEMBER_NONE, ann), GBA_ERR_STALE);
    alloc(2, ann);
    assert_int_equal(leave(GBA_MEMBER_NONE, bob), GBA_ERR_PARAM);
    assert_int_equal(leave(GBA_MEMBER_NONE, eve), GBA_ERR_PARAM);
    assert_int_equal(gba_driver_leave(&record, group, generation() + 1, GBA_MEMBER_NONE, ann),
                     GBA_ERR_STALE);
    assert_int_equal(leave(GBA_MEMBER_NONE, ann), GBA_OK);
    is_free();
}

/* The other members joined and left while this one was still in transit. */
static void test_DRV_6_a_late_join_is_reported(void **state)
{
    uint32_t old;
    uint64_t key;

    (void)state;
    power_on();
    alloc(2, ann);
    old = generation();
    key = record.head.key;
    join(0, ann);
    leave(0, ann);
    assert_int_equal(gba_driver_join(&record, old, key, 1, bob), GBA_ERR_STALE);
    alloc(2, eve); /* also when the group has its next life */
    assert_int_equal(gba_driver_join(&record, old, key, 1, bob), GBA_ERR_STALE);
    assert_int_equal(gba_driver_leave(&record, group, old, 0, ann), GBA_ERR_STALE);
    assert_int_equal(record.head.state, GBA_LIFE_ALLOCATED);
}

static void test_DRV_7_inspect_changes_nothing(void **state)
{
    static const uint32_t regs[] = {GBA_REG_SEQUENCE, GBA_REG_ARRIVED_COUNT, GBA_REG_STATUS,
                                    GBA_REG_LAST_ERROR, GBA_REG_MEMBER_COUNT};
    static const uint32_t values[] = {9, 1, GBA_STATUS_READY | GBA_STATUS_ACTIVE, 0, 2};

    (void)state;
    power_on();
    arm(2, 9);
    bench_arrive(4, 1, 10);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(bench_reg(4, regs[i]), values[i]);
        bench_is(&before);
    }
    assert_int_equal(bench_read(8, GBA_GROUP_REG(4, GBA_REG_ARRIVED_MASK)), 2);
    bench_is(&before);
}

static void test_DRV_8_errors_of_an_armed_group_interrupt(void **state)
{
    (void)state;
    power_on();
    arm(2, 0);
    bench_refused_write(8, GBA_DOORBELL(4), GBA_ARRIVAL(1, 2), GBA_ERROR_MEMBER);
    assert_true(effects.interrupt);
}

static void test_DRV_10_dead_members_leave(void **state)
{
    (void)state;
    power_on();
    arm(3, 0);
    assert_int_equal(reap(eve), 0);
    bench_arrive(4, 0, 1);
    assert_int_equal(reap(ann), 1);
    assert_int_equal(group->table[0], 0);
    assert_int_equal(record.membership[0].state, GBA_MEMBERSHIP_LEFT);
    assert_int_equal(record.head.state, GBA_LIFE_ARMED);
    bench_arrive(4, 1, 1);
    assert_int_equal(bench_arrive(4, 2, 1), 2);
    assert_int_equal(reap(ann), 0);
    assert_int_equal(reap(GBA_DRIVER_NOBODY), 0);
    assert_int_equal(reap(bob), 2);
    is_free();
    assert_int_equal(reap(bob), 0);
}

static void test_DRV_10_dead_allocator(void **state)
{
    (void)state;
    power_on();
    alloc(2, ann);
    assert_int_equal(reap(eve), 0);
    assert_int_equal(reap(ann), 1);
    is_free();
    alloc(2, ann);
    join(1, bob); /* now the death of ann takes nothing from bob */
    assert_int_equal(reap(ann), 0);
    assert_int_equal(record.head.state, GBA_LIFE_ALLOCATED);
    assert_int_equal(leave(1, bob), GBA_OK);
    is_free();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_DRV_1_query_sums_over_lives),
        cmocka_unit_test(test_DRV_2_alloc),
        cmocka_unit_test(test_DRV_2_generations_differ),
        cmocka_unit_test(test_DRV_2_reset_on_reallocation),
        cmocka_unit_test(test_DRV_3_join_needs_the_handle_and_a_membership),
        cmocka_unit_test(test_DRV_3_members_hold_the_group),
        cmocka_unit_test(test_DRV_4_map_flag),
        cmocka_unit_test(test_DRV_5_configure_when_all_are_mapped),
        cmocka_unit_test(test_DRV_5_never_with_a_member_that_left),
        cmocka_unit_test(test_DRV_6_leave_withdraws_first),
        cmocka_unit_test(test_DRV_6_giving_up_an_allocation),
        cmocka_unit_test(test_DRV_6_a_late_join_is_reported),
        cmocka_unit_test(test_DRV_7_inspect_changes_nothing),
        cmocka_unit_test(test_DRV_8_errors_of_an_armed_group_interrupt),
        cmocka_unit_test(test_DRV_10_dead_members_leave),
        cmocka_unit_test(test_DRV_10_dead_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
