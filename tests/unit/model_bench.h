/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device under test: accesses as the bus makes them, and checks of their effects.
 */
#ifndef GBA_TESTS_MODEL_BENCH_H
#define GBA_TESTS_MODEL_BENCH_H

#include "sim/model/model.h"
#include "tests/suite.h"

static struct gba_model bench;
static struct gba_model before; /* the last access */
static struct gba_model_effects effects;
static uint16_t bench_port;   /* through which accesses come */
static uint64_t bench_random; /* of the last access */

static inline void bench_power_on(uint32_t groups)
{
    static const uint64_t uuid[2] = {0x0123456789abcdefull, 0xfedcba9876543210ull};

    gba_model_init(&bench, groups, 0, uuid);
    bench_port = 0;
}

/* A test with a device that has just been powered on. */
#define BENCH_TEST(name, groups)    \
    static void name##_bench(void); \
    TEST(name)                      \
    {                               \
        bench_power_on(groups);     \
        name##_bench();             \
    }                               \
    static void name##_bench(void)

/* A device with a control unit; all its ports are up. */
static inline void bench_power_on_ports(uint32_t groups, uint32_t ports)
{
    static const uint64_t uuid[2] = {1, 2};

    gba_model_init(&bench, groups, ports, uuid);
    bench_port = 0;
    for (uint32_t port = 0; port < ports; port++)
        gba_model_port_up(&bench, port, 0);
}

/* Checks that the device is in that state, to the last bit. cmocka's own comparison goes byte by
 * byte. */
static inline void bench_is(const struct gba_model *state)
{
    const void *expected = state, *found = &bench;

    assert_true(memcmp(expected, found, sizeof(bench)) == 0);
}

/* One access. Returns its error. */
static inline uint32_t bench_access(bool write, uint8_t width, uint32_t address, uint64_t value)
{
    struct gba_model_access access = {.write = write,
                                      .width = width,
                                      .port = bench_port,
                                      .address = address,
                                      .value = value,
                                      .random = ++bench_random};

    before = bench;
    memset(&effects, 0xa5, sizeof(effects)); /* the model must set all of it */
    gba_model_access(&bench, &access, &effects);
    return effects.error;
}

static inline uint64_t bench_read(uint8_t width, uint32_t address)
{
    assert_int_equal(bench_access(false, width, address, 0), GBA_ERROR_NONE);
    assert_int_equal(effects.releases, 0);
    return effects.value;
}

static inline void bench_write(uint8_t width, uint32_t address, uint64_t value)
{
    assert_int_equal(bench_access(true, width, address, value), GBA_ERROR_NONE);
}

/* An access that must be an error and change only what ERR-1 and ERR-5 specify. */
static inline void bench_refused(bool write, uint8_t width, uint32_t address, uint64_t value,
                                 uint32_t error)
{
    int group = gba_model_group_of(&bench, address);

    assert_int_equal(bench_access(write, width, address, value), error);
    assert_int_equal(effects.releases, 0);
    assert_false(effects.completed);
    if (group >= 0) {
        struct gba_model_core *core = &before.group[group].core;

        core->counters[GBA_COUNTER_ERR_ACCESS + error - GBA_ERROR_ACCESS]++;
        core->status |= GBA_STATUS_ERROR;
        core->last_error = error;
        if (bench.ports != 0 && (core->control & GBA_CONTROL_IRQ_EN) != 0)
            before.group[group].record.events[bench_port] |= GBA_IRQ_ERROR;
    } else {
        before.bad_access++;
    }
    bench_is(&before);
}

static inline void bench_refused_write(uint8_t width, uint32_t address, uint64_t value,
                                       uint32_t error)
{
    bench_refused(true, width, address, value, error);
}

static inline void bench_refused_read(uint8_t width, uint32_t address)
{
    bench_refused(false, width, address, 0, GBA_ERROR_ACCESS);
    assert_true(effects.value == (width == 8 ? GBA_READ_NONE : (1ull << 8 * width) - 1));
}

static inline void bench_refused_config(uint8_t width, uint32_t address, uint64_t value)
{
    bench_refused_write(width, address, value, GBA_ERROR_CONFIG);
}

static inline uint64_t bench_counter(uint32_t group, uint32_t counter)
{
    return bench_read(8, GBA_GROUP_REG(group, GBA_REG_COUNTERS + 8 * counter));
}

static inline uint32_t bench_reg(uint32_t group, uint32_t reg)
{
    return (uint32_t)bench_read(4, GBA_GROUP_REG(group, reg));
}

/* The address of a member's release flag; the addresses only have to differ. */
static inline uint64_t bench_flag(uint32_t group, uint32_t member)
{
    return 0x100000000ull * (group + 1) + 0x80ull * member;
}

static inline void bench_member(uint32_t group, uint32_t member)
{
    uint32_t word = GBA_GROUP_REG(group, GBA_REG_MEMBER_MASK + member / 64 * 8);

    bench_write(8, word, bench_read(8, word) | 1ull << (member % 64));
    bench_write(8, GBA_TABLE_ENTRY(group, member), bench_flag(group, member));
}

static inline void bench_control(uint32_t group, uint32_t control)
{
    bench_write(4, GBA_GROUP_REG(group, GBA_REG_CONTROL), control);
}

/* Set up members 0 to members - 1, up to the write of CONTROL. */
static inline void bench_configure(uint32_t group, uint32_t members, uint32_t sequence)
{
    bench_control(group, GBA_CONTROL_RESET);
    bench_write(4, GBA_GROUP_REG(group, GBA_REG_MEMBER_COUNT), members);
    for (uint32_t member = 0; member < members; member++)
        bench_member(group, member);
    bench_write(4, GBA_GROUP_REG(group, GBA_REG_SEQUENCE), sequence);
}

static inline void bench_arm(uint32_t group, uint32_t members, uint32_t sequence)
{
    bench_configure(group, members, sequence);
    bench_control(group, GBA_CONTROL_ENABLE | GBA_CONTROL_ARM);
}

/* A legal arrival. Returns the number of its release stores. */
static inline uint32_t bench_arrive(uint32_t group, uint32_t member, uint32_t sequence)
{
    bench_write(8, GBA_DOORBELL(group), GBA_ARRIVAL(sequence, member));
    return effects.releases;
}

/* Checks the destination of release number `index` of the last access. */
static inline void bench_released(uint32_t index, uint32_t group, uint32_t member,
                                  uint32_t sequence)
{
    assert_true(index < effects.releases);
    assert_int_equal(effects.release[index].member, member);
    assert_int_equal(effects.release[index].sequence, sequence);
    assert_true(effects.release[index].address == bench_flag(group, member));
}

#endif
