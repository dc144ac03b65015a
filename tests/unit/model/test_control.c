/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of gba/spec/device.md, chapter "Commands", on the control unit of the model. */
#include "tests/unit/model/model_bench.h"

BENCH_TEST(test_CMD_1_complete_and_harmless_if_it_fails, 2)
{
    static const uint32_t unknown[] = {0, 6, 7, GBA_CMD_MEMBER + 1, 0x80000000u, 0xFFFFFFFFu};

    arm(2, 0);
    assert_int_equal(port_read(1, GBA_PORT_COMMAND), GBA_CMD_ARM);
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        refused_call(0, unknown[i], 0, 0, GBA_RESULT_PARAM);
    generation++;
    all_stale(0);
    generation--;
    number = 1; /* not allocated */
    all_stale(0);
    number = 2; /* does not exist */
    all_stale(0);
    number = GBA_GROUP_ANY;
    refused_call(0, GBA_CMD_JOIN, 0, 0, GBA_RESULT_STALE);
    number = 0;
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), GBA_STATUS_READY);
}

BENCH_TEST(test_CMD_2_alloc, 3)
{
    assert_int_equal(alloc(0, 0), GBA_RESULT_PARAM);
    assert_int_equal(alloc(0, GBA_MEMBERS_MAX + 1), GBA_RESULT_PARAM);
    assert_int_equal(alloc_at(0, 3, 1), GBA_RESULT_PARAM);
    assert_int_equal(alloc_at(1, 1, 65), GBA_RESULT_OK);
    assert_int_equal(number, 1);
    assert_int_equal(generation, 1);
    assert_int_equal(bench_reg(1, GBA_REG_MEMBER_COUNT), 65);
    assert_true(bench.group[1].core.member_mask[0] == ~0ull);
    assert_true(bench.group[1].core.member_mask[1] == 1);
    assert_int_equal(bench_reg(1, GBA_REG_STATUS), 0);
    assert_int_equal(alloc_at(2, 1, 1), GBA_RESULT_NO_GROUP);
    assert_int_equal(alloc(2, 1), GBA_RESULT_OK);
    assert_int_equal(number, 0);
    assert_int_equal(alloc(2, GBA_MEMBERS_MAX), GBA_RESULT_OK);
    assert_int_equal(number, 2);
    assert_int_equal(alloc(0, 1), GBA_RESULT_NO_GROUP);
    assert_int_equal(port_read(2, GBA_PORT_HELD), 2);
    assert_int_equal(port_read(1, GBA_PORT_HELD), 1);
    assert_int_equal(port_read(0, GBA_PORT_HELD), 0);
}

BENCH_TEST(test_CMD_2_generations_and_keys_differ, 1)
{
    uint64_t last_key = 0;
    uint32_t last;

    bench.group[0].record.generation = 0xFFFFFFFDu;
    last = 0xFFFFFFFDu;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(alloc(0, 2), GBA_RESULT_OK);
        assert_true(generation == last + 1);
        assert_true(key != last_key && key != 0);
        last = generation;
        last_key = key;
        generation--; /* the handle of the previous life, with the key of this one */
        refused_call(1, GBA_CMD_JOIN, 0, 0, GBA_RESULT_STALE);
        generation++;
        assert_int_equal(call(0, GBA_CMD_FREE, 0, 0), GBA_RESULT_OK);
        is_free();
    }
}

/* From power-on on, because a design cannot be given a generation. */
BENCH_TEST(test_CMD_2_no_generation_repeats, 1)
{
    for (uint32_t life = 1; life <= 300; life++) {
        assert_int_equal(alloc(0, 2), GBA_RESULT_OK);
        assert_int_equal(generation, life);
        assert_int_equal(call(0, GBA_CMD_FREE, 0, 0), GBA_RESULT_OK);
    }
}

BENCH_TEST(test_CMD_3_each_bit_of_generation_and_key, 1)
{
    assert_int_equal(alloc(0, 2), GBA_RESULT_OK);
    for (uint32_t bit = 0; bit < 64; bit++) {
        uint64_t right = key;
        uint32_t newest = generation;

        key ^= 1ull << bit;
        refused_call(1, GBA_CMD_JOIN, 0, 0, GBA_RESULT_STALE);
        key = right;
        generation ^= 1u << bit % 32;
        refused_call(1, GBA_CMD_JOIN, 0, 0, GBA_RESULT_STALE);
        generation = newest;
    }
    assert_int_equal(join(1, 0), GBA_RESULT_OK);
}

BENCH_TEST(test_CMD_2_quota, 4)
{
    port_down(1);
    port_up(1, 2);
    assert_int_equal(port_read(1, GBA_PORT_QUOTA), 2);
    assert_int_equal(alloc(1, 1), GBA_RESULT_OK);
    assert_int_equal(join(0, 0), GBA_RESULT_OK); /* the holder is still port 1 */
    assert_int_equal(alloc(1, 1), GBA_RESULT_OK);
    port_write(1, GBA_PORT_GROUP, GBA_GROUP_ANY);
    port_write(1, GBA_PORT_VALUE, 1);
    refused_command(1, GBA_CMD_ALLOC, GBA_RESULT_LIMIT);
    assert_int_equal(call(1, GBA_CMD_FREE, 0, 0), GBA_RESULT_OK);
    assert_int_equal(alloc(1, 1), GBA_RESULT_OK);
    assert_int_equal(alloc(1, 1), GBA_RESULT_LIMIT);
    assert_int_equal(alloc(0, 1), GBA_RESULT_OK); /* no quota */
    assert_int_equal(alloc(0, 1), GBA_RESULT_OK);
}

BENCH_TEST(test_CMD_4_arm_when_all_are_mapped, 1)
{
    assert_int_equal(alloc(0, 2), GBA_RESULT_OK);
    assert_int_equal(join(1, 0), GBA_RESULT_OK);
    map(1, 0);
    refused_call(0, GBA_CMD_ARM, 0, 5, GBA_RESULT_PARAM); /* the holder is no member */
    refused_call(1, GBA_CMD_ARM, 0, 5, GBA_RESULT_BUSY);  /* a membership is empty */
    assert_int_equal(join(2, 1), GBA_RESULT_OK);
    refused_call(1, GBA_CMD_ARM, 0, 5, GBA_RESULT_BUSY); /* a flag is missing */
    map(2, 1);
    assert_int_equal(call(2, GBA_CMD_ARM, 0, 0xFFFFFFFFu), GBA_RESULT_OK);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), GBA_STATUS_READY);
    assert_int_equal(bench_reg(0, GBA_REG_CONTROL),
                     GBA_CONTROL_ENABLE | GBA_CONTROL_ARM | GBA_CONTROL_IRQ_EN);
    refused_call(1, GBA_CMD_ARM, 0, 7, GBA_RESULT_BUSY);
    bench_port = 1;
    assert_int_equal(bench_arrive(0, 0, 0), 0);
    bench_port = 2;
    assert_int_equal(bench_arrive(0, 1, 0), 2);
}

BENCH_TEST(test_CMD_5_leave_withdraws_for_good, 1)
{
    arm(3, 0);
    arrive(1, 1);
    refused_call(0, GBA_CMD_LEAVE, 1, 0, GBA_RESULT_PARAM); /* the member of another port */
    refused_call(1, GBA_CMD_LEAVE, 1, 2, GBA_RESULT_PARAM);
    refused_call(1, GBA_CMD_LEAVE, 3, 0, GBA_RESULT_PARAM);
    assert_int_equal(leave(1, 1), GBA_RESULT_OK);
    refused_call(1, GBA_CMD_LEAVE, 1, 0, GBA_RESULT_PARAM);
    refused_stranger(1, true, 8, GBA_DOORBELL(0), GBA_ARRIVAL(1, generation, 1));
    refused_stranger(1, true, 8, GBA_TABLE_ENTRY(0, 1), bench_flag(0, 1));
    assert_int_equal(arrive(0, 1), 0);
    assert_int_equal(arrive(2, 1), 2); /* its earlier arrival counts, and it is not released */
    bench_released(0, 0, 0, 1);
    bench_released(1, 0, 2, 1);
    assert_int_equal(arrive(0, 2), 0);
    assert_int_equal(arrive(2, 2), 0); /* no round completes without it */
    assert_int_equal(events(0) | events(2), 0);
    assert_int_equal(leave(2, 2), GBA_RESULT_OK);
    assert_int_equal(leave(0, 0), GBA_RESULT_OK);
    is_free();
}

BENCH_TEST(test_CMD_5_death_is_an_event_of_the_other_ports, 1)
{
    arm(3, 0);
    port_write(0, GBA_PORT_IRQ_MASK, 1);
    assert_int_equal(events(0) | events(1) | events(2), 0);
    handle_write(1);
    port_write(1, GBA_PORT_MEMBER, 1);
    port_write(1, GBA_PORT_VALUE, GBA_LEAVE_DIED);
    port_write(1, GBA_PORT_COMMAND, GBA_CMD_LEAVE);
    assert_true(interrupted(0));
    assert_false(interrupted(1) || interrupted(2) || interrupted(3));
    assert_int_equal(port_read(1, GBA_PORT_RESULT), GBA_RESULT_OK);
    assert_int_equal(events(0), GBA_IRQ_DIED);
    assert_int_equal(events(1), 0);
    assert_int_equal(events(2), GBA_IRQ_DIED);
    assert_int_equal(events(3), 0);
}

BENCH_TEST(test_CMD_9_membership, 1)
{
    assert_int_equal(alloc(0, 3), GBA_RESULT_OK);
    assert_int_equal(join(2, 1), GBA_RESULT_OK);
    assert_int_equal(join(1, 2), GBA_RESULT_OK);
    map(1, 2);
    assert_int_equal(membership(0), GBA_MEMBERSHIP_EMPTY);
    assert_int_equal(GBA_MEMBER_STATE(membership(1)), GBA_MEMBERSHIP_JOINED);
    assert_int_equal(GBA_MEMBER_PORT(membership(1)), 2);
    assert_int_equal(GBA_MEMBER_STATE(membership(2)), GBA_MEMBERSHIP_MAPPED);
    assert_int_equal(GBA_MEMBER_PORT(membership(2)), 1);
    assert_int_equal(leave(2, 1), GBA_RESULT_OK);
    assert_int_equal(membership(1), GBA_MEMBERSHIP_LEFT);
    refused_call(3, GBA_CMD_MEMBER, 3, 0, GBA_RESULT_PARAM);
}

TEST_MAIN()
