/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of gba/spec/device.md about arrivals, sequences and releases, and its examples. */
#include "tests/unit/model/model_bench.h"

/* The sequences at which wrong arithmetic fails. */
static const uint32_t edges[] = {0,           1,           0x7FFFFFFEu, 0x7FFFFFFFu,
                                 0x80000000u, 0xFFFFFFFEu, 0xFFFFFFFFu};
#define EDGES (sizeof(edges) / sizeof(edges[0]))

static void refuse_value(uint32_t group, uint64_t value, uint32_t error)
{
    bench_refused_write(8, GBA_DOORBELL(group), value, error);
    bench_refused_write(8, GBA_GROUP_REG(group, GBA_REG_ARRIVAL), value, error);
}

static void refuse_arrival(uint32_t group, uint32_t member, uint32_t sequence, uint32_t error)
{
    refuse_value(group, bench_arrival(group, member, sequence), error);
}

static uint64_t arrived(uint32_t group)
{
    return bench_read(8, GBA_GROUP_REG(group, GBA_REG_ARRIVED_MASK));
}

BENCH_TEST(test_ARR_1_sequence_generation_member, 32)
{
    const uint64_t value = 0x1122334400010002ull;

    bench_arm(2, 3, 0x11223343);
    bench_write(8, GBA_DOORBELL(2), value);
    assert_int_equal(arrived(2), 1 << 2);
    assert_int_equal(GBA_ARRIVAL_SEQ(value), 0x11223344);
    assert_int_equal(GBA_ARRIVAL_GENERATION(value), 1);
    assert_int_equal(GBA_ARRIVAL_MEMBER(value), 2);
    assert_true(GBA_ARRIVAL(0x11223344u, 0xABCD0001u, 2u) == value);
    /* All 32 bits of the low half count. */
    for (uint32_t bit = 2; bit < 32; bit++)
        refuse_value(2, value ^ 1ull << bit, GBA_ERROR_MEMBER);
}

/* Late copies of arrivals at earlier allocations, for the sequence of which the group waits. */
BENCH_TEST(test_ARR_2_copies_of_earlier_allocations, 1)
{
    for (uint32_t life = 1; life < 4; life++) {
        bench_arm(0, 2, 0);
        for (uint32_t former = 0; former < life; former++) {
            for (uint32_t sequence = 0; sequence < 2; sequence++) /* late, and in time */
                refuse_value(0, GBA_ARRIVAL(sequence, former, 1u), GBA_ERROR_MEMBER);
            bench_refused_write(8, GBA_DOORBELL(0) + GBA_BELL_NOTIFY, GBA_ARRIVAL(1, former, 1u),
                                GBA_ERROR_MEMBER);
        }
        refuse_value(0, GBA_ARRIVAL(77, life - 1, 1u), GBA_ERROR_MEMBER); /* before SEQUENCE */
        assert_int_equal(bench_arrive(0, 0, 1), 0);
        assert_int_equal(bench_arrive(0, 1, 1), 2);
        bench_leave(2);
    }
}

BENCH_TEST(test_ARR_2_not_ready_then_member_then_sequence, 32)
{
    bench_join(0, 2, 1);
    refuse_arrival(0, 0, 6, GBA_ERROR_DISABLED);    /* not armed */
    refuse_arrival(0, 999, 77, GBA_ERROR_DISABLED); /* before the other two */
    assert_int_equal(call(0, GBA_CMD_ARM, 0, 5), GBA_RESULT_OK);
    refuse_arrival(0, 2, 6, GBA_ERROR_MEMBER);
    refuse_arrival(0, 2, 77, GBA_ERROR_MEMBER); /* before SEQUENCE */
    refuse_arrival(0, 707, 6, GBA_ERROR_MEMBER);
    refuse_arrival(0, 708, 6, GBA_ERROR_MEMBER);
    refuse_arrival(0, 768, 6, GBA_ERROR_MEMBER); /* behind the words of the mask */
    refuse_arrival(0, 0xFFFFu, 6, GBA_ERROR_MEMBER);
    assert_int_equal(bench_arrive(0, 0, 6), 0);
}

BENCH_TEST(test_ARR_5_withdrawn_gets_no_store, 32)
{
    bench_arm(3, 2, 0);
    bench_arrive(3, 0, 1);
    bench_arrive(3, 1, 1);
    bench_write(8, GBA_TABLE_ENTRY(3, 1), 0);
    assert_int_equal(bench_arrive(3, 1, 1), 0);
    before.group[3].core.counters[GBA_COUNTER_LATE]++;
    bench_is(&before);
}

BENCH_TEST(test_ARR_5_configured_sequence_is_a_round, 32)
{
    bench_arm(3, 2, 41);
    assert_int_equal(bench_arrive(3, 1, 41), 1);
    bench_released(0, 3, 1, 41);
}

BENCH_TEST(test_ARR_6_each_bit_of_the_sequence, 32)
{
    bench_arm(0, 2, 7);
    for (uint32_t bit = 0; bit < 32; bit++)
        refuse_arrival(0, 0, 8 ^ 1u << bit, GBA_ERROR_SEQUENCE);
}

TEST(test_SEQ_2_compare_by_difference)
{
    for (size_t i = 0; i < EDGES; i++) {
        for (uint32_t n = 0; n < 4; n++) {
            assert_true(GBA_SEQ_REACHED(edges[i] + n, edges[i]));
            assert_true(GBA_SEQ_REACHED(edges[i] + n, edges[i]) ==
                        !GBA_SEQ_REACHED(edges[i], edges[i] + n + 1));
            assert_false(GBA_SEQ_REACHED(edges[i], edges[i] + n + 1));
        }
        assert_true(GBA_SEQ_REACHED(edges[i] + 0x7FFFFFFFu, edges[i]));
    }
}

/* Three members at random, each repeating its newest arrival at random: no error, no lost round. */
BENCH_TEST(test_SEQ_4_newest_arrival_may_always_be_repeated, 32)
{
    uint32_t newest[3], flag[3], random = 1;

    bench_arm(0, 3, 0xFFFFFF00u);
    for (int i = 0; i < 3; i++)
        newest[i] = flag[i] = 0xFFFFFF00u;
    for (int step = 0; step < 20000; step++) {
        uint32_t member = (random = random * 1664525u + 1013904223u) >> 16 & 3;

        if (member == 3)
            continue;
        if ((random >> 20 & 1) && flag[member] == newest[member])
            newest[member]++;
        bench_arrive(0, member, newest[member]);
        for (uint32_t i = 0; i < effects.releases; i++)
            flag[effects.release[i].member] = effects.release[i].sequence;
    }
    assert_true(bench_counter(0, GBA_COUNTER_ROUNDS) > 1000);
    assert_true(bench_counter(0, GBA_COUNTER_REPEATS) > 1000);
    assert_true(bench_counter(0, GBA_COUNTER_LATE) > 1000);
    assert_false(bench_reg(0, GBA_REG_STATUS) & GBA_STATUS_ERROR);
}

/* An access is one step of the model, so the state at the first store is the state after the
 * access. Arrivals for the next round therefore come between the stores, and all of them must be
 * kept. */
BENCH_TEST(test_REL_1_cleared_before_the_first_store, 32)
{
    struct gba_model_effects round;

    bench_arm(0, 3, 0);
    bench_arrive(0, 0, 1);
    bench_arrive(0, 1, 1);
    assert_int_equal(bench_arrive(0, 2, 1), 3);
    round = effects;
    assert_int_equal(bench_read(8, GBA_GROUP_REG(0, GBA_REG_ARRIVAL)), 1ull << 32);
    assert_int_equal(bench_reg(0, GBA_REG_STATUS), GBA_STATUS_READY | GBA_STATUS_COMPLETE);
    assert_int_equal(bench_counter(0, GBA_COUNTER_ROUNDS), 1);
    for (uint32_t i = 0; i < 2; i++) {
        bench_arrive(0, round.release[i].member, round.release[i].sequence + 1);
        assert_int_equal(bench_reg(0, GBA_REG_ARRIVED_COUNT), i + 1);
    }
    assert_int_equal(arrived(0), 3);
    assert_int_equal(bench_arrive(0, 2, 2), 3);
    assert_int_equal(bench_counter(0, GBA_COUNTER_REPEATS), 0);
}

BENCH_TEST(test_REL_2_ascending_to_all_708, 32)
{
    bench_arm(31, GBA_MEMBERS_MAX, 6);
    for (uint32_t member = GBA_MEMBERS_MAX; --member > 0;)
        assert_int_equal(bench_arrive(31, member, 7), 0);
    assert_int_equal(bench_reg(31, GBA_REG_ARRIVED_COUNT), GBA_MEMBERS_MAX - 1);
    assert_int_equal(bench_arrive(31, 0, 7), GBA_MEMBERS_MAX);
    for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++)
        bench_released(member, 31, member, 7);
    assert_int_equal(bench_counter(31, GBA_COUNTER_RELEASES), GBA_MEMBERS_MAX);
}

BENCH_TEST(test_REL_3_value_is_the_sequence, 32)
{
    bench_arm(0, 1, 0xFFFFFFFEu);
    bench_arrive(0, 0, 0xFFFFFFFFu);
    /* 32 bits here; the store widens the value, and an unsigned value widens with zeros. */
    assert_true((uint64_t)effects.release[0].sequence == 0xFFFFFFFFull);
    assert_true(effects.release[0].address % 8 == 0);
}

BENCH_TEST(test_REL_4_nobody_else_is_stored_to, 32)
{
    bench_arm(0, 3, 0);
    assert_int_equal(effects.releases, 0);
    refuse_arrival(0, 3, 1, GBA_ERROR_MEMBER);
    refuse_arrival(0, 3, 0, GBA_ERROR_MEMBER); /* nor when it would be late */
    assert_int_equal(bench_arrive(0, 2, 1), 0);
    assert_int_equal(bench_arrive(0, 0, 1), 0);
    assert_int_equal(bench_arrive(0, 1, 1), 3);
    for (uint32_t i = 0; i < 3; i++)
        bench_released(i, 0, i, 1);
}

TEST_MAIN()
