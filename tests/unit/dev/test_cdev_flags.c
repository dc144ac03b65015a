/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pages of /dev/gbaN that hold release flags: memberships of one file share them, and they are
 * mapped as long as a membership needs them. The fake kernel detects a page that is mapped twice.
 */
#include "tests/unit/dev/cdev_test.h"

#include <pthread.h>
#include <unistd.h>

/* The mappings that `flags` flags need. */
static uint32_t pages_of(uint32_t flags)
{
    const uint32_t slots = (uint32_t)sysconf(_SC_PAGESIZE) / GBA_FLAG_SLOT_STRIDE;

    return (flags + slots - 1) / slots;
}

/* The call can be repeated. */
DEV_TEST(a_failing_mmap)
{
    gba_group_handle_t handle = cdev_alloc(dev, 2);
    struct gba_membership *membership;

    assert_int_equal(gba_dev_cdev.join(dev, &handle, 0, &membership), GBA_OK);
    for (int i = 0; i < 3; i++) {
        fake_kernel_fail(FAKE_MMAP_FLAG, ENOMEM, 1);
        assert_int_equal(gba_dev_cdev.map_flag(membership), GBA_ERR_NOMEM);
        assert_logged("cannot map the release flag of GBA group");
        assert_null(membership->flag);
        assert_int_equal(fake_kernel.seen.pages, 0);
    }
    assert_int_equal(gba_dev_cdev.map_flag(membership), GBA_OK);
    assert_true(0 == gba_flag_load_relaxed(membership->flag));
    gba_dev_cdev.leave(membership);
}

/* A whole group in this process. */
static void memberships_take(struct gba_dev *of, struct gba_membership **membership, uint32_t count)
{
    gba_group_handle_t handle = cdev_alloc(of, count);

    for (uint32_t i = 0; i < count; i++)
        membership[i] = cdev_membership(of, &handle, i);
}

static void memberships_leave(struct gba_membership **membership, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        gba_dev_cdev.leave(membership[i]);
}

DEV_TEST(shared_pages)
{
    struct gba_dev *second = cdev_open();
    struct gba_membership *one[50], *other[50], *apart[3];

    memberships_take(dev, one, 50);
    assert_int_equal(fake_kernel.seen.pages, pages_of(50));
    memberships_take(dev, other, 50);
    assert_int_equal(fake_kernel.seen.pages, pages_of(100));
    memberships_take(second, apart, 3); /* files share nothing */
    assert_int_equal(fake_kernel.seen.pages, pages_of(100) + 1);
    for (int i = 0; i < 5; i++) {
        memberships_leave(one, 50);
        memberships_take(dev, one, 50);
        memberships_leave(other, 50);
        memberships_take(dev, other, 50);
        assert_int_equal(fake_kernel.seen.pages, pages_of(100) + 1);
        assert_int_equal(fake_kernel_slots(), 103);
    }
    memberships_leave(one, 50);
    memberships_leave(other, 50);
    assert_int_equal(fake_kernel.seen.pages, 1);
    memberships_leave(apart, 3);
    assert_int_equal(fake_kernel.seen.pages, 0);
    gba_dev_cdev.close(second);
}

/* A flag that a membership gave back begins at 0 again, and without a reason. */
DEV_TEST(flags_begin_anew)
{
    gba_group_handle_t handle = cdev_alloc(dev, 1);
    struct gba_membership *membership = cdev_membership(dev, &handle, 0), *keeper;
    gba_flag_t *flag = membership->flag;

    gba_flag_store_relaxed(flag, 77);
    gba_flag_store_relaxed(flag + 1, GBA_REVOKED_DEAD);
    handle = cdev_alloc(dev, 2);
    keeper = cdev_membership(dev, &handle, 1); /* keeps the page mapped */
    gba_dev_cdev.leave(membership);
    membership = cdev_membership(dev, &handle, 0);
    assert_ptr_equal(membership->flag, flag);
    assert_true(0 == gba_flag_load_relaxed(flag));
    assert_int_equal(gba_dev_cdev.failure(membership), GBA_OK);
    gba_dev_cdev.leave(membership);
    gba_dev_cdev.leave(keeper);
}

/* The driver ends the membership when the file is closed, whatever LEAVE returned. */
DEV_TEST(a_leave_that_fails)
{
    gba_group_handle_t handle = cdev_alloc(dev, 2);
    struct gba_membership *lost = cdev_membership(dev, &handle, 0);
    struct gba_membership *membership[40];
    const uint64_t offset = ((struct gba_cdev_membership *)lost)->flag_offset;
    const uint32_t position = ((struct gba_cdev_membership *)lost)->flag_position;

    memberships_take(dev, membership, 40);
    fake_kernel_fail(GBA_IOC_LEAVE, EIO, 1);
    gba_dev_cdev.leave(lost);
    assert_logged("LEAVE: Input/output error");
    assert_int_equal(fake_kernel.seen.doorbells, 40);
    memberships_leave(membership, 40);
    memberships_take(dev, membership, 40);
    for (uint32_t i = 0; i < 40; i++) { /* the slot is still the driver's */
        const struct gba_cdev_membership *taken = (struct gba_cdev_membership *)membership[i];

        assert_false(offset == taken->flag_offset && position == taken->flag_position);
    }
    memberships_leave(membership, 40);
    assert_int_equal(fake_kernel_slots(), 1);
    gba_dev_cdev.close(dev);
    dev = cdev_open();
}

#define THREADS 4
#define TURNS   2000

/* A page that the calling threads map and unmap: the system's calls, which count the mappings. */
static gba_word_t mapped, mapped_most;

static void *thread_mmap(size_t size, int protection, int flags, int file, uint64_t offset)
{
    static _Alignas(4096) char page[65536];

    (void)size, (void)protection, (void)flags, (void)file, (void)offset;
    if (gba_word_add_relaxed(&mapped, 1) > 0)
        gba_word_store_relaxed(&mapped_most, 2);
    return page;
}

static int thread_munmap(void *address, size_t size)
{
    (void)address, (void)size;
    gba_word_add_relaxed(&mapped, (uint64_t)-1);
    return 0;
}

static void *page_user(void *argument)
{
    struct gba_cdev_membership membership = {
        .membership = {.dev = argument}, .map_size = 4096, .flag_offset = 4096};

    for (int i = 0; i < TURNS; i++) {
        if (GBA_OK != gba_cdev_flag_map(&membership) || membership.membership.flag == NULL)
            return argument;
        gba_cdev_flag_unmap(&membership);
    }
    return NULL;
}

/* Threads whose memberships share one page never map it twice, and the last one unmaps it. */
CDEV_TEST(pages_among_threads)
{
    static const struct gba_cdev_sys sys = {.mmap = thread_mmap, .munmap = thread_munmap};
    const struct gba_cdev_sys *const fake = gba_cdev_sys;
    struct gba_cdev shared = {.file.number = -1};
    pthread_t thread[THREADS];

    pthread_mutex_init(&shared.lock, NULL);
    gba_cdev_sys = &sys;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, page_user, &shared), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;

        assert_int_equal(pthread_join(thread[i], &wrong), 0);
        assert_null(wrong);
    }
    gba_cdev_sys = fake;
    assert_int_equal(gba_word_load_relaxed(&mapped), 0);
    assert_int_equal(gba_word_load_relaxed(&mapped_most), 0);
    assert_null(shared.pages);
    pthread_mutex_destroy(&shared.lock);
}

TEST_MAIN()
