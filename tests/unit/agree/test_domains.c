/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switch domains of nodes, each with its own barrier group: the nodes of a domain, nodes and
 * domains of every shape, and lost arrivals and releases. test_hierarchy_failures.c covers
 * refusals.
 */
#include "gba/failover/engine.h"
#include "gba/algo/domains.h"
#include "tests/unit/stall_log.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/team/team_harness.h"

#define SIZE 9u

/* ------------------------------------------------------------------- the nodes of a domain --- */

struct place {
    uint32_t host, device, members_max; /* 0: no device */
};

static const struct gba_host *host_of(const void *ctx, uint32_t rank)
{
    static struct gba_host host;

    host = (struct gba_host){{7, ((const struct place *)ctx)[rank].host, 0, 1}};
    return &host;
}

static const struct gba_port *port_of(const void *ctx, uint32_t rank)
{
    static struct gba_port
        ports[2048]; /* one object for each rank, because all are in use at the same time */
    const struct place *place = (const struct place *)ctx + rank;

    memset(&ports[rank], 0, sizeof ports[rank]);
    ports[rank].uuid[15] = (uint8_t)(200 - place->device);
    ports[rank].members_max = place->members_max;
    return &ports[rank];
}

/* The result of each member, compared with the places and with the result of rank 0. */
static void check_domains(const struct place *places, uint32_t size, uint32_t count,
                          uint32_t switches, uint32_t largest)
{
    uint32_t *memberships = calloc(size, sizeof *memberships), taken = 0;

    for (uint32_t rank = 0; rank < size; rank++) {
        struct gba_topology t;
        struct gba_domains i;
        const struct place *head;

        assert_int_equal(gba_topology_init(&t, rank, size, host_of, places), GBA_OK);
        assert_int_equal(gba_domains_init(&i, &t, port_of, places), GBA_OK);
        assert_int_equal(i.count, count);
        assert_int_equal(i.switches, switches);
        assert_int_equal(i.largest, largest);
        assert_int_equal(i.domain_leaders[0], 0);
        for (uint32_t n = 1; n < count; n++)
            assert_true(i.domain_leaders[n - 1] < i.domain_leaders[n]);
        assert_true(i.domain < count && i.place < i.size && i.size <= largest);
        assert_int_equal(i.domain_leaders[i.domain], i.leaders[0]);
        assert_int_equal(i.leaders[i.place], t.locals[0]);
        head = &places[i.leaders[0]];
        assert_true(0 == places[t.locals[0]].members_max ||
                    head->device == places[t.locals[0]].device);
        assert_true(i.size <= head->members_max);
        for (uint32_t n = 1; n < i.size; n++)
            assert_true(i.leaders[n - 1] < i.leaders[n]);
        if (t.locals[0] == rank) { /* each place of each domain has one leader */
            assert_true(memberships[i.leaders[0]] < i.size);
            taken += i.leaders[0] == rank;
            memberships[i.leaders[0]]++;
        }
        gba_domains_fini(&i);
        gba_topology_fini(&t);
    }
    assert_int_equal(taken, count);
    free(memberships);
}

TEST(test_nodes_of_a_domain)
{
    static struct place many[1417];

    check_domains((const struct place[]){{0, 0, 9}}, 1, 1, 1, 1);
    check_domains((const struct place[]){{0, 0, 9}, {0, 1, 9}}, 2, 1, 1, 1); /* of the leader */
    check_domains((const struct place[]){{0, 0, 9}, {1, 1, 9}}, 2, 2, 2, 1);
    check_domains((const struct place[]){{0, 0, 9}, {1, 1, 9}, {2, 0, 9}, {1, 1, 9}}, 4, 2, 2, 2);
    check_domains((const struct place[]){{0, 0, 9}, {1, 5, 0}, {2, 2, 9}}, 3, 2, 2, 2);
    check_domains((const struct place[]){{0, 0, 4}, {1, 0, 4}, {2, 0, 4}, {3, 0, 4}, {4, 0, 4}}, 5,
                  2, 1, 3);
    check_domains((const struct place[]){{0, 0, 2}, {1, 1, 2}, {2, 1, 2}, {3, 1, 1}}, 4, 4, 2, 1);
    for (uint32_t n = 0; n < 1417; n++)
        many[n] = (struct place){n, 0, 708};
    check_domains(many, 708, 1, 1, 708);
    check_domains(many, 709, 2, 1, 355);
    check_domains(many, 1416, 2, 1, 708);
    check_domains(many, 1417, 3, 1, 473);
    for (uint32_t n = 0; n < 1417; n++)
        many[n] = (struct place){n / 2, n / 2 % 3, 100};
    check_domains(many, 1417, 9, 3, 79);
}

/* ------------------------------------------------------------------------------- shapes --- */

/* The expected path, from the number of hosts and of their devices. */
static gba_path_t expect(struct harness *w, uint32_t size, char *text, size_t len)
{
    uint32_t nodes = 0, domains = 0, largest = 0, on[HARNESS_DEVICES] = {0}, seen = 0;
    bool node = GBA_HIERARCHY_NODE == w->params.hierarchy;

    for (uint32_t r = 0; r < size; r++) {
        if (0 != (seen >> w->host[r] & 1))
            continue;
        seen |= 1u << w->host[r];
        nodes++;
        for (uint32_t d = 0; d < HARNESS_DEVICES; d++)
            if (w->devices[r] == w->switches[d]) {
                domains += 0 == on[d]++;
                largest = on[d] > largest ? on[d] : largest;
            }
    }
    w->expected = text;
    if (1 == domains && node)
        snprintf(text, len, "sim: group 0 of 32 among the leaders of %u host%s, %u member%s", nodes,
                 1 == nodes ? "" : "s", size, 1 == size ? "" : "s");
    else if (1 == domains)
        snprintf(text, len, "sim: group 0 of 32, %u member%s", size, 1 == size ? "" : "s");
    else if (1 == largest)
        snprintf(text, len, "no device: %s (member ", gba_status_text(GBA_ERR_OTHER_DEVICE));
    else
        snprintf(text, len,
                 "sim: groups among the leaders of %u hosts, dissemination (v1) among %u switch "
                 "domains, %u members",
                 nodes, domains, size);
    return domains > 1 && 1 == largest ? GBA_PATH_SOFTWARE : GBA_PATH_SIM;
}

HARNESS_TEST(test_any_shape, harness_of_domains("sim", "sim", "sim"))
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 31};
    static char text[128];

    w->rounds = 12;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint32_t hosts = 1; hosts <= 7 && hosts <= sizes[i]; hosts++)
            for (uint32_t used = 1; used <= HARNESS_DEVICES; used++)
                for (int layout = 0; layout < 4; layout++) {
                    w->params.hierarchy = layout % 2 ? GBA_HIERARCHY_AUTO : GBA_HIERARCHY_NODE;
                    harness_place(w, sizes[i], hosts, used, layout);
                    harness_run(w, sizes[i], expect(w, sizes[i], text, sizeof text));
                }
}

/* One switch, and more nodes than its groups can have members. */
HARNESS_TEST(test_more_nodes_than_a_group_can_have, harness_of_domains("sim", "sim", "sim"))
{
    for (uint32_t most = 2; most <= 4; most++)
        for (uint32_t hosts = most + 1; hosts <= 8; hosts++) {
            static char text[96];

            w->switches[0]->members_max = most;
            harness_place(w, 11, hosts, 1, 0);
            snprintf(text, sizeof text,
                     "sim: groups among the leaders of %u hosts, dissemination (v1) among %u",
                     hosts, (hosts + most - 1) / most);
            w->expected = text;
            harness_run(w, 11, GBA_PATH_SIM);
        }
    w->switches[0]->members_max = 1; /* no switch is shared */
    w->expected = "; no device: 11 members; a group has at most 1";
    harness_run(w, 11, GBA_PATH_SOFTWARE);
}

/* The sequences of barriers and of rounds pass 2^32 during the test, and so does that of v2. */
TEST(test_many_rounds)
{
    for (int layout = 0; layout < 4; layout++) {
        struct harness *w = harness_of_domains("sim", "sim", "sim");

        w->rounds = 10000;
        w->params.sw_algorithm = layout % 2 ? GBA_ALGORITHM_V2 : GBA_ALGORITHM_AUTO;
        w->params.first_sequence = UINT32_MAX - 7000;
        harness_place(w, 6, 4 + (uint32_t)layout % 2, 2 + (uint32_t)layout / 2, 3);
        harness_run(w, 6, GBA_PATH_SIM);
        harness_end(w);
    }
}

/* --------------------------------------------------------------------------- the rounds --- */

TEST(test_lost_and_resent)
{
    static const char *const paths[] = {"sim?lose_arrival=7", "sim?lose_release=5",
                                        "sim?lose_arrival=5&lose_release=3&latency=100000"};

    for (size_t i = 0; i < 3; i++)
        for (int wait = GBA_WAIT_YIELD; wait <= GBA_WAIT_SLEEP; wait++) {
            struct harness *w = harness_of_domains(paths[i], paths[i], paths[i]);

            w->params.wait = wait;
            w->rounds = 60;
            harness_place(w, SIZE, 5, 2, 0);
            harness_run(w, SIZE, GBA_PATH_SIM);
            assert_true(harness_retries(w, SIZE, 5) > 0);
            harness_end(w);
        }
}

/* Waits of 6 x 150 ms, of which each member sleeps in five, at least. */
HARNESS_TEST(test_sleeping, harness_of_domains("sim", "sim", "sim"))
{
    w->params.wait = GBA_WAIT_SLEEP;
    w->rounds = 6;
    w->late_ms = 150;
    harness_place(w, 6, 4, 2, 0);
    harness_run(w, 6, GBA_PATH_SIM);
    for (uint32_t r = 0; r < 6; r++)
        assert_true(w->cpu[r] < 0.09);
}

/* ------------------------------------------------------------------ the missing members --- */

#define SEEN_1_OF_5 \
    "1 of 5 members have arrived (3 not visible to this process); missing: member 1\n"
#define SEEN_1_OF_7 \
    "1 of 7 members have arrived (5 not visible to this process); missing: member 1\n"
#define ON_HOST(m)   "missing: member " #m " or another process on its host\n"
#define IN_DOMAIN(m) "missing: member " #m " or another process in its switch domain\n"

/* Rank 1 is late in a round. Its node reports rank 1, the other leaders of its group report its
 * node, and the other domain leaders report its domain. */
static const struct {
    const char *hosts; /* of each member; of 7 members each second host has another switch */
    bool blind;        /* the registers cannot be read */
    const char *lines[3];
} late[] = {
    /* A group of leaders: rank 1 is no leader, a leader, alone on its host; one host; a node
       with flags; a leader that sees only its own node. */
    {"00112", false, {SEEN_1_OF_5, ON_HOST(0)}},
    {"01012", false, {SEEN_1_OF_5, ON_HOST(1)}},
    {"01000", false, {"4 of 5 members have arrived; " ON_HOST(1)}},
    {"00000", false, {"4 of 5 members have arrived; missing: member 1\n"}},
    {"000000000000", false, {"11 of 12 members have arrived; missing: member 1\n"}},
    {"01000", true, {"4 of 5 members have arrived (1 not visible to this process)\n"}},
    /* Two domains: rank 1 is no leader; a domain leader, and rank 3 is on its host; alone on its
       host, and the leader of two nodes; alone in its domain. */
    {"0011223", false, {SEEN_1_OF_7, ON_HOST(0), IN_DOMAIN(0)}},
    {"0101233", false, {SEEN_1_OF_7, ON_HOST(1), IN_DOMAIN(1)}},
    {"0102323", false, {ON_HOST(1), IN_DOMAIN(1)}},
    {"0102244", false, {IN_DOMAIN(1)}},
};

TEST(test_missing_members)
{
    for (size_t i = 0; i < sizeof late / sizeof late[0]; i++) {
        const uint32_t size = (uint32_t)strlen(late[i].hosts);
        const bool domains = 7 == size;
        struct harness *w =
            domains ? harness_of_domains("sim", "sim", "sim") : harness_of_leaders("sim");
        unsigned lines = 0;

        for (uint32_t r = 0; r < size; r++) {
            w->host[r] = (uint32_t)(late[i].hosts[r] - '0');
            if (domains)
                w->devices[r] = w->switches[w->host[r] % 2];
        }
        while (lines < 3 && late[i].lines[lines] != NULL)
            lines++;
        w->params.stuck_after = 1;
        w->late_until = stall_log_complete;
        harness_fail(w, w->device, HARNESS_INSPECT, NOBODY, late[i].blind ? GBA_ERR_IO : GBA_OK);
        w->rounds = 1;
        w->expected = domains ? "groups among the leaders" : "";
        stall_log_begin(lines);
        harness_run(w, size, GBA_PATH_SIM);
        harness_end(w);
        gba_log_set(NULL, NULL, GBA_LOG_ERROR);
        expect_lines(lines);
        for (unsigned k = 0; k < lines; k++)
            expect_line(late[i].lines[k]);
    }
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR))
