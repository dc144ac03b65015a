/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports of the simulator: who claims one, what happens when its process dies or is killed
 * meanwhile, and when none is free.
 */
#include "tests/limit.h"
#include "gba/base/process.h"
#include "tests/unit/sim_test.h"

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

/* A child of fork has a port of its own from its first allocation or membership on. Another process
 * claims the port only after all that the child held was taken back. */
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
    gba_sim_reap(sim(dev));
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

static void claim_and_end(void *arg)
{
    uint32_t holder;

    raise(SIGSTOP);
    CHECK(GBA_OK == gba_sim_port_claim(arg, &holder));
    gba_sim_port_release(arg);
}

/* A process is killed at any instruction while it claims or frees a port: the port is free again,
 * and its number is used again. */
SIM_TEST(test_step_claim)
{
    uint32_t held = 0;
    int ended = 0;

    sim_group(2, 0);
    for (unsigned int steps = 0; 0 == ended; steps += 61 + steps / 8) {
        ended = sim_step_and_kill(claim_and_end, dev, steps);
        if (ended < 0)
            skip();
        assert_in_range(ports_used(), 1, 2);
        held += 2 == ports_used();
        gba_sim_reap(sim(dev));
        assert_int_equal(ports_used(), 1);
        assert_int_equal(gba_sim_holder(sim(dev)), 1);
        assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 1);
    }
    assert_true(held > 0);
    sim_round(1);
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))
