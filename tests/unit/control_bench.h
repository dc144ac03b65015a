/* SPDX-License-Identifier: BSD-3-Clause */
/* A device with four ports, and commands in the name of one of them. */
#ifndef GBA_TESTS_CONTROL_BENCH_H
#define GBA_TESTS_CONTROL_BENCH_H

#include "tests/unit/model_bench.h"

#define PORTS 4u

/* The handle of the newest allocation. */
static uint32_t number, generation;
static uint64_t key;

static inline void power_on(uint32_t groups)
{
    bench_power_on_ports(groups, PORTS);
}

#define PORTS_TEST(name, groups)    \
    static void name##_bench(void); \
    TEST(name)                      \
    {                               \
        power_on(groups);           \
        name##_bench();             \
    }                               \
    static void name##_bench(void)

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

/* A group of `members` members, allocated by port 0. Member m is that of port m. Port 3 has no
 * member. */
static inline void arm(uint32_t members, uint32_t sequence)
{
    assert_true(members < PORTS);
    assert_int_equal(alloc(0, members), GBA_RESULT_OK);
    for (uint32_t m = 0; m < members; m++) {
        assert_int_equal(join((uint16_t)m, m), GBA_RESULT_OK);
        map((uint16_t)m, m);
    }
    assert_int_equal(call((uint16_t)(members - 1), GBA_CMD_ARM, 0, sequence), GBA_RESULT_OK);
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
    bench_write(8, GBA_DOORBELL(number) + GBA_BELL_NOTIFY, GBA_ARRIVAL(sequence, member));
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
    memset(&effects, 0xa5, sizeof(effects));
    gba_model_port_down(&bench, port, &effects);
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
