/* SPDX-License-Identifier: BSD-3-Clause */
/* The status pages of processes, and the one reporter of stalled barriers: its words and times. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/base/where.h"
#include "gba/stall.h"
#include "tests/suite.h"
#include "tests/limit.h"
#include "tests/unit/log_catch.h"

#define SECOND UINT64_C(1000000000)

static char job[128], lines[4096];
static pid_t children[4];
static uid_t child_user;                 /* of the next child; 0: this one's */
static void (*child_leaves)(int number); /* the next child leaves its place so; NULL: it stays */

static void keep(void *ctx, gba_log_level_t level, const char *line)
{
    (void)ctx, (void)level;
    strncat(lines, line, sizeof lines - strlen(lines) - 2);
    strcat(lines, "\n");
}

/* A process of the job, with a forked copy of itself, which has its page. places: NULL: none. */
static void child_start(uint32_t rank, const gba_where_t *place)
{
    int ready[2], number = -1;
    char byte;

    assert_int_equal(pipe(ready), 0);
    children[rank] = fork();
    if (0 == children[rank]) {
        if (0 != child_user)
            (void)!setuid(child_user);
        gba_where_join(job, rank);
        if (place != NULL)
            number = gba_where_enter(place);
        if (child_leaves != NULL)
            child_leaves(number);
        if (0 == fork())
            usleep(100000); /* a copy of the page, which is not the process's own */
        else if (1 == write(ready[1], "x", 1))
            pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
}

static void children_end(void)
{
    for (int i = 0; i < 4; i++)
        if (children[i] > 0) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
            children[i] = 0;
        }
}

static void name_rank(void *ctx, uint32_t member, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "rank %u on h", member);
}

/* Rank 3 is of another job. */
static uint32_t process_of(void *ctx, uint32_t member)
{
    (void)ctx;
    return 3 == member ? UINT32_MAX : member;
}

static void name_work(void *ctx, gba_where_t *place)
{
    ++*(unsigned *)ctx;
    place->id = 9;
    place->kind = GBA_WHERE_BARRIER;
    snprintf(place->name, sizeof place->name, "work");
}

static gba_arrived_t all_arrived(void *ctx, uint32_t member)
{
    (void)ctx, (void)member;
    return GBA_ARRIVED_YES;
}

static gba_arrived_t all_but_last(void *ctx, uint32_t member)
{
    (void)ctx;
    return 3 == member ? GBA_ARRIVED_NO : GBA_ARRIVED_YES;
}

static gba_status_t count_one(void *ctx, const gba_where_process_t *process)
{
    (void)process;
    ++*(unsigned *)ctx;
    return GBA_INPROGRESS;
}

/* Rank 0 waits in barrier 7 of work, as rank 3 does; rank 1 in another one; rank 2 in none. */
TEST(test_report)
{
    const uint64_t now = gba_clock_ns();
    gba_where_t place = {
        .id = 9, .number = 7, .since = now, .kind = GBA_WHERE_BARRIER, .name = "work"};
    const gba_stall_view_t view = {.name = "work",
                                   .path = "fallback",
                                   .of = "members",
                                   .size = 5,
                                   .name_member = name_rank,
                                   .job = job};
    gba_stall_t stall;
    gba_stall_seen_t seen;
    char expected[512];
    unsigned count = 0, named = 0;

    snprintf(job, sizeof job, "test-%d", (int)getpid());
    lines[0] = '\0';
    child_start(3, &place);
    place.id = 10;
    place.number = 8;
    snprintf(place.name, sizeof place.name, "other\033[2J");
    child_start(1, &place);
    child_start(2, NULL);
    assert_int_equal(gba_where_read(job, count_one, &count), GBA_INPROGRESS);
    assert_int_equal(count, 3);
    gba_stall_begin(&stall, 7, 2 * SECOND, 0, now);
    assert_false(gba_stall_look(&stall, now + SECOND / 20, name_work, &named));
    assert_int_equal(named, 0); /* not long yet */
    for (int i = 0; i < 2; i++)
        assert_false(gba_stall_look(&stall, now + SECOND, name_work, &named));
    assert_int_equal(named, 1); /* once, also without a page */
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.arrived, 2);
    assert_int_equal(seen.unknown, 1); /* rank 4 has no process here */
    assert_int_equal(seen.missing, 2);
    assert_int_equal(seen.first, 0);
    gba_log_set(keep, NULL, GBA_LOG_WARN);
    gba_stall_report(&stall, &view, &seen, "", now + 2 * SECOND);
    gba_stall_end(&stall, "work", true, now + 5 * SECOND);
    gba_stall_end(&stall, "work", true, now + 5 * SECOND); /* says it once */
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    snprintf(expected, sizeof expected,
             "work: barrier 7 (fallback) stalled for 2 s: 2 of 5 members have arrived (1 not "
             "visible to this process); missing: rank 1 on h, rank 2 on h\n"
             "work: rank 1 on h (pid %d): waits in barrier 8 of other?[2J for 0 s\n"
             "work: rank 2 on h (pid %d): waits in no barrier\n"
             "work: barrier 7 has ended after 5 s\n",
             (int)children[1], (int)children[2]);
    assert_string_equal(lines, expected);
    children_end();
}

/* A member in a later barrier has arrived; one of another job, or of another user who names this
 * job, is not seen. */
TEST(test_arrived)
{
    gba_where_t place = {.id = 9, .number = 9, .kind = GBA_WHERE_BARRIER, .name = "work"};
    const gba_stall_view_t view = {
        .size = 4, .name_member = name_rank, .job = job, .process = process_of};
    gba_stall_t stall;
    gba_stall_seen_t seen;
    const bool root = 0 == getuid();

    snprintf(job, sizeof job, "arrived-%d", (int)getpid());
    child_start(1, &place);
    child_user = root ? 65534 : 0; /* without root: this one's */
    child_start(2, &place);
    child_user = 0;
    gba_stall_begin(&stall, 7, 0, 0, gba_clock_ns());
    stall.place.id = 9;
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.arrived, root ? 2 : 3);
    assert_int_equal(seen.unknown, root ? 2 : 1);
    children_end();
}

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

/* The member that has waited longest reports, unless its process does not look any more. */
TEST(test_reporter)
{
    const uint64_t now = gba_clock_ns();
    gba_where_t place = {.id = 9, .number = 7, .since = now - 1, .kind = GBA_WHERE_BARRIER};
    gba_stall_view_t view = {.size = 3, .rank = 1, .name_member = name_rank, .job = job};
    gba_stall_t stall;
    gba_stall_seen_t seen;

    snprintf(job, sizeof job, "reporter-%d", (int)getpid());
    child_start(2, &place);
    place.since = now + 1;
    child_start(0, &place);
    gba_stall_begin(&stall, 7, 0, 0, now);
    stall.place.id = 9;
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.arrived, 3);
    assert_int_equal(seen.first, 2);
    view.arrived = all_arrived; /* the members see the same, but for the pages of other hosts */
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.first, 0);
    usleep(2100000); /* as if they were stopped */
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.first, 1);
    view.arrived = NULL;
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.arrived, 3);
    assert_int_equal(seen.first, 1);
    children_end();
}

/* The lowest member reports, and is on another host: the lowest on the host of the missing one says
 * where that is. */
TEST(test_hosts)
{
    const uint64_t now = gba_clock_ns();
    const gba_where_t place = {.id = 9, .number = 7, .since = now, .kind = GBA_WHERE_BARRIER};
    gba_stall_view_t view = {.name = "work",
                             .size = 4,
                             .rank = 1,
                             .arrived = all_but_last,
                             .name_member = name_rank,
                             .job = job};
    gba_stall_t stall;
    gba_stall_seen_t seen;
    char expected[128];

    snprintf(job, sizeof job, "hosts-%d", (int)getpid());
    lines[0] = '\0';
    child_start(2, &place);
    child_start(3, NULL);
    gba_stall_begin(&stall, 7, 0, 0, now);
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.first, 0);
    assert_int_equal(seen.local, 1);
    gba_log_set(keep, NULL, GBA_LOG_WARN);
    gba_stall_places(&stall, &view);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    snprintf(expected, sizeof expected, "work: rank 3 on h (pid %d): waits in no barrier\n",
             (int)children[3]);
    assert_string_equal(lines, expected);
    child_start(0, &place);
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.first, 1); /* rank 0 has begun the barrier, and computes */
    assert_int_equal(seen.local, 1);
    stall.place.id = 9;
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.first, 0);
    assert_int_equal(seen.local, 0);
    children_end();
}

/* A member that has begun a nonblocking barrier, and computes, is missing: the barrier needs it. */
TEST(test_computes)
{
    const uint64_t now = gba_clock_ns();
    const gba_where_t place = {.id = 9, .number = 7, .since = now, .kind = GBA_WHERE_NONBLOCKING};
    const gba_stall_view_t view = {.size = 2, .name_member = name_rank, .job = job};
    char expected[256];
    gba_stall_t stall;
    gba_stall_seen_t seen;

    snprintf(job, sizeof job, "computes-%d", (int)getpid());
    lines[0] = '\0';
    child_start(1, &place);
    gba_stall_begin(&stall, 7, 0, 0, now);
    stall.place.id = 9;
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.arrived, 2);
    usleep(2100000);
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.missing, 1);
    gba_log_set(keep, NULL, GBA_LOG_WARN);
    gba_stall_report(&stall, &view, &seen, "", now + 2 * SECOND);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    snprintf(expected, sizeof expected,
             "rank 1 on h (pid %d): has begun nonblocking barrier 7 of  2 s ago, without progress "
             "for 2 s\n",
             (int)children[1]);
    assert_non_null(strstr(lines, expected));
    children_end();
}

/* The members that are missing from three barriers, before and after one has left the agreement.
 * The lines for the last one are kept. */
static void agreement_see(uint32_t missing[6])
{
    static const struct {
        uint64_t number;
        gba_where_kind_t kind;
    } stalled[] = {{6, GBA_WHERE_BARRIER}, {7, GBA_WHERE_AGREEMENT}, {7, GBA_WHERE_BARRIER}};
    const uint64_t now = gba_clock_ns();
    const gba_where_t place = {
        .id = 9, .number = 7, .since = now, .kind = GBA_WHERE_AGREEMENT, .name = "work"};
    const gba_stall_view_t view = {.name = "work", .size = 4, .name_member = name_rank, .job = job};
    gba_stall_t stall;
    gba_stall_seen_t seen;

    lines[0] = '\0';
    child_start(1, &place);
    child_leaves = gba_where_give_up;
    child_start(2, &place);
    for (unsigned i = 0; i < 6; i++) {
        child_leaves = gba_where_leave;
        if (3 == i)
            child_start(3, &place);
        gba_stall_begin(&stall, stalled[i % 3].number, 0, 0, now);
        stall.place.id = 9;
        stall.place.kind = stalled[i % 3].kind;
        gba_stall_see(&stall, &view, &seen);
        missing[i] = seen.missing;
    }
    child_leaves = NULL;
    gba_log_set(keep, NULL, GBA_LOG_WARN);
    gba_stall_places(&stall, &view);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
}

/* A member that waits in the agreement before this barrier has not arrived, but in the agreement
 * and in earlier barriers. One that has left the agreement shows that all have come to it. Once
 * more, if the machine was so slow that the member counts as one that does not look. */
TEST(test_agreement)
{
    uint32_t missing[6];
    char expected[512];
    uint64_t began;

    snprintf(job, sizeof job, "agreement-%d", (int)getpid());
    do {
        children_end();
        began = gba_clock_ns();
        agreement_see(missing);
    } while (gba_clock_ns() - began > SECOND);
    assert_memory_equal(missing, ((const uint32_t[]){1, 1, 2, 0, 0, 3}), sizeof missing);
    snprintf(expected, sizeof expected,
             "work: rank 1 on h (pid %d): waits in barrier 7 of work for 0 s\n"
             "work: rank 2 on h (pid %d): waits in no barrier\n"
             "work: rank 3 on h (pid %d): waits in no barrier; it has waited last before barrier 7 "
             "of work, until 0 s ago\n",
             (int)children[1], (int)children[2], (int)children[3]);
    assert_string_equal(lines, expected);
    children_end();
}

/* Where a member has left the barrier, all have arrived: also those that have left it before it was
 * long, and compute. What is named is the process that does not look. */
TEST(test_left)
{
    const uint64_t now = gba_clock_ns();
    gba_where_t place = {
        .id = 9, .number = 7, .since = now - 1, .kind = GBA_WHERE_NONBLOCKING, .name = "work"};
    const gba_stall_view_t view = {.name = "work",
                                   .path = "fallback",
                                   .of = "members",
                                   .size = 5,
                                   .name_member = name_rank,
                                   .job = job};
    char expected[256];
    gba_stall_t stall;
    gba_stall_seen_t seen;

    snprintf(job, sizeof job, "left-%d", (int)getpid());
    lines[0] = '\0';
    child_start(2, NULL);
    gba_stall_begin(&stall, 7, 0, 0, now);
    stall.place.id = 9;
    child_leaves = gba_where_leave;
    child_start(3, &place); /* that may have been an agreement only */
    child_leaves = NULL;
    place.kind = GBA_WHERE_BARRIER;
    child_start(1, &place);
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.missing, 1);
    assert_int_equal(seen.unknown, 1); /* rank 4 has no process here */
    kill(children[3], SIGKILL);
    waitpid(children[3], NULL, 0);
    child_leaves = gba_where_leave;
    child_start(3, &place);
    child_leaves = NULL;
    usleep(2100000); /* as if rank 1 was stopped */
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.arrived, 5);
    assert_int_equal(seen.missing, 0);
    assert_int_equal(seen.first, 0);
    gba_log_set(keep, NULL, GBA_LOG_WARN);
    gba_stall_places(&stall, &view);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    snprintf(expected, sizeof expected, "rank 1 on h (pid %d): waits in barrier 7 of work for ",
             (int)children[1]);
    assert_non_null(strstr(lines, expected));
    assert_non_null(strstr(lines, ", without progress for "));
    lines[0] = '\0';
    gba_log_set(keep, NULL, GBA_LOG_WARN);
    stall.due = now + 4 * SECOND;
    for (unsigned i = 0; i < 9; i++) {
        gba_stall_watch(&stall, &view, NULL, now + i * SECOND);
        assert_int_equal(stall.reported, i >= 5); /* it may just end at 4 s */
    }
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    assert_non_null(strstr(lines, "5 of 5 members have arrived; no member that this process sees"));
    children_end();
}

/* The time in which the process does not look is no waiting. */
TEST(test_away)
{
    gba_stall_t stall;

    gba_stall_begin(&stall, 1, 4 * SECOND, 6 * SECOND, SECOND);
    assert_false(gba_stall_look(&stall, 2 * SECOND, NULL, NULL));
    assert_false(gba_stall_look(&stall, 100 * SECOND, NULL, NULL)); /* it was stopped */
    stall.reported = true;
    assert_false(gba_stall_ends(&stall, 100 * SECOND));
    assert_false(gba_stall_look(&stall, 102 * SECOND, NULL, NULL));
    assert_true(gba_stall_look(&stall, 103 * SECOND, NULL, NULL));
    assert_true(gba_stall_ends(&stall, 105 * SECOND));
}

/* A report at doubling times, and the end of the job after a last one. */
TEST(test_times)
{
    gba_stall_t stall;
    char reports[64] = "";

    gba_stall_begin(&stall, 1, 2 * SECOND, 20 * SECOND, SECOND);
    for (uint64_t s = 1; s <= 21; s++)
        if (gba_stall_look(&stall, s * SECOND, NULL, NULL))
            snprintf(reports + strlen(reports), 8, "%u ", (unsigned)s - 1);
    assert_string_equal(reports, "2 4 8 16 20 ");
    assert_false(gba_stall_ends(&stall, 21 * SECOND)); /* another member has reported it */
    assert_true(gba_stall_ends(&stall, 26 * SECOND));
    stall.reported = true;
    assert_false(gba_stall_ends(&stall, 20 * SECOND));
    assert_true(gba_stall_ends(&stall, 21 * SECOND));
    gba_stall_begin(&stall, 1, 0, 0, SECOND);
    assert_false(gba_stall_look(&stall, UINT64_MAX / 2, NULL, NULL));
    assert_false(gba_stall_ends(&stall, UINT64_MAX / 2));
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
