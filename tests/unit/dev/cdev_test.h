/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the tests of the backend for /dev/gbaN: a device on the fake kernel, and its
 * log. */
#ifndef GBA_TESTS_CDEV_TEST_H
#define GBA_TESTS_CDEV_TEST_H

#include <errno.h>

#include "gba/dev/cdev.h"
#include "tests/suite.h"
#include "tests/unit/dev/fake_kernel.h"
#include "tests/unit/log_catch.h"

static const gba_group_request_t cdev_request = {.members = 1};
static const struct gba_dev_path cdev_path = {.kind = GBA_DEV_CDEV, .file = FAKE_KERNEL_PATH};

static inline int cdev_setup(void **state)
{
    (void)state;
    gba_log_set(log_catch, NULL, GBA_LOG_WARN);
    fake_kernel_start(GBA_GROUPS);
    log_forget();
    return 0;
}

/* Checks the end of every test: nothing is left, and the library made no forbidden call. */
static inline int cdev_teardown(void **state)
{
    const uint32_t slots = fake_kernel_slots();

    (void)state;
    fake_kernel_stop();
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    if (0 != fake_kernel.seen.violations)
        print_error("%u violations, first: %s\n", fake_kernel.seen.violations,
                    fake_kernel.seen.violation);
    if (0 != fake_kernel.seen.open_files + fake_kernel.seen.doorbells + fake_kernel.seen.pages)
        print_error("%u files, %u doorbells, %u flag pages are left\n", fake_kernel.seen.open_files,
                    fake_kernel.seen.doorbells, fake_kernel.seen.pages);
    return 0 != fake_kernel.seen.violations + fake_kernel.seen.open_files +
                    fake_kernel.seen.doorbells + fake_kernel.seen.pages + slots;
}

#define CDEV_TEST(name) TEST_WITH(name, cdev_setup, cdev_teardown, NULL)

static inline struct gba_dev *cdev_open(void)
{
    struct gba_dev *dev = NULL;

    assert_int_equal(gba_dev_cdev.open(&cdev_path, NULL, &dev), GBA_OK);
    return dev;
}

static inline uint32_t cdev_free_groups(struct gba_dev *of)
{
    gba_device_info_t info;

    assert_int_equal(gba_dev_cdev.query(of, &info), GBA_OK);
    return info.groups_free;
}

static inline gba_group_handle_t cdev_alloc(struct gba_dev *dev, uint32_t members)
{
    const gba_group_request_t request = {.members = members};
    gba_group_handle_t handle;

    assert_int_equal(gba_dev_cdev.alloc(dev, &request, &handle), GBA_OK);
    return handle;
}

/* A member with its flag. */
static inline struct gba_membership *cdev_membership(struct gba_dev *dev,
                                                     const gba_group_handle_t *handle,
                                                     uint32_t member)
{
    struct gba_membership *membership = NULL;

    assert_int_equal(gba_dev_cdev.join(dev, handle, member, &membership), GBA_OK);
    assert_int_equal(gba_dev_cdev.map_flag(membership), GBA_OK);
    return membership;
}

static struct gba_dev *dev; /* of a test, opened before it */

static inline int dev_setup(void **state)
{
    cdev_setup(state);
    dev = cdev_open();
    return 0;
}

/* All groups are free, and the test has checked all lines of the log. */
static inline int dev_teardown(void **state)
{
    const uint32_t free_groups = cdev_free_groups(dev);

    gba_dev_cdev.close(dev);
    assert_silent();
    return cdev_teardown(state) + (free_groups != GBA_GROUPS);
}

#define DEV_TEST(name) TEST_WITH(name, dev_setup, dev_teardown, NULL)

#endif
