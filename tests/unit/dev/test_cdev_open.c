/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening /dev/gbaN: which file is a GBA, which is not, and the message to the user. */
#include "tests/unit/dev/cdev_test.h"

/* Opening fails with that status, and leaves nothing open. line: the text that is logged; NULL:
 * none. */
static void refused(gba_status_t expected, const char *line)
{
    struct gba_dev *const untouched = (struct gba_dev *)(uintptr_t)&log_lines;
    struct gba_dev *opened = untouched;

    assert_int_equal(gba_dev_cdev.open(&cdev_path, NULL, &opened), expected);
    assert_ptr_equal(opened, untouched);
    assert_int_equal(fake_kernel.seen.open_files, 0);
    if (line == NULL)
        assert_silent();
    else
        assert_logged(line);
}

/* One call fails once. Without a file the caller knows whether the user requested the device. The
 * QUERY of version 2 is answered by old drivers only; here a GBA of this version answers. */
CDEV_TEST(calls_that_fail)
{
    static const char other_driver[] = "/dev/gba0 is not a GBA: another driver serves this file";
    static const struct {
        unsigned long call;
        int error;
        gba_status_t status;
        const char *line;
    } rows[] = {
        {FAKE_OPEN, ENOENT, GBA_ERR_NO_DEVICE, NULL},
        {FAKE_OPEN, ENOTDIR, GBA_ERR_NO_DEVICE, NULL},
        {FAKE_OPEN, ENODEV, GBA_ERR_NO_DEVICE,
         "cannot open /dev/gba0: No such device (no driver serves this file)"},
        {FAKE_OPEN, ENXIO, GBA_ERR_NO_DEVICE,
         "cannot open /dev/gba0: No such device or address (no driver serves this file)"},
        {FAKE_OPEN, EACCES, GBA_ERR_PERM, "cannot open /dev/gba0: Permission denied"},
        {FAKE_OPEN, EPERM, GBA_ERR_PERM, "cannot open /dev/gba0: Operation not permitted"},
        {FAKE_OPEN, EMFILE, GBA_ERR_NO_FILES, "cannot open /dev/gba0: Too many open files"},
        {FAKE_OPEN, ENOMEM, GBA_ERR_NOMEM, "/dev/gba0"},
        {FAKE_OPEN, EBUSY, GBA_ERR_BUSY, "cannot open /dev/gba0: Device or resource busy"},
        {FAKE_OPEN, EISDIR, GBA_ERR_NOT_GBA, "/dev/gba0"},
        {FAKE_OPEN, EDOM, GBA_ERR_IO, "/dev/gba0"},
        {FAKE_FSTAT, EIO, GBA_ERR_IO, "/dev/gba0: Input/output error"},
        {GBA_IOC_QUERY, ENODEV, GBA_ERR_NO_DEVICE, "cannot query /dev/gba0: the device was unplug"},
        {GBA_IOC_QUERY, EFAULT, GBA_ERR_IO, "cannot query /dev/gba0: Bad address"},
        {GBA_IOC_QUERY, ENOTTY, GBA_ERR_NOT_GBA, other_driver},
        {GBA_IOC_QUERY, EINVAL, GBA_ERR_NOT_GBA, other_driver},
        {GBA_IOC_QUERY, ENOSYS, GBA_ERR_NOT_GBA, other_driver},
        {GBA_IOC_QUERY, EOPNOTSUPP, GBA_ERR_NOT_GBA, other_driver},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake_kernel_fail(rows[i].call, rows[i].error, 1);
        refused(rows[i].status, rows[i].line);
    }
}

/* Files and drivers that are none, or of other versions. */
CDEV_TEST(other_drivers)
{
    static const char needs[] = "; this library needs driver interface 3 and registers 3.x";
    static const char ranges[] = "; allowed: 1 to 32 groups of 1 to 708 members";
    static const struct {
        size_t field; /* of fake_kernel */
        uint32_t value;
        gba_status_t status;
        const char *line, *more;
    } rows[] = {
#define FIELD(name) offsetof(struct fake_kernel, name)
        {FIELD(no_device), 1, GBA_ERR_NO_DEVICE, NULL, ""},
        {FIELD(plain_file), 1, GBA_ERR_NOT_GBA, "/dev/gba0 is not a GBA: it is not a char", ""},
        {FIELD(old_driver), 1, GBA_ERR_VERSION, "has driver interface 2 and registers 3.0", needs},
        {FIELD(abi_version), 4, GBA_ERR_VERSION, "has driver interface 4 and registers 3.0", needs},
        {FIELD(regs_version), (GBA_REGS_MAJOR + 1) << 16 | 5, GBA_ERR_VERSION, "registers 4.5", ""},
        {FIELD(groups), 0, GBA_ERR_IO, "0 groups of 708 members", ranges},
        {FIELD(groups), 33, GBA_ERR_IO, "33 groups of 708 members", ranges},
        {FIELD(members_max), 709, GBA_ERR_IO, "709", ""},
        {FIELD(members_max), 0, GBA_ERR_IO, "", ""},
#undef FIELD
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t bytes = i < 3 ? sizeof(bool) : sizeof(uint32_t);
        const bool truth = 0 != rows[i].value;
        char kept[sizeof(uint32_t)], *field = (char *)&fake_kernel + rows[i].field;

        memcpy(kept, field, bytes);
        memcpy(field, i < 3 ? (const void *)&truth : &rows[i].value, bytes);
        refused(rows[i].status, rows[i].line);
        assert_true(rows[i].line == NULL || strstr(log_last, rows[i].more) != NULL);
        if (1 == i)
            assert_int_equal(fake_kernel.seen.ioctls, 0); /* no call on a file that is no device */
        memcpy(field, kept, bytes);
    }
    fake_kernel.regs_version = GBA_REGS_MAJOR << 16 | 9; /* more registers, none changed */
    gba_dev_cdev.close(cdev_open());
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
        struct gba_dev *opened;

        strcpy(path.file, files[i].path);
        assert_int_equal(gba_dev_cdev.open(&path, NULL, &opened), files[i].status);
        if (GBA_ERR_NO_DEVICE == files[i].status)
            assert_silent();
        else
            assert_logged(files[i].path);
    }
    fake_kernel_start(GBA_GROUPS);
}

DEV_TEST(interrupted)
{
    fake_kernel_fail(FAKE_OPEN, EINTR, 3);
    gba_dev_cdev.close(cdev_open());
    fake_kernel_fail(GBA_IOC_QUERY, EINTR, 3);
    gba_dev_cdev.close(cdev_open());
}

/* A CPU whose stores cannot reach the doorbell, s390x, gets no membership. */
DEV_TEST(a_cpu_without_mmio)
{
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
}

TEST_MAIN()
