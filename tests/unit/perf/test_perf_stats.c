/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics of gba_perf, compared with published tables and values computed by hand. */

#include "contrib/perf/stats.h"
#include "tests/suite.h"

TEST(test_median)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {9};

    assert_true(perf_median(odd, 3) == 3);
    assert_true(perf_median(even, 4) == 2.5);
    assert_true(perf_median(one, 1) == 9);
}

/* From tables of the sign test. */
TEST(test_interval_of_the_median)
{
    static const struct {
        size_t count, low, high;
        double coverage;
    } known[] = {
        {1, 1, 1, 0},
        {2, 1, 2, 0.5},
        {5, 1, 5, 0.9375},
        {6, 1, 6, 0.96875},
        {8, 1, 8, 0.9921875},
        {9, 2, 8, 0.9609375},
        {10, 2, 9, 0.9785156},
        {15, 4, 12, 0.9648438},
        {20, 6, 15, 0.9586105},
        {30, 10, 21, 0.9572261},
        {50, 18, 33, 0.9671609},
        {100, 40, 61, 0.9647998},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t low, high;
        double coverage;

        perf_median_interval(known[i].count, 0.95, &low, &high, &coverage);
        assert_int_equal(low, known[i].low);
        assert_int_equal(high, known[i].high);
        assert_true(coverage - known[i].coverage < 1e-6 && known[i].coverage - coverage < 1e-6);
    }
}

/* The longest series: no term underflows, and the normal approximation is near. */
TEST(test_interval_of_the_longest_series)
{
    size_t low, high;
    double coverage;

    perf_median_interval(PERF_INTERVAL_MAX, 0.95, &low, &high, &coverage);
    assert_int_equal(low, 469);
    assert_int_equal(high, 532);
    assert_true(coverage >= 0.95 && coverage < 0.96);
}

TEST_MAIN()
