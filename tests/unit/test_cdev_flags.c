/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of release flags of /dev/gbaN: it is reused, except where the device may still store
 * to it. The fake kernel detects two members with one flag.
 */
#include "tests/unit/cdev_test.h"

#include <pthread.h>

static void no_memory_for_flags(void **state)
{
    struct gba_dev *dev = cdev_open();
    gba_group_handle_t handle = cdev_alloc(dev, 2);
    struct gba_membership *membership;

    (void)state;
    assert_int_equal(gba_dev_cdev.join(dev, &handle, 0, &membership), GBA_OK);
    fake_kernel_fail(FAKE_MMAP_MEM, ENOMEM, 1);
    assert_int_equal(gba_dev_cdev.map_flag(membership), GBA_ERR_NOMEM);
    assert_logged("cannot allocate memory for release flags");
    log_forget();
    fake_kernel_fail(FAKE_MADVISE, EINVAL, 1);
    assert_int_equal(gba_dev_cdev.map_flag(membership), GBA_ERR_NOMEM);
    assert_logged("children of fork");
    assert_int_equal(fake_kernel.memory, 0);
    assert_null(membership->flag);
    assert_int_equal(gba_dev_cdev.map_flag(membership), GBA_OK);
    gba_dev_cdev.leave(membership);
    gba_dev_cdev.close(dev);
}

/* A whole group in this process. */
static void memberships_take(struct gba_dev *dev, struct gba_membership **membership,
                             uint32_t count)
{
    gba_group_handle_t handle = cdev_alloc(dev, count);

    for (uint32_t i = 0; i < count; i++)
        membership[i] = cdev_membership(dev, &handle, i);
}

static void memberships_leave(struct gba_membership **membership, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        gba_dev_cdev.leave(membership[i]);
}

/* The fake kernel detects two members with one flag. */
static void flags_are_used_again(void **state)
{
    struct gba_dev *dev = cdev_open();
    struct gba_membership *one[50], *other[50];

    (void)state;
    memberships_take(dev, one, 50);
    memberships_take(dev, other, 50);
    assert_int_equal(fake_kernel.pinned, 100);
    assert_int_equal(fake_kernel.memory, 4); /* 32 flags each */
    for (int i = 0; i < 5; i++) {
        memberships_leave(one, 50);
        memberships_take(dev, one, 50);
        memberships_leave(other, 50);
        memberships_take(dev, other, 50);
        assert_int_equal(fake_kernel.memory, 4);
    }
    memberships_leave(one, 50);
    memberships_leave(other, 50);
    gba_dev_cdev.close(dev);
    assert_silent();
}

/* A failed call has pinned nothing, so its flag is free again. */
static void flags_of_calls_that_failed(void **state)
{
    struct gba_dev *dev = cdev_open();
    gba_group_handle_t handle = cdev_alloc(dev, 1);
    struct gba_membership *membership;

    (void)state;
    assert_int_equal(gba_dev_cdev.join(dev, &handle, 0, &membership), GBA_OK);
    fake_kernel_fail(GBA_IOC_MAP_FLAG, EFAULT, 200);
    for (int i = 0; i < 200; i++)
        assert_int_equal(gba_dev_cdev.map_flag(membership), GBA_ERR_IO);
    assert_int_equal(fake_kernel.memory, 1);
    gba_dev_cdev.leave(membership);
    gba_dev_cdev.close(dev);
}

/* The device may still store to the flag: it is not reused, and it stays mapped until the file is
 * closed. The fake kernel detects a flag that is reused or unmapped too early. */
static void a_flag_that_was_not_taken_back(void **state)
{
    struct gba_dev *dev = cdev_open();
    gba_group_handle_t handle = cdev_alloc(dev, 2);
    struct gba_membership *lost = cdev_membership(dev, &handle, 0), *membership[40];
    gba_flag_t *flag = lost->flag;

    (void)state;
    fake_kernel_fail(GBA_IOC_FREE, EIO, 1);
    gba_dev_cdev.leave(lost);
    assert_logged("FREE: Input/output error");
    assert_int_equal(fake_kernel.pinned, 1);
    memberships_take(dev, membership, 40);
    for (uint32_t i = 0; i < 40; i++)
        assert_ptr_not_equal(membership[i]->flag, flag);
    memberships_leave(membership, 40);
    gba_dev_cdev.close(dev);
}

#define THREADS 4
#define TURNS   20000

/* Take a flag, check that no other thread has it, give it back. */
static void *flag_user(void *argument)
{
    static gba_word_t number;
    uint64_t me = 1 + gba_word_add_relaxed(&number, 1);
    uint64_t wrong = 0;

    for (int i = 0; i < TURNS; i++) {
        gba_flag_t *flag = gba_cdev_flag_get(argument);

        gba_flag_store_relaxed(flag, me);
        gba_cpu_pause();
        wrong += me != gba_flag_load_relaxed(flag);
        gba_cdev_flag_put(argument, flag);
    }
    return (void *)(uintptr_t)wrong;
}

static void flags_among_threads(void **state)
{
    struct gba_cdev_flags flags;
    pthread_t thread[THREADS];

    (void)state;
    gba_cdev_flags_init(&flags);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, flag_user, &flags), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;

        assert_int_equal(pthread_join(thread[i], &wrong), 0);
        assert_null(wrong);
    }
    gba_cdev_flags_fini(&flags, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_memory_for_flags),        TEST(flags_are_used_again),
        TEST(flags_of_calls_that_failed), TEST(a_flag_that_was_not_taken_back),
        TEST(flags_among_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
