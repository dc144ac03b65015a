/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /dev/gbaN in use: every error of every call, and the state after it. The conformance suite covers
 * calls that succeed. test_cdev_flags.c covers release flags.
 */
#include "tests/unit/dev/cdev_test.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct expected_error {
    unsigned long request;
    int error;
    gba_status_t status;
    bool logged;
};

static const struct expected_error errors[] = {
    {GBA_IOC_QUERY, EIO, GBA_ERR_IO, true},
    {GBA_IOC_QUERY, EFAULT, GBA_ERR_IO, true},
    {GBA_IOC_ALLOC, ENOSPC, GBA_ERR_NO_GROUP, false},
    {GBA_IOC_ALLOC, EDQUOT, GBA_ERR_QUOTA, false},
    {GBA_IOC_ALLOC, EUSERS, GBA_ERR_QUOTA, false},
    {GBA_IOC_ALLOC, ENODEV, GBA_ERR_DEAD, false},
    {GBA_IOC_ALLOC, EINVAL, GBA_ERR_PARAM, true},
    {GBA_IOC_ALLOC, ENOMEM, GBA_ERR_NOMEM, true},
    {GBA_IOC_ALLOC, EPERM, GBA_ERR_PERM, true},
    {GBA_IOC_ALLOC, EIO, GBA_ERR_IO, true},
    {GBA_IOC_JOIN, ESTALE, GBA_ERR_STALE, false},
    {GBA_IOC_JOIN, EBUSY, GBA_ERR_BUSY, false},
    {GBA_IOC_JOIN, EDQUOT, GBA_ERR_QUOTA, false},
    {GBA_IOC_JOIN, EPERM, GBA_ERR_PERM, true},
    {GBA_IOC_JOIN, EINVAL, GBA_ERR_PARAM, true},
    {GBA_IOC_JOIN, E2BIG, GBA_ERR_IO, true},
    {GBA_IOC_JOIN, ENOMEM, GBA_ERR_NOMEM, true},
    {GBA_IOC_JOIN, ENODEV, GBA_ERR_DEAD, false},
    {FAKE_MMAP, EPERM, GBA_ERR_PERM, true}, /* joined, but no doorbell */
    {FAKE_MMAP, ENOMEM, GBA_ERR_NOMEM, true},
    {FAKE_MMAP, EAGAIN, GBA_ERR_NOMEM, true},
    {FAKE_MMAP, EINVAL, GBA_ERR_IO, true},
    {FAKE_MMAP, ENODEV, GBA_ERR_DEAD, false},
    {FAKE_MMAP_FLAG, ENOMEM, GBA_ERR_NOMEM, true},
    {FAKE_MMAP_FLAG, EAGAIN, GBA_ERR_NOMEM, true},
    {FAKE_MMAP_FLAG, EPERM, GBA_ERR_PERM, true},
    {FAKE_MMAP_FLAG, EINVAL, GBA_ERR_IO, true},
    {FAKE_MMAP_FLAG, ENODEV, GBA_ERR_DEAD, false},
    {GBA_IOC_CONFIGURE, ESTALE, GBA_ERR_STALE, false},
    {GBA_IOC_CONFIGURE, EINVAL, GBA_ERR_PARAM, true},
    {GBA_IOC_CONFIGURE, EAGAIN, GBA_ERR_BUSY, false},
    {GBA_IOC_CONFIGURE, EBUSY, GBA_ERR_BUSY, false},
    {GBA_IOC_CONFIGURE, ENODEV, GBA_ERR_DEAD, false},
    {GBA_IOC_INSPECT, ESTALE, GBA_ERR_STALE, false},
    {GBA_IOC_INSPECT, EINVAL, GBA_ERR_PARAM, true},
    {GBA_IOC_INSPECT, ENODEV, GBA_ERR_DEAD, false},
};

/* One whole life of a group, and the result of each call; it continues as far as possible. */
static gba_status_t live(void)
{
    gba_device_info_t info;
    gba_group_state_t group;
    gba_group_handle_t handle;
    struct gba_membership *membership = NULL;
    gba_status_t status = gba_dev_cdev.query(dev, &info);

    if (GBA_OK != status)
        return status;
    status = gba_dev_cdev.alloc(dev, &cdev_request, &handle);
    if (GBA_OK != status)
        return status;
    status = gba_dev_cdev.join(dev, &handle, 0, &membership);
    if (GBA_OK != status) {
        assert_null(membership);
        gba_dev_cdev.cancel(dev, &handle);
        return status;
    }
    status = gba_dev_cdev.map_flag(membership);
    if (GBA_OK != status)
        assert_null(membership->flag);
    if (GBA_OK == status)
        status = gba_dev_cdev.configure(membership, 5);
    if (GBA_OK == status)
        status = gba_dev_cdev.inspect(membership, &group);
    gba_dev_cdev.leave(membership);
    return status;
}

DEV_TEST(every_error_of_every_call)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        const struct expected_error *e = &errors[i];
        gba_status_t status;

        fake_kernel_fail(e->request, e->error, 1);
        status = live();
        if (e->status != status || e->logged != (1 == log_lines) ||
            (FAKE_MMAP == e->request && e->logged &&
             strstr(log_last, "cannot map the doorbell of GBA group") == NULL))
            fail_msg("call %lu, %s: %s, %u lines", _IOC_NR(e->request), strerror(e->error),
                     gba_status_name(status), log_lines);
        log_forget();
        assert_int_equal(cdev_free_groups(dev), GBA_GROUPS);
        assert_int_equal(fake_kernel_slots(), 0);
        assert_int_equal(fake_kernel.seen.pages, 0);
        assert_int_equal(fake_kernel.seen.doorbells, 0);
        assert_int_equal(live(), GBA_OK); /* the next user finds everything free */
    }
}

DEV_TEST(interrupted_calls)
{
    static const unsigned long requests[] = {GBA_IOC_QUERY,     GBA_IOC_ALLOC, GBA_IOC_JOIN,
                                             GBA_IOC_CONFIGURE, GBA_IOC_LEAVE, GBA_IOC_INSPECT};

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        fake_kernel_fail(requests[i], EINTR, 3);
        assert_int_equal(live(), GBA_OK);
        assert_int_equal(cdev_free_groups(dev), GBA_GROUPS);
    }
}

/* What a driver returns from JOIN instead. */
static struct gba_ioc_join forged;

static void forge_join(struct gba_ioc_join *join)
{
    join->doorbell_offset = forged.doorbell_offset;
    join->flag_offset = forged.flag_offset;
    join->flag_position = forged.flag_position;
    join->map_size = forged.map_size;
}

/* Mappings that the interface does not allow are not made. */
DEV_TEST(invalid_mappings)
{
    const uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
    const struct gba_ioc_join good = {.doorbell_offset = 16 * page,
                                      .flag_offset = 32 * page,
                                      .flag_position = 128,
                                      .map_size = page};
    struct gba_ioc_join wrong[14];
    size_t count = 0;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        wrong[i] = good;
    wrong[count++].map_size = 0;
    wrong[count++].map_size = page / 2;
    wrong[count++].map_size = 2 * page;
    wrong[count++].map_size = UINT32_MAX;
    wrong[count++].doorbell_offset = 0;
    wrong[count++].doorbell_offset += 8;
    wrong[count++].doorbell_offset = (uint64_t)0 - page;
    wrong[count++].flag_offset = 0;
    wrong[count++].flag_offset += page / 2;
    wrong[count++].flag_offset = 1ull << 63;
    wrong[count++].flag_offset = good.doorbell_offset;
    wrong[count++].flag_position = 8;
    wrong[count++].flag_position = page;
    wrong[count++].flag_position = 0xFFFFFF80u;
    assert_int_equal(count, sizeof wrong / sizeof wrong[0]);
    fake_kernel.forge_join = forge_join;
    for (size_t i = 0; i < count; i++) {
        gba_group_handle_t handle = cdev_alloc(dev, 2);
        struct gba_membership *membership = NULL;

        forged = wrong[i];
        assert_int_equal(gba_dev_cdev.join(dev, &handle, 0, &membership), GBA_ERR_IO);
        assert_logged("driver returned invalid mappings");
        assert_int_equal(cdev_free_groups(dev), GBA_GROUPS);
    }
}

DEV_TEST(a_dead_device)
{
    gba_group_handle_t handle = cdev_alloc(dev, 1), other = cdev_alloc(dev, 1);
    struct gba_membership *membership = cdev_membership(dev, &handle, 0), *none;
    gba_device_info_t info;
    gba_group_state_t group;

    fake_kernel_die();
    assert_int_equal(gba_dev_cdev.failure(membership), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_cdev.alloc(dev, &cdev_request, &handle), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_cdev.join(dev, &other, 0, &none), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_cdev.configure(membership, 0), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_cdev.inspect(membership, &group), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_cdev.query(dev, &info), GBA_OK);
    assert_true(info.dead);
    gba_dev_cdev.leave(membership);
    gba_dev_cdev.cancel(dev, &other);
    fake_kernel_revive();
}

/* The allocator's own JOIN fails because another process has joined. Nothing is left to give up,
 * and the log has that reason only. Any other failure of FREE is logged. */
DEV_TEST(an_allocation_that_others_have_joined)
{
    struct gba_dev *other = cdev_open();
    gba_group_handle_t handle = cdev_alloc(dev, 2);
    struct gba_membership *membership = cdev_membership(other, &handle, 1), *none = NULL;

    fake_kernel_fail(GBA_IOC_JOIN, EIO, 1);
    assert_int_equal(gba_dev_cdev.join(dev, &handle, 0, &none), GBA_ERR_IO);
    gba_dev_cdev.cancel(dev, &handle);
    assert_logged("refuses JOIN");
    gba_dev_cdev.leave(membership);
    assert_int_equal(cdev_free_groups(dev), GBA_GROUPS);
    handle = cdev_alloc(dev, 2);
    assert_silent();
    fake_kernel_fail(GBA_IOC_FREE, EIO, 1);
    gba_dev_cdev.cancel(dev, &handle);
    assert_logged("refuses FREE");
    gba_dev_cdev.close(other);
    gba_dev_cdev.close(dev); /* the driver frees the group */
    dev = cdev_open();
}

DEV_TEST(registers)
{
    uint64_t value = 77;

    fake_kernel_fail(FAKE_OPEN_REGS, ENOENT, 1);
    assert_int_equal(gba_dev_cdev.reg_read(dev, 0, 4, &value), GBA_ERR_UNSUPPORTED);
    assert_silent(); /* the driver has no debug file */
    fake_kernel_fail(FAKE_OPEN_REGS, EACCES, 1);
    assert_int_equal(gba_dev_cdev.reg_read(dev, 0, 4, &value), GBA_ERR_PERM);
    assert_logged("/sys/kernel/debug/gba/gba0/registers: Permission denied; only root");
    assert_int_equal(value, 77);
    assert_int_equal(gba_dev_cdev.reg_read(dev, 2, 4, &value), GBA_ERR_PARAM);
    assert_int_equal(gba_dev_cdev.reg_write(dev, 4, 8, value), GBA_ERR_PARAM);
    assert_int_equal(gba_dev_cdev.reg_read(dev, GBA_DEVICE_BASE, 4, &value), GBA_OK);
    assert_int_equal(value, GBA_DEV_ID_VALUE);
    assert_int_equal(gba_dev_cdev.reg_write(dev, GBA_BAR_SIZE - 8, 8, 0), GBA_OK);
    assert_silent();
    fake_kernel_fail(FAKE_REGS, EIO, 1);
    assert_int_equal(gba_dev_cdev.reg_read(dev, 0, 4, &value), GBA_ERR_IO);
    assert_logged("cannot access the registers of the GBA: Input/output error");
}

/* The debug file is found by the usual name only. */
DEV_TEST(registers_of_another_name)
{
    uint64_t value;

    strcpy(((struct gba_cdev *)dev)->path, "/dev/mine");
    assert_int_equal(gba_dev_cdev.reg_read(dev, 0, 4, &value), GBA_ERR_UNSUPPORTED);
}

/* Whether that page is mapped in this process. */
static bool is_mapped(const volatile void *address)
{
    uintptr_t page = (uintptr_t)address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    unsigned char resident;

    return 0 == mincore((void *)page, 1, &resident);
}

/* Map memory of the child where its parent has a mapping of the device. */
static void *map_there(const volatile void *address)
{
    uintptr_t page = (uintptr_t)address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

    return mmap((void *)page, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* 0, or the number of the first failed check. */
static int child(struct gba_membership *membership, const gba_group_handle_t *handle)
{
    uint32_t ioctls = fake_kernel.seen.ioctls;
    gba_group_state_t group;
    gba_group_handle_t mine;
    struct gba_membership *none;
    void *flag, *doorbell;
    uint64_t value;

    if (is_mapped(membership->flag) || is_mapped(membership->doorbell))
        return 1;
    flag = map_there(membership->flag);
    doorbell = map_there(membership->doorbell);
    if (GBA_ERR_IO != gba_dev_cdev.alloc(dev, &cdev_request, &mine) ||
        GBA_ERR_IO != gba_dev_cdev.join(dev, handle, 1, &none))
        return 2;
    if (GBA_ERR_IO != gba_dev_cdev.map_flag(membership) ||
        GBA_ERR_IO != gba_dev_cdev.configure(membership, 0) ||
        GBA_ERR_IO != gba_dev_cdev.inspect(membership, &group))
        return 3;
    if (GBA_ERR_IO != gba_dev_cdev.reg_read(dev, 0, 4, &value))
        return 4;
    if (6 != log_lines || strstr(log_last, "child of fork") == NULL)
        return 5;
    gba_dev_cdev.cancel(dev, handle);
    gba_dev_cdev.leave(membership);
    gba_dev_cdev.close(dev);
    if (ioctls != fake_kernel.seen.ioctls || 0 != fake_kernel.seen.violations)
        return 6;
    return is_mapped(flag) && is_mapped(doorbell) ? 0 : 7;
}

DEV_TEST(a_child_of_fork)
{
    gba_group_handle_t handle = cdev_alloc(dev, 2);
    struct gba_membership *membership = cdev_membership(dev, &handle, 0);
    int status;
    pid_t pid;

    assert_true(is_mapped(membership->flag));
    assert_true(is_mapped(membership->doorbell));
    pid = fork();
    assert_true(pid >= 0);
    if (0 == pid)
        _exit(child(membership, &handle));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    gba_dev_cdev.leave(membership);
}

/* A program that closes all descriptors, and then opens files of its own: no call of the library
 * reaches them. */
CDEV_TEST(replaced_descriptor)
{
    struct gba_membership *membership, *other = NULL;
    gba_group_handle_t handle;
    int file, registers;
    gba_device_info_t info;
    uint64_t value;

    dev = cdev_open();
    handle = cdev_alloc(dev, 2);
    membership = cdev_membership(dev, &handle, 0);
    assert_int_equal(gba_dev_cdev.reg_read(dev, GBA_DEVICE_BASE, 4, &value), GBA_OK);
    file = ((struct gba_cdev *)dev)->file.number;
    registers = ((struct gba_cdev *)dev)->registers.number;
    fake_kernel.replaced = true;
    assert_int_equal(gba_dev_cdev.query(dev, &info), GBA_ERR_IO);
    assert_int_equal(gba_dev_cdev.join(dev, &handle, 1, &other), GBA_ERR_IO);
    assert_int_equal(gba_dev_cdev.sleep(membership, 1, 1000), GBA_ERR_UNSUPPORTED);
    assert_int_equal(gba_dev_cdev.reg_read(dev, GBA_DEVICE_BASE, 4, &value), GBA_ERR_IO);
    gba_dev_cdev.leave(membership);
    gba_dev_cdev.close(dev);
    fake_kernel.replaced = false;
    assert_int_equal(fake_kernel.seen.open_files, 2);
    assert_int_equal(gba_cdev_sys->close(registers), 0);
    assert_int_equal(gba_cdev_sys->close(file), 0);
}

TEST_MAIN()
