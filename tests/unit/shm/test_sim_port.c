/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports of the simulator: who claims one, what happens when its process dies, also inside a
 * lock of the device, and when none is free.
 */
#include "tests/limit.h"
#include "gba/base/process.h"
#include "tests/unit/shm/sim_test.h"

#include "gba/spec/gba_ioctl.h"

static struct gba_sim_dev *sim(struct gba_dev *of)
{
    return (struct gba_sim_dev *)of;
}

/* The ports of this process, of its parent, and of dead processes. A gba_info that lists all
 * devices also has a port, for a moment. */
static uint32_t ports_used(void)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < GBA_PORTS_MAX; i++) {
        const struct gba_sim_port *port = &sim_segment(dev)->port[i];
        const uint64_t pid = gba_word_load_acquire(&port->pid);

        used +=
            0 != pid && ((uint64_t)getpid() == pid || (uint64_t)getppid() == pid ||
                         !gba_process_alive((uint32_t)pid, gba_word_load_relaxed(&port->start)));
    }
    return used;
}

/* Each open takes a port, and its close frees it. */
SIM_TEST(test_open)
{
    struct gba_dev *other;

    assert_int_equal(gba_sim_holder(sim(dev)), 1);
    assert_int_equal(gba_sim_holder_pid(sim_segment(dev), 1), getpid());
    assert_int_equal(gba_sim_holder_pid(sim_segment(dev), 2), 0);
    assert_int_equal(gba_sim_holder_pid(sim_segment(dev), GBA_PORTS_MAX + 1), 0);
    other = sim_open(&path);
    assert_non_null(other);
    assert_int_equal(gba_sim_holder(sim(other)), 2);
    assert_int_equal(ports_used(), 2);
    gba_dev_sim.close(other);
    assert_int_equal(ports_used(), 1);
}

/* A close withdraws what its port holds, and nothing of another port of the process. */
SIM_TEST(test_close)
{
    struct gba_dev *other = sim_open(&path);
    const struct gba_model_record *record = &sim_segment(dev)->model.group[0].record;
    struct gba_membership *mine, *left;
    gba_group_handle_t handle, unused;

    assert_int_equal(sim_alloc(dev, 2, &handle), GBA_OK);
    mine = sim_join(dev, &handle, 0, 0);
    left = sim_join(other, &handle, 1, 0);
    assert_non_null(mine);
    assert_non_null(left);
    assert_int_equal(sim_alloc(other, 2, &unused), GBA_OK);
    assert_int_equal(gba_dev_sim.configure(mine, 0), GBA_OK);
    gba_dev_sim.close(other);
    assert_int_equal(record->present, 1);
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 1);
    free(left);
    gba_dev_sim.leave(mine);
}

/* A child of fork has a port of its own from its first allocation or membership on, and cannot
 * leave for its parent. What the child held is taken back after its death. */
SIM_TEST(test_child)
{
    const struct gba_model_record *record = &sim_segment(dev)->model.group[0].record;
    struct gba_membership *living;
    gba_group_handle_t handle, other;
    gba_group_owner_t owner[GBA_GROUPS];
    uint32_t count;
    pid_t child;

    assert_int_equal(sim_alloc(dev, 3, &handle), GBA_OK);
    living = sim_join(dev, &handle, 2, 0);
    assert_non_null(living);
    child = sim_fork();
    if (0 == child) {
        CHECK(GBA_SIM_NOBODY == gba_sim_holder(sim(dev)));
        gba_dev_sim.leave(living);
        CHECK(1 == record->present);
        CHECK(sim_join(dev, &handle, 0, 0) != NULL);
        CHECK(2 == gba_sim_holder(sim(dev)));
        CHECK(sim_join(dev, &handle, 1, 0) != NULL);
        CHECK(GBA_OK == sim_alloc(dev, 2, &other));
        CHECK(2 == ports_used());
        CHECK(GBA_OK == gba_dev_sim.owners(dev, owner, GBA_GROUPS, &count) && 2 == count);
        CHECK((uint32_t)getpid() == owner[0].process); /* the lowest member */
        CHECK((uint32_t)getpid() == owner[1].process);
        raise(SIGKILL);
    }
    assert_true(sim_child_killed(child));
    assert_int_equal(ports_used(), 2);
    assert_int_equal(gba_dev_sim.owners(dev, owner, GBA_GROUPS, &count), GBA_OK);
    assert_int_equal(count, 1);
    assert_int_equal(owner[0].process, getpid());
    assert_int_equal(owner[0].present, 1);
    assert_int_equal(ports_used(), 1);
    assert_int_equal(record->present, 1);
    gba_dev_sim.leave(living);
}

/* A process number that was used again: its start time shows that the owner of the port is dead. */
SIM_TEST(test_another_start)
{
    struct gba_sim_port *port = &sim_segment(dev)->port[5];
    struct gba_process self;

    gba_process_read((uint32_t)getpid(), &self);
    gba_word_store_relaxed(&port->start, self.start + 1);
    gba_word_store_relaxed(&port->pid, (uint64_t)getpid());
    gba_sim_reap(sim_segment(dev));
    assert_int_equal(ports_used(), 1);
}

/* If all ports are in use, an open fails, and a child of fork gets no group. The port of a dead
 * process is in use only until then. */
SIM_TEST(test_all_in_use)
{
    struct gba_dev *other = NULL;
    struct gba_sim_segment *segment = sim_segment(dev);
    pid_t child;

    for (uint32_t port = 1; port < GBA_PORTS_MAX; port++) {
        gba_word_store_relaxed(&segment->port[port].start,
                               gba_word_load_relaxed(&segment->port[0].start));
        gba_word_store_relaxed(&segment->port[port].pid, (uint64_t)getpid());
    }
    assert_int_equal(gba_dev_sim.open(&path, NULL, &other), GBA_ERR_BUSY);
    assert_null(other);
    child = sim_fork();
    if (0 == child) {
        gba_group_handle_t handle;

        CHECK(GBA_ERR_BUSY == sim_alloc(dev, 2, &handle));
        CHECK(GBA_GROUPS == sim_info(dev).groups_free);
        raise(SIGKILL);
    }
    assert_true(sim_child_killed(child));
    gba_word_store_relaxed(&segment->port[7].pid, (uint64_t)child);
    assert_int_equal(gba_dev_sim.open(&path, NULL, &other), GBA_OK);
    assert_int_equal(gba_sim_holder(sim(other)), 8);
    gba_dev_sim.close(other);
}

/* A process damages a group while it has that lock, or all locks, and is killed. */
static void kill_inside(bool all)
{
    pid_t child = sim_fork();

    if (0 == child) {
        CHECK(GBA_OK ==
              (all ? gba_sim_lock_all(sim_segment(dev)) : gba_sim_group_lock(sim_segment(dev), 0)));
        sim_segment(dev)->model.group[0].core.arrived_count++;
        raise(SIGKILL);
    }
    assert_true(sim_child_killed(child));
}

/* The members see that the device is dead, and none is released. */
TEST(test_killed_inside_a_lock)
{
    for (int all = 0; all < 2; all++) {
        gba_group_state_t group;
        gba_group_handle_t handle;

        sim_begin((struct gba_sim_options){0});
        sim_group(3, 0);
        sim_arrive(member[0], 1);
        kill_inside(all);
        sim_arrive(member[1], 1); /* with the damage it would complete the round */
        for (uint32_t i = 0; i < members; i++)
            assert_false(sim_released(member[i], 1));
        assert_int_equal(gba_dev_sim.inspect(member[0], &group), GBA_ERR_DEAD);
        assert_int_equal(sim_alloc(dev, 1, &handle), GBA_ERR_DEAD);
        assert_true(sim_info(dev).dead);
        sim_leave();
        gba_dev_sim.close(dev);
    }
}

/* The next open finds the device dead and makes another one, while the members of the dead one
 * still have it open. Later ones open the new one. */
TEST(test_another_one_of_that_name)
{
    for (int all = 0; all < 2; all++) {
        struct gba_dev *old, *third;

        sim_begin((struct gba_sim_options){.groups = 2});
        sim_group(2, 0);
        kill_inside(all);
        old = dev;
        dev = sim_open(&path);
        assert_non_null(dev);
        assert_true(sim_info(dev).created);
        assert_memory_not_equal(sim_info(dev).uuid, unit, sizeof unit);
        third = sim_open(&path);
        assert_memory_equal(sim_info(third).uuid, sim_info(dev).uuid, sizeof unit);
        gba_dev_sim.close(third);
        sim_leave();
        sim_group(2, 0);
        sim_round(1);
        assert_true(sim_info(old).dead);
        gba_dev_sim.close(old);
        sim_round(2);
        sim_end();
    }
}

/* A process of the same job gets no other device, and neither does a process that lists it. */
TEST(test_a_dead_device_of_a_job)
{
    const gba_device_attr_t attr = {.job = __FILE__};
    struct gba_dev_path of_job = {.kind = GBA_DEV_SIM}, key = of_job;
    struct gba_dev *first, *later;
    gba_group_handle_t handle;

    snprintf(key.name, sizeof key.name, "@%016llx", (unsigned long long)gba_dev_job(attr.job));
    assert_int_equal(gba_dev_sim.open(&of_job, &attr, &first), GBA_OK);
    dev = first;
    kill_inside(false);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gba_dev_sim.open(i ? &key : &of_job, &attr, &later), GBA_OK);
        assert_memory_equal(sim_info(later).uuid, sim_info(first).uuid, sizeof unit);
        assert_true(sim_info(later).dead);
        assert_int_equal(sim_alloc(later, 1, &handle), GBA_ERR_DEAD);
        gba_dev_sim.close(later);
    }
    gba_dev_sim.close(first);
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))
