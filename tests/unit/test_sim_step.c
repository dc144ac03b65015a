/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that is killed at a single instruction (ptrace) of its work on the simulator, for many
 * of them: what it did happened as a whole or not at all. Where ptrace is not permitted, skipped.
 */
#include "tests/unit/sim_test.h"

#include <sys/ptrace.h>

/* Start a child that stops, then runs `run`, and is killed after that many instructions. Returns
 * whether it had come to its end before; -1: ptrace is not permitted here. */
static int step_and_kill(void (*run)(void *arg), void *arg, unsigned int steps)
{
    int status;
    pid_t child = sim_fork();

    if (0 == child) {
        if (0 != ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(2);
        raise(SIGSTOP);
        run(arg);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        return -1;
    for (unsigned int i = 0; i < steps && !WIFEXITED(status); i++) {
        if (0 != ptrace(PTRACE_SINGLESTEP, child, NULL, NULL))
            break;
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    if (WIFEXITED(status)) {
        assert_int_equal(WEXITSTATUS(status), 0);
        return 1;
    }
    kill(child, SIGKILL);
    assert_true(sim_child_killed(child));
    return 0;
}

struct arrival {
    struct gba_seat *seat;
    uint32_t round;
};

static void arrive_once(void *arg)
{
    struct arrival *arrival = arg;

    sim_arrive(arrival->seat, arrival->round);
}

/* The arrival that completes a round, cut at every few instructions: it happened as a whole or not
 * at all, and sending both again completes the round. */
static void test_step_arrive(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_seat *seat[2];
    gba_group_state_t group;
    uint32_t round = 1, happened = 0, cut = 0;
    int ended = 0;

    (void)state;
    sim_group(dev, 2, 0, seat);
    sim_round(seat, 2, round); /* also: the dynamic linker is done with its work */
    for (unsigned int steps = 0; 0 == ended; steps += 1 + steps / 48) {
        struct arrival arrival = {.seat = seat[1], .round = round + 1};

        round++;
        sim_arrive(seat[0], round);
        ended = step_and_kill(arrive_once, &arrival, steps);
        if (ended < 0)
            skip();
        assert_int_equal(gba_dev_sim.inspect(seat[0], &group), GBA_OK);
        assert_true(round == group.sequence || round - 1 == group.sequence);
        assert_int_equal(group.arrived_count, round == group.sequence ? 0 : 1);
        happened += round == group.sequence;
        cut += round != group.sequence;
        assert_false(sim_released(seat[0], round) && round != group.sequence);
        sim_arrive(seat[1], round);
        sim_arrive(seat[0], round);
        assert_true(sim_released(seat[0], round) && sim_released(seat[1], round));
    }
    assert_true(cut > 10 && happened > 1);
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_ROUNDS], round);
    sim_leave(seat, 2);
    gba_dev_sim.close(dev);
}

static void live_once(void *arg)
{
    struct gba_dev *dev = arg;
    struct gba_seat *seat[2];
    gba_ticket_t ticket;

    CHECK(GBA_OK == sim_alloc(dev, 2, &ticket));
    for (uint32_t m = 0; m < 2; m++)
        seat[m] = sim_join(dev, &ticket, m, 0);
    CHECK(GBA_OK == gba_dev_sim.configure(seat[0], 0));
    gba_dev_sim.leave(seat[0]);
    gba_dev_sim.leave(seat[1]);
}

/* The whole life of a group, cut anywhere: what was held comes back, and the group works. */
static void test_step_life(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_seat *seat[2];
    int ended = 0;

    (void)state;
    live_once(dev);
    for (unsigned int steps = 0; 0 == ended; steps += 61 + steps / 8) {
        ended = step_and_kill(live_once, dev, steps);
        if (ended < 0)
            skip();
        assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
        sim_group(dev, 2, steps, seat);
        assert_int_equal(seat[0]->group, 0);
        sim_round(seat, 2, steps + 1);
        sim_leave(seat, 2);
    }
    gba_dev_sim.close(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_arrive),
        cmocka_unit_test(test_step_life),
    };

    alarm(SIM_TEST_TIMEOUT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
