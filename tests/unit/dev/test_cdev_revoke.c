/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of /dev/gbaN whose driver revokes their group while they spin or sleep, and the use of
 * the driver's interrupts: WAIT, and the event of a member's death.
 */
#include "tests/limit.h"
#include "tests/unit/dev/cdev_test.h"

#include <unistd.h>

#include "gba/failover/engine.h"
#include "tests/unit/dev/fake_driver.h"
#include "tests/unit/pair.h"

static struct {
    uint32_t calls, late; /* of progress or of on_sleep; the call in which something happens */
    void (*happen)(void);
    uint32_t ioctls; /* when it happened */
} scene;

static void scene_begin(int wait)
{
    memset(&scene, 0, sizeof scene);
    pair_open(FAKE_KERNEL_PATH);
    pair.params.offload = GBA_OFFLOAD_ALWAYS;
    pair.params.wait = wait;
    pair_create(2);
    assert_int_equal(gba_team_path(pair.team[0]), GBA_PATH_DEVICE);
}

static void scene_end(void)
{
    fake_kernel.on_sleep = NULL;
    pair_close();
}

/* --- events while member 0 waits --- */

static void other_arrives(void)
{
    assert_int_equal(gba_barrier_start(pair.team[1]), GBA_OK);
}

static void count_call(void)
{
    if (++scene.calls != scene.late)
        return;
    scene.happen();
    scene.ioctls = fake_kernel.seen.ioctls;
}

/* The runtime's progress, and the device's. */
static int progress(void *arg)
{
    (void)arg;
    count_call();
    fake_kernel_run();
    return 0;
}

/* Member 0 waits; something happens in call `late` of its progress, or in that sleep. */
static gba_status_t wait_until(void (*happen)(void), uint32_t late)
{
    bool sleeps = GBA_WAIT_SLEEP == pair.params.wait;

    scene.happen = happen;
    scene.late = late;
    scene.calls = 0;
    fake_kernel.on_sleep = sleeps ? count_call : NULL;
    return pair_wait(sleeps ? NULL : progress, NULL);
}

static const int waits[] = {GBA_WAIT_SPIN, GBA_WAIT_YIELD, GBA_WAIT_SLEEP};

/* A member reads in memory that its group is revoked, and the reason, without a system call. */
TEST_WITH(test_DRV_17_unplugged, cdev_setup, cdev_teardown, NULL)
{
    for (size_t i = 0; i < 3; i++) {
        scene_begin(waits[i]);
        assert_int_equal(wait_until(fake_kernel_die, 3), GBA_ERR_DEAD);
        assert_int_equal(pair.team[0]->failure.status, GBA_ERR_DEAD);
        assert_int_equal(fake_kernel.seen.ioctls, scene.ioctls);
        /* The round is not complete, and an arrival of the other member changes nothing. */
        other_arrives();
        fake_kernel_run();
        assert_int_equal(gba_team_rounds(pair.team[0]), 0);
        assert_int_not_equal(gba_barrier_test(pair.team[0]), GBA_OK);
        assert_int_equal(fake_kernel.seen.waits, GBA_WAIT_SLEEP == waits[i] ? 3 : 0);
        scene_end();
        fake_kernel_revive();
        fake_kernel.seen.waits = 0;
    }
    assert_silent();
}

/* A round that completed before the device died is complete: its release counts. */
static void arrives_and_dies(void)
{
    other_arrives();
    fake_kernel_run();
    fake_kernel_die();
}

CDEV_TEST(released_and_unplugged)
{
    for (size_t i = 0; i < 3; i++) {
        scene_begin(waits[i]);
        assert_int_equal(wait_until(arrives_and_dies, 3), GBA_OK);
        assert_int_equal(gba_team_rounds(pair.team[0]), 1);
        assert_int_equal(gba_barrier_test(pair.team[1]), GBA_OK);
        scene_end();
        fake_kernel_revive();
    }
}

TEST_WITH(test_DRV_18_released_while_asleep, cdev_setup, cdev_teardown, NULL)
{
    scene_begin(GBA_WAIT_SLEEP);
    for (uint32_t round = 1; round <= 10; round++) {
        assert_int_equal(wait_until(other_arrives, 2), GBA_OK);
        assert_int_equal(gba_barrier_test(pair.team[1]), GBA_OK);
        assert_int_equal(fake_kernel.seen.waits, 2 * round);
    }
    scene_end();
    assert_silent();
}

/* WAIT fails, for some time or always; the barrier still ends. */
CDEV_TEST(sleep_that_fails)
{
    static const int errors[] = {EINTR, ENODEV, ENOTTY, ESTALE, EPERM};

    scene_begin(GBA_WAIT_SLEEP);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        fake_kernel_fail(GBA_IOC_WAIT, errors[i], 5);
        assert_int_equal(wait_until(other_arrives, 2), GBA_OK);
        assert_int_equal(gba_barrier_test(pair.team[1]), GBA_OK);
    }
    scene_end();
    assert_silent();
}

/* A driver without interrupts: the member takes naps, and makes no call of the driver. */
CDEV_TEST(no_interrupts)
{
    fake_kernel.features = 0;
    scene_begin(GBA_WAIT_SLEEP);
    scene.late = 20;
    scene.happen = other_arrives;
    assert_int_equal(pair_wait(progress, NULL), GBA_OK);
    assert_int_equal(gba_barrier_test(pair.team[1]), GBA_OK);
    assert_int_equal(fake_kernel.seen.waits, 0);
    scene_end();
}

/* The results of a sleep in the backend. */
DEV_TEST(sleep_results)
{
    gba_group_handle_t handle = cdev_alloc(dev, 2);
    struct gba_membership *a = cdev_membership(dev, &handle, 0),
                          *b = cdev_membership(dev, &handle, 1);
    uint32_t ioctls;

    assert_int_equal(gba_dev_cdev.configure(a, 0), GBA_OK);
    assert_int_equal(gba_dev_cdev.sleep(a, 1, 1000), GBA_OK); /* timed out */
    assert_int_equal(fake_kernel.seen.waits, 1);
    assert_int_equal(gba_dev_cdev.sleep(a, 1, 0), GBA_OK); /* does not sleep */
    assert_int_equal(fake_kernel.seen.waits, 1);
    gba_dev_cdev.arrive(a, GBA_ARRIVAL(1, a->generation, 0));
    gba_dev_cdev.arrive(b, GBA_ARRIVAL(1, b->generation, 1));
    assert_int_equal(gba_dev_cdev.sleep(a, 1, 1000), GBA_OK); /* released before it */
    assert_int_equal(fake_kernel.seen.waits, 1);
    assert_int_equal(gba_dev_cdev.sleep(a, 9, 1000), GBA_ERR_UNSUPPORTED); /* no such round */
    /* A signal ends the sleep. WAIT is not repeated, because its timeout would begin again. */
    fake_kernel_fail(GBA_IOC_WAIT, EINTR, 100);
    ioctls = fake_kernel.seen.ioctls;
    assert_int_equal(gba_dev_cdev.sleep(a, 2, 1000), GBA_OK);
    assert_int_equal(fake_kernel.seen.ioctls, ioctls + 1);
    fake_kernel_fail(GBA_IOC_WAIT, 0, 0);
    fake_kernel.features = 0;
    gba_dev_cdev.leave(a);
    gba_dev_cdev.leave(b);
    gba_dev_cdev.close(dev);
    fake_kernel.features = GBA_FEATURE_EVENTS;
    dev = cdev_open();
    handle = cdev_alloc(dev, 1);
    a = cdev_membership(dev, &handle, 0);
    assert_int_equal(gba_dev_cdev.sleep(a, 0, 1000), GBA_ERR_UNSUPPORTED);
    assert_false(gba_dev_cdev.died(a));
    gba_dev_cdev.leave(a);
}

static struct gba_membership *late;

/* In the second sleep: the first one ends without an interrupt. */
static void release_comes(void)
{
    if (++scene.calls == 2)
        gba_dev_cdev.arrive(late, GBA_ARRIVAL(1, late->generation, 1));
}

/* WAIT looks at the flag now and then, also where the interrupt was early, or got lost. */
DEV_TEST(test_DRV_18_looks_without_an_interrupt)
{
    gba_group_handle_t handle = cdev_alloc(dev, 2);
    struct gba_membership *a = cdev_membership(dev, &handle, 0);

    late = cdev_membership(dev, &handle, 1);
    scene.calls = 0;
    fake_kernel.on_sleep = release_comes;
    assert_int_equal(gba_dev_cdev.configure(a, 0), GBA_OK);
    gba_dev_cdev.arrive(a, GBA_ARRIVAL(1, a->generation, 0));
    assert_int_equal(gba_dev_cdev.sleep(a, 1, GBA_WAIT_FOREVER), GBA_OK);
    assert_int_equal(gba_flag_load_relaxed(a->flag), 1);
    fake_kernel.on_sleep = NULL;
    gba_dev_cdev.leave(a);
    gba_dev_cdev.leave(late);
}

/* WAIT requests the interrupt with the generation of its allocation. [NOTE-1, ARR-2] */
DEV_TEST(test_DRV_18_interrupts_in_a_later_allocation)
{
    for (uint32_t life = 1; life <= 3; life++) {
        gba_group_handle_t handle = cdev_alloc(dev, 1);
        struct gba_membership *a = cdev_membership(dev, &handle, 0);
        const uint32_t events = GBA_PORT_EVENT(handle.group);

        assert_int_equal(handle.generation, life);
        assert_int_equal(gba_dev_cdev.configure(a, 0), GBA_OK);
        assert_int_equal(gba_dev_cdev.sleep(a, 1, 1000), GBA_OK); /* timed out */
        gba_dev_cdev.arrive(a, GBA_ARRIVAL(1, life, 0));
        fake_kernel_run();
        assert_int_equal(fake_driver_access(0, events, 4, false, 0), GBA_IRQ_ROUND);
        fake_driver_access(0, events, 4, true, GBA_IRQ_ROUND);
        gba_dev_cdev.leave(a);
    }
}

/* A process ends without leaving: the other members get one event, which stays. */
DEV_TEST(test_DRV_18_a_member_dies)
{
    struct gba_dev *other = cdev_open();
    gba_group_handle_t handle = cdev_alloc(dev, 3), apart = cdev_alloc(dev, 1);
    struct gba_membership *a = cdev_membership(dev, &handle, 0),
                          *b = cdev_membership(dev, &handle, 1),
                          *c = cdev_membership(other, &handle, 2),
                          *lone = cdev_membership(dev, &apart, 0);

    assert_int_equal(gba_dev_cdev.configure(a, 0), GBA_OK);
    assert_false(gba_dev_cdev.died(a));
    fake_driver_end(((struct gba_cdev *)other)->file.number);
    assert_int_equal(gba_dev_cdev.sleep(b, 1, 1000), GBA_OK); /* takes the event */
    for (int i = 0; i < 3; i++) {
        assert_true(gba_dev_cdev.died(a));
        assert_true(gba_dev_cdev.died(b));
        assert_false(gba_dev_cdev.died(lone));
    }
    assert_int_equal(gba_dev_cdev.failure(a), GBA_OK); /* the group itself has not failed */
    gba_dev_cdev.leave(a);
    gba_dev_cdev.leave(b);
    gba_dev_cdev.leave(lone);
    gba_dev_cdev.leave(c);
    gba_dev_cdev.close(other);
}

/* The program closes the file of the library: its memberships have ended, and can still leave. */
DEV_TEST(closed_by_somebody)
{
    gba_group_handle_t handle = cdev_alloc(dev, 2);
    struct gba_membership *a = cdev_membership(dev, &handle, 0),
                          *b = cdev_membership(dev, &handle, 1);

    fake_driver_end(((struct gba_cdev *)dev)->file.number);
    assert_silent();
    assert_int_equal(gba_dev_cdev.failure(a), GBA_ERR_DEAD);
    assert_logged("this process closed the file of /dev/gba0");
    gba_dev_cdev.arrive(a, GBA_ARRIVAL(1, a->generation, 0)); /* no fault, and no effect */
    fake_kernel_run();
    gba_dev_cdev.leave(b);
    gba_dev_cdev.leave(a);
}

/* With an unknown reason the group has failed, too. */
DEV_TEST(a_reason_of_a_later_version)
{
    gba_group_handle_t handle = cdev_alloc(dev, 1);
    struct gba_membership *membership = cdev_membership(dev, &handle, 0);

    gba_flag_store_relaxed(membership->flag + 1, 99);
    assert_int_equal(gba_dev_cdev.failure(membership), GBA_ERR_DEAD);
    gba_dev_cdev.leave(membership);
}

/* The watchdog reports a round that a death has stalled after five seconds, not after stuck_after.
 */
CDEV_TEST(a_death_is_reported)
{
    scene_begin(GBA_WAIT_YIELD);
    pair.team[0]->watchdog.report_after = 3600ull * 1000000000u;
    gba_log_set(log_catch, NULL, GBA_LOG_WARN);
    scene.happen = fake_driver_post_died;
    scene.late = 1;
    alarm(test_limit(120));
    assert_int_equal(gba_barrier_start(pair.team[0]), GBA_OK);
    fake_kernel_run();
    while (0 == log_lines) {
        progress(NULL);
        assert_int_equal(gba_barrier_progress(pair.team[0]), GBA_INPROGRESS);
    }
    assert_logged(
        "team: barrier 1 (device) stalled for 5 s: 1 of 2 members have arrived; missing: member 1; "
        "a member's process has ended: the job ends, or a process or host has died");
    alarm(0);
    other_arrives();
    fake_kernel_run();
    assert_int_equal(gba_barrier_test(pair.team[0]), GBA_OK);
    assert_int_equal(gba_barrier_test(pair.team[1]), GBA_OK);
    scene_end();
}

static void member_recover(struct thread_oob_member *self, const gba_oob_t *oob)
{
    gba_team_attr_t attr = {.name = "team", .id = 1, .params = &pair.params, .device = pair.device};

    (void)gba_team_agree(&pair.team[self->rank], GBA_DUE_RECOVER, &attr, oob);
}

/* A death in a group does not reach a team that has left the group. */
CDEV_TEST(a_death_of_an_earlier_group)
{
    const uint64_t hour = 3600ull * 1000000000u;

    scene_begin(GBA_WAIT_YIELD);
    pair.team[0]->watchdog.report_after = hour;
    fake_driver_post_died();
    assert_int_equal(gba_barrier_start(pair.team[0]), GBA_OK);
    fake_kernel_run();
    while (!pair.team[0]->watchdog.died)
        assert_int_equal(gba_barrier_progress(pair.team[0]), GBA_INPROGRESS);
    other_arrives();
    fake_kernel_run();
    assert_int_equal(gba_barrier_test(pair.team[0]), GBA_OK);
    assert_int_equal(gba_barrier_test(pair.team[1]), GBA_OK);
    thread_oob_run(2, 0, member_recover, NULL);
    assert_int_equal(gba_team_path(pair.team[0]), GBA_PATH_SOFTWARE);
    assert_int_equal(gba_team_path(pair.team[1]), GBA_PATH_SOFTWARE);
    assert_int_equal(gba_barrier_start(pair.team[0]), GBA_OK);
    assert_int_equal(gba_barrier_progress(pair.team[0]), GBA_INPROGRESS);
    assert_int_equal(pair.team[0]->watchdog.stall.due,
                     pair.team[0]->watchdog.stall.place.since + hour);
    other_arrives();
    while (GBA_OK != gba_barrier_test(pair.team[0]) || GBA_OK != gba_barrier_test(pair.team[1]))
        ;
    scene_end();
}

TEST_MAIN()
