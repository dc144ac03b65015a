/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of gba/spec/device.md about the address map, accesses, registers, configuration and the
 * release table. */
#include "tests/unit/model/model_bench.h"

/*
 * The tables of device.md, written down a second time and compared with the model's own table:
 * registers by page, with all accesses that they take, and their values after power-on. check-rules
 * compares each row with device.md.
 */
#define VARIES UINT64_MAX /* no value of its own */
static const struct expected {
    uint32_t base, offset, count;
    uint8_t width;
    enum { RO, WO, RW, RWX, ROC, W1C } access;
    uint64_t reset;
} expected[] = {
    {GBA_GROUP_BASE, GBA_REG_GROUP_ID, 1, 4, RO, VARIES},
    {GBA_GROUP_BASE, GBA_REG_MEMBER_COUNT, 1, 4, ROC, 0},
    {GBA_GROUP_BASE, GBA_REG_CONTROL, 1, 4, ROC, 0},
    {GBA_GROUP_BASE, GBA_REG_STATUS, 1, 4, RO, 0},
    {GBA_GROUP_BASE, GBA_REG_ARRIVAL, 1, 8, RWX, 0},
    {GBA_GROUP_BASE, GBA_REG_ARRIVED_COUNT, 1, 4, RO, 0},
    {GBA_GROUP_BASE, GBA_REG_SEQUENCE, 1, 4, ROC, 0},
    {GBA_GROUP_BASE, GBA_REG_LAST_ERROR, 1, 4, RO, 0},
    {GBA_GROUP_BASE, GBA_REG_GENERATION, 1, 4, RO, 0},
    {GBA_GROUP_BASE, GBA_REG_MEMBER_MASK, 12, 8, ROC, 0},
    {GBA_GROUP_BASE, GBA_REG_ARRIVED_MASK, 12, 8, RO, 0},
    {GBA_GROUP_BASE, GBA_REG_COUNTERS, 10, 8, RO, 0},
    {GBA_DEVICE_BASE, GBA_DEV_ID, 1, 4, RO, 809583175},
    {GBA_DEVICE_BASE, GBA_DEV_VERSION, 1, 4, RO, 196608},
    {GBA_DEVICE_BASE, GBA_DEV_GROUPS, 1, 4, RO, VARIES},
    {GBA_DEVICE_BASE, GBA_DEV_MEMBERS_MAX, 1, 4, RO, 708},
    {GBA_DEVICE_BASE, GBA_DEV_BAD_ACCESS, 1, 8, RO, 0},
    {GBA_DEVICE_BASE, GBA_DEV_GROUPS_FREE, 1, 4, RO, VARIES},
    {GBA_DEVICE_BASE, GBA_DEV_PORTS, 1, 4, RO, VARIES},
    {GBA_DEVICE_BASE, GBA_DEV_UUID, 2, 8, RO, VARIES},
    {GBA_PORT_BASE, GBA_PORT_NUMBER, 1, 4, RO, VARIES},
    {GBA_PORT_BASE, GBA_PORT_QUOTA, 1, 4, RO, VARIES},
    {GBA_PORT_BASE, GBA_PORT_HELD, 1, 4, RO, 0},
    {GBA_PORT_BASE, GBA_PORT_IRQ_CAUSE, 1, 4, RO, 0},
    {GBA_PORT_BASE, GBA_PORT_IRQ_MASK, 1, 4, RW, 0},
    {GBA_PORT_BASE, GBA_PORT_GROUP, 1, 4, RW, 0},
    {GBA_PORT_BASE, GBA_PORT_GENERATION, 1, 4, RW, 0},
    {GBA_PORT_BASE, GBA_PORT_KEY, 1, 8, RW, 0},
    {GBA_PORT_BASE, GBA_PORT_MEMBER, 1, 4, RW, 0},
    {GBA_PORT_BASE, GBA_PORT_VALUE, 1, 4, RW, 0},
    {GBA_PORT_BASE, GBA_PORT_COMMAND, 1, 4, RWX, 0},
    {GBA_PORT_BASE, GBA_PORT_RESULT, 1, 4, RO, 0},
    {GBA_PORT_BASE, GBA_PORT_EVENTS, 32, 4, W1C, 0},
    {GBA_DOORBELL_BASE, GBA_BELL_ARRIVAL, 1, 8, WO, VARIES},
    {GBA_DOORBELL_BASE, GBA_BELL_NOTIFY, 1, 8, WO, VARIES},
    {GBA_TABLE_BASE, 0, GBA_MEMBERS_MAX, 8, RW, 0},
};
#define EXPECTED (sizeof(expected) / sizeof(expected[0]))

static const uint8_t widths[] = {1, 2, 4, 8};

static bool takes(uint32_t address, uint8_t width, bool write)
{
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct expected *reg = &expected[i];

        for (uint32_t n = 0; n < reg->count; n++) {
            if (address == reg->base + reg->offset + n * reg->width && width == reg->width)
                return reg->access != (write ? RO : WO);
        }
    }
    return false;
}

/* All accesses to [first, last), of a device with as many groups, of which port 0 has the first.
 * The vectors have some of them. */
static void sweep(uint32_t groups, uint32_t first, uint32_t last)
{
    uint32_t stride = getenv("GBA_VECTORS") != NULL ? 61 : 1;

    bench_power_on(groups);
    assert_int_equal(alloc(0, 1), GBA_RESULT_OK);
    for (uint32_t address = first; address < last; address += stride) {
        for (size_t i = 0; i < sizeof(widths); i++) {
            for (int write = 0; write < 2; write++) {
                if (!takes(address, widths[i], write))
                    bench_refused(write, widths[i], address, 0, GBA_ERROR_ACCESS);
                else
                    assert_int_not_equal(bench_access(write, widths[i], address, 0),
                                         GBA_ERROR_ACCESS);
            }
        }
    }
}

BENCH_TEST(test_MAP_1_each_group_in_each_aperture, 32)
{
    for (uint32_t group = 0; group < GBA_GROUPS; group++) {
        assert_int_equal(bench_reg(group, GBA_REG_GROUP_ID), group);
        bench_arm(group, 1, group);
        assert_true(bench.group[group].table[0] == bench_flag(group, 0));
        assert_int_equal(bench_arrive(group, 0, group + 1), 1);
        bench_released(0, group, 0, group + 1);
        assert_int_equal(gba_model_group_of(&bench, GBA_GROUP_REG(group, 0)), group);
        assert_int_equal(gba_model_group_of(&bench, GBA_GROUP_REG(group + 1, 0) - 1), group);
        assert_int_equal(gba_model_group_of(&bench, GBA_TABLE_ENTRY(group, 0)), group);
        assert_int_equal(gba_model_group_of(&bench, GBA_DOORBELL(group)), group);
    }
    assert_int_equal(bench_read(4, GBA_DEVICE_BASE + GBA_DEV_ID), GBA_DEV_ID_VALUE);
}

BENCH_TEST(test_MAP_3_outside_belongs_to_no_group, 5)
{
    static const uint32_t outside[] = {GBA_DEVICE_BASE + GBA_DEVICE_SIZE,
                                       GBA_PORT_BASE + GBA_PORT_SIZE,
                                       GBA_TABLE_BASE - 4,
                                       GBA_TABLE_BASE + GBA_GROUPS * GBA_TABLE_STRIDE,
                                       GBA_DOORBELL_BASE - 8,
                                       GBA_DOORBELL_BASE + GBA_GROUPS * GBA_DOORBELL_STRIDE,
                                       GBA_BAR_SIZE,
                                       0xFFFFFFF8u};

    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        assert_int_equal(gba_model_group_of(&bench, outside[i]), -1);
        bench_refused_read(4, outside[i]);
        bench_refused_write(8, outside[i], 1, GBA_ERROR_ACCESS);
    }
    for (uint32_t group = 5; group < GBA_GROUPS; group++) {
        assert_int_equal(gba_model_group_of(&bench, GBA_DOORBELL(group)), -1);
        bench_refused_read(4, GBA_GROUP_REG(group, GBA_REG_GROUP_ID));
        bench_refused_read(8, GBA_TABLE_ENTRY(group, 0));
        bench_refused_write(8, GBA_DOORBELL(group), GBA_ARRIVAL(1, generation, 0),
                            GBA_ERROR_ACCESS);
    }
    assert_int_equal(bench_reg(4, GBA_REG_GROUP_ID), 4);
}

TEST(test_ACC_1_width_and_alignment_at_every_register)
{
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct expected *reg = &expected[i];
        uint32_t first = reg->base + reg->offset;

        sweep(reg->base == GBA_PORT_BASE ? GBA_GROUPS : 1, first, first + reg->count * reg->width);
    }
}

TEST(test_ACC_3_offsets_without_a_register)
{
    sweep(1, GBA_GROUP_BASE, GBA_GROUP_BASE + GBA_GROUP_STRIDE);
    sweep(1, GBA_DEVICE_BASE, GBA_DEVICE_BASE + GBA_DEVICE_SIZE);
    sweep(GBA_GROUPS, GBA_PORT_BASE, GBA_PORT_BASE + GBA_PORT_SIZE);
    assert_int_equal(gba_model_group_of(&bench, GBA_PORT_REG(0)), -1);
    sweep(1, GBA_TABLE_ENTRY(0, GBA_MEMBERS_MAX) - 8, GBA_TABLE_ENTRY(1, 0));
    sweep(1, GBA_DOORBELL(0), GBA_DOORBELL(0) + 0x1000);
    sweep(1, GBA_DOORBELL(1) - 16, GBA_DOORBELL(1));
}

BENCH_TEST(test_ACC_5_halves_of_arrival, 32)
{
    bench_arm(0, 3, 0xABCD0000u);
    bench_arrive(0, 2, 0xABCD0001u);
    assert_true(bench_read(8, GBA_GROUP_REG(0, GBA_REG_ARRIVAL)) == 0xABCD000000000001ull);
    assert_int_equal(bench_reg(0, GBA_REG_ARRIVED_COUNT), 1);
    assert_int_equal(bench_reg(0, GBA_REG_SEQUENCE), 0xABCD0000u);
    bench_refused_write(4, GBA_GROUP_REG(0, GBA_REG_ARRIVED_COUNT), 0, GBA_ERROR_ACCESS);
    bench_refused_write(8, GBA_GROUP_REG(0, GBA_REG_SEQUENCE), 0, GBA_ERROR_ACCESS);
}

BENCH_TEST(test_ACC_6_reads_change_nothing, 1)
{
    bench_arm(0, 3, 0);
    bench_arrive(0, 1, 1);
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct expected *reg = &expected[i];

        for (uint32_t n = 0; reg->access != WO && n < reg->count; n++) {
            bench_read(reg->width, reg->base + reg->offset + n * reg->width);
            bench_is(&before);
        }
    }
}

BENCH_TEST(test_GRP_1_id_at_all_times, 32)
{
    assert_int_equal(bench_reg(17, GBA_REG_GROUP_ID), 17);
    bench_arm(17, 1, 0);
    assert_int_equal(bench_reg(17, GBA_REG_GROUP_ID), 17);
    bench_leave(1);
    assert_int_equal(bench_reg(17, GBA_REG_GROUP_ID), 17);
}

BENCH_TEST(test_GRP_2_status_bits, 32)
{
    bench_join(0, 2, 1);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), 0);
    assert_int_equal(call(0, GBA_CMD_ARM, 0, 0), GBA_RESULT_OK);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), GBA_STATUS_READY);
    bench_arrive(0, 0, 1);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), GBA_STATUS_READY | GBA_STATUS_ACTIVE);
    bench_arrive(0, 1, 1);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), GBA_STATUS_READY | GBA_STATUS_COMPLETE);
    bench_arrive(0, 1, 1); /* late: COMPLETE stays */
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), GBA_STATUS_READY | GBA_STATUS_COMPLETE);
    bench_arrive(0, 1, 2);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), GBA_STATUS_READY | GBA_STATUS_ACTIVE);
    bench_refused_read(4, GBA_DOORBELL(0));
    assert_int_equal(bench_reg(0, GBA_REG_STATUS),
                     GBA_STATUS_READY | GBA_STATUS_ACTIVE | GBA_STATUS_ERROR);
    bench_leave(2);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), 0);
}

BENCH_TEST(test_GRP_3_member_mask, 32)
{
    bench_arm(0, 65, 0);
    for (uint32_t word = 0; word < GBA_MASK_WORDS; word++)
        assert_true(bench_read(8, GBA_GROUP_REG(0, GBA_REG_MEMBER_MASK) + 8 * word) ==
                    (word == 0 ? ~0ull : word == 1));
}

/* Each end of a life leaves the state of power-on, except the counters and the generation. */
BENCH_TEST(test_CFG_7_reset_clears_all_but_counters, 32)
{
    for (uint32_t i = 1; i < 4; i++) {
        bench_arm(0, 3, 1);
        bench_arrive(0, 1, 2);
        bench_refused_write(8, GBA_DOORBELL(0), GBA_ARRIVAL(7, generation, 1), GBA_ERROR_SEQUENCE);
        bench_leave(3);
        assert_int_equal(effects.releases, 0);
        assert_int_equal(bench_counter(0, GBA_COUNTER_ARRIVALS), i);
        is_free();
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
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct expected *reg = &expected[i];
        uint32_t last = reg->count - 1;

        for (uint32_t n = 0; n <= last; n += last + (last == 0)) {
            uint32_t address = reg->base + reg->offset + n * reg->width;

            if (reg->access != WO && reg->reset != VARIES)
                assert_true(bench_read(reg->width, address) == reg->reset);
            if (reg->access == ROC) {
                assert_int_equal(bench_access(true, reg->width, address, 0), GBA_ERROR_CONFIG);
                bench_power_on(32); /* the error was counted */
            }
            if (reg->access == RW && reg->base == GBA_PORT_BASE) {
                bench_write(reg->width, address, 1u << n);
                assert_true(bench_read(reg->width, address) == 1u << n);
            }
        }
    }
}

BENCH_TEST(test_TAB_1_entries, 32)
{
    bench_join(6, GBA_MEMBERS_MAX, 1);
    for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++)
        assert_true(bench_read(8, GBA_TABLE_ENTRY(6, member)) == bench_flag(6, member));
    bench_refused_write(8, GBA_TABLE_ENTRY(6, 708), 8, GBA_ERROR_ACCESS);
    bench_refused_write(8, GBA_TABLE_ENTRY(7, 0) - 8, 8, GBA_ERROR_ACCESS);
}

BENCH_TEST(test_TAB_2_multiple_of_8, 32)
{
    bench_join(0, 1, 1);
    for (uint64_t low = 1; low < 8; low++)
        bench_refused_config(8, GBA_TABLE_ENTRY(0, 0), 0x1000 + low);
    bench_write(8, GBA_TABLE_ENTRY(0, 0), 0xFFFFFFFFFFFFFFF8ull);
}

BENCH_TEST(test_TAB_4_addresses_are_fixed_when_armed, 32)
{
    bench_join(0, 2, 1);
    bench_write(8, GBA_TABLE_ENTRY(0, 0), bench_flag(0, 1));
    assert_int_equal(call(0, GBA_CMD_ARM, 0, 0), GBA_RESULT_OK);
    bench_refused_config(8, GBA_TABLE_ENTRY(0, 0), bench_flag(0, 1));
    bench_write(8, GBA_TABLE_ENTRY(0, 0), 0);
    bench_refused_config(8, GBA_TABLE_ENTRY(0, 0), bench_flag(0, 0)); /* no way back */
}

TEST_MAIN()
