/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of the simulator: limits of jobs, and processes that are killed at any moment while
 * they allocate groups and use them.
 */
#include "tests/limit.h"
#include "tests/unit/shm/sim_test.h"

enum { MEMBERS = 3 };

static gba_status_t ask(struct gba_dev *of, uint32_t groups_max, gba_group_handle_t *handle)
{
    const gba_group_request_t request = {.members = MEMBERS, .groups_max = groups_max};

    return gba_dev_sim.alloc(of, &request, handle);
}

/* Each job has its own limit, and a request that is refused changes nothing. */
SIM_TEST(test_DRV_11_a_job_has_no_more_than_its_limit, .groups = 4)
{
    static const gba_device_attr_t other_job = {.job = "other"};
    struct gba_dev *other = NULL;
    gba_group_handle_t handle[4], kept;

    assert_int_equal(gba_dev_sim.open(&path, &other_job, &other), GBA_OK);
    assert_int_equal(ask(dev, 2, &handle[0]), GBA_OK);
    assert_int_equal(ask(dev, 1, &handle[1]), GBA_ERR_LIMIT); /* a smaller limit of the same job */
    assert_int_equal(ask(dev, 2, &handle[1]), GBA_OK);
    memset(&handle[2], 0x5a, sizeof handle[2]);
    kept = handle[2];
    assert_int_equal(ask(dev, 2, &handle[2]), GBA_ERR_LIMIT);
    assert_memory_equal(&handle[2], &kept, sizeof kept);
    assert_int_equal(ask(other, 1, &handle[2]), GBA_OK);
    assert_int_equal(ask(other, 0, &handle[3]), GBA_OK); /* no limit */
    assert_int_equal(ask(other, 3, &kept), GBA_ERR_NO_GROUP);
    assert_int_equal(ask(dev, 2, &kept), GBA_ERR_LIMIT); /* the limit comes before the lack */
    gba_dev_sim.cancel(dev, &handle[0]);
    assert_int_equal(ask(dev, 2, &handle[0]), GBA_OK);
    gba_dev_sim.close(dev);
    assert_int_equal(sim_info(other).groups_free, 2);
    gba_dev_sim.cancel(other, &handle[2]);
    gba_dev_sim.cancel(other, &handle[3]);
    dev = other;
}

/* Many processes request at once: the job gets its limit, and not one group more. */
SIM_TEST(test_DRV_11_the_limit_holds_at_any_moment)
{
    enum { PROCESSES = 6, LIMIT = 4, TRIES = 300 };
    gba_word_t *held = sim_shared(sizeof *held);
    pid_t child[PROCESSES];

    for (uint32_t p = 0; p < PROCESSES; p++) {
        child[p] = sim_fork();
        if (0 != child[p])
            continue;
        for (uint32_t i = 0, got = 0; i < TRIES || 0 == got; i++) {
            gba_group_handle_t handle[2];
            uint32_t n = 0;

            while (n < 2 && GBA_OK == ask(dev, LIMIT, &handle[n])) {
                CHECK(gba_word_add_acq_rel(held, 1) < LIMIT);
                n++;
            }
            got += n;
            sched_yield();
            while (n-- > 0) {
                gba_word_add_acq_rel(held, ~(uint64_t)0);
                gba_dev_sim.cancel(dev, &handle[n]);
            }
        }
        _exit(0);
    }
    for (uint32_t p = 0; p < PROCESSES; p++)
        assert_true(sim_child_ok(child[p]));
    munmap(held, sizeof *held);
}

/* A team in one process: it takes a group, makes rounds, and gives it back. Ends early if the
 * device is dead. */
static void request_group(uint32_t first)
{
    gba_group_handle_t handle;
    gba_status_t status = ask(dev, 0, &handle);

    for (members = 0; GBA_OK == status && members < MEMBERS; members++) {
        status = gba_dev_sim.join(dev, &handle, members, &member[members]);
        if (GBA_OK != status)
            break;
        status = gba_dev_sim.map_flag(member[members]);
        if (GBA_OK == status)
            gba_flag_store_relaxed(member[members]->flag, first);
    }
    if (GBA_OK == status)
        status = gba_dev_sim.configure(member[0], first);
    for (uint32_t round = first + 1; GBA_OK == status && round <= first + 200; round++) {
        for (uint32_t i = 0; i < MEMBERS; i++) {
            for (uint32_t j = 0; j < MEMBERS; j++)
                CHECK(round - 1 == (uint32_t)gba_flag_load_acquire(member[j]->flag));
            sim_arrive(member[i], round);
        }
        for (uint32_t i = 0; i < MEMBERS; i++)
            if (round != (uint32_t)gba_flag_load_acquire(member[i]->flag))
                status = GBA_ERR_DEAD;
    }
    CHECK(GBA_OK == status || GBA_ERR_NO_GROUP == status ||
          (GBA_ERR_DEAD == status && sim_info(dev).dead));
    sim_leave();
}

/* Some of the processes that share the groups are killed, at any moment. The others see no round
 * end early, no round of a living device is lost, and the dead processes hold nothing. A process
 * that is killed inside a lock kills the device: all go on with the next one of that name. */
SIM_TEST(test_kill_at_random, .groups = 2)
{
    enum { KILLS = 200, TEAMS = 3 };
    pid_t child[TEAMS] = {0};
    uint32_t random = 7, died = 0;

    for (uint32_t i = 0; i < KILLS + TEAMS; i++) {
        uint32_t team = i % TEAMS;

        if (0 != child[team]) {
            kill(child[team], SIGKILL);
            assert_true(sim_child_killed(child[team])); /* killed, and not ended by a check */
        }
        died += sim_replaced();
        if (i >= KILLS)
            continue;
        child[team] = sim_fork();
        if (0 == child[team])
            for (uint32_t first = 0;; first += 1000) {
                request_group(first);
                (void)sim_replaced();
                CHECK(dev != NULL);
            }
        random = random * 1664525 + 1013904223; /* Knuth, TAOCP 2, 3.3.4 */
        usleep(500 + (random >> 16) % 3000);
    }
    assert_true(died > 0);
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))
