/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of gba/spec/device.md about doorbells, the device page, errors and counters. */
#include "tests/unit/model/model_bench.h"

#define COUNT        GBA_GROUP_REG(0, GBA_REG_MEMBER_COUNT)
#define ENTRY(entry) GBA_TABLE_ENTRY(0, entry)

BENCH_TEST(test_BELL_2_alone_in_its_64k, 32)
{
    for (uint32_t group = 0; group < GBA_GROUPS; group++)
        assert_int_equal(GBA_DOORBELL(group) % 0x10000, GBA_BELL_ARRIVAL);
    assert_true(GBA_DOORBELL_STRIDE % 0x10000 == 0);
    assert_true(GBA_TABLE_BASE + GBA_GROUPS * GBA_TABLE_STRIDE <= GBA_DOORBELL_BASE);
}

/* One error of each kind: bench_refused compares everything else. */
BENCH_TEST(test_ERR_1_counts_and_marks, 32)
{
    bench_join(0, 2, 1);
    bench_refused_write(8, GBA_DOORBELL(0), GBA_ARRIVAL(1, generation, 0), GBA_ERROR_DISABLED);
    assert_int_equal(call(0, GBA_CMD_ARM, 0, 0), GBA_RESULT_OK);
    bench_arrive(0, 1, 1);
    bench_refused_write(8, GBA_DOORBELL(0), GBA_ARRIVAL(9, generation, 0), GBA_ERROR_SEQUENCE);
    bench_refused_write(8, GBA_DOORBELL(0), GBA_ARRIVAL(1, generation, 9), GBA_ERROR_MEMBER);
    bench_refused(false, 2, COUNT, 0, GBA_ERROR_ACCESS);
    bench_refused_config(4, COUNT, 1);
    for (uint32_t error = GBA_COUNTER_ERR_ACCESS; error <= GBA_COUNTER_ERR_CONFIG; error++)
        assert_int_equal(bench_counter(0, error), 1);
    assert_int_equal(bench_arrive(0, 0, 1), 2); /* the round continued */
}

BENCH_TEST(test_ERR_2_last_error_is_the_newest, 32)
{
    assert_int_equal(alloc(0, 1), GBA_RESULT_OK);
    assert_int_equal(bench_reg(0, GBA_REG_LAST_ERROR), GBA_ERROR_NONE);
    bench_refused_config(4, COUNT, 1);
    assert_int_equal(bench_reg(0, GBA_REG_LAST_ERROR), GBA_ERROR_CONFIG);
    bench_refused_write(4, GBA_DOORBELL(0), 0, GBA_ERROR_ACCESS);
    assert_int_equal(bench_reg(0, GBA_REG_LAST_ERROR), GBA_ERROR_ACCESS);
    assert_int_equal(call(0, GBA_CMD_FREE, 0, 0), GBA_RESULT_OK);
    assert_int_equal(bench_reg(0, GBA_REG_LAST_ERROR), GBA_ERROR_NONE);
}

BENCH_TEST(test_ERR_4_access_is_checked_first, 32)
{
    assert_int_equal(alloc(0, 1), GBA_RESULT_OK);
    bench_refused_write(8, COUNT, 1, GBA_ERROR_ACCESS); /* and no CONFIG error */
    bench_refused_write(8, ENTRY(0) + 4, 3, GBA_ERROR_ACCESS);
    bench_refused_write(4, GBA_DOORBELL(0), 3, GBA_ERROR_ACCESS); /* and no DISABLED error */
}

static uint64_t counted_arrivals(void)
{
    const uint64_t *counters = bench.group[0].core.counters;

    return counters[GBA_COUNTER_ARRIVALS] + counters[GBA_COUNTER_REPEATS] +
           counters[GBA_COUNTER_LATE] + counters[GBA_COUNTER_ERR_SEQUENCE] +
           counters[GBA_COUNTER_ERR_MEMBER] + counters[GBA_COUNTER_ERR_DISABLED];
}

BENCH_TEST(test_CNT_1_each_arrival_counts_once, 32)
{
    for (int armed = 0; armed < 2; armed++) {
        bench_join(0, 2, 1);
        if (armed)
            assert_int_equal(call(0, GBA_CMD_ARM, 0, 2), GBA_RESULT_OK);
        for (uint32_t i = 0; i < 32; i++) {
            uint64_t count = counted_arrivals();

            bench_access(true, 8, GBA_DOORBELL(0), GBA_ARRIVAL(1 + i / 3 % 5, generation, i % 3));
            assert_true(counted_arrivals() == count + 1);
        }
        bench_leave(2);
    }
    for (uint32_t i = 0; i < GBA_COUNTERS; i++)
        assert_true(bench_counter(0, i) == bench.group[0].core.counters[i]);
}

BENCH_TEST(test_CNT_2_counters_survive_reset, 32)
{
    for (uint32_t i = 0; i < GBA_COUNTERS; i++)
        assert_int_equal(bench_counter(0, i), 0);
    for (uint32_t life = 1; life <= 3; life++) {
        bench_arm(0, 2, 0);
        bench_arrive(0, 0, 1);
        bench_arrive(0, 0, 1);
        bench_arrive(0, 1, 1);
        bench_arrive(0, 1, 1);
        bench_leave(2);
        assert_int_equal(bench_counter(0, GBA_COUNTER_ARRIVALS), 2 * life);
        assert_int_equal(bench_counter(0, GBA_COUNTER_RELEASES), 3 * life);
        assert_int_equal(bench_counter(0, GBA_COUNTER_ROUNDS), life);
        assert_int_equal(bench_counter(0, GBA_COUNTER_REPEATS), life);
        assert_int_equal(bench_counter(0, GBA_COUNTER_LATE), life);
    }
    bench_arm(0, 2, 0);
    for (uint32_t i = 0; i < 600; i++)
        bench_arrive(0, 0, 1);
    assert_int_equal(bench_counter(0, GBA_COUNTER_REPEATS), 3 + 599);
}

TEST_MAIN()
