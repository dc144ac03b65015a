/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of the simulator: limits of jobs, lack of memory, and processes that are killed at any
 * moment while they allocate groups and use them.
 */
#include "tests/limit.h"
#include "tests/unit/sim_test.h"

#include <errno.h>
#include <sys/types.h>

#include "tests/unit/log_catch.h"

enum { MEMBERS = 3 };

int __real_fallocate(int file, int mode, off_t offset, off_t len);
int __wrap_fallocate(int file, int mode, off_t offset, off_t len);

/* There is no memory left (see tests/local.mk). */
static bool full;

int __wrap_fallocate(int file, int mode, off_t offset, off_t len)
{
    if (!full)
        return __real_fallocate(file, mode, offset, len);
    errno = ENOSPC;
    return -1;
}

/* A device with few groups. */
static struct gba_dev *scarce(uint32_t groups)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM, .sim.groups = groups};
    struct gba_dev *dev = sim_open(&path);

    assert_non_null(dev);
    return dev;
}

static gba_status_t ask(struct gba_dev *dev, uint32_t groups_max, gba_group_handle_t *handle)
{
    const gba_group_request_t request = {.members = MEMBERS, .groups_max = groups_max};

    return gba_dev_sim.alloc(dev, &request, handle);
}

/* Each job has its own limit, and a request that is refused changes nothing. */
TEST(test_DRV_11_a_job_has_no_more_than_its_limit)
{
    static const gba_device_attr_t other_job = {.job = "other"};
    struct gba_dev_path path = sim_path();
    struct gba_dev *dev = NULL, *other = NULL;
    gba_group_handle_t handle[4], kept;

    path.sim.groups = 4;
    dev = sim_open(&path);
    assert_non_null(dev);
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
    gba_dev_sim.close(other);
}

/* Many processes request at once: the job gets its limit, and not one group more. */
TEST(test_DRV_11_the_limit_holds_at_any_moment)
{
    enum { PROCESSES = 6, LIMIT = 4, TRIES = 300 };
    struct gba_dev *dev = scarce(GBA_GROUPS);
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
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    munmap(held, sizeof *held);
    gba_dev_sim.close(dev);
}

/* A member that finds no memory for its flag fails with one line, and can try again. */
TEST(test_no_memory)
{
    struct gba_dev *dev = scarce(1);
    struct gba_membership *member;
    gba_group_handle_t handle;

    assert_int_equal(ask(dev, 0, &handle), GBA_OK);
    assert_int_equal(gba_dev_sim.join(dev, &handle, 0, &member), GBA_OK);
    full = true;
    log_forget();
    gba_log_set(log_catch, NULL, GBA_LOG_WARN);
    assert_int_equal(gba_dev_sim.map_flag(member), GBA_ERR_NOMEM);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    assert_logged("cannot reserve the memory of a group");
    full = false;
    assert_int_equal(gba_dev_sim.map_flag(member), GBA_OK);
    gba_dev_sim.leave(member);
    assert_int_equal(sim_info(dev).groups_free, 1);
    gba_dev_sim.close(dev);
}

/* A team in one process: it takes a group, makes rounds, and gives it back. */
static void request_repeatedly(struct gba_dev *dev)
{
    struct gba_membership *membership[MEMBERS];
    gba_group_handle_t handle;

    for (uint32_t first = 0;; first += 1000) {
        uint32_t round = first;

        if (GBA_OK != ask(dev, 0, &handle))
            continue;
        for (uint32_t i = 0; i < MEMBERS; i++) {
            membership[i] = sim_join(dev, &handle, i, first);
            CHECK(membership[i] != NULL);
        }
        CHECK(GBA_OK == gba_dev_sim.configure(membership[0], first));
        while (round++ < first + 200) {
            for (uint32_t i = 0; i < MEMBERS; i++) {
                for (uint32_t j = 0; j < MEMBERS; j++)
                    CHECK(round - 1 == (uint32_t)gba_flag_load_acquire(membership[j]->flag));
                sim_arrive(membership[i], round);
            }
            for (uint32_t i = 0; i < MEMBERS; i++)
                CHECK(round == (uint32_t)gba_flag_load_acquire(membership[i]->flag));
        }
        sim_leave(membership, MEMBERS);
    }
}

/* Some of the processes that share the groups are killed, at any moment. The others see
 * no round end early, no round is lost, and the dead processes hold nothing. */
TEST(test_kill_at_random)
{
    enum { KILLS = 200, TEAMS = 3 };
    struct gba_dev *dev = scarce(2);
    pid_t child[TEAMS];
    uint32_t random = 7;

    for (uint32_t team = 0; team < TEAMS; team++)
        child[team] = 0;
    for (uint32_t i = 0; i < KILLS; i++) {
        uint32_t team = i % TEAMS;

        if (0 != child[team]) {
            kill(child[team], SIGKILL);
            assert_true(sim_child_killed(child[team])); /* killed, and not ended by a check */
        }
        child[team] = sim_fork();
        if (0 == child[team])
            request_repeatedly(dev);
        random = random * 1664525 + 1013904223; /* Knuth, TAOCP 2, 3.3.4 */
        usleep(500 + (random >> 16) % 3000);
    }
    for (uint32_t team = 0; team < TEAMS; team++) {
        kill(child[team], SIGKILL);
        assert_true(sim_child_killed(child[team]));
    }
    assert_int_equal(sim_info(dev).groups_free, 2);
    gba_dev_sim.close(dev);
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))
