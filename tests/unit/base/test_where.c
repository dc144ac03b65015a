/* SPDX-License-Identifier: BSD-3-Clause */
/* The status pages of processes: which places they show, to whom, and in which words. */
#include <sys/resource.h>

#include "tests/limit.h"
#include "tests/unit/base/where_children.h"

/* Launchers distinguish jobs at the end of their names. */
TEST(test_long_names)
{
    unsigned count = 0;
    size_t last;

    snprintf(job, sizeof job, "%080d-%d@1", 0, (int)getpid());
    last = strlen(job) - 1;
    child_start(0, NULL);
    job[last] = '2';
    assert_int_equal(gba_where_read(job, count_one, &count), GBA_INPROGRESS);
    assert_int_equal(count, 0);
    job[last] = '1';
    assert_int_equal(gba_where_read(job, count_one, &count), GBA_INPROGRESS);
    assert_int_equal(count, 1);
    children_end();
}

/* See a barrier of another member and this process, which is rank 5 in its page. */
static uint32_t process_own(void *ctx, uint32_t member)
{
    (void)ctx;
    return 5 + member;
}

static void seen_of_own(uint64_t barrier, uint64_t since, uint32_t arrived, uint32_t unknown)
{
    const gba_stall_view_t view = {
        .size = 2, .rank = 1, .name_member = name_rank, .job = job, .process = process_own};
    gba_stall_t stall;
    gba_stall_seen_t seen;

    gba_stall_begin(&stall, barrier, 0, 0, since);
    stall.place.id = 9;
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.arrived, arrived);
    assert_int_equal(seen.unknown, unknown);
}

/* Places come and go, and more than the page holds are not shown. */
TEST(test_places)
{
    const uint64_t now = gba_clock_ns();
    gba_where_t place = {
        .id = 1, .number = 2, .since = 1, .kind = GBA_WHERE_BARRIER, .name = "full"};
    int numbers[GBA_WHERE_MOST];
    struct rlimit before, none;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){.rlim_cur = 100, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    gba_where_join("no room for a page", 5); /* no error, and no signal */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(gba_where_enter(&place), -1);
    snprintf(job, sizeof job, "full-%d", (int)getpid());
    gba_where_join(job, 5);
    for (unsigned i = 0; i < GBA_WHERE_MOST; i++)
        assert_true((numbers[i] = gba_where_enter(&place)) >= 0);
    assert_int_equal(gba_where_enter(&place), -1);
    gba_where_leave(-1);
    gba_where_leave(numbers[3]);
    assert_int_equal(gba_where_enter(&place), numbers[3]);
    for (unsigned i = 0; i < GBA_WHERE_MOST; i++)
        gba_where_leave(numbers[i]);
    seen_of_own(8, now, 1, 0);
    place.id = 9;
    gba_where_leave(gba_where_enter(&place));
    seen_of_own(2, now, 2, 0); /* it has left that one */
    place.kind = GBA_WHERE_CALL;
    gba_where_leave(gba_where_enter(&place));
    place.kind = GBA_WHERE_BARRIER;
    seen_of_own(2, now, 2, 0); /* a call is no barrier */
    seen_of_own(3, now, 1, 0);
    for (unsigned i = 0; i < GBA_WHERE_MOST; i++)
        numbers[i] = gba_where_enter(&place);
    seen_of_own(2, now, 2, 0);
    seen_of_own(3, now, 1, 1); /* it may be in others, for which there is no place */
    for (unsigned i = 0; i < GBA_WHERE_MOST; i++)
        gba_where_leave(numbers[i]);
    seen_of_own(2, now, 2, 0);
    seen_of_own(2, gba_clock_ns(), 1, 0); /* of an earlier communicator with that number */
}

static uint32_t process_own_and_child(void *ctx, uint32_t member)
{
    (void)ctx;
    return 0 == member ? 5 : 1;
}

/* A process waits in a barrier by its team, and then by an exchange: it has waited since the first
 * of these, for itself as for the others. */
TEST(test_two_places)
{
    const uint64_t now = gba_clock_ns();
    gba_where_t place = {.id = 9, .number = 3, .kind = GBA_WHERE_BARRIER, .name = "work"};
    const gba_stall_view_t view = {
        .size = 2, .name_member = name_rank, .job = job, .process = process_own_and_child};
    gba_stall_t stall;
    gba_stall_seen_t seen;
    int numbers[2];

    gba_where_join(job, 5); /* as test_places has */
    for (int i = 1; i >= 0; i--) {
        place.since = now + 2u * (unsigned)i;
        numbers[i] = gba_where_enter(&place);
    }
    place.since = now + 1;
    child_start(1, &place);
    gba_stall_begin(&stall, 3, 0, 0, now + 2);
    stall.place.id = 9;
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.arrived, 2);
    assert_int_equal(seen.first, 0);
    for (int i = 0; i < 2; i++)
        gba_where_leave(numbers[i]);
    children_end();
}

static gba_status_t take_text(void *ctx, const gba_where_process_t *process)
{
    gba_where_text(process, ctx, 256);
    return GBA_OK;
}

/* Barriers precede other calls, whatever their order on the page; a call of two threads is shown
 * once. */
TEST(test_words)
{
    const gba_where_t call = {
        .since = gba_clock_ns(), .kind = GBA_WHERE_CALL, .name = "MPI_Recv on work, s.c+0x9"};
    const gba_where_t barrier = {
        .since = gba_clock_ns(), .kind = GBA_WHERE_BARRIER, .number = 2, .name = "work"};
    int numbers[3];
    char text[256];

    gba_where_join(job, 5); /* as test_places has */
    numbers[0] = gba_where_enter(&call);
    numbers[1] = gba_where_enter(&barrier);
    numbers[2] = gba_where_enter(&call);
    assert_int_equal(gba_where_read(job, take_text, text), GBA_OK);
    assert_string_equal(text, "waits in barrier 2 of work for 0 s, and is in MPI_Recv on work, "
                              "s.c+0x9 for 0 s");
    for (int i = 0; i < 3; i++)
        gba_where_leave(numbers[i]);
}

TEST_MAIN(alarm(test_limit(60)))
