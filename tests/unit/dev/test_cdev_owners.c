/* SPDX-License-Identifier: BSD-3-Clause */
/* The owners of the groups of a /dev/gbaN that the library lists. Its members have doorbells, so
 * this test needs a machine whose stores reach a device. */
#include "tests/unit/dev/cdev_test.h"
#include "tests/unit/dev/fake_driver.h"

/* The owners that the library lists: those of the caller's user, or all for the administrator. */
CDEV_TEST(test_DRV_20_owners)
{
    gba_group_owner_t list[GBA_GROUPS];
    struct gba_membership *first, *second;
    gba_group_handle_t mine, other;
    struct gba_dev *next;
    uint32_t count = 99;

    fake_kernel.uid = 7;
    next = cdev_open();
    other = cdev_alloc(next, 3);
    fake_kernel.uid = 5;
    dev = cdev_open();
    mine = cdev_alloc(dev, 2);
    assert_int_equal(gba_dev_cdev.owners(dev, list, GBA_GROUPS, &count), GBA_OK);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].group, mine.group);
    assert_int_equal(list[0].members, 2);
    assert_int_equal(list[0].present, 0);
    assert_int_equal(list[0].user, 5);
    assert_true(list[0].local);
    assert_int_equal(list[0].process, ((struct gba_cdev *)dev)->file.number);
    assert_int_equal(list[0].job, ((struct gba_cdev *)dev)->job);
    /* The lowest member owns it from the first join on. */
    second = cdev_membership(next, &mine, 1);
    assert_int_equal(gba_dev_cdev.owners(dev, list, GBA_GROUPS, &count), GBA_OK);
    assert_int_equal(list[0].process, ((struct gba_cdev *)next)->file.number);
    first = cdev_membership(dev, &mine, 0);
    fake_kernel.admin = true;
    assert_int_equal(gba_dev_cdev.owners(dev, list, GBA_GROUPS, &count), GBA_OK);
    assert_int_equal(count, 2);
    assert_int_equal(list[mine.group].present, 2);
    assert_int_equal(list[mine.group].process, ((struct gba_cdev *)dev)->file.number);
    assert_int_equal(list[other.group].user, 7);
    assert_int_equal(gba_dev_cdev.owners(dev, list, 1, &count), GBA_OK);
    assert_int_equal(count, 1);
    gba_dev_cdev.leave(first);
    gba_dev_cdev.leave(second);
    gba_dev_cdev.cancel(next, &other);
    gba_dev_cdev.close(next);
    gba_dev_cdev.close(dev);
}

/* An older driver of this version has no OWNER, and the library does not call it. */
CDEV_TEST(owners_of_an_older_driver)
{
    gba_group_owner_t list[GBA_GROUPS];
    uint32_t count, calls;

    fake_kernel.features &= ~GBA_FEATURE_OWNER;
    dev = cdev_open();
    calls = fake_kernel.seen.ioctls;
    assert_int_equal(gba_dev_cdev.owners(dev, list, GBA_GROUPS, &count), GBA_ERR_UNSUPPORTED);
    assert_int_equal(fake_kernel.seen.ioctls, calls);
    gba_dev_cdev.close(dev);
}

static gba_status_t ask(struct gba_dev *of, uint32_t groups_max, gba_group_handle_t *handle)
{
    const gba_group_request_t request = {.members = 2, .groups_max = groups_max};

    return gba_dev_cdev.alloc(of, &request, handle);
}

/* The number of a job is the same in all its processes, and differs from that of other jobs. */
CDEV_TEST(jobs)
{
    static const gba_device_attr_t attr[] = {
        {.job = "123.0"}, {.job = "123.0"}, {.job = "124.0"}, {.job = NULL}};
    struct gba_dev *of[4];
    gba_group_handle_t handle;

    for (int i = 0; i < 4; i++)
        assert_int_equal(gba_dev_cdev.open(&cdev_path, &attr[i], &of[i]), GBA_OK);
    assert_int_equal(ask(of[0], 2, &handle), GBA_OK);
    assert_int_equal(ask(of[1], 2, &handle), GBA_OK);
    assert_int_equal(ask(of[0], 2, &handle), GBA_ERR_LIMIT);
    assert_int_equal(ask(of[1], 2, &handle), GBA_ERR_LIMIT);
    assert_int_equal(ask(of[2], 1, &handle), GBA_OK);
    assert_int_equal(ask(of[3], 1, &handle), GBA_OK);
    assert_int_equal(ask(of[3], 1, &handle), GBA_ERR_LIMIT);
    gba_dev_cdev.close(of[1]);
    assert_int_equal(ask(of[0], 2, &handle), GBA_OK);
    gba_dev_cdev.close(of[0]);
    gba_dev_cdev.close(of[2]);
    gba_dev_cdev.close(of[3]);
}

/* The administrator's limit of each user, and the limit of a job, which is one of its user. */
CDEV_TEST(test_DRV_11_limits)
{
    static const gba_device_attr_t attr = {.job = "123.0"};
    gba_group_handle_t handle;
    struct gba_dev *of[2];

    for (uint32_t i = 0; i < 2; i++) {
        fake_kernel.uid = i;
        assert_int_equal(gba_dev_cdev.open(&cdev_path, &attr, &of[i]), GBA_OK);
        assert_int_equal(ask(of[i], 1, &handle), GBA_OK);
        fake_kernel.user_groups_max = 1;
        assert_int_equal(ask(of[i], 1, &handle), GBA_ERR_LIMIT);
        assert_int_equal(ask(of[i], 0, &handle), GBA_ERR_QUOTA);
        fake_kernel.user_groups_max = 0;
    }
    while (GBA_OK == ask(of[0], 0, &handle))
        ;
    assert_int_equal(ask(of[0], 0, &handle), GBA_ERR_NO_GROUP);
    assert_int_equal(ask(of[0], 1, &handle), GBA_ERR_LIMIT); /* the limit comes before the lack */
    gba_dev_cdev.close(of[0]);
    gba_dev_cdev.close(of[1]);
}

static void write_1(uint32_t reg, uint32_t value)
{
    fake_driver_access(1, GBA_PORT_REG(reg), 4, true, value);
}

/* A command of the host at port 1 about that group, as member 0. */
static void command_1(uint32_t code, gba_group_handle_t *handle, uint32_t value)
{
    write_1(GBA_PORT_GROUP, handle->group);
    write_1(GBA_PORT_GENERATION, handle->generation);
    fake_driver_access(1, GBA_PORT_REG(GBA_PORT_KEY), 8, true, handle->key);
    write_1(GBA_PORT_MEMBER, 0);
    write_1(GBA_PORT_VALUE, value);
    write_1(GBA_PORT_COMMAND, code);
    assert_int_equal(fake_driver_access(1, GBA_PORT_REG(GBA_PORT_RESULT), 4, false, 0),
                     GBA_RESULT_OK);
    handle->generation =
        (uint32_t)fake_driver_access(1, GBA_PORT_REG(GBA_PORT_GENERATION), 4, false, 0);
}

/* A group that this host allocated has ended, and another host has it now: it does not count. */
DEV_TEST(test_DRV_11_a_group_of_another_host_does_not_count)
{
    gba_group_handle_t handle, own;

    assert_int_equal(ask(dev, 1, &handle), GBA_OK);
    assert_int_equal(ask(dev, 1, &own), GBA_ERR_LIMIT);
    command_1(GBA_CMD_JOIN, &handle, 0);
    command_1(GBA_CMD_LEAVE, &handle, 0);
    command_1(GBA_CMD_ALLOC, &handle, 1);
    assert_int_equal(ask(dev, 1, &own), GBA_OK);
    assert_int_not_equal(own.group, handle.group);
    assert_int_equal(ask(dev, 1, &own), GBA_ERR_LIMIT);
    command_1(GBA_CMD_FREE, &handle, 0);
    gba_dev_cdev.cancel(dev, &own);
}

TEST_MAIN()
