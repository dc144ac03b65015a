/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds are counted once each, however often a member tests a complete barrier. When a device
 * fails, a member answers by that count that a round is complete. If it counted one round twice,
 * the other members would leave a round at which not all have arrived.
 */
#include <unistd.h>

#include "tests/limit.h"
#include "tests/unit/pair.h"

static uint64_t rounds_of(uint32_t member)
{
    gba_team_stats_t stats;

    gba_team_stats(pair.team[member], &stats);
    return stats.rounds;
}

/* One complete round, and one in which the device dies. Member 0 tests more often than necessary,
 * also after a barrier that it waited for. */
TEST(test_counted_once)
{
    for (int waits = 0; waits < 2; waits++) {
        gba_status_t died[2];

        pair_open("sim?die_after=1");
        pair.params.retry_after = 1;
        pair_create(2);
        assert_int_equal(gba_barrier_start(pair.team[1]), GBA_OK);
        if (waits)
            assert_int_equal(gba_barrier_wait(pair.team[0], NULL, NULL), GBA_OK);
        else
            assert_int_equal(gba_barrier_start(pair.team[0]), GBA_OK);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(gba_barrier_test(pair.team[0]), GBA_OK);
            assert_int_equal(gba_barrier_progress(pair.team[0]), GBA_OK);
        }
        assert_int_equal(gba_barrier_test(pair.team[1]), GBA_OK);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(rounds_of(i), 1);
        for (uint32_t i = 0; i < 2; i++)
            (void)gba_barrier_start(pair.team[i]);
        for (uint32_t i = 0; i < 2; i++) {
            while (GBA_INPROGRESS == (died[i] = gba_barrier_progress(pair.team[i])))
                ;
            assert_int_equal(died[i], GBA_ERR_DEAD);
            assert_int_equal(rounds_of(i), 1);
        }
        pair_close();
    }
}

TEST_MAIN(alarm(test_limit(60)))
