/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder of gba_perf: which barriers it times, and its places for communicators. */

#include "contrib/perf/recorder.h"
#include "tests/suite.h"

#define ROUNDS 100000

/* Barriers that take 10 ns. */
static void run(struct recorder_comm *comm, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++)
        if (recorder_enter(comm))
            recorder_leave(comm, (int64_t)i, (int64_t)i + 10, NULL);
}

TEST(test_few_barriers_are_all_timed)
{
    struct recorder_comm comm = {.rounds = 0};

    run(&comm, RECORDER_TIMED);
    assert_int_equal(comm.count, RECORDER_TIMED);
    assert_int_equal(comm.times[RECORDER_TIMED - 1].round, RECORDER_TIMED - 1);
    free(comm.times);
}

/* Of many barriers a part is timed: the same part of those of each phase of a step. */
TEST(test_many_barriers_are_sampled)
{
    struct recorder_comm comm = {.rounds = 0};

    run(&comm, ROUNDS);
    assert_int_equal(comm.rounds, ROUNDS);
    assert_in_range(comm.count, RECORDER_TIMED / 4, RECORDER_TIMED);
    recorder_thin(&comm, comm.shift);
    for (uint32_t step = 2; step <= 4; step++) {
        uint32_t phases[4] = {0};

        for (uint32_t i = 0; i < comm.count; i++)
            phases[comm.times[i].round % step]++;
        for (uint32_t phase = 0; phase < step; phase++)
            assert_in_range(phases[phase], comm.count / step * 9 / 10, comm.count / step * 11 / 10);
    }
    free(comm.times);
}

/* A member that is in more barriers of other communicators has no effect on which rounds are kept.
 */
TEST(test_members_keep_the_same_rounds)
{
    struct recorder_comm one = {.rounds = 0}, other = {.rounds = 0};

    run(&one, ROUNDS);
    recorder_thin(&other, 3);
    run(&other, ROUNDS);
    recorder_thin(&one, 8);
    recorder_thin(&other, 8);
    assert_int_equal(one.count, other.count);
    assert_true(one.count > 0);
    for (uint32_t i = 0; i < one.count; i++)
        assert_int_equal(one.times[i].round, other.times[i].round);
    free(one.times);
    free(other.times);
}

TEST(test_places_are_used_again)
{
    struct recorder_comm *first = recorder_comm_get(RECORDER_BARRIER, 7, 4, "first");
    struct recorder_comm *second = recorder_comm_get(RECORDER_BARRIER, 7, 4, "second");

    assert_true(first != second && first->id != second->id);
    assert_true(recorder_comm_get(RECORDER_SYNC_ALL, 7, 4, "") != first);
    recorder_comm_release(first);
    assert_ptr_equal(recorder_comm_get(RECORDER_BARRIER, 7, 4, "third"), first);
    assert_string_equal(first->name, "third");
    for (uint64_t group = 8; group < 8 + RECORDER_COMMS - 3; group++)
        assert_non_null(recorder_comm_get(RECORDER_BARRIER, group, 4, ""));
    assert_null(recorder_comm_get(RECORDER_BARRIER, 1, 4, ""));
}

TEST_MAIN()
