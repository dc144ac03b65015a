/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of /dev/gbaN that are taken back, on the fake kernel. */
#include "tests/unit/cdev_test.h"
#include "tests/unit/log_catch.h"

#include "sim/model/reclaim.h"

static gba_status_t ask(struct gba_dev *dev, uint32_t barrier_rate, uint32_t groups_max,
                        gba_group_handle_t *handle)
{
    const gba_group_request_t request = {
        .members = 2, .groups_max = groups_max, .barrier_rate = barrier_rate};

    return gba_dev_cdev.alloc(dev, &request, handle);
}

static void team_make(struct gba_dev *dev, const gba_group_handle_t *handle,
                      struct gba_membership **membership)
{
    for (uint32_t i = 0; i < 2; i++)
        membership[i] = cdev_membership(dev, handle, i);
    assert_int_equal(gba_dev_cdev.configure(membership[0], 0), GBA_OK);
}

static void arrive(struct gba_membership *membership, uint32_t sequence)
{
    gba_dev_cdev.arrive(membership, GBA_ARRIVAL(sequence, membership->member));
    assert_int_equal(fake_kernel_run(), 1);
}

static uint64_t flag(const struct gba_membership *membership)
{
    return gba_flag_load_acquire(membership->flag);
}

/* A device with one group, in two files: the team that has the group, and the team that gets it. */
CDEV_TEST(one_group_changes_hands)
{
    struct gba_dev *dev = cdev_open(), *other = cdev_open();
    gba_group_handle_t handle = cdev_alloc(dev, 2), taken;
    struct gba_membership *old[2], *new[2];
    gba_group_state_t group;
    uint32_t slots;

    fake_kernel_fail(GBA_IOC_ALLOC, EDQUOT, 1);
    assert_int_equal(ask(other, 0, 1, &taken), GBA_ERR_LIMIT);
    team_make(dev, &handle, old);
    arrive(old[0], 1);
    arrive(old[1], 1);
    fake_kernel.uid = 1; /* the other groups are another user's */
    for (uint32_t i = 1; i < GBA_GROUPS; i++)
        cdev_alloc(other, 1);
    fake_kernel.uid = 0;
    fake_kernel.now += GBA_USAGE_WINDOW_NS;
    assert_int_equal(ask(other, 0, 0, &taken), GBA_ERR_NO_GROUP);
    assert_int_equal(ask(other, UINT32_MAX, 0, &taken), GBA_OK);
    assert_int_equal(taken.group, handle.group);
    assert_int_not_equal(taken.generation, handle.generation);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(flag(old[i]) == (GBA_FLAG_RECLAIMED | 1));
        assert_int_equal(gba_dev_cdev.failure(old[i]), GBA_ERR_RECLAIMED);
        assert_int_equal(gba_dev_cdev.inspect(old[i], &group), GBA_ERR_RECLAIMED);
        assert_int_equal(gba_dev_cdev.configure(old[i], 1), GBA_ERR_STALE);
    }
    team_make(other, &taken, new);
    /* Arrivals of the old members count nowhere, and rounds of the new members release no old
     * member. */
    arrive(old[0], 1);
    arrive(new[1], 1);
    assert_int_equal(gba_dev_cdev.inspect(new[0], &group), GBA_OK);
    assert_int_equal(group.arrived_count, 1);
    assert_true(group.arrived_mask[0] == 2);
    arrive(new[0], 1);
    for (uint32_t round = 2; round < 9; round++)
        for (uint32_t i = 0; i < 2; i++)
            arrive(new[i], round);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(flag(new[i]) == 8);
        assert_true(flag(old[i]) == (GBA_FLAG_RECLAIMED | 1));
    }
    /* One leaves by itself, the other by the end of its process; the new ones go on. */
    slots = fake_kernel.seen.slots;
    gba_dev_cdev.leave(old[0]);
    assert_int_equal(fake_kernel.seen.slots, slots - 1);
    arrive(new[0], 9);
    gba_dev_cdev.leave(old[1]);
    gba_dev_cdev.close(dev);
    assert_int_equal(fake_kernel.seen.slots, 2);
    arrive(new[1], 9);
    assert_true(flag(new[0]) == 9 && flag(new[1]) == 9);
    gba_dev_cdev.leave(new[0]);
    gba_dev_cdev.leave(new[1]);
    gba_dev_cdev.close(other);
    assert_silent(); /* not a fault, so not logged */
}

/* The number of a job is the same in all its processes, and differs from that of other jobs. */
CDEV_TEST(jobs)
{
    static const gba_device_attr_t attr[] = {
        {.job = "123.0"}, {.job = "123.0"}, {.job = "124.0"}, {.job = NULL}};
    struct gba_dev *dev[4];
    gba_group_handle_t handle;

    for (int i = 0; i < 4; i++)
        assert_int_equal(gba_dev_cdev.open(&cdev_path, &attr[i], &dev[i]), GBA_OK);
    assert_int_equal(ask(dev[0], 0, 2, &handle), GBA_OK);
    assert_int_equal(ask(dev[1], 0, 2, &handle), GBA_OK);
    assert_int_equal(ask(dev[0], 0, 2, &handle), GBA_ERR_LIMIT);
    assert_int_equal(ask(dev[1], 0, 2, &handle), GBA_ERR_LIMIT);
    assert_int_equal(ask(dev[2], 0, 1, &handle), GBA_OK);
    assert_int_equal(ask(dev[3], 0, 1, &handle), GBA_OK);
    assert_int_equal(ask(dev[3], 0, 1, &handle), GBA_ERR_LIMIT);
    gba_dev_cdev.close(dev[1]);
    assert_int_equal(ask(dev[0], 0, 2, &handle), GBA_OK);
    gba_dev_cdev.close(dev[0]);
    gba_dev_cdev.close(dev[2]);
    gba_dev_cdev.close(dev[3]);
}

TEST_MAIN()
