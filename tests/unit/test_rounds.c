/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds are counted once each, however often a member tests a complete barrier. When a device
 * fails, a member answers by that count that a round is complete. If it counted one round twice,
 * the other members would leave a round at which not all have arrived.
 */
#include <unistd.h>

#include "tests/limit.h"
#include "tests/suite.h"
#include "tests/unit/thread_oob.h"

#define MEMBERS 3u

struct plan {
    gba_device_t *device;
    gba_params_t params;
    bool wait; /* complete the first round with gba_barrier_wait */
    gba_status_t create[MEMBERS], died[MEMBERS];
    uint64_t rounds[MEMBERS];
};

static void first_round(const struct plan *plan, gba_team_t *team)
{
    if (plan->wait) {
        (void)gba_barrier_wait(team, NULL, NULL);
        return;
    }
    (void)gba_barrier_start(team);
    while (GBA_INPROGRESS == gba_barrier_test(team))
        ;
}

/* One complete round, and one in which the device dies. Member 0 tests more often than
 * necessary. */
static void two_rounds(struct thread_oob_member *self, const gba_oob_t *oob)
{
    struct plan *plan = self->arg;
    gba_team_attr_t attr = {
        .name = "rounds", .params = &plan->params, .device = plan->device, .id = 1};
    uint32_t rank = self->rank;
    gba_team_stats_t stats;
    gba_team_t *team;

    plan->create[rank] = gba_team_create(&attr, oob, &team);
    if (GBA_OK != plan->create[rank])
        return;
    first_round(plan, team);
    for (int i = 0; 0 == rank && i < 2; i++)
        if (GBA_OK != gba_barrier_test(team) || GBA_OK != gba_barrier_progress(team))
            plan->create[rank] = GBA_ERR_BUSY;
    gba_team_stats(team, &stats);
    plan->rounds[rank] = stats.rounds;

    (void)gba_barrier_start(team);
    while (GBA_INPROGRESS == (plan->died[rank] = gba_barrier_progress(team)))
        ;
    gba_team_destroy(team);
}

static void count_once(bool wait)
{
    struct plan plan = {.wait = wait};

    alarm(test_limit(60));
    gba_params_default(&plan.params);
    plan.params.retry_after = 1;
    assert_int_equal(gba_device_init("sim?die_after=1", NULL, &plan.device), GBA_OK);
    thread_oob_run(MEMBERS, 0, two_rounds, &plan);
    for (uint32_t rank = 0; rank < MEMBERS; rank++) {
        assert_int_equal(plan.create[rank], GBA_OK);
        assert_int_equal(plan.rounds[rank], 1);
        assert_int_equal(plan.died[rank], GBA_ERR_DEAD);
    }
    gba_device_fini(plan.device);
    alarm(0);
}

TEST(test_after_the_end)
{
    count_once(false);
}

TEST(test_after_a_wait)
{
    count_once(true);
}

TEST_MAIN()
