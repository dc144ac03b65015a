/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Software barriers of teams: every kind, on one host and on several; failures; waiting; and the
 * change to software from a device that died.
 */
#include <sys/resource.h>

#include "gba/base/place.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/team/team_harness.h"

static void choose(struct harness *w, int algorithm, int hierarchy, int radix)
{
    static const char *const names[] = {"", "dissemination (v1) ", "radix ", "central (v3) ",
                                        "tree "};

    w->params.sw_algorithm = algorithm;
    w->params.hierarchy = hierarchy;
    w->params.sw_radix = radix;
    w->expected = names[algorithm];
}

/* The log lines with a text, since count_from. */
static struct {
    gba_log_level_t level;
    const char *text;
    gba_word_t lines;
} counted;

static void count_line(void *ctx, gba_log_level_t level, const char *line)
{
    (void)ctx;
    if (counted.level == level && strstr(line, counted.text) != NULL)
        (void)gba_word_add_relaxed(&counted.lines, 1);
}

static void count_from(gba_log_level_t level, const char *text)
{
    counted.level = level;
    counted.text = text;
    gba_word_store_relaxed(&counted.lines, 0);
    gba_log_set(count_line, NULL, level);
}

static uint64_t counted_lines(void)
{
    return gba_word_load_relaxed(&counted.lines);
}

static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32};
#define SIZES (sizeof sizes / sizeof sizes[0])

TEST(one_host)
{
    for (size_t i = 0; i < SIZES; i++) {
        struct harness *w = harness_on(NULL);

        w->expected = "counter in shared memory";
        w->oversubscribed = true;
        harness_run(w, sizes[i], GBA_PATH_SOFTWARE);
        w->oversubscribed = false;
        choose(w, GBA_ALGORITHM_V2, GBA_HIERARCHY_AUTO, 8);
        harness_run(w, sizes[i], GBA_PATH_SOFTWARE);
        assert_int_equal(gba_word_load_relaxed(&w->sent), 0);
        harness_end(w);
    }
}

/* Places in turn for the callers, on two packages of two caches: 0 of each, 1 of each and so on. */
static bool placed;
static gba_word_t place_calls;

uint64_t __wrap_gba_place_get(void); /* by the linker */
uint64_t __wrap_gba_place_get(void)
{
    const uint32_t call = (uint32_t)gba_word_add_relaxed(&place_calls, 1);

    return placed ? gba_place_make(call % 7 % 2, 0, call % 5 % 2, 1 + call % 1000) : GBA_PLACE_NONE;
}

/* Every algorithm, with members that have other numbers than their ranks; then no member has a
 * place. */
TEST(one_host_by_places)
{
    for (int places = 1; places >= 0; places--) {
        placed = places;
        count_from(GBA_LOG_DEBUG, "by the places of the cores");
        for (size_t i = 0; i < SIZES; i++) {
            struct harness *w = harness_on(NULL);

            w->params.first_sequence = UINT32_MAX - 20;
            for (int algorithm = GBA_ALGORITHM_V1; algorithm <= GBA_ALGORITHM_TREE; algorithm++)
                for (int radix = 2; radix <= 4; radix++) {
                    choose(w, algorithm, GBA_HIERARCHY_FLAT, radix);
                    harness_run(w, sizes[i], GBA_PATH_SOFTWARE);
                }
            assert_int_equal(gba_word_load_relaxed(&w->sent), 0);
            harness_end(w);
        }
        assert_int_equal(counted_lines() > 100, placed);
        if (!placed)
            assert_int_equal(counted_lines(), 0);
    }
    gba_log_set(log_drop, NULL, GBA_LOG_ERROR);
}

/* The distribution of members over hosts: blocks, dealt out, unequal, all but one together, one
 * each. */
static uint32_t host_of(int layout, uint32_t rank, uint32_t size)
{
    switch (layout) {
    case 0:
        return 2 * rank / size;
    case 1:
        return rank % 3;
    case 2:
        return rank * rank % 7;
    case 3:
        return rank == size / 2;
    default:
        return rank;
    }
}

TEST(several_hosts)
{
    for (size_t i = 1; i < SIZES; i++)
        for (int layout = 0; layout < 5; layout++) {
            struct harness *w = harness_on(NULL);

            for (uint32_t r = 0; r < sizes[i]; r++)
                w->host[r] = host_of(layout, r, sizes[i]);
            for (int algorithm = GBA_ALGORITHM_V1; algorithm <= GBA_ALGORITHM_TREE; algorithm++) {
                if (GBA_ALGORITHM_V3 == algorithm)
                    continue;
                choose(w, algorithm, GBA_HIERARCHY_NODE, 3);
                harness_run(w, sizes[i], GBA_PATH_SOFTWARE);
                assert_non_null(strstr(w->why[0], "among the leaders"));
                choose(w, algorithm, GBA_HIERARCHY_FLAT, 3);
                harness_run(w, sizes[i], GBA_PATH_SOFTWARE);
                assert_non_null(strstr(w->why[0], "through messages"));
            }
            assert_true(gba_word_load_relaxed(&w->sent) > 0);
            /* central (v3) has to read remote flags, which these messages do not support. */
            choose(w, GBA_ALGORITHM_V3, GBA_HIERARCHY_AUTO, 3);
            w->expected = "software: dissemination (v1) ";
            count_from(GBA_LOG_TEAM, "sw_algorithm is central (v3)");
            harness_run(w, sizes[i], GBA_PATH_SOFTWARE);
            assert_int_equal(counted_lines(), 1); /* of all members */
            assert_non_null(strstr(w->why[0], ", because central (v3) needs to read remote flags"));
            harness_end(w);
        }
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
}

/* Nodes of more than 8 members with a core each, bound or not: 16 and 16, 9 and 17, 31 and 1. */
TEST(large_nodes)
{
    for (int kind = 0; kind < 12; kind++) {
        struct harness *w = harness_on(NULL);
        const uint32_t size = kind % 3 == 1 ? 26 : 32;

        placed = kind / 3 % 2 > 0;
        w->oversubscribed = kind > 8;
        for (uint32_t r = 0; r < size; r++)
            w->host[r] = kind % 3 == 2 ? r == 5 : kind % 3 == 1 ? r % 3 == 1 : r % 2;
        w->rounds = 40;
        w->params.first_sequence = UINT32_MAX - 20;
        choose(w, kind % 2 > 0 ? GBA_ALGORITHM_TREE : GBA_ALGORITHM_V1, GBA_HIERARCHY_NODE, 3);
        count_from(GBA_LOG_DEBUG, "members by flags");
        harness_run(w, size, GBA_PATH_SOFTWARE);
        assert_non_null(strstr(w->why[0], "among the leaders of 2 hosts"));
        assert_int_equal(counted_lines(), kind > 8 ? 0 : kind % 3 == 2 ? 1 : 2);
        harness_end(w);
    }
    placed = false;
    gba_log_set(log_drop, NULL, GBA_LOG_ERROR);
}

/* The sequence passes 2^32 during the test. */
TEST(many_rounds)
{
    for (int kind = 0; kind < 8; kind++) {
        struct harness *w = harness_on(NULL);

        w->rounds = 4000;
        w->params.first_sequence = UINT32_MAX - 2000;
        if (kind < 3)
            choose(w, GBA_ALGORITHM_V1 + kind, GBA_HIERARCHY_FLAT, 3);
        else if (kind > 5)
            choose(w, GBA_ALGORITHM_TREE, GBA_HIERARCHY_FLAT, 3);
        else
            choose(w, GBA_ALGORITHM_AUTO, 4 == kind ? GBA_HIERARCHY_FLAT : GBA_HIERARCHY_NODE, 3);
        w->host[1] = w->host[4] = kind > 3 && kind < 7;
        w->oversubscribed = 3 == kind;
        harness_run(w, 5, GBA_PATH_SOFTWARE);
        harness_end(w);
    }
}

/* ----------------------------------------------------------------------------- failures --- */

static void fails_on(uint32_t *member, struct harness *w, uint32_t who, gba_status_t reason)
{
    char name[32];

    *member = who;
    w->expected = gba_status_text(reason);
    harness_run(w, 6, GBA_PATH_FALLBACK);
    snprintf(name, sizeof name, "(member %u)", who);
    assert_non_null(strstr(w->why[0], name));
    assert_int_equal(gba_word_load_relaxed(&w->sent), 0);
    *member = NOBODY;
}

HARNESS_TEST(failures, harness_on(NULL))
{
    fails_on(&w->no_software, w, 3, GBA_ERR_DISABLED);
    fails_on(&w->no_host, w, 5, GBA_ERR_IO);
    fails_on(&w->no_attach, w, 4, GBA_ERR_STALE);
    for (uint32_t r = 0; r < 6; r++)
        w->host[r] = r % 3;
    fails_on(&w->no_remote, w, 2, GBA_ERR_NO_TRANSPORT);
    fails_on(&w->no_open, w, 1, GBA_ERR_NOMEM);
    fails_on(&w->no_attach, w, 3, GBA_ERR_STALE);
    /* A failure has no effect on the next team. */
    w->expected = "dissemination (v1) among the leaders of 3 hosts";
    harness_run(w, 6, GBA_PATH_SOFTWARE);
}

HARNESS_TEST(no_memory, harness_on(NULL))
{
    struct rlimit before, none;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 1024;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    w->expected = gba_status_text(GBA_ERR_NOMEM);
    thread_oob_run(4, 0, harness_member, w);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(w->path[r], GBA_PATH_FALLBACK);
        assert_non_null(strstr(w->why[r], w->expected));
    }
}

/* ----------------------------------------------------------------- waiting, recovering --- */

/* Waits of 4 x 150 ms, of which each member sleeps in three: less than a tenth is processor
 * time. */
TEST(sleeping)
{
    for (int hosts = 1; hosts <= 2; hosts++) {
        struct harness *w = harness_on(NULL);

        w->params.wait = GBA_WAIT_SLEEP;
        w->rounds = 4;
        w->late_ms = 150;
        w->host[3] = 2 == hosts;
        harness_run(w, 4, GBA_PATH_SOFTWARE);
        for (uint32_t r = 0; r < 4; r++)
            assert_true(w->cpu[r] < 0.045);
        harness_end(w);
    }
}

TEST(device_dies)
{
    for (int hosts = 1; hosts <= 2; hosts++)
        for (int after = 1; after <= 64; after *= 8) {
            char path[64], since[96];
            struct harness *w;

            snprintf(path, sizeof path, "sim?die_after=%d", after);
            w = harness_on(path);
            w->rounds = 200;
            w->host[2] = 2 == hosts;
            snprintf(since, sizeof since,
                     " on; the device stopped answering in barrier %d (member ", after + 1);
            w->expected = since;
            harness_run(w, 5, GBA_PATH_SOFTWARE);
            assert_int_equal(w->stats[0].failovers, 1);
            harness_end(w);
        }
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR))
