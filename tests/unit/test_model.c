/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of gba/spec/device.md about the address map, accesses and registers. */
#include "tests/unit/model_bench.h"

#define ARMED (GBA_CONTROL_ENABLE | GBA_CONTROL_ARM)

/*
 * The tables of device.md, written down a second time and compared with the model's own table:
 * registers by page, with all accesses that they take.
 */
static const struct expected {
    uint32_t base, offset, count;
    uint8_t width;
    bool read, write;
} expected[] = {
    {GBA_GROUP_BASE, GBA_REG_GROUP_ID, 1, 4, true, false},
    {GBA_GROUP_BASE, GBA_REG_MEMBER_COUNT, 1, 4, true, true},
    {GBA_GROUP_BASE, GBA_REG_CONTROL, 1, 4, true, true},
    {GBA_GROUP_BASE, GBA_REG_STATUS, 1, 4, true, false},
    {GBA_GROUP_BASE, GBA_REG_ARRIVAL, 1, 8, true, true},
    {GBA_GROUP_BASE, GBA_REG_ARRIVED_COUNT, 1, 4, true, false},
    {GBA_GROUP_BASE, GBA_REG_SEQUENCE, 1, 4, true, true},
    {GBA_GROUP_BASE, GBA_REG_LAST_ERROR, 1, 4, true, false},
    {GBA_GROUP_BASE, GBA_REG_GENERATION, 1, 4, true, false},
    {GBA_GROUP_BASE, GBA_REG_MEMBER_MASK, GBA_MASK_WORDS, 8, true, true},
    {GBA_GROUP_BASE, GBA_REG_ARRIVED_MASK, GBA_MASK_WORDS, 8, true, false},
    {GBA_GROUP_BASE, GBA_REG_COUNTERS, GBA_COUNTERS, 8, true, false},
    {GBA_DEVICE_BASE, GBA_DEV_ID, 1, 4, true, false},
    {GBA_DEVICE_BASE, GBA_DEV_VERSION, 1, 4, true, false},
    {GBA_DEVICE_BASE, GBA_DEV_GROUPS, 1, 4, true, false},
    {GBA_DEVICE_BASE, GBA_DEV_MEMBERS_MAX, 1, 4, true, false},
    {GBA_DEVICE_BASE, GBA_DEV_BAD_ACCESS, 1, 8, true, false},
    {GBA_DEVICE_BASE, GBA_DEV_GROUPS_FREE, 1, 4, true, false},
    {GBA_DEVICE_BASE, GBA_DEV_PORTS, 1, 4, true, false},
    {GBA_DEVICE_BASE, GBA_DEV_UUID, 2, 8, true, false},
    {GBA_TABLE_BASE, 0, GBA_MEMBERS_MAX, 8, true, true},
    {GBA_DOORBELL_BASE, GBA_BELL_ARRIVAL, 1, 8, false, true},
};
#define EXPECTED (sizeof(expected) / sizeof(expected[0]))

static const uint8_t widths[] = {1, 2, 4, 8};

static bool takes(uint32_t address, uint8_t width, bool write)
{
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct expected *reg = &expected[i];

        for (uint32_t n = 0; n < reg->count; n++) {
            if (address == reg->base + reg->offset + n * reg->width && width == reg->width)
                return write ? reg->write : reg->read;
        }
    }
    return false;
}

/* All accesses to [first, last) of the first group, of a device with one. The vectors (tests/rtl)
 * have some of them. */
static void sweep(uint32_t first, uint32_t last)
{
    uint32_t stride = getenv("GBA_VECTORS") != NULL ? 61 : 1;

    bench_power_on(1);
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
                                       GBA_PORT_BASE, /* without ports */
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
        bench_refused_write(8, GBA_DOORBELL(group), GBA_ARRIVAL(1, 0), GBA_ERROR_ACCESS);
    }
    assert_int_equal(bench_reg(4, GBA_REG_GROUP_ID), 4);
}

TEST(test_ACC_1_width_and_alignment_at_every_register)
{
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct expected *reg = &expected[i];
        uint32_t first = reg->base + reg->offset;

        sweep(first, first + reg->count * reg->width);
    }
    /* A write of 8 bytes at 0 would change these neighbours. */
    bench_power_on(32);
    bench_write(4, GBA_GROUP_REG(0, GBA_REG_MEMBER_COUNT), 7);
    bench_refused_write(8, GBA_GROUP_REG(0, GBA_REG_GROUP_ID), 0, GBA_ERROR_ACCESS);
    assert_int_equal(bench_reg(0, GBA_REG_MEMBER_COUNT), 7);
}

TEST(test_ACC_3_offsets_without_a_register)
{
    sweep(GBA_GROUP_BASE, GBA_GROUP_BASE + GBA_GROUP_STRIDE);
    sweep(GBA_DEVICE_BASE, GBA_DEVICE_BASE + GBA_DEVICE_SIZE);
    sweep(GBA_TABLE_ENTRY(0, GBA_MEMBERS_MAX) - 8, GBA_TABLE_ENTRY(1, 0));
    sweep(GBA_DOORBELL(0), GBA_DOORBELL(0) + 0x1000);
    sweep(GBA_DOORBELL(1) - 16, GBA_DOORBELL(1));
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
    bench_control(0, 0);
    bench_refused_write(4, GBA_GROUP_REG(0, GBA_REG_ARRIVED_COUNT), 0, GBA_ERROR_ACCESS);
    bench_write(4, GBA_GROUP_REG(0, GBA_REG_SEQUENCE), 5);
    assert_true(bench_read(8, GBA_GROUP_REG(0, GBA_REG_ARRIVAL)) == 5ull << 32);
}

BENCH_TEST(test_ACC_6_reads_change_nothing, 1)
{
    bench_arm(0, 3, 0);
    bench_arrive(0, 1, 1);
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct expected *reg = &expected[i];

        for (uint32_t n = 0; reg->read && n < reg->count; n++) {
            bench_read(reg->width, reg->base + reg->offset + n * reg->width);
            bench_is(&before);
        }
    }
}

BENCH_TEST(test_GRP_1_id_survives_reset, 32)
{
    bench_control(17, GBA_CONTROL_RESET);
    assert_int_equal(bench_reg(17, GBA_REG_GROUP_ID), 17);
}

BENCH_TEST(test_GRP_2_status_bits, 32)
{
    bench_configure(0, 2, 0);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), 0);
    bench_control(0, GBA_CONTROL_ENABLE);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), 0);
    bench_control(0, ARMED);
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
    bench_control(0, GBA_CONTROL_RESET);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), 0);
}

/* Members far apart, each in its own word of the masks. */
BENCH_TEST(test_GRP_3_members_need_not_be_consecutive, 32)
{
    static const uint32_t members[] = {0, 63, 64, 640, 707};

    bench_write(4, GBA_GROUP_REG(0, GBA_REG_MEMBER_COUNT), 5);
    for (int i = 0; i < 5; i++)
        bench_member(0, members[i]);
    bench_control(0, ARMED);
    for (int i = 0; i < 5; i++)
        assert_int_equal(bench_arrive(0, members[i], 1), i == 4 ? 5 : 0);
    for (uint32_t i = 0; i < 5; i++)
        bench_released(i, 0, members[i], 1);
}

TEST_MAIN()
