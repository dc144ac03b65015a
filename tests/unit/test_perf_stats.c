/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics of gba_perf, compared with published tables and values computed by hand. */

#include "contrib/perf/stats.h"
#include "tests/suite.h"

static struct perf_histogram histogram, other;

TEST(test_buckets_have_all_values)
{
    assert_int_equal(perf_bucket(0), 0);
    assert_int_equal(perf_bucket(63), 63);
    assert_int_equal(perf_bucket(64), 64);
    assert_int_equal(perf_bucket(65), 64);
    assert_int_equal(perf_bucket(66), 65);
    assert_int_equal(perf_bucket((UINT64_C(1) << 40) - 1), PERF_LAST_BUCKET - 1);
    assert_int_equal(perf_bucket(UINT64_C(1) << 40), PERF_LAST_BUCKET);
    assert_int_equal(perf_bucket(UINT64_MAX), PERF_LAST_BUCKET);
    assert_int_equal(perf_bucket_low(PERF_LAST_BUCKET), INT64_C(1) << 40);
    assert_true(perf_bucket_low(PERF_BUCKETS) == UINT64_MAX);
    for (uint32_t b = 0; b < PERF_LAST_BUCKET; b++) {
        uint64_t low = perf_bucket_low(b), bound = perf_bucket_low(b + 1);

        assert_true(bound > low);
        assert_int_equal(perf_bucket(low), b);
        assert_int_equal(perf_bucket(bound - 1), b);
        assert_true((bound - low - 1) * 32 <= low);
    }
}

static double percentile(uint32_t hundredths)
{
    double ns = -1;

    assert_true(perf_histogram_percentile(&histogram, hundredths, &ns));
    return ns;
}

static bool near(double value, double expected, double part)
{
    double error = value > expected ? value - expected : expected - value;

    return error <= expected * part;
}

TEST(test_percentiles_of_small_values_are_exact)
{
    perf_histogram_init(&histogram);
    for (uint64_t ns = 50; ns >= 1; ns--)
        perf_histogram_add(&histogram, ns);
    assert_true(percentile(5000) == 25);
    assert_true(percentile(1) == 1);
    assert_true(percentile(9000) == 45);
    assert_true(percentile(9800) == 49);
}

TEST(test_percentiles_of_large_values_are_near)
{
    perf_histogram_init(&histogram);
    for (uint64_t i = 1; i <= 100000; i++)
        perf_histogram_add(&histogram, i * 10);
    assert_true(near(percentile(5000), 500000, 1.0 / 32));
    assert_true(near(percentile(9900), 990000, 1.0 / 32));
    assert_true(near(percentile(9990), 999000, 1.0 / 32));
    assert_true(near(percentile(9999), 999900, 1.0 / 32));
    assert_true(percentile(9999) <= 1000000);
    assert_int_equal(histogram.min, 10);
    assert_int_equal(histogram.max, 1000000);
    assert_int_equal(histogram.count, 100000);
}

TEST(test_one_outlier_is_kept)
{
    perf_histogram_init(&histogram);
    for (int i = 0; i < 9999; i++)
        perf_histogram_add(&histogram, 40);
    perf_histogram_add(&histogram, UINT64_C(1) << 41);
    assert_true(percentile(9999) == 40);
    assert_true(histogram.max == UINT64_C(1) << 41);
    assert_int_equal(histogram.buckets[PERF_LAST_BUCKET], 1);
    /* A second sample above: two of 10001 are more than p99.99 allows. */
    perf_histogram_add(&histogram, UINT64_C(1) << 41);
    assert_true(percentile(9999) == (double)(UINT64_C(1) << 41));
}

TEST(test_too_few_samples_have_no_percentile)
{
    double ns = 7;

    perf_histogram_init(&histogram);
    assert_false(perf_histogram_percentile(&histogram, 5000, &ns));
    perf_histogram_add(&histogram, 12);
    assert_true(percentile(5000) == 12);
    assert_false(perf_histogram_percentile(&histogram, 9000, &ns));
    for (int i = 0; i < 98; i++)
        perf_histogram_add(&histogram, 12);
    assert_false(perf_histogram_percentile(&histogram, 9900, &ns));
    assert_true(ns == 7);
    perf_histogram_add(&histogram, 12);
    assert_true(percentile(9900) == 12);
    assert_false(perf_histogram_percentile(&histogram, 9990, &ns));
}

TEST(test_merged_is_as_counted_together)
{
    perf_histogram_init(&histogram);
    perf_histogram_init(&other);
    perf_histogram_merge(&histogram, &other);
    assert_int_equal(histogram.count, 0);
    for (uint64_t ns = 1; ns <= 30; ns++)
        perf_histogram_add(ns % 3 == 0 ? &histogram : &other, ns);
    perf_histogram_merge(&histogram, &other);
    assert_int_equal(histogram.count, 30);
    assert_int_equal(histogram.min, 1);
    assert_int_equal(histogram.max, 30);
    assert_true(percentile(5000) == 15);
}

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
