/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder of gba_perf: which barriers it times, its places for communicators, and the
 * comparison of the times of members. */
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "contrib/perf/recorder_parts.h"
#include "gba/base/clock.h"
#include "tests/suite.h"

#define ROUNDS 100000

/* Barriers that take 10 ns. */
static void run(struct recorder_comm *comm, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++)
        if (recorder_enter(comm))
            recorder_leave(comm, (struct recorder_time){(int64_t)i, 10, 10, 0, NULL}, NULL);
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

/* Members are numbers here. */
static bool same(void *left, void *right)
{
    return left == right;
}

static char group[2]; /* two groups of members */

/* The rank that numbers communicators of MPI, and the others, which receive the id. */
TEST(test_places_are_used_again)
{
    struct recorder_comm *first = recorder_comm_number(&group[0], same, 3, 4, "first");
    struct recorder_comm *second = recorder_comm_number(&group[0], same, 3, 4, "second");

    assert_true(first != second && first->id != second->id);
    assert_int_equal(RECORDER_RANK(first->id), 3);
    assert_true(recorder_comm_get(RECORDER_SYNC_ALL, first->id, 4, "") != first);
    recorder_comm_release(first);
    assert_ptr_not_equal(recorder_comm_number(&group[1], same, 3, 4, ""), first);
    assert_ptr_equal(recorder_comm_number(&group[0], same, 3, 4, "third"), first);
    assert_string_equal(first->name, "third");
    /* A member on which the id is in use does not mix the barriers. */
    assert_null(recorder_comm_get(RECORDER_BARRIER, first->id, 4, ""));
    assert_true(first->torn);
    /* Without an id each communicator has a place. */
    first = recorder_comm_get(RECORDER_BARRIER, 0, 4, "");
    second = recorder_comm_get(RECORDER_BARRIER, 0, 4, "");
    assert_ptr_not_equal(first, second);
    recorder_comm_release(second);
    assert_ptr_equal(recorder_comm_get(RECORDER_BARRIER, 0, 4, ""), second);
    for (uint64_t id = 1; id < 1 + RECORDER_COMMS - 6; id++)
        assert_non_null(recorder_comm_get(RECORDER_BARRIER, id, 4, ""));
    assert_null(recorder_comm_get(RECORDER_BARRIER, RECORDER_COMMS, 4, ""));
}

/* --- The comparison of the times of members */

/* The part of a member of {0, 2} that enters round r at 100 r + `entered` and leaves at 100 r + 50;
 * in the rounds of `late` it enters 40 later. */
static struct recorder_part *part_of(int rank, int64_t entered, uint32_t rounds, unsigned int shift,
                                     uint32_t late)
{
    struct recorder_part *part = calloc(1, sizeof *part + rounds * sizeof(struct recorder_time));

    assert_non_null(part);
    part->id = UINT64_C(1) << 32 | 7;
    part->size = 2;
    part->rank = rank;
    part->shift = shift;
    part->rounds = rounds;
    (void)snprintf(part->sites[0], sizeof part->sites[0], "often");
    (void)snprintf(part->sites[1], sizeof part->sites[1], "late");
    for (uint32_t round = 0; round < rounds; round++) {
        const bool is_late = round % 4 < late;
        const int64_t in = entered + (is_late ? 40 : 0);

        if (recorder_timed(round, shift))
            part->times[part->count++] = (struct recorder_time){
                100 * round + in, 50 - in, 50 - in, round, (const void *)(uintptr_t)is_late};
    }
    return part;
}

/* In one of 4 rounds rank 0 waits 30 ns for rank 2, in the others 10 ns the other way round. */
TEST(test_times_are_divided)
{
    struct recorder_part *parts[] = {part_of(2, 0, 400, 0, 1), part_of(0, 10, 400, 0, 0)};
    struct recorder_row row;

    qsort(parts, 2, sizeof(struct recorder_part *), recorder_part_compare);
    assert_int_equal(parts[0]->rank, 0);
    assert_int_equal(recorder_parts_together(parts, 2), 2);
    row = recorder_row_of(parts, 2);
    assert_int_equal(row.calls, 800);
    assert_int_equal(row.time, 100 * (40 + 10) + 300 * (40 + 50));
    assert_int_equal(row.wait, 100 * 30 + 300 * 10);
    assert_int_equal(row.caused, 3000);
    free(parts[0]);
    free(parts[1]);
}

TEST(test_late_member)
{
    struct recorder_part *parts[] = {part_of(0, 5, 400, 0, 0), part_of(2, 4, 400, 0, 3)};
    const struct recorder_row row = recorder_row_of(parts, 2);

    assert_int_equal(row.late, 2);
    assert_true(row.lasts == 0.75);
    assert_int_equal(row.caused, 300 * 39);
    assert_string_equal(row.site, "late");
    free(parts[0]);
    free(parts[1]);
}

/* Members that time other parts of the rounds have some in common. */
TEST(test_members_that_time_unequal_parts)
{
    struct recorder_part *parts[] = {part_of(0, 10, 64000, 2, 0), part_of(2, 0, 64000, 5, 0)};
    const struct recorder_row row = recorder_row_of(parts, 2);

    assert_int_equal(row.calls, 128000);
    assert_int_equal(row.wait / 64000 + 0.5, 10);
    assert_int_equal(parts[0]->count, parts[1]->count);
    free(parts[0]);
    free(parts[1]);
}

/* Parts that do not belong together, or not to all members, are not compared. */
TEST(test_parts_that_are_not_compared)
{
    struct recorder_part *parts[] = {part_of(0, 10, 40, 0, 0), part_of(2, 0, 40, 0, 0)};
    struct recorder_row row;

    parts[1]->id++;
    assert_int_equal(recorder_parts_together(parts, 2), 1);
    row = recorder_row_of(parts, 1);
    assert_true(isnan(row.wait) && row.calls == 40 && row.time == 40 * 40 && row.comms == 1);
    parts[1]->id--;
    parts[1]->torn = true;
    row = recorder_row_of(parts, 2);
    assert_true(isnan(row.wait) && row.calls == 80);
    parts[0]->id = parts[1]->id = 0;
    assert_int_equal(recorder_parts_together(parts, 2), 1);
    assert_true(recorder_row_of(parts, 1).comms == 0.5);
    free(parts[0]);
    free(parts[1]);
}

/* --- Threads */

static pthread_barrier_t both;

/* A barrier of some time, in which both threads are at once. */
static void *visit(void *charged)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    struct recorder_visit mine;

    recorder_visit_begin(&mine, false);
    recorder_visit_end(&mine, false);
    pthread_barrier_wait(&both); /* the recorder knows both threads */
    recorder_visit_begin(&mine, true);
    pthread_barrier_wait(&both);
    nanosleep(&pause, NULL);
    recorder_visit_end(&mine, true);
    *(int64_t *)charged = mine.time.charged;
    return NULL;
}

/* The time in which threads are in barriers at once is not counted for each of them. */
TEST(test_time_of_threads_is_divided)
{
    const uint64_t began = gba_clock_ns();
    int64_t charged[2];
    pthread_t thread;

    pthread_barrier_init(&both, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, visit, &charged[0]), 0);
    visit(&charged[1]);
    pthread_join(thread, NULL);
    assert_true(charged[0] > 0 && charged[1] > 0);
    assert_true((uint64_t)(charged[0] + charged[1]) <= gba_clock_ns() - began);
}

TEST_MAIN()
