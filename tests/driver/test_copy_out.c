/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls whose results cannot be stored, because the memory becomes read-only during the call. They
 * fail with EFAULT and have no effect. */
#define _GNU_SOURCE
#include <sched.h>

#include "tests/driver/driver_test.h"

#define CALLS 200

/* Arguments that are mapped twice: `own` for the test, `given` for the driver. */
struct argument {
    void *own, *given;
};

static struct argument argument_new(void)
{
    int file = memfd_create("argument", MFD_CLOEXEC);
    struct argument argument;

    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, PAGE), 0);
    argument.own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    argument.given = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(argument.own, MAP_FAILED);
    assert_ptr_not_equal(argument.given, MAP_FAILED);
    close(file);
    return argument;
}

static void argument_free(const struct argument *argument)
{
    munmap(argument->own, PAGE);
    munmap(argument->given, PAGE);
}

static int set_writable(const struct argument *argument, int writable)
{
    return mprotect(argument->given, PAGE, writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

/* The memory becomes read-only some time after `calls` has changed, so that over many calls this
 * happens at every step of a call. */
struct clerk {
    const struct argument *argument;
    pthread_t thread;
    int calls, done; /* done: calls for which the memory is read-only; atomic */
};

static void *withdraw(void *context)
{
    struct clerk *clerk = context;

    for (int i = 1; i <= CALLS; i++) {
        uint64_t until;

        while (__atomic_load_n(&clerk->calls, __ATOMIC_ACQUIRE) < i)
            ;
        until = now_ns() + (uint64_t)(i % 50) * 6000;
        while (now_ns() < until)
            ;
        (void)set_writable(clerk->argument, 0);
        __atomic_store_n(&clerk->done, i, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Make the call, with the arguments that are set. Returns its errno. */
static int call_and_withdraw(struct clerk *clerk, int file, unsigned long number)
{
    int error;

    assert_int_equal(set_writable(clerk->argument, 1), 0);
    *(volatile uint32_t *)clerk->argument->given; /* so that the driver causes no page fault */
    __atomic_add_fetch(&clerk->calls, 1, __ATOMIC_RELEASE);
    error = call(file, number, clerk->argument->given);
    while (__atomic_load_n(&clerk->done, __ATOMIC_ACQUIRE) < clerk->calls)
        sched_yield();
    return error;
}

/* A group whose number the caller does not get is free again. */
TEST(test_alloc)
{
    struct argument argument = argument_new();
    struct gba_ioc_alloc *alloc = argument.own;
    uint32_t groups = groups_free();
    int file = open_device(), failed = 0;
    struct clerk clerk = {.argument = &argument};

    assert_int_equal(pthread_create(&clerk.thread, NULL, withdraw, &clerk), 0);
    for (int i = 0; i < CALLS; i++) {
        int error;

        *alloc = (struct gba_ioc_alloc){.size = sizeof *alloc, .members = 1};
        error = call_and_withdraw(&clerk, file, GBA_IOC_ALLOC);
        failed += EFAULT == error;
        assert_int_equal(EFAULT == error ? 0 : error, 0);
        if (0 == error)
            assert_int_equal(free_group(file, alloc), 0);
    }
    pthread_join(clerk.thread, NULL);
    print_message("%d of %d failed\n", failed, CALLS);
    assert_int_equal(groups_free(), groups);
    close(file);
    argument_free(&argument);
}

/* A membership whose offsets the caller does not get has ended, and with it the group. */
TEST(test_join)
{
    struct argument argument = argument_new();
    struct gba_ioc_join *join = argument.own;
    uint32_t groups = groups_free();
    int file = open_device(), failed = 0;
    struct clerk clerk = {.argument = &argument};

    assert_int_equal(pthread_create(&clerk.thread, NULL, withdraw, &clerk), 0);
    for (int i = 0; i < CALLS; i++) {
        struct gba_ioc_alloc alloc = alloc_group(file, 1);
        struct test_member m = {.file = file, .join = join_of(&alloc, 0)};
        int error;

        *join = m.join;
        error = call_and_withdraw(&clerk, file, GBA_IOC_JOIN);
        failed += EFAULT == error;
        assert_int_equal(EFAULT == error ? 0 : error, 0);
        assert_int_equal(leave(&m), 0 == error ? 0 : ESTALE);
        (void)free_group(file, &alloc); /* of a call that failed before it had an effect */
    }
    pthread_join(clerk.thread, NULL);
    print_message("%d of %d failed\n", failed, CALLS);
    assert_int_equal(groups_free(), groups);
    close(file);
    argument_free(&argument);
}

struct waiting {
    const struct test_member *member;
    struct argument argument;
    int error;
    _Atomic pid_t thread;
};

static void *wait_in_thread(void *context)
{
    struct waiting *waiting = context;

    sleeper_begins(&waiting->thread);
    waiting->error = call(waiting->member->file, GBA_IOC_WAIT, waiting->argument.given);
    return NULL;
}

/* An event that WAIT does not deliver stays pending. */
TEST(test_wait)
{
    int file = open_device(), other = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 2);
    struct test_member m = join_group(file, &alloc, 0);
    struct waiting waiting = {.member = &m, .argument = argument_new()};
    struct gba_ioc_join join = join_of(&alloc, 1);
    uint32_t events = 0;
    pthread_t thread;

    assert_int_equal(call(other, GBA_IOC_JOIN, &join), 0);
    assert_int_equal(configure(&m, 0), 0);
    *(struct gba_ioc_wait *)waiting.argument.own =
        (struct gba_ioc_wait){.size = sizeof(struct gba_ioc_wait),
                              .group = m.join.group,
                              .generation = m.join.generation,
                              .member = m.join.member,
                              .sequence = 1,
                              .timeout = GBA_WAIT_FOREVER};
    assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, &waiting), 0);
    await_sleeper(&waiting.thread);
    assert_int_equal(set_writable(&waiting.argument, 0), 0);
    close(other); /* DIED */
    pthread_join(thread, NULL);
    assert_int_equal(waiting.error, EFAULT);
    assert_int_equal(wait_for(&m, 1, 0, &events), 0);
    assert_int_equal(events, GBA_EVENT_DIED);
    assert_int_equal(wait_for(&m, 1, 0, &events), ETIMEDOUT);
    close(file);
    unmap(&m);
    argument_free(&waiting.argument);
}

TEST_MAIN()
