/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of the tests of the simulator: opening one, a group of one or more processes, and
 * children whose checks count.
 */
#ifndef GBA_TESTS_SIM_TEST_H
#define GBA_TESTS_SIM_TEST_H

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/dev/dev_ops.h"
#include "sim/shm/fault.h"
#include "sim/shm/find.h"
#include "sim/shm/lock.h"
#include "sim/shm/sim.h"
#include "tests/limit.h"
#include "tests/suite.h"

/* Ends a test that hangs; nothing depends on speed. */
#define SIM_TEST_TIMEOUT 300

/* For children, in which cmocka's assertions do not work. */
#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "%s:%d: %s is not true\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                                   \
        }                                                                               \
    } while (0)

/* A simulator that no other test, and no other run of this test, uses. */
static inline struct gba_dev_path sim_path(void)
{
    static unsigned int count;
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};

    snprintf(path.name, sizeof path.name, "test-%ld-%u", (long)getpid(), count++);
    return path;
}

static inline struct gba_dev *sim_open(const struct gba_dev_path *path)
{
    struct gba_dev *dev = NULL;

    if (GBA_OK != gba_dev_sim.open(path, NULL, &dev))
        return NULL;
    return dev;
}

static inline struct gba_sim_segment *sim_segment(struct gba_dev *dev)
{
    return ((struct gba_sim_dev *)dev)->segment;
}

static inline gba_device_info_t sim_info(struct gba_dev *dev)
{
    gba_device_info_t info = {.groups = 0};

    if (GBA_OK != gba_dev_sim.query(dev, &info))
        abort();
    return info;
}

static inline gba_status_t sim_alloc(struct gba_dev *dev, uint32_t members,
                                     gba_group_handle_t *handle)
{
    const gba_group_request_t request = {.members = members};

    return gba_dev_sim.alloc(dev, &request, handle);
}

static inline struct gba_membership *sim_join(struct gba_dev *dev, const gba_group_handle_t *handle,
                                              uint32_t member, uint32_t sequence)
{
    struct gba_membership *membership = NULL;

    if (GBA_OK != gba_dev_sim.join(dev, handle, member, &membership))
        return NULL;
    if (GBA_OK != gba_dev_sim.map_flag(membership))
        abort();
    gba_flag_store_relaxed(membership->flag, sequence);
    return membership;
}

/* The simulator of a test, opened before the test and closed after it. */
static struct gba_dev_path path;
static struct gba_dev *dev;
static uint8_t unit[GBA_UUID_SIZE]; /* its UUID: a query from another namespace would reap */

/* The members of a group of this process. */
static struct gba_membership *member[4];
static uint32_t members;

/* A whole group in this process. */
static inline void sim_group(uint32_t size, uint32_t sequence)
{
    gba_group_handle_t handle;

    assert_int_equal(sim_alloc(dev, size, &handle), GBA_OK);
    for (members = 0; members < size; members++) {
        member[members] = sim_join(dev, &handle, members, sequence);
        assert_non_null(member[members]);
    }
    assert_int_equal(gba_dev_sim.configure(member[0], sequence), GBA_OK);
}

static inline void sim_leave(void)
{
    while (members > 0)
        gba_dev_sim.leave(member[--members]);
}

static inline void sim_begin(struct gba_sim_options options)
{
    path = sim_path();
    path.sim = options;
    dev = sim_open(&path);
    assert_non_null(dev);
    memcpy(unit, sim_info(dev).uuid, sizeof unit);
}

static inline void sim_end(void)
{
    sim_leave();
    if (!path.sim.full)
        assert_int_equal(sim_info(dev).groups_free, sim_info(dev).groups);
    gba_dev_sim.close(dev);
}

static inline int sim_setup(void **state)
{
    sim_begin(*(struct gba_sim_options *)*state);
    return 0;
}

static inline int sim_teardown(void **state)
{
    (void)state;
    sim_end();
    return 0;
}

/* Open the next device of that name if this one is dead. Returns whether it is. */
static inline bool sim_replaced(void)
{
    if (!sim_info(dev).dead)
        return false;
    gba_dev_sim.close(dev);
    dev = sim_open(&path);
    return true;
}

/* A test with a simulator that has these options. All groups are free at its end. */
#define SIM_TEST(name, ...)                                       \
    static struct gba_sim_options name##_options = {__VA_ARGS__}; \
    TEST_WITH(name, sim_setup, sim_teardown, &name##_options)

static inline void sim_arrive(struct gba_membership *membership, uint32_t sequence)
{
    gba_dev_sim.arrive(membership,
                       GBA_ARRIVAL(sequence, membership->generation, membership->member));
}

/* Whether the member is released; one test, as gba_poll_release. */
static inline bool sim_released(struct gba_membership *membership, uint32_t sequence)
{
    if (sequence == gba_flag_load_acquire(membership->flag))
        return true;
    gba_dev_sim.poll(membership);
    return sequence == gba_flag_load_acquire(membership->flag);
}

static inline void sim_wait(struct gba_membership *membership, uint32_t sequence)
{
    while (!sim_released(membership, sequence))
        sched_yield();
}

/* Memory that children share with their parent, zeroed. */
static inline void *sim_shared(size_t size)
{
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (MAP_FAILED == map)
        abort();
    return map;
}

/* A child has its own time limit, because alarms are not inherited. */
static inline pid_t sim_fork(void)
{
    pid_t pid = fork();

    if (pid < 0)
        abort();
    if (0 == pid)
        alarm(test_limit(SIM_TEST_TIMEOUT));
    return pid;
}

/* Whether the child ended by itself and found no error. */
static inline bool sim_child_ok(pid_t pid)
{
    int status;

    return pid == waitpid(pid, &status, 0) && WIFEXITED(status) && 0 == WEXITSTATUS(status);
}

/* Whether the child was killed, by itself or by us. */
static inline bool sim_child_killed(pid_t pid)
{
    int status;

    return pid == waitpid(pid, &status, 0) && WIFSIGNALED(status) && SIGKILL == WTERMSIG(status);
}

/* A whole round of the members in this process. */
static inline void sim_round(uint32_t round)
{
    for (uint32_t i = 0; i < members; i++)
        sim_arrive(member[i], round);
    for (uint32_t i = 0; i < members; i++)
        assert_true(sim_released(member[i], round));
}

#endif
