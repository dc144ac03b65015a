/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of gba/spec/device.md, chapters "Order" and "Time", on the RTL: accesses of several
 * ports at the same time, and cycles. */
#include <stdlib.h>

#include "sim/rtl/rtl.h"
#include "tests/unit/model/model_bench.h"

#define COUNT 400u

static struct gba_model_access made[COUNT];
static struct gba_rtl_outcome outcomes[COUNT];

/* Of a member, through its port. */
static struct gba_model_access arrival(uint32_t member, uint32_t sequence)
{
    return (struct gba_model_access){.write = true,
                                     .width = 8,
                                     .port = (uint16_t)(member % PORTS),
                                     .address = GBA_DOORBELL(0),
                                     .value = GBA_ARRIVAL(sequence, member)};
}

static struct gba_model_access read_arrival(uint16_t lane)
{
    return (struct gba_model_access){
        .width = 8, .port = lane, .address = GBA_GROUP_REG(0, GBA_REG_ARRIVAL)};
}

static void together(uint32_t count)
{
    gba_rtl_together(&bench, made, count, outcomes, &effects);
}

static void arrive_alone(uint32_t member, uint32_t sequence)
{
    bench_port = (uint16_t)(member % PORTS);
    bench_arrive(0, member, sequence);
}

static void start(uint32_t members)
{
    gba_rtl_options()->stalls = 0;
    bench_power_on(4);
    bench_join(0, members, PORTS);
    assert_int_equal(call(0, GBA_CMD_ARM, 0, 0), GBA_RESULT_OK);
}

TEST(test_ORD_1_two_last_arrivals_at_once)
{
    start(2);
    for (uint32_t round = 1; round < 20; round++) {
        made[round % 2] = arrival(0, round);
        made[1 - round % 2] = arrival(1, round);
        together(2);
        assert_int_equal(effects.releases, 2);
        assert_int_equal(effects.release[0].sequence, round);
    }
    assert_int_equal(bench_counter(0, GBA_COUNTER_ARRIVALS), 38);
    assert_int_equal(bench_counter(0, GBA_COUNTER_ROUNDS), 19);
}

TEST(test_ORD_2_ports_in_turn)
{
    start(3);
    for (uint32_t i = 0; i < 40; i++)
        made[i] = read_arrival(i % 4 == 3 ? 0 : (uint16_t)(i % 4)); /* lane 0 has twice as many */
    together(40);
    for (uint32_t i = 4; i < 28; i++) {
        uint32_t between = 0;

        for (uint32_t j = 0; j < 40; j++)
            between +=
                outcomes[j].taken > outcomes[i - 4].taken && outcomes[j].taken < outcomes[i].taken;
        if (made[i].port != 0)
            assert_in_range(between, 0, 2);
    }
}

TEST(test_ORD_3_the_next_round_does_not_wait)
{
    struct gba_rtl_options *options = gba_rtl_options();

    start(64);
    for (uint32_t i = 0; i < 63; i++)
        arrive_alone(i + 1, 1);
    made[0] = arrival(0, 1);
    made[1] = arrival(1, 2);
    made[2] = arrival(2, 2);
    made[3] = read_arrival(0);
    options->stalls = 80;
    together(4);
    options->stalls = 0;
    assert_int_equal(effects.releases, 64);
    assert_true(outcomes[2].taken < options->last_release); /* while stores are made */
    assert_true(outcomes[3].taken >= options->last_release);
    assert_true(outcomes[3].value == (1ull << 32 | 2));
}

/* The result of any accesses at once is that of the same accesses one by one, in the order in which
 * they took effect. */
TEST(test_ORD_1_as_one_by_one)
{
    static struct gba_model model;
    static struct gba_model_effects alone;
    uint32_t random = 1, stores;

    start(5);
    for (int run = 0; run < 100; run++) {
        model = bench;
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t sequence = bench.group[0].core.sequence + i / 20;

            random = random * 1664525u + 1013904223u;
            made[i] = random >> 29 == 0
                          ? read_arrival(random >> 20 & 3)
                          : arrival((random >> 24) % 6, sequence + (random >> 27 & 1));
        }
        gba_rtl_options()->stalls = run % 3 * 40;
        together(COUNT);
        stores = 0;
        for (uint32_t n = 0; n < COUNT; n++) {
            uint32_t first = 0;

            for (uint32_t i = 1; i < COUNT; i++)
                if (outcomes[i].taken < outcomes[first].taken)
                    first = i;
            outcomes[first].taken = UINT64_MAX;
            gba_firmware_access(&model, &made[first], &alone);
            if (!made[first].write)
                assert_true(outcomes[first].value == alone.value);
            for (uint32_t i = 0; i < alone.releases; i++, stores++) {
                assert_true(stores < effects.releases);
                assert_true(effects.release[stores].address == alone.release[i].address);
                assert_int_equal(effects.release[stores].sequence, alone.release[i].sequence);
            }
        }
        assert_int_equal(stores, effects.releases);
        bench_is(&model);
    }
    gba_rtl_options()->stalls = 0;
}

TEST(test_TIME_1_bounds)
{
    static const uint32_t members[] = {2, 8, 64, 128, 256, 512, 708};
    struct gba_rtl_options *options = gba_rtl_options();

    for (uint32_t i = 0; i < 14; i++) {
        uint32_t n = members[i % 7], words = (n + 63) / 64;

        options->multicast = i >= 7;
        start(n);
        for (uint32_t member = 0; member < n; member++)
            arrive_alone(member, 1);
        /* T_MATCH, T_RELEASE: the tables of sim/rtl/README.md and device.md */
        assert_int_equal(options->first_release - options->began - 1, 6);
        assert_int_equal(options->last_release - options->first_release,
                         (options->multicast ? words : n) - 1);
    }
    options->multicast = false;
    start(3);
    made[0] = arrival(0, 1);
    made[1] = arrival(1, 1);
    together(2);
    /* T_ACCEPT */
    assert_int_equal(labs((long)outcomes[0].taken - (long)outcomes[1].taken), 2);
}

TEST_MAIN()
