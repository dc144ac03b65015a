/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process is killed at a single instruction (ptrace) of its work on the simulator, for many
 * instructions: its change happened completely or not at all. Skipped where ptrace is not
 * permitted.
 */
#include "tests/limit.h"
#include "tests/unit/sim_test.h"

struct arrival {
    struct gba_membership *membership;
    uint32_t round;
};

static void stop_and_arrive(void *arg)
{
    struct arrival *arrival = arg;

    raise(SIGSTOP);
    sim_arrive(arrival->membership, arrival->round);
}

/* The arrival that completes a round, interrupted at every few instructions: it happened completely
 * or not at all, and sending both arrivals again completes the round. */
SIM_TEST(test_step_arrive)
{
    gba_group_state_t group;
    uint32_t round = 1, happened = 0, cut = 0;
    int ended = 0;

    sim_group(2, 0);
    sim_round(round); /* also: the dynamic linker has finished */
    for (unsigned int steps = 0; 0 == ended; steps += 1 + steps / 48) {
        struct arrival arrival = {.membership = member[1], .round = round + 1};

        round++;
        sim_arrive(member[0], round);
        ended = sim_step_and_kill(stop_and_arrive, &arrival, steps);
        if (ended < 0)
            skip();
        assert_int_equal(gba_dev_sim.inspect(member[0], &group), GBA_OK);
        assert_true(round == group.sequence || round - 1 == group.sequence);
        assert_int_equal(group.arrived_count, round == group.sequence ? 0 : 1);
        happened += round == group.sequence;
        cut += round != group.sequence;
        assert_false(sim_released(member[0], round) && round != group.sequence);
        sim_arrive(member[1], round);
        sim_arrive(member[0], round);
        assert_true(sim_released(member[0], round) && sim_released(member[1], round));
    }
    assert_true(cut > 10 && happened > 1);
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_ROUNDS], round);
}

static void run_life(void *arg)
{
    gba_group_handle_t handle;

    if (arg != NULL)
        raise(SIGSTOP);
    CHECK(GBA_OK == sim_alloc(dev, 2, &handle));
    for (uint32_t m = 0; m < 2; m++)
        member[m] = sim_join(dev, &handle, m, 0);
    CHECK(GBA_OK == gba_dev_sim.configure(member[0], 0));
    gba_dev_sim.leave(member[0]);
    gba_dev_sim.leave(member[1]);
}

/* The whole life of a group, interrupted anywhere: what was held is free again, and the group
 * works. */
SIM_TEST(test_step_life)
{
    int ended = 0;

    run_life(NULL);
    for (unsigned int steps = 0; 0 == ended; steps += 61 + steps / 8) {
        ended = sim_step_and_kill(run_life, dev, steps);
        if (ended < 0)
            skip();
        assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
        sim_group(2, steps);
        assert_int_equal(member[0]->group, 0);
        sim_round(steps + 1);
        sim_leave();
    }
}

/* A reaper stops here first (see tests/local.mk), because the tens of thousands of instructions
 * before it, which read /proc, change nothing. */
static bool stops;
void __real_gba_sim_journal_begin(struct gba_sim_segment *segment, uint32_t group, uint32_t what);
void __wrap_gba_sim_journal_begin(struct gba_sim_segment *segment, uint32_t group, uint32_t what);

void __wrap_gba_sim_journal_begin(struct gba_sim_segment *segment, uint32_t group, uint32_t what)
{
    if (stops)
        raise(SIGSTOP);
    stops = false;
    __real_gba_sim_journal_begin(segment, group, what);
}

static void stop_and_reap(void *arg)
{
    stops = true;
    gba_sim_reap((struct gba_sim_dev *)arg);
}

static uint32_t mapped(const struct gba_model_group *group)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < GBA_MEMBERS_MAX; i++)
        count += 0 != group->table[i];
    return count;
}

/* A process is killed while it takes down the port of a dead process, with three memberships in one
 * group and the allocation of another one: the port has left a group completely or not at all. The
 * next process takes back the rest, and nothing of the living member. */
SIM_TEST(test_step_reap)
{
    const struct gba_model_group *group = sim_segment(dev)->model.group;
    struct gba_membership *living;
    gba_group_handle_t handle, other;
    uint32_t undone = 0, half = 0;
    int ended = 0;

    gba_sim_reap((struct gba_sim_dev *)dev); /* also: the dynamic linker has finished */
    for (unsigned int steps = 0; 0 == ended; steps += 1 + steps / 12) {
        pid_t child;

        assert_int_equal(sim_alloc(dev, 4, &handle), GBA_OK);
        living = sim_join(dev, &handle, 1, 0);
        child = sim_fork();
        if (0 == child) {
            for (uint32_t i = 0; i < 4; i++)
                CHECK(1 == i || sim_join(dev, &handle, i, 0) != NULL);
            CHECK(GBA_OK == sim_alloc(dev, 2, &other));
            raise(SIGKILL);
        }
        assert_true(sim_child_killed(child));
        ended = sim_step_and_kill(stop_and_reap, dev, steps);
        if (ended < 0)
            skip();
        assert_int_equal(gba_sim_group_lock(sim_segment(dev), 0), GBA_OK);
        assert_true(1 == group->record.present || 4 == group->record.present);
        assert_int_equal(mapped(group), group->record.present);
        undone += 4 == group->record.present;
        half += 1 == group->record.present && 0 != group[1].record.holder;
        gba_sim_group_unlock(sim_segment(dev), 0);
        assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 1);
        assert_int_equal(group->record.present, 1);
        assert_int_equal(mapped(group), 1);
        gba_dev_sim.leave(living);
        assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    }
    assert_true(undone > 10 && half > 0);
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))
