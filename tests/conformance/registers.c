/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses to registers through the backend: device.md, chapters "Accesses" and "Device page". */
#include "tests/conformance/conformance.h"

/* None of its bytes is 0xA5: see fake_kernel.h. */
#define VALUE 0x0102030405060708ull

static struct conf_group group;

static uint64_t reg_read(struct conf *conf, uint32_t address, unsigned width)
{
    uint64_t value = 0x3c3c3c3c3c3c3c3cull;

    assert_int_equal(conf->ops->reg_read(conf->dev, address, width, &value), GBA_OK);
    return value;
}

static void reg_write(struct conf *conf, uint32_t address, unsigned width, uint64_t value)
{
    assert_int_equal(conf->ops->reg_write(conf->dev, address, width, value), GBA_OK);
}

/* [DEV-1, DEV-2, DEV-3] */
static void device_page(struct conf *conf)
{
    gba_device_info_t info = conf_info(conf);
    uint64_t uuid[2];

    assert_int_equal(reg_read(conf, GBA_DEVICE_BASE + GBA_DEV_ID, 4), GBA_DEV_ID_VALUE);
    assert_int_equal(reg_read(conf, GBA_DEVICE_BASE + GBA_DEV_VERSION, 4), info.regs_version);
    assert_int_equal(reg_read(conf, GBA_DEVICE_BASE + GBA_DEV_GROUPS, 4), info.groups);
    assert_int_equal(reg_read(conf, GBA_DEVICE_BASE + GBA_DEV_MEMBERS_MAX, 4), GBA_MEMBERS_MAX);
    uuid[0] = htole64(reg_read(conf, GBA_DEVICE_BASE + GBA_DEV_UUID, 8));
    uuid[1] = htole64(reg_read(conf, GBA_DEVICE_BASE + GBA_DEV_UUID + 8, 8));
    assert_memory_equal(uuid, info.uuid, sizeof uuid);
}

/* [GRP-1, GRP-5] */
static void registers_agree_with_inspect(struct conf *conf)
{
    gba_group_state_t state;
    uint32_t number;

    conf_group_make(conf, &group, 70, 6);
    number = group.handle.group;
    conf_arrive(conf, group.membership[69], 7);
    state = conf_inspect(conf, group.membership[0]);
    assert_int_equal(reg_read(conf, GBA_GROUP_REG(number, GBA_REG_GROUP_ID), 4), number);
    assert_int_equal(reg_read(conf, GBA_GROUP_REG(number, GBA_REG_MEMBER_COUNT), 4), 70);
    assert_int_equal(reg_read(conf, GBA_GROUP_REG(number, GBA_REG_STATUS), 4), state.status);
    assert_int_equal(reg_read(conf, GBA_GROUP_REG(number, GBA_REG_SEQUENCE), 4), 6);
    assert_int_equal(reg_read(conf, GBA_GROUP_REG(number, GBA_REG_ARRIVED_COUNT), 4), 1);
    assert_int_equal(reg_read(conf, GBA_GROUP_REG(number, GBA_REG_ARRIVAL), 8), 6ull << 32 | 1);
    assert_int_equal(reg_read(conf, GBA_GROUP_REG(number, GBA_REG_MEMBER_MASK) + 8, 8), 0x3f);
    assert_int_equal(reg_read(conf, GBA_GROUP_REG(number, GBA_REG_ARRIVED_MASK) + 8, 8), 0x20);
    conf_group_leave(conf, &group);
}

/* [ARR-1, BELL-1] A member can also arrive through the register. */
static void arrivals_through_registers(struct conf *conf)
{
    uint32_t number;

    conf_group_make(conf, &group, 3, 0);
    number = group.handle.group;
    reg_write(conf, GBA_DOORBELL(number), 8, GBA_ARRIVAL(1, group.handle.generation, 0));
    reg_write(conf, GBA_GROUP_REG(number, GBA_REG_ARRIVAL), 8,
              GBA_ARRIVAL(1, group.handle.generation, 1));
    assert_int_equal(conf_inspect(conf, group.membership[0]).arrived_count, 2);
    conf_arrive(conf, group.membership[2], 1);
    for (uint32_t i = 0; i < 3; i++)
        conf_wait(conf, group.membership[i], 1);
    conf_group_leave(conf, &group);
}

struct wrong {
    uint32_t address; /* in the page of group 0, or of its doorbell or table */
    unsigned width;
    bool write;
};

/* [ACC-1, ACC-2, ACC-3, ACC-4, ACC-5, BELL-1, TAB-1] */
static const struct wrong wrong[] = {
    {GBA_REG_GROUP_ID, 8, true}, /* would clobber MEMBER_COUNT */
    {GBA_REG_GROUP_ID, 4, true},
    {GBA_REG_MEMBER_COUNT, 2, true},
    {GBA_REG_MEMBER_COUNT, 1, true},
    {GBA_REG_CONTROL, 8, true},
    {GBA_REG_CONTROL, 1, true},
    {GBA_REG_STATUS, 4, true},
    {GBA_REG_ARRIVED_COUNT, 4, true}, /* half an arrival */
    {GBA_REG_ARRIVAL, 2, true},
    {GBA_REG_LAST_ERROR, 4, true},
    {GBA_REG_LAST_ERROR + 4, 4, true}, /* no register */
    {GBA_REG_MEMBER_MASK, 4, true},
    {GBA_REG_ARRIVED_MASK, 8, true},
    {GBA_REG_COUNTERS, 8, true},
    {GBA_GROUP_STRIDE - 8, 8, true},
    {GBA_REG_GROUP_ID, 8, false},
    {GBA_REG_CONTROL, 2, false},
    {GBA_REG_MEMBER_MASK, 4, false},
    {GBA_REG_COUNTERS, 4, false},
    {GBA_GROUP_STRIDE - 4, 4, false},
    {GBA_TABLE_BASE, 4, true},
    {GBA_TABLE_BASE + GBA_MEMBERS_MAX * GBA_TABLE_ENTRY_SIZE, 8, true},
    {GBA_DOORBELL_BASE, 4, true},
    {GBA_DOORBELL_BASE, 8, false},
    {GBA_DOORBELL_BASE + GBA_DOORBELL_STRIDE - 8, 8, true},
};

/* The address of the same access in group `number`. */
static uint32_t wrong_address(const struct wrong *w, uint32_t number)
{
    if (w->address >= GBA_DOORBELL_BASE)
        return w->address + number * GBA_DOORBELL_STRIDE;
    if (w->address >= GBA_TABLE_BASE)
        return w->address + number * GBA_TABLE_STRIDE;
    return w->address + number * GBA_GROUP_STRIDE;
}

static void wrong_accesses(struct conf *conf)
{
    gba_group_state_t was, is;
    gba_device_info_t before;

    conf_group_make(conf, &group, 3, 0);
    conf_arrive(conf, group.membership[1], 1);
    was = conf_inspect(conf, group.membership[0]);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct wrong *w = &wrong[i];
        uint32_t address = wrong_address(w, group.handle.group);

        before = conf_info(conf);
        if (w->write)
            reg_write(conf, address, w->width, VALUE);
        else /* all ones, in its width: [ACC-4] */
            assert_int_equal(reg_read(conf, address, w->width),
                             GBA_READ_NONE >> (64 - 8 * w->width));
        is = conf_inspect(conf, group.membership[0]);
        conf_same_round(&was, &is);
        assert_int_equal(is.status, was.status | GBA_STATUS_ERROR);
        assert_int_equal(is.last_error, GBA_ERROR_ACCESS);
        for (uint32_t counter = 0; counter < GBA_COUNTERS; counter++)
            conf_counted(conf, &before, counter, GBA_COUNTER_ERR_ACCESS == counter);
        assert_int_equal(conf_info(conf).bad_access, before.bad_access);
    }
    conf_arrive(conf, group.membership[0], 1);
    conf_arrive(conf, group.membership[2], 1);
    for (uint32_t i = 0; i < 3; i++)
        conf_wait(conf, group.membership[i], 1);
    conf_group_leave(conf, &group);
}

/* The device counts the access, or the backend refuses to make it. */
static void misaligned_accesses(struct conf *conf)
{
    static const struct wrong misaligned[] = {{GBA_REG_CONTROL + 1, 2, true},
                                              {GBA_REG_CONTROL + 2, 4, true},
                                              {GBA_REG_MEMBER_COUNT, 8, true},
                                              {GBA_REG_ARRIVAL + 4, 8, true},
                                              {GBA_REG_MEMBER_MASK + 4, 8, false}};
    gba_group_state_t was, is;

    conf_group_make(conf, &group, 2, 0);
    was = conf_inspect(conf, group.membership[0]);
    for (size_t i = 0; i < sizeof misaligned / sizeof misaligned[0]; i++) {
        const struct wrong *m = &misaligned[i];
        uint32_t address = wrong_address(m, group.handle.group);
        gba_device_info_t before = conf_info(conf);
        uint64_t value;
        gba_status_t status = m->write ? conf->ops->reg_write(conf->dev, address, m->width, VALUE)
                                       : conf->ops->reg_read(conf->dev, address, m->width, &value);

        assert_true(GBA_OK == status || GBA_ERR_PARAM == status);
        conf_counted(conf, &before, GBA_COUNTER_ERR_ACCESS, GBA_OK == status);
        is = conf_inspect(conf, group.membership[0]);
        conf_same_round(&was, &is);
    }
    conf_group_leave(conf, &group);
}

/* [ERR-3, DEV-4] */
static void accesses_to_no_group(struct conf *conf)
{
    static const struct wrong nowhere[] = {
        {GBA_DEVICE_BASE + GBA_DEVICE_SIZE, 8, true}, /* between two apertures */
        {GBA_TABLE_BASE - 4, 4, true},
        {GBA_DOORBELL_BASE - 8, 8, true},
        {GBA_TABLE_BASE + GBA_GROUPS * GBA_TABLE_STRIDE, 4, true}, /* behind the tables */
        {GBA_DEVICE_BASE + GBA_DEV_ID, 4, true},                   /* read-only */
        {GBA_DEVICE_BASE + GBA_DEV_ID, 8, true},
        {GBA_DEVICE_BASE + GBA_DEVICE_SIZE - 8, 8, true},
        {GBA_DEVICE_BASE + GBA_DEVICE_SIZE, 8, false},
        {GBA_DEVICE_BASE + GBA_DEV_UUID, 4, false},
    };
    gba_device_info_t before = conf_info(conf), now;

    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
        const struct wrong *w = &nowhere[i];

        if (w->write)
            reg_write(conf, w->address, w->width, VALUE);
        else
            assert_int_equal(reg_read(conf, w->address, w->width),
                             GBA_READ_NONE >> (64 - 8 * w->width));
        now = conf_info(conf);
        assert_int_equal(now.bad_access, before.bad_access + i + 1);
        assert_memory_equal(now.counters, before.counters, sizeof now.counters);
    }
    assert_int_equal(reg_read(conf, GBA_DEVICE_BASE + GBA_DEV_BAD_ACCESS, 8), now.bad_access);
}

const struct conf_test conf_register_tests[] = {
    {"device page", device_page},
    {"registers agree with inspect", registers_agree_with_inspect},
    {"arrivals through registers", arrivals_through_registers},
    {"wrong accesses", wrong_accesses},
    {"misaligned accesses", misaligned_accesses},
    {"accesses to no group", accesses_to_no_group},
    {NULL, NULL},
};
