/* SPDX-License-Identifier: BSD-3-Clause */
/* The barrier rate that the Linux driver computes, outside the kernel. */
#include "tests/suite.h"

/* What the kernel defines. */
typedef uint64_t u64;
#define U64_MAX         UINT64_MAX
#define NSEC_PER_SEC    1000000000ull
#define div64_u64(a, b) ((a) / (b))

#include "contrib/driver/rate.h"

TEST(test_DRV_13_rate)
{
    u64 rate = 0;

    assert_true(gba_rate(0, 50000000, &rate) && rate == 0);
    assert_true(gba_rate(10, 50000000, &rate) && rate == 200);
    assert_true(gba_rate(10, 2000000000, &rate) && rate == 5);
    /* An hour with 4 million rounds a second. */
    assert_true(gba_rate(14400000000, 3600000000000, &rate) && rate == 4000000);
}

/* A device that disappears in a sample: its counter is all ones. */
TEST(test_DRV_13_no_rate)
{
    const u64 before[] = {0, 1, 1000000, 1ull << 40};
    u64 rate = 7;

    for (unsigned i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        assert_false(gba_rate(UINT64_MAX - before[i], 50000000, &rate));
        assert_false(gba_rate(UINT64_MAX - before[i], 3600000000000, &rate));
    }
    assert_true(rate == 7);
}

TEST_MAIN()
