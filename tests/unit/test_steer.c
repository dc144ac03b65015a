/* SPDX-License-Identifier: BSD-3-Clause */
/* Members with devices at several switches: all members of a team use one switch if one serves all;
 * else they have switch domains or software, with the reason. */
#include "gba/dev/member.h"
#include "gba/spec/gba_regs.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/team_harness.h"

#define SIZE 6u

/* The rounds that a device has completed. */
static uint64_t rounds_of(gba_device_t *device)
{
    gba_device_info_t info;

    assert_int_equal(gba_device_query(device, &info), GBA_OK);
    return info.counters[GBA_COUNTER_ROUNDS];
}

static struct harness *switches(void)
{
    struct harness *w = harness_of_domains("sim", "sim", "sim");

    w->rounds = 10;
    return w;
}

/* The member has chosen that device, and has devices at these switches. */
static void has(struct harness *w, uint32_t member, uint32_t device, unsigned reaches)
{
    w->devices[member] = w->switches[device];
    w->reaches[member] = reaches;
}

/* Run, and check that exactly the rounds of the team were completed by that switch. */
static void run_at(struct harness *w, uint32_t size, uint32_t at)
{
    uint64_t before[HARNESS_DEVICES];

    for (uint32_t d = 0; d < HARNESS_DEVICES; d++)
        before[d] = rounds_of(w->switches[d]);
    harness_run(w, size, GBA_PATH_SIM);
    for (uint32_t d = 0; d < HARNESS_DEVICES; d++)
        assert_int_equal(rounds_of(w->switches[d]) - before[d], d == at ? w->rounds : 0);
}

TEST(test_to_rank_0)
{
    struct harness *w = switches();

    w->expected = "of 32, 6 members";
    for (uint32_t first = 0; first < 3; first++) {
        for (uint32_t r = 0; r < SIZE; r++)
            has(w, r, (first + r) % 3, 7);
        run_at(w, SIZE, first);
    }
    harness_end(w);
}

TEST(test_to_another_switch)
{
    struct harness *w = switches();

    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, 0, 7);
    has(w, 2, 1, 6); /* not at switch 0, which rank 0 proposes; of 1 and 2 ... */
    has(w, 4, 2, 5); /* ... this one has only 2 */
    w->expected = "of 32, 6 members";
    run_at(w, SIZE, 2);
    harness_end(w);
}

/* A member with one device, which does not know that others have several. */
TEST(test_single_device)
{
    struct harness *w = switches();

    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, r % 3, 7);
    has(w, 3, 1, 0);
    run_at(w, SIZE, 1);
    has(w, 3, 0, 0);
    run_at(w, SIZE, 0);
    harness_end(w);
}

/* The chosen device cannot be opened, but another one can. */
TEST(test_without_chosen)
{
    struct harness *w = switches();

    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, 1, 3);
    w->no_device = 4;
    run_at(w, SIZE, 1);
    harness_end(w);
}

TEST(test_none_serves_all)
{
    struct harness *w = switches();
    char reason[128];

    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, 0, 3);
    has(w, 2, 1, 2);
    has(w, 4, 0, 1);
    snprintf(reason, sizeof reason, "no device: %s (member 2)",
             gba_status_text(GBA_ERR_OTHER_DEVICE));
    w->expected = reason;
    harness_run(w, SIZE, GBA_PATH_SOFTWARE); /* one host */
    /* Three hosts: leaders that can reach rank 0's switch use that, though they chose another. */
    harness_hosts(w, SIZE, 3, 0);
    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, 0 == r ? 0 : 1, 2 == r ? 2 : 3);
    w->reaches[4] = 1;
    w->devices[4] = w->switches[0];
    w->expected = "groups among the leaders of 3 hosts, dissemination (v1) among 2 switch domains";
    harness_run(w, SIZE, GBA_PATH_SIM);
    harness_end(w);
}

TEST(test_leaders)
{
    struct harness *w = switches();

    w->params.hierarchy = GBA_HIERARCHY_NODE;
    harness_hosts(w, SIZE, 3, 0);
    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, (r + 1) % 3, 7);
    w->expected = "among the leaders of 3 hosts";
    run_at(w, SIZE, 1);
    harness_end(w);
}

/* Rank 0 proposes groups of the leaders at a switch that the other hosts do not reach. */
TEST(test_leaders_to_another_switch)
{
    struct harness *w = switches();

    w->params.hierarchy = GBA_HIERARCHY_NODE;
    harness_hosts(w, SIZE, 3, 0);
    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, w->host[r] == w->host[0] ? 0 : 2, w->host[r] == w->host[0] ? 3 : 6);
    w->expected = "of 32 among the leaders of 3 hosts";
    run_at(w, SIZE, 1);
    /* No switch serves all: rank 0 cannot reach that of the others. */
    for (uint32_t r = 0; r < SIZE; r++)
        w->reaches[r] = w->host[r] == w->host[0] ? 3 : 4;
    w->expected = "dissemination (v1) among 2 switch domains";
    harness_run(w, SIZE, GBA_PATH_SIM);
    harness_end(w);
}

TEST(test_other_switch_is_full)
{
    struct harness *w = harness_of_domains("sim", "sim?full=1", "sim");
    char reason[128];

    w->rounds = 10;
    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, 0, 3);
    has(w, 5, 1, 2);
    snprintf(reason, sizeof reason, "no device: %s (member 0)", gba_status_text(GBA_ERR_NO_GROUP));
    w->expected = reason;
    harness_run(w, SIZE, GBA_PATH_SOFTWARE);
    harness_end(w);
}

/* All members have devices at all switches, and choose the first one. */
static struct harness *full_choice(void)
{
    struct harness *w = switches();

    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, 0, 7);
    return w;
}

TEST(test_first_is_full)
{
    struct harness *w = full_choice();

    others_take(w, w->switches[0]);
    w->expected = "of 32, 6 members; not at sim (no barrier group is free)";
    run_at(w, SIZE, 1);
    harness_end(w);
}

/* The device of rank 0 has no group, and that of its second choice does not serve all. */
TEST(test_second_serves_not_all)
{
    struct harness *w = full_choice();

    others_take(w, w->switches[0]);
    has(w, 4, 0, 5);
    w->expected = "not at sim (no barrier group is free), sim (this member and the leader use "
                  "different devices, member 4)";
    run_at(w, SIZE, 2);
    harness_end(w);
}

TEST(test_first_refuses)
{
    static const gba_status_t reasons[] = {GBA_ERR_NO_GROUP, GBA_ERR_QUOTA, GBA_ERR_LIMIT,
                                           GBA_ERR_DEAD,     GBA_ERR_NOMEM, GBA_ERR_IO};
    struct harness *w = full_choice();
    char text[200];

    w->expected = text;
    for (unsigned i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        harness_fail(w, w->switches[0], HARNESS_ALLOC, NOBODY, reasons[i]);
        snprintf(text, sizeof text, "6 members; not at sim (%s)", gba_status_text(reasons[i]));
        run_at(w, SIZE, 1);
    }
    harness_end(w);
}

/* The first switch gives a group, but a member cannot use it. */
TEST(test_first_fails_later)
{
    static const enum harness_call calls[] = {HARNESS_JOIN, HARNESS_MAP, HARNESS_CONFIGURE};
    struct harness *w = full_choice();

    for (unsigned i = 0; i < 3; i++)
        for (uint32_t member = 0; member < (HARNESS_CONFIGURE == calls[i] ? 1 : SIZE); member++) {
            char text[200];

            harness_fail(w, w->switches[0], calls[i], member, GBA_ERR_REFUSED);
            snprintf(text, sizeof text, "6 members; not at sim (%s, member %u)",
                     gba_status_text(GBA_ERR_REFUSED), member);
            w->expected = text;
            run_at(w, SIZE, 1);
        }
    harness_end(w);
}

/* No switch has a group. Of the reasons, one that passes is taken, so that the members request a
 * group again. */
TEST(test_all_full)
{
    struct harness *w = full_choice();

    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, 0, 3);
    w->rounds = 200;
    harness_fail(w, w->switches[0], HARNESS_ALLOC, NOBODY, GBA_ERR_DEAD);
    others_take(w, w->switches[1]);
    w->expected = "no device: no barrier group is free (member 0); not at sim (the device stopped "
                  "answering), sim (no barrier group is free)";
    harness_run(w, SIZE, GBA_PATH_SOFTWARE);
    assert_int_equal(w->reason[0], GBA_ERR_NO_GROUP);
    assert_int_equal(w->stats[0].renegotiations, 2); /* after 64 and 192 */
    /* By others_take, and two in each agreement. */
    assert_int_equal(harness_calls(w, HARNESS_ALLOC), 33 + 3 * 2);
    w->others.free_before = 100;
    w->expected = "6 members; not at sim (the device stopped answering)";
    harness_run_moving(w, SIZE, 192, 2);
    harness_end(w);
}

/* Each member has two ports at one switch, and the chosen port is dead: the other one serves. Two
 * simulators stand for the ports. */
TEST(test_other_port)
{
    struct harness *w = full_choice();

    harness_device_join(w->switches[1], w->switches[0]);
    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, 0, 3);
    harness_device_dead(w->switches[0], true);
    w->expected = "of 32, 6 members";
    for (int way = 0; way < 2; way++) {
        run_at(w, SIZE, 1);
        assert_null(strstr(w->why[0], "not at"));
        has(w, 0, 1, 3); /* another member than rank 0 has the dead port */
    }
    harness_end(w);
}

TEST(test_leaders_first_is_full)
{
    struct harness *w = full_choice();

    w->params.hierarchy = GBA_HIERARCHY_NODE;
    harness_hosts(w, SIZE, 3, 0);
    others_take(w, w->switches[0]);
    w->expected = "among the leaders of 3 hosts, 6 members; not at sim (no barrier group is free)";
    run_at(w, SIZE, 1);
    /* Rank 0 proposes the second switch, one member has none there, and the third one serves all.
     */
    has(w, 4, 0, 5);
    w->expected = "among the leaders of 3 hosts, 6 members; not at sim (no barrier group is free), "
                  "sim (this member and the leader use different devices, member 4)";
    run_at(w, SIZE, 2);
    harness_end(w);
}

/* The first switch dies. After some barriers in software the team takes a group of the second one.
 * When all have died, it stays in software. */
TEST(test_first_dies)
{
    struct harness *w = full_choice();

    for (int way = 0; way < 4; way++) {
        const bool both = 0 != (way & 1);

        w->params.hierarchy = 2 <= way ? GBA_HIERARCHY_NODE : GBA_HIERARCHY_AUTO;
        harness_hosts(w, SIZE, 2 <= way ? 3 : 1, 0);
        w->until_death = true;
        w->rounds = 100;
        w->kill.which = both ? 7 : 1;
        w->kill.from_round = 2;
        w->kill.after_us = 20000;
        w->expected = both ? "no device: the device stopped answering"
                           : "6 members; not at sim (the device stopped answering)";
        harness_run(w, SIZE, both ? GBA_PATH_SOFTWARE : GBA_PATH_SIM);
        assert_int_equal(w->stats[0].failovers, 1);
        assert_int_equal(w->stats[0].renegotiations, 1);
        for (uint32_t d = 0; d < HARNESS_DEVICES; d++)
            harness_device_dead(w->switches[d], false);
    }
    harness_end(w);
}

/* Any devices of any members: a device if one switch serves all, else software. */
TEST(test_random)
{
    struct harness *w = switches();

    srand(11);
    w->rounds = 3;
    w->expected = "";
    for (int i = 0; i < 150; i++) {
        uint32_t size = 2 + (uint32_t)rand() % 4, chosen = 0;
        unsigned common = 7;

        for (uint32_t r = 0; r < size; r++) {
            unsigned reaches = 1 + (unsigned)rand() % 7;

            common &= reaches;
            do
                chosen = (uint32_t)rand() % 3;
            while (0 == (reaches >> chosen & 1));
            has(w, r, chosen, reaches);
        }
        harness_run(w, size, 0 != common ? GBA_PATH_SIM : GBA_PATH_SOFTWARE);
    }
    harness_end(w);
}

/* To another switch (way 0, 1; 3: the leaders), or to none (2); the first switch has no group (4),
 * also not for the leaders (5), or a member cannot join it (6). */
static struct harness *make(int way)
{
    struct harness *w = switches();

    w->rounds = 2;
    for (uint32_t r = 0; r < 4; r++)
        has(w, r, 0, 7);
    if (way >= 4) {
        w->params.hierarchy = 5 == way ? GBA_HIERARCHY_NODE : GBA_HIERARCHY_AUTO;
        harness_hosts(w, 4, 5 == way ? 2 : 1, 0);
        harness_fail(w, w->switches[0], 6 == way ? HARNESS_JOIN : HARNESS_ALLOC,
                     6 == way ? 1 : NOBODY, GBA_ERR_REFUSED);
        return w;
    }
    has(w, 2, 1, 2);
    if (2 == way)
        has(w, 3, 2, 4);
    if (1 == way || 3 == way)
        harness_hosts(w, 4, 2, 0), has(w, 2, 1, 2);
    if (3 == way)
        w->params.hierarchy = GBA_HIERARCHY_NODE;
    return w;
}

TEST(test_calls_fail)
{
    for (int way = 0; way < 7; way++)
        assert_true(harness_fail_calls(make, way, 4) >= 6);
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR))
