/* SPDX-License-Identifier: BSD-3-Clause */
/* The one reporter of stalled barriers: its words and times. */
#include "tests/limit.h"
#include "tests/unit/base/where_children.h"
#include "tests/unit/log_catch.h"

#define SECOND UINT64_C(1000000000)

static char lines[4096];

static void keep(void *ctx, gba_log_level_t level, const char *line)
{
    (void)ctx, (void)level;
    strncat(lines, line, sizeof lines - strlen(lines) - 2);
    strcat(lines, "\n");
}

/* The lines for the places of a stall. */
static void places_keep(const gba_stall_t *stall, const gba_stall_view_t *view)
{
    lines[0] = '\0';
    gba_log_set(keep, NULL, GBA_LOG_WARN);
    gba_stall_places(stall, view);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
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
    child_start(2, &place);
    child_start(3, NULL);
    gba_stall_begin(&stall, 7, 0, 0, now);
    gba_stall_see(&stall, &view, &seen);
    assert_int_equal(seen.first, 0);
    assert_int_equal(seen.local, 1);
    places_keep(&stall, &view);
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
    places_keep(&stall, &view);
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
    places_keep(&stall, &view);
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
    assert_non_null(strstr(lines, "5 of 5 members have arrived; no member that this process sees"));
    /* The last report precedes the end of the job. */
    lines[0] = '\0';
    stall.due = stall.end = now + 9 * SECOND;
    gba_stall_watch(&stall, &view, NULL, now + 9 * SECOND);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    assert_non_null(strstr(lines, "5 of 5 members have arrived"));
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

TEST_MAIN(alarm(test_limit(60)))
