/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening /dev/gbaN: which file is a GBA, which is not, and the message to the user. */
#include "tests/unit/cdev_test.h"

/* Opening fails with that status, and leaves nothing open. */
static void refused(gba_status_t expected)
{
    struct gba_dev *const untouched = (struct gba_dev *)(uintptr_t)&log_lines;
    struct gba_dev *dev = untouched;

    log_forget();
    assert_int_equal(gba_dev_cdev.open(&cdev_path, NULL, &dev), expected);
    assert_ptr_equal(dev, untouched);
    assert_int_equal(fake_kernel.seen.open_files, 0);
}

CDEV_TEST(a_device)
{
    struct gba_dev *dev = cdev_open();
    gba_device_info_t info;

    assert_int_equal(gba_dev_cdev.query(dev, &info), GBA_OK);
    assert_string_equal(info.backend, "cdev");
    assert_int_equal(info.regs_version, GBA_REGS_MAJOR << 16 | GBA_REGS_MINOR);
    assert_int_equal(info.groups, GBA_GROUPS);
    assert_int_equal(info.groups_free, GBA_GROUPS);
    assert_int_equal(info.members_max, GBA_MEMBERS_MAX);
    assert_false(info.dead);
    assert_int_equal(info.uuid[1], 1);
    assert_int_equal(info.uuid[15], 15);
    gba_dev_cdev.close(dev);
    assert_silent();
}

/* That call fails once. line: the text that is logged; NULL: none. */
static void fails(unsigned long call, int error, gba_status_t expected, const char *line)
{
    fake_kernel_fail(call, error, 1);
    refused(expected);
    if (line == NULL)
        assert_silent();
    else
        assert_logged(line);
}

/* No file: the caller knows whether the user requested the device. */
CDEV_TEST(no_such_file)
{
    fails(FAKE_OPEN, ENOENT, GBA_ERR_NO_DEVICE, NULL);
    fails(FAKE_OPEN, ENOTDIR, GBA_ERR_NO_DEVICE, NULL);
    fake_kernel.no_device = true;
    refused(GBA_ERR_NO_DEVICE);
    assert_silent();
}

CDEV_TEST(a_file_without_a_device)
{
    fails(FAKE_OPEN, ENODEV, GBA_ERR_NO_DEVICE,
          "cannot open /dev/gba0: No such device (no driver serves this file)");
    fails(FAKE_OPEN, ENXIO, GBA_ERR_NO_DEVICE,
          "cannot open /dev/gba0: No such device or address (no driver serves this file)");
    fails(GBA_IOC_QUERY, ENODEV, GBA_ERR_NO_DEVICE,
          "cannot query /dev/gba0: the device was unplugged");
}

CDEV_TEST(permission_denied)
{
    fails(FAKE_OPEN, EACCES, GBA_ERR_PERM, "cannot open /dev/gba0: Permission denied");
    fails(FAKE_OPEN, EPERM, GBA_ERR_PERM, "cannot open /dev/gba0: Operation not permitted");
}

CDEV_TEST(other_errors_of_open)
{
    fails(FAKE_OPEN, EMFILE, GBA_ERR_NO_FILES, "cannot open /dev/gba0: Too many open files");
    fails(FAKE_OPEN, ENOMEM, GBA_ERR_NOMEM, "/dev/gba0");
    fails(FAKE_OPEN, EBUSY, GBA_ERR_BUSY, "cannot open /dev/gba0: Device or resource busy");
    fails(FAKE_FSTAT, EIO, GBA_ERR_IO, "/dev/gba0: Input/output error");
}
CDEV_TEST(something_else)
{
    static const int errors[] = {ENOTTY, EINVAL, ENOSYS, EOPNOTSUPP};

    fake_kernel.plain_file = true;
    refused(GBA_ERR_NOT_GBA);
    assert_logged("/dev/gba0 is not a GBA: it is not a character device");
    assert_int_equal(fake_kernel.seen.ioctls, 0); /* no call was made on a file that is no device */
    fake_kernel.plain_file = false;
    fails(FAKE_OPEN, EISDIR, GBA_ERR_NOT_GBA, "/dev/gba0");
    /* The QUERY of version 2 is answered by old drivers only; here a GBA of this version answers.
     */
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        fails(GBA_IOC_QUERY, errors[i], GBA_ERR_NOT_GBA,
              "/dev/gba0 is not a GBA: another driver serves this file");
}

/* The files of the system: the table of system calls is not replaced. */
CDEV_TEST(real_files)
{
    static const struct {
        const char *path;
        gba_status_t status;
    } files[] = {{"/dev/null", GBA_ERR_NOT_GBA},
                 {"/dev/random", GBA_ERR_NOT_GBA},
                 {"/dev", GBA_ERR_NOT_GBA},
                 {"/dev/null/gba0", GBA_ERR_NO_DEVICE},
                 {"/dev/no-such-gba", GBA_ERR_NO_DEVICE}};

    fake_kernel_stop();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct gba_dev_path path = {.kind = GBA_DEV_CDEV};
        struct gba_dev *dev;

        strcpy(path.file, files[i].path);
        log_forget();
        assert_int_equal(gba_dev_cdev.open(&path, NULL, &dev), files[i].status);
        if (GBA_ERR_NO_DEVICE == files[i].status)
            assert_silent();
        else
            assert_logged(files[i].path);
    }
    fake_kernel_start(GBA_GROUPS);
}

CDEV_TEST(another_version)
{
    fake_kernel.old_driver = true;
    refused(GBA_ERR_VERSION);
    assert_logged("/dev/gba0 has driver interface 2 and registers 2.0; this library needs driver "
                  "interface 3 and registers 2.x");
    fake_kernel.old_driver = false;
    fake_kernel.abi_version = 4;
    refused(GBA_ERR_VERSION);
    assert_logged("/dev/gba0 has driver interface 4 and registers 2.0; this library needs driver "
                  "interface 3 and registers 2.x");
    fake_kernel.abi_version = GBA_ABI_VERSION;
    fake_kernel.regs_version = (GBA_REGS_MAJOR + 1) << 16 | 5;
    refused(GBA_ERR_VERSION);
    assert_logged("registers 3.5");
    fake_kernel.regs_version = GBA_REGS_MAJOR << 16 | 9; /* more registers, none changed */
    gba_dev_cdev.close(cdev_open());
}

CDEV_TEST(a_driver_with_invalid_answers)
{
    fake_kernel.groups = 0;
    refused(GBA_ERR_IO);
    assert_logged("0 groups of 708 members; allowed: 1 to 32 groups of 1 to 708 members");
    fake_kernel.groups = 33;
    refused(GBA_ERR_IO);
    fake_kernel.groups = 32;
    fake_kernel.members_max = 709;
    refused(GBA_ERR_IO);
    assert_logged("709");
    fake_kernel.members_max = 0;
    refused(GBA_ERR_IO);
    fake_kernel.members_max = GBA_MEMBERS_MAX;
    fails(GBA_IOC_QUERY, EFAULT, GBA_ERR_IO, "cannot query /dev/gba0: Bad address");
}

CDEV_TEST(interrupted)
{
    fake_kernel_fail(FAKE_OPEN, EINTR, 3);
    gba_dev_cdev.close(cdev_open());
    fake_kernel_fail(GBA_IOC_QUERY, EINTR, 3);
    gba_dev_cdev.close(cdev_open());
    assert_silent();
}

CDEV_TEST(status_of_errno)
{
    bool expected = true;

    assert_int_equal(gba_cdev_status(GBA_CDEV_IOCTL, EUSERS, &expected), GBA_ERR_QUOTA);
    assert_true(expected);
    assert_int_equal(gba_cdev_status(GBA_CDEV_IOCTL, EPERM, &expected), GBA_ERR_PERM);
    assert_false(expected);
    assert_int_equal(gba_cdev_status(GBA_CDEV_MMAP, EPERM, &expected), GBA_ERR_PERM);
    assert_false(expected);
    assert_int_equal(gba_cdev_status(GBA_CDEV_IOCTL, ENODEV, &expected), GBA_ERR_DEAD);
    assert_true(expected);
    assert_int_equal(gba_cdev_status(GBA_CDEV_OPEN, ENOENT, &expected), GBA_ERR_NO_DEVICE);
    assert_true(expected);
    assert_int_equal(gba_cdev_status(GBA_CDEV_OPEN, ENODEV, &expected), GBA_ERR_NO_DEVICE);
    assert_false(expected);
    for (int call = GBA_CDEV_OPEN; call <= GBA_CDEV_MMAP; call++) {
        assert_int_equal(gba_cdev_status((enum gba_cdev_call)call, EDOM, &expected), GBA_ERR_IO);
        assert_false(expected);
    }
}

/* A CPU whose stores cannot reach the doorbell, s390x, gets no membership. */
CDEV_TEST(a_cpu_without_mmio)
{
    struct gba_dev *dev = cdev_open();
    const gba_group_handle_t handle = cdev_alloc(dev, 1);
    struct gba_membership *membership = NULL;
    gba_status_t status = gba_dev_cdev.join(dev, &handle, 0, &membership);
    uint64_t value = 0;

    if (GBA_MMIO_64) {
        assert_int_equal(status, GBA_OK);
        gba_dev_cdev.leave(membership);
    } else {
        assert_int_equal(status, GBA_ERR_UNSUPPORTED);
        assert_logged("a GBA needs 64-bit stores");
    }
    /* The kernel accesses registers for the library. */
    assert_int_equal(gba_dev_cdev.reg_read(dev, GBA_DEVICE_BASE, 4, &value), GBA_OK);
    gba_dev_cdev.close(dev);
}

TEST_MAIN()
