/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of gba/spec/device.md about configuration, the release table. */
#include "tests/unit/model_bench.h"

#define ARMED        (GBA_CONTROL_ENABLE | GBA_CONTROL_ARM)
#define COUNT        GBA_GROUP_REG(0, GBA_REG_MEMBER_COUNT)
#define CONTROL      GBA_GROUP_REG(0, GBA_REG_CONTROL)
#define SEQUENCE     GBA_GROUP_REG(0, GBA_REG_SEQUENCE)
#define MASK(word)   GBA_GROUP_REG(0, GBA_REG_MEMBER_MASK + 8 * (word))
#define ENTRY(entry) GBA_TABLE_ENTRY(0, entry)

BENCH_TEST(test_CFG_1_members_are_fixed_while_enabled, 32)
{
    bench_configure(0, 2, 0);
    bench_write(4, COUNT, 1);
    bench_write(4, COUNT, 2);
    bench_control(0, GBA_CONTROL_ENABLE);
    for (int armed = 0; armed < 2; armed++) {
        bench_refused_config(4, COUNT, 2); /* even to its current value */
        bench_refused_config(4, COUNT, 3);
        for (uint32_t word = 0; word < GBA_MASK_WORDS; word++)
            bench_refused_config(8, MASK(word), word == 0 ? 3 : 0);
        bench_control(0, ARMED);
    }
    bench_control(0, 0);
    bench_write(4, COUNT, 3);
    bench_write(8, MASK(0), 7);
}

BENCH_TEST(test_CFG_2_sequence_is_fixed_while_enabled, 32)
{
    bench_configure(0, 2, 0);
    bench_write(4, SEQUENCE, 0xFFFFFFFFu);
    assert_int_equal(bench_read(4, SEQUENCE), 0xFFFFFFFFu);
    bench_control(0, GBA_CONTROL_ENABLE);
    bench_refused_config(4, SEQUENCE, 1);
    bench_control(0, ARMED);
    bench_refused_config(4, SEQUENCE, 1);
    bench_control(0, 0);
    bench_write(4, SEQUENCE, 1);
    assert_int_equal(bench_read(4, SEQUENCE), 1);
}

BENCH_TEST(test_CFG_3_limits, 32)
{
    bench_write(4, COUNT, GBA_MEMBERS_MAX);
    bench_refused_config(4, COUNT, GBA_MEMBERS_MAX + 1);
    bench_refused_config(4, COUNT, 0xFFFFFFFFu);
    assert_int_equal(bench_read(4, COUNT), GBA_MEMBERS_MAX);
    for (uint32_t word = 0; word < GBA_MASK_WORDS - 1; word++)
        bench_write(8, MASK(word), ~0ull);
    /* 708 = 11 * 64 + 4 */
    bench_write(8, MASK(11), 0xF);
    for (uint32_t bit = 4; bit < 64; bit++)
        bench_refused_config(8, MASK(11), 1ull << bit | 1);
    assert_int_equal(bench_read(8, MASK(11)), 0xF);
}

BENCH_TEST(test_CFG_4_enable_demands_a_whole_configuration, 32)
{
    bench_refused_config(4, CONTROL, GBA_CONTROL_ENABLE); /* no members */
    bench_configure(0, 3, 0);
    bench_write(4, COUNT, 2);
    bench_refused_config(4, CONTROL, ARMED); /* too few for the mask */
    bench_write(4, COUNT, 4);
    bench_refused_config(4, CONTROL, ARMED); /* too many */
    bench_write(4, COUNT, 3);
    bench_write(8, ENTRY(1), 0);
    bench_refused_config(4, CONTROL, GBA_CONTROL_ENABLE); /* an address is missing */
    bench_refused_config(4, CONTROL, ARMED | GBA_CONTROL_IRQ_EN);
    assert_int_equal(bench_read(4, CONTROL), 0); /* IRQ_EN was ignored, too */
    bench_write(8, ENTRY(1), bench_flag(0, 1));
    bench_control(0, GBA_CONTROL_ENABLE);
    bench_control(0, ARMED);
}

BENCH_TEST(test_CFG_4_the_last_member_counts, 32)
{
    bench_configure(0, GBA_MEMBERS_MAX, 0);
    bench_write(8, ENTRY(707), 0);
    bench_refused_config(4, CONTROL, GBA_CONTROL_ENABLE);
    bench_write(8, ENTRY(707), 8);
    bench_control(0, GBA_CONTROL_ENABLE);
}

BENCH_TEST(test_CFG_4_enabled_group_with_a_withdrawn_member, 32)
{
    bench_arm(0, 2, 0);
    bench_write(8, ENTRY(1), 0);
    bench_control(0, ARMED | GBA_CONTROL_IRQ_EN);
    bench_control(0, GBA_CONTROL_ENABLE);
    bench_control(0, ARMED);
    bench_control(0, 0);
    bench_refused_config(4, CONTROL, ARMED);
}

BENCH_TEST(test_CFG_5_impossible_control, 32)
{
    for (int enabled = 0; enabled < 2; enabled++) {
        bench_configure(0, 2, 0);
        if (enabled)
            bench_control(0, ARMED);
        bench_refused_config(4, CONTROL, GBA_CONTROL_ARM);
        bench_refused_config(4, CONTROL, GBA_CONTROL_ARM | GBA_CONTROL_IRQ_EN);
        for (uint32_t bit = 4; bit < 32; bit++)
            bench_refused_config(4, CONTROL, GBA_CONTROL_ENABLE | 1u << bit);
    }
    bench_control(0, GBA_CONTROL_IRQ_EN); /* alone it is allowed */
}

BENCH_TEST(test_CFG_6_losing_ready_abandons_the_round, 32)
{
    static const uint32_t down[] = {0, GBA_CONTROL_ENABLE, GBA_CONTROL_ENABLE | GBA_CONTROL_IRQ_EN};

    bench_arm(0, 2, 8);
    for (int i = 0; i < 3; i++) {
        bench_arrive(0, 1, 9);
        bench_control(0, ARMED | GBA_CONTROL_IRQ_EN); /* still READY: the round continues */
        assert_int_equal(bench_reg(0, GBA_REG_ARRIVED_COUNT), 1);
        bench_control(0, down[i]);
        assert_int_equal(effects.releases, 0);
        assert_true(bench_read(8, GBA_GROUP_REG(0, GBA_REG_ARRIVAL)) == 8ull << 32);
        assert_int_equal(bench_read(8, GBA_GROUP_REG(0, GBA_REG_ARRIVED_MASK)), 0);
        bench_control(0, ARMED);
        assert_int_equal(bench_arrive(0, 0, 9), 0); /* the abandoned round leaves nothing */
        bench_control(0, GBA_CONTROL_ENABLE);
        bench_control(0, ARMED);
    }
    bench_arrive(0, 0, 9);
    assert_int_equal(bench_arrive(0, 1, 9), 2);
}

/* RESET in every state leaves the state of power-on, except the counters. */
BENCH_TEST(test_CFG_7_reset_clears_all_but_counters, 32)
{
    static const uint32_t values[] = {GBA_CONTROL_RESET, GBA_CONTROL_RESET | ARMED, 0xFFFFFFFFu};
    struct gba_model fresh;

    fresh = bench;
    for (int i = 0; i < 3; i++) {
        bench_arm(0, 3, 1);
        bench_arrive(0, 1, 2);
        bench_refused_write(8, GBA_DOORBELL(0), GBA_ARRIVAL(7, 1), GBA_ERROR_SEQUENCE);
        bench_control(0, values[i]);
        assert_int_equal(effects.releases, 0);
        assert_int_equal(bench_counter(0, GBA_COUNTER_ARRIVALS), i + 1);
        memcpy(fresh.group[0].core.counters, bench.group[0].core.counters,
               sizeof(bench.group[0].core.counters));
        bench_is(&fresh);
        assert_int_equal(bench_read(4, CONTROL), 0);
    }
}

TEST(test_CFG_8_power_on)
{
    memset(&bench, 0xFF, sizeof(bench));
    bench_power_on(32);
    for (uint32_t group = 0; group < GBA_GROUPS; group++) {
        struct gba_model_group zero;

        memset(&zero, 0, sizeof(zero));
        assert_memory_equal(&zero, &bench.group[group], sizeof(zero));
    }
}

BENCH_TEST(test_TAB_1_entries, 32)
{
    for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++)
        bench_write(8, GBA_TABLE_ENTRY(6, member), bench_flag(6, member));
    for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++)
        assert_true(bench_read(8, GBA_TABLE_ENTRY(6, member)) == bench_flag(6, member));
    bench_refused_write(8, GBA_TABLE_ENTRY(6, 708), 8, GBA_ERROR_ACCESS);
    bench_refused_write(8, GBA_TABLE_ENTRY(7, 0) - 8, 8, GBA_ERROR_ACCESS);
}

BENCH_TEST(test_TAB_2_multiple_of_8, 32)
{
    for (uint64_t low = 1; low < 8; low++)
        bench_refused_config(8, ENTRY(0), 0x1000 + low);
    bench_write(8, ENTRY(0), 0xFFFFFFFFFFFFFFF8ull);
}

BENCH_TEST(test_TAB_4_addresses_are_fixed_while_enabled, 32)
{
    bench_configure(0, 2, 0);
    bench_control(0, GBA_CONTROL_ENABLE);
    bench_refused_config(8, ENTRY(0), bench_flag(0, 0));
    bench_control(0, ARMED);
    bench_refused_config(8, ENTRY(0), bench_flag(0, 1));
    bench_write(8, ENTRY(0), 0);
    bench_refused_config(8, ENTRY(0), bench_flag(0, 0)); /* rejoining is impossible */
    bench_control(0, 0);
    bench_write(8, ENTRY(0), bench_flag(0, 0));
}

TEST_MAIN()
