/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device with four ports under test: accesses as the bus makes them, commands in the name of a
 * port, and checks of their effects.
 */
#ifndef GBA_TESTS_MODEL_BENCH_H
#define GBA_TESTS_MODEL_BENCH_H

#include "sim/model/model.h"
#include "tests/suite.h"

#define PORTS 4u

static struct gba_model bench;
static struct gba_model before; /* the last access */
static struct gba_model_effects effects;
static uint16_t bench_port;   /* through which accesses come */
static uint64_t bench_random; /* of the last access */

/* The handle of the newest allocation. */
static uint32_t number, generation;
static uint64_t key;

#include "tests/unit/model/vectors.h"

static inline void port_up(uint32_t port, uint32_t quota)
{
    vectors_check();
    gba_model_port_up(&bench, port, quota);
    if (vectors != NULL) {
        fprintf(vectors, "{\"port_up\": {\"port\": %u, \"quota\": %u}}\n", port, quota);
        written = bench;
    }
}

/* A device of which all ports are down. */
static inline void bench_init(uint32_t groups)
{
    static const uint64_t uuid[2] = {0x0123456789abcdefull, 0xfedcba9876543210ull};

    gba_model_init(&bench, groups, PORTS, uuid);
    bench_port = 0;
    vectors_begin();
}

/* A device of which all ports are up. */
static inline void bench_power_on(uint32_t groups)
{
    bench_init(groups);
    for (uint32_t port = 0; port < PORTS; port++)
        port_up(port, 0);
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

    vectors_check();
    before = bench;
    memset(&effects, 0xa5, sizeof(effects)); /* the model must set all of it */
    gba_model_access(&bench, &access, &effects);
    if (vectors != NULL)
        write_vector(&access);
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
        if ((core->control & GBA_CONTROL_IRQ_EN) != 0)
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

static inline uint32_t port_read(uint16_t port, uint32_t reg)
{
    bench_port = port;
    return (uint32_t)bench_read(4, GBA_PORT_REG(reg));
}

static inline void port_write(uint16_t port, uint32_t reg, uint32_t value)
{
    bench_port = port;
    bench_write(4, GBA_PORT_REG(reg), value);
}

static inline uint32_t command(uint16_t port, uint32_t code)
{
    port_write(port, GBA_PORT_COMMAND, code);
    return port_read(port, GBA_PORT_RESULT);
}

static inline void handle_write(uint16_t port)
{
    port_write(port, GBA_PORT_GROUP, number);
    port_write(port, GBA_PORT_GENERATION, generation);
    bench_write(8, GBA_PORT_REG(GBA_PORT_KEY), key);
}

static inline uint32_t alloc_at(uint16_t port, uint32_t group, uint32_t members)
{
    uint32_t result;

    port_write(port, GBA_PORT_GROUP, group);
    port_write(port, GBA_PORT_VALUE, members);
    result = command(port, GBA_CMD_ALLOC);
    if (result == GBA_RESULT_OK) {
        number = port_read(port, GBA_PORT_GROUP);
        generation = port_read(port, GBA_PORT_GENERATION);
        key = bench_read(8, GBA_PORT_REG(GBA_PORT_KEY));
    }
    return result;
}

static inline uint32_t alloc(uint16_t port, uint32_t members)
{
    return alloc_at(port, GBA_GROUP_ANY, members);
}

/* A command with the handle, a member and a value. */
static inline uint32_t call(uint16_t port, uint32_t code, uint32_t member, uint32_t value)
{
    handle_write(port);
    port_write(port, GBA_PORT_MEMBER, member);
    port_write(port, GBA_PORT_VALUE, value);
    return command(port, code);
}

static inline uint32_t join(uint16_t port, uint32_t member)
{
    return call(port, GBA_CMD_JOIN, member, 0);
}

static inline uint32_t leave(uint16_t port, uint32_t member)
{
    return call(port, GBA_CMD_LEAVE, member, 0);
}

static inline void map(uint16_t port, uint32_t member)
{
    bench_port = port;
    bench_write(8, GBA_TABLE_ENTRY(number, member), bench_flag(number, member));
}

static inline uint32_t membership(uint32_t member)
{
    assert_int_equal(call(3, GBA_CMD_MEMBER, member, 0), GBA_RESULT_OK);
    return port_read(3, GBA_PORT_VALUE);
}

/* Allocate that group, or GBA_GROUP_ANY, to port 0; all members join and map their flags. Member m
 * is that of port m % ports. */
static inline void bench_join(uint32_t group, uint32_t members, uint32_t ports)
{
    assert_int_equal(alloc_at(0, group, members), GBA_RESULT_OK);
    for (uint32_t m = 0; m < members; m++) {
        assert_int_equal(join((uint16_t)(m % ports), m), GBA_RESULT_OK);
        map((uint16_t)(m % ports), m);
    }
    bench_port = 0;
}

/* An armed group whose members are all of port 0. */
static inline void bench_arm(uint32_t group, uint32_t members, uint32_t sequence)
{
    bench_join(group, members, 1);
    assert_int_equal(call(0, GBA_CMD_ARM, 0, sequence), GBA_RESULT_OK);
}

/* All members of the newest group, which are of port 0, leave. */
static inline void bench_leave(uint32_t members)
{
    for (uint32_t m = 0; m < members; m++)
        assert_int_equal(leave(0, m), GBA_RESULT_OK);
}

/* An armed group of which member m is that of port m. Port 3 has no member. */
static inline void arm(uint32_t members, uint32_t sequence)
{
    assert_true(members < PORTS);
    bench_join(GBA_GROUP_ANY, members, PORTS);
    assert_int_equal(call((uint16_t)(members - 1), GBA_CMD_ARM, 0, sequence), GBA_RESULT_OK);
}

/* The value of an arrival at that group as it is allocated now. */
static inline uint64_t bench_arrival(uint32_t group, uint32_t member, uint32_t sequence)
{
    return GBA_ARRIVAL(sequence, bench.group[group].record.generation, member);
}

/* A legal arrival. Returns the number of its release stores. */
static inline uint32_t bench_arrive(uint32_t group, uint32_t member, uint32_t sequence)
{
    bench_write(8, GBA_DOORBELL(group), bench_arrival(group, member, sequence));
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

/* A legal arrival of a member through its port. Returns the number of release stores. */
static inline uint32_t arrive(uint16_t member, uint32_t sequence)
{
    bench_port = member;
    return bench_arrive(number, member, sequence);
}

static inline void notify(uint16_t member, uint32_t sequence)
{
    bench_port = member;
    bench_write(8, GBA_DOORBELL(number) + GBA_BELL_NOTIFY, bench_arrival(number, member, sequence));
}

static inline uint32_t events(uint16_t port)
{
    bench_port = port;
    return (uint32_t)bench_read(4, GBA_PORT_EVENT(number));
}

static inline void acknowledge(uint16_t port, uint32_t bits)
{
    bench_port = port;
    bench_write(4, GBA_PORT_EVENT(number), bits);
}

/* Whether the last access interrupted that port. */
static inline bool interrupted(uint32_t port)
{
    return effects.interrupt && (effects.interrupts[port / 64] >> (port % 64) & 1) != 0;
}

static inline void port_down(uint32_t port)
{
    vectors_check();
    memset(&effects, 0xa5, sizeof(effects));
    gba_model_port_down(&bench, port, &effects);
    if (vectors != NULL) {
        fprintf(vectors, "{\"port_down\": {\"port\": %u}}\n", port);
        written = bench;
    }
}

/* A refused access that counts in BAD_ACCESS and changes nothing else. */
static inline void refused_stranger(uint16_t port, bool write, uint8_t width, uint32_t address,
                                    uint64_t value)
{
    bench_port = port;
    assert_int_not_equal(bench_access(write, width, address, value), GBA_ERROR_NONE);
    assert_int_equal(effects.releases, 0);
    assert_false(effects.interrupt);
    before.bad_access++;
    bench_is(&before);
}

/* A command that must fail and change nothing but the mailbox. */
static inline void refused_command(uint16_t port, uint32_t code, uint32_t result)
{
    bench_port = port;
    bench_write(4, GBA_PORT_REG(GBA_PORT_COMMAND), code);
    before.port[port].command = code;
    before.port[port].result = result;
    bench_is(&before);
    assert_false(effects.interrupt);
}

static inline void refused_call(uint16_t port, uint32_t code, uint32_t member, uint32_t value,
                                uint32_t result)
{
    handle_write(port);
    port_write(port, GBA_PORT_MEMBER, member);
    port_write(port, GBA_PORT_VALUE, value);
    refused_command(port, code, result);
}

/* Every command with a handle is stale. */
static void all_stale(uint32_t port)
{
    static const uint32_t codes[] = {GBA_CMD_JOIN, GBA_CMD_ARM, GBA_CMD_LEAVE, GBA_CMD_FREE,
                                     GBA_CMD_MEMBER};

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        refused_call(port, codes[i], 0, 0, GBA_RESULT_STALE);
}

/* The group is as at power-on, except its counters and generation. Its handle is stale. */
static inline void is_free(void)
{
    const struct gba_model_group *g = &bench.group[number];
    struct gba_model_group fresh = {.record.generation = generation};

    memcpy(fresh.core.counters, g->core.counters, sizeof(fresh.core.counters));
    memcpy(fresh.record.events, g->record.events, sizeof(fresh.record.events));
    assert_memory_equal(&fresh, g, sizeof(fresh));
    all_stale(0);
}

#endif
