/* SPDX-License-Identifier: BSD-3-Clause */
/* Members with devices at several switches: all members of a team use one switch if one serves all;
 * else they have switch domains or software, with the reason. */
#include "gba/dev/member.h"
#include "gba/spec/gba_regs.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/team/team_harness.h"

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

#define ANY       UINT32_MAX /* groups of several switches */
#define NONE      (ANY - 1)  /* software */
#define OTHER     "this member and the leader use different devices"
#define FULL      "not at sim (no barrier group is free)"
#define OF_ALL    "of 32, 6 members"
#define OF_3      "among the leaders of 3 hosts, 6 members"
#define DOMAINS_2 "dissemination (v1) among 2 switch domains"

/* The devices that the 6 members have chosen, and the switches that each of them reaches, a digit
 * for each member; the switch that completes the rounds. */
static const struct steered {
    const char *chosen, *reaches, *expected;
    uint32_t at, hosts; /* hosts: 0: one */
    bool leaders;       /* hierarchy=node */
    unsigned taken;     /* others have all groups of switch taken - 1 */
    uint32_t no_device; /* this member cannot open its device; 0: none */
} rows[] = {
    /* To the switch of rank 0. */
    {"012012", "777777", OF_ALL, .at = 0},
    {"120120", "777777", OF_ALL, .at = 1},
    {"201201", "777777", OF_ALL, .at = 2},
    {"120120", "777777", OF_3, .at = 1, .hosts = 3, .leaders = true},
    /* Member 2 is not at switch 0, which rank 0 proposes; of the others only switch 2 has all. */
    {"001020", "776757", OF_ALL, .at = 2},
    /* A member with one device, which does not know that others have several. */
    {"012112", "777077", OF_ALL, .at = 1},
    {"012012", "777077", OF_ALL, .at = 0},
    /* The chosen device cannot be opened, but another one can. */
    {"111111", "333333", OF_ALL, .at = 1, .no_device = 4},
    /* None serves all. Leaders that reach rank 0's switch use that, though they chose another. */
    {"001000", "332313", "no device: " OTHER " (member 2)", .at = NONE},
    {"011101", "332313", "groups among the leaders of 3 hosts, " DOMAINS_2, .at = ANY, .hosts = 3},
    /* Rank 0 proposes groups of the leaders at a switch that the other hosts do not reach. */
    {"022022", "366366", OF_3, .at = 1, .hosts = 3, .leaders = true},
    {"022022", "344344", DOMAINS_2, .at = ANY, .hosts = 3, .leaders = true},
    /* A switch without free groups: the only one for all; the first one; also of leaders. */
    {"000001", "333332", "no device: no barrier group is free (member 0)", .at = NONE, .taken = 2},
    {"000000", "777777", OF_ALL "; " FULL, .at = 1, .taken = 1},
    {"000000", "777757", FULL ", sim (" OTHER ", member 4)", .at = 2, .taken = 1},
    {"000000", "777777", OF_3 "; " FULL, .at = 1, .hosts = 3, .leaders = true, .taken = 1},
    {"000000", "777757", OF_3 "; " FULL ", sim (" OTHER ", member 4)", .at = 2, .hosts = 3,
     .leaders = true, .taken = 1},
};

TEST(test_switches)
{
    for (const struct steered *row = rows; row < rows + sizeof rows / sizeof rows[0]; row++) {
        struct harness *w = switches();

        print_message("%s %s\n", row->chosen, row->reaches);
        w->params.hierarchy = row->leaders ? GBA_HIERARCHY_NODE : GBA_HIERARCHY_AUTO;
        harness_hosts(w, SIZE, 0 == row->hosts ? 1 : row->hosts, 0);
        for (uint32_t r = 0; r < SIZE; r++)
            has(w, r, (uint32_t)(row->chosen[r] - '0'), (unsigned)(row->reaches[r] - '0'));
        if (0 != row->no_device)
            w->no_device = row->no_device;
        if (0 != row->taken)
            others_take(w, w->switches[row->taken - 1]);
        w->expected = row->expected;
        if (row->at < HARNESS_DEVICES)
            run_at(w, SIZE, row->at);
        else
            harness_run(w, SIZE, NONE == row->at ? GBA_PATH_SOFTWARE : GBA_PATH_SIM);
        others_free(w);
        harness_end(w);
    }
}

/* All members have devices at all switches, and choose the first one. */
static struct harness *full_choice(void)
{
    struct harness *w = switches();

    for (uint32_t r = 0; r < SIZE; r++)
        has(w, r, 0, 7);
    return w;
}

HARNESS_TEST(test_first_refuses, full_choice())
{
    static const gba_status_t reasons[] = {GBA_ERR_NO_GROUP, GBA_ERR_QUOTA, GBA_ERR_LIMIT,
                                           GBA_ERR_DEAD,     GBA_ERR_NOMEM, GBA_ERR_IO};
    static char text[200];

    w->expected = text;
    for (unsigned i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        harness_fail(w, w->switches[0], HARNESS_ALLOC, NOBODY, reasons[i]);
        snprintf(text, sizeof text, "6 members; not at sim (%s)", gba_status_text(reasons[i]));
        run_at(w, SIZE, 1);
    }
}

/* The first switch gives a group, but a member cannot use it. */
HARNESS_TEST(test_first_fails_later, full_choice())
{
    static const enum harness_call calls[] = {HARNESS_JOIN, HARNESS_MAP, HARNESS_CONFIGURE};

    for (unsigned i = 0; i < 3; i++)
        for (uint32_t member = 0; member < (HARNESS_CONFIGURE == calls[i] ? 1 : SIZE); member++) {
            static char text[200];

            harness_fail(w, w->switches[0], calls[i], member, GBA_ERR_REFUSED);
            snprintf(text, sizeof text, "6 members; not at sim (%s, member %u)",
                     gba_status_text(GBA_ERR_REFUSED), member);
            w->expected = text;
            run_at(w, SIZE, 1);
        }
}

/* No switch has a group. Of the reasons, one that passes is taken, so that the members request a
 * group again. */
HARNESS_TEST(test_all_full, full_choice())
{
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
}

/* Each member has two ports at one switch, and the chosen port is dead: the other one serves. Two
 * simulators stand for the ports. */
HARNESS_TEST(test_other_port, full_choice())
{
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
}

/* The first switch dies. After some barriers in software the team takes a group of the second one.
 * When all have died, it stays in software. */
HARNESS_TEST(test_first_dies, full_choice())
{
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
}

/* Any devices of any members: a device if one switch serves all, else software. */
HARNESS_TEST(test_random, switches())
{
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
