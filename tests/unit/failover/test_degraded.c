/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams whose device has failed and that make nonblocking barriers only, or for long: they continue
 * over messages, without notifications from each member to each. Members are threads
 * (team_harness.h), and the device is a simulated one that dies.
 */
#include "tests/unit/stall_log.h"
#include "tests/unit/failover/notification_harness.h"

#define DEATH 20 /* rounds before the death */

static const uint32_t sizes[] = {2, 3, 5, 8};
#define SIZES (sizeof sizes / sizeof sizes[0])

static struct harness *harness_dying(uint32_t blocks_every)
{
    struct harness *w = harness_on("sim?die_after=20");

    w->blocks_every = blocks_every;
    w->rounds = 400;
    return w;
}

/* The round of the death and one or two more: each member notifies its neighbours, and gets
 * answers. */
static void few_notifications(uint32_t size)
{
    assert_in_range(notifications_sent(), 1, 3 * 2 * size * (size - 1));
}

TEST(test_only_nonblocking)
{
    for (size_t i = 0; i < SIZES; i++) {
        struct harness *w = harness_dying(UINT32_MAX);

        harness_run(w, sizes[i], GBA_PATH_SIM);
        few_notifications(sizes[i]);
        assert_true(gba_word_load_relaxed(&w->sent) >= (w->rounds - DEATH - 3) * sizes[i]);
        harness_end(w);
    }
}

/* In the first blocking barrier the members agree on another path, and degraded mode ends. */
TEST(test_then_blocking)
{
    for (size_t i = 0; i < SIZES; i++)
        for (uint32_t every = 2; every <= 150; every += 37) {
            struct harness *w = harness_dying(every);
            uint64_t most = (every + DEATH) * sizes[i] * sizes[i];

            harness_run(w, sizes[i], GBA_PATH_SOFTWARE);
            few_notifications(sizes[i]);
            assert_true(gba_word_load_relaxed(&w->sent) < most);
            assert_int_equal(w->stats[0].failovers, 1);
            harness_end(w);
        }
}

/* A member without memory for such barriers refuses the device, and so no member takes it. */
TEST(test_cannot_open)
{
    for (int leaders = 0; leaders < 2; leaders++) {
        struct harness *w = harness_dying(UINT32_MAX);

        w->params.hierarchy = leaders ? GBA_HIERARCHY_NODE : GBA_HIERARCHY_AUTO;
        w->no_open = 2; /* not a leader, if there are leaders */
        w->expected = gba_status_text(GBA_ERR_NOMEM);
        harness_run(w, 5, GBA_PATH_SOFTWARE);
        assert_int_equal(notifications_sent(), 0);
        harness_end(w);
    }
}

/* No member keeps a group if a member cannot run such barriers: neither rank 0, whose group no
 * member joins, nor a member without the runtime's messages. */
TEST(test_nothing_is_kept)
{
    struct harness *w = harness_dying(UINT32_MAX);

    w->no_open = 0;
    w->no_device = 1;
    harness_run(w, 2, GBA_PATH_SOFTWARE);
    harness_end(w);
    w = harness_dying(UINT32_MAX);
    w->no_remote = 2;
    w->expected = gba_status_text(GBA_ERR_UNSUPPORTED);
    harness_run(w, 5, GBA_PATH_SOFTWARE);
    harness_end(w);
}

static void late_later(struct harness *w, uint32_t round)
{
    if (round > 2 * DEATH)
        w->late_until = stall_log_complete;
}

/* A member that waits for the first signal of the late member reports it, and no other member
 * reports. */
HARNESS_TEST(test_missing_members, harness_dying(UINT32_MAX))
{
    w->params.stuck_after = 4; /* longer than a busy machine delays a member that is not late */
    w->before = late_later;
    stall_log_begin(1);
    harness_run(w, 5, GBA_PATH_SIM);
    gba_log_set(NULL, NULL, GBA_LOG_ERROR);
    expect_lines(1);
    expect_line("(sim, failed) stalled for 4 s: 1 of 5 members have arrived (4 not visible to "
                "this process); missing: member ");
}

TEST_MAIN()
