/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds through mapped doorbells and flags, sleep until an interrupt, and events. */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "tests/driver/driver_test.h"

#define MEMBERS 4

/* A group whose members have a file each, armed with the sequence. */
static void arm_group(struct test_member m[MEMBERS], uint32_t sequence)
{
    int first = open_device();
    struct gba_ioc_alloc alloc = alloc_group(first, MEMBERS);

    for (uint32_t i = 0; i < MEMBERS; i++) {
        m[i] = join_group(0 == i ? first : open_device(), &alloc, i);
        m[i].slot->release = sequence;
    }
    assert_int_equal(configure(&m[0], sequence), 0);
}

static void disband(struct test_member m[MEMBERS])
{
    for (uint32_t i = 0; i < MEMBERS; i++) {
        assert_int_equal(leave(&m[i]), 0);
        unmap(&m[i]);
        close(m[i].file);
    }
}

TEST(test_DRV_18_wait_sleeps_until_the_round)
{
    struct test_member m[MEMBERS];
    struct rusage before, after;
    uint64_t longest = 0;
    uint32_t events;

    arm_group(m, 0);
    assert_int_equal(wait_for(&m[0], 1, 0, &events), ETIMEDOUT);
    assert_int_equal(wait_for(&m[0], 1, 20000000, &events), ETIMEDOUT);
    assert_int_equal(wait_for(&m[0], 2, 20000000, &events), EINVAL);
    assert_int_equal(wait_for(&m[0], 2, 0, &events), ETIMEDOUT);
    assert_int_equal(wait_for(&m[0], 0, GBA_WAIT_FOREVER, &events), 0);
    assert_int_equal(events, GBA_EVENT_ROUND);
    assert_int_equal(wait_for(&m[0], 0xFFFFFFF0u, GBA_WAIT_FOREVER, &events), 0);
    assert_int_equal(events, GBA_EVENT_ROUND);
    getrusage(RUSAGE_SELF, &before);
    for (uint32_t round = 1; round <= 20; round++) {
        struct sleeper sleeper = {.member = &m[0], .sequence = round};
        pthread_t thread;
        uint64_t last;

        arrive(&m[0], round);
        assert_int_equal(pthread_create(&thread, NULL, sleep_in_wait, &sleeper), 0);
        if (round % 2)
            await_sleeper(&sleeper.thread); /* the odd rounds are complete while it sleeps */
        for (uint32_t k = 1; k < MEMBERS; k++)
            arrive(&m[k], round);
        last = now_ns();
        pthread_join(thread, NULL);
        assert_int_equal(sleeper.error, 0);
        assert_int_equal(sleeper.events & GBA_EVENT_ROUND, GBA_EVENT_ROUND);
        assert_true(released(&m[0], round));
        if (sleeper.woken > last && sleeper.woken - last > longest)
            longest = sleeper.woken - last;
    }
    getrusage(RUSAGE_SELF, &after);
    print_message("longest wake-up %llu us\n", (unsigned long long)(longest / 1000));
    disband(m);
}

static void do_nothing(int number)
{
    (void)number;
}

TEST(test_a_signal_ends_wait)
{
    struct test_member m[MEMBERS];
    struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
    uint32_t events;

    arm_group(m, 0);
    sigaction(SIGALRM, &action, NULL);
    ualarm(50000, 0);
    assert_int_equal(wait_for(&m[0], 1, GBA_WAIT_FOREVER, &events), EINTR);
    disband(m);
}

TEST(test_DRV_18_notify_and_poll)
{
    struct test_member m[MEMBERS];
    struct gba_event event[MEMBERS];
    struct pollfd poll_file;

    arm_group(m, 7);
    poll_file = (struct pollfd){.fd = m[1].file, .events = POLLIN};
    fcntl(m[1].file, F_SETFL, O_NONBLOCK);
    assert_int_equal(read(m[1].file, event, sizeof event), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(read(m[1].file, event, sizeof event[0] - 1), -1);
    assert_int_equal(errno, EINVAL);
    for (uint32_t round = 8; round < 12; round++) {
        for (uint32_t k = 0; k < MEMBERS - 1; k++)
            arrive(&m[k], round);
        if (round % 2)
            notify(&m[1], round); /* before the round is complete; in even rounds after */
        arrive(&m[MEMBERS - 1], round);
        if (round % 2 == 0)
            notify(&m[1], round);
        assert_int_equal(poll(&poll_file, 1, (int)test_limit(20000)), 1);
        assert_int_equal(poll_file.revents, POLLIN);
        assert_true(released(&m[1], round));
        assert_int_equal(read(m[1].file, event, sizeof event), sizeof event[0]);
        assert_int_equal(event[0].events, GBA_EVENT_ROUND);
        assert_int_equal(event[0].group, m[1].join.group);
        assert_int_equal(event[0].generation, m[1].join.generation);
        assert_int_equal(event[0].member, 1);
        assert_int_equal(poll(&poll_file, 1, 0), 0);
    }
    disband(m);
}

TEST(test_DRV_8_an_error_is_an_event)
{
    struct test_member m[MEMBERS];
    uint32_t events;

    arm_group(m, 0);
    arrive(&m[2], 5); /* neither 0 nor 1 */
    assert_int_equal(wait_for(&m[0], 1, 20000000000u, &events), 0);
    assert_int_equal(events, GBA_EVENT_ERROR);
    disband(m);
}

/* Events outlive the allocation that caused them [IRQ-1]. The next owner must not get them. */
TEST(test_IRQ_1_an_event_of_an_earlier_owner)
{
    int file = open_device(), registers = open_registers();
    struct gba_ioc_alloc alloc = alloc_group(file, 1);
    struct test_member m = join_group(file, &alloc, 0);

    assert_int_equal(configure(&m, 0), 0);
    mask_group(registers, alloc.group, 1);
    arrive(&m, 5); /* neither 0 nor 1 */
    assert_true(has_event(registers, alloc.group, GBA_IRQ_ERROR));
    assert_int_equal(leave(&m), 0);
    unmap(&m);
    assert_int_equal(events_of_next_owner(file, registers, alloc.group), GBA_EVENT_ROUND);
    close(registers);
    close(file);
}

/* A member sleeps before the group is armed. */
TEST(test_wait_before_configure)
{
    int file = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 2);
    struct test_member m[2] = {join_group(file, &alloc, 0), join_group(file, &alloc, 1)};
    struct sleeper sleeper = {.member = &m[0], .sequence = 1, .timeout = 20000000000u};
    struct gba_ioc_inspect registers;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, sleep_in_wait, &sleeper), 0);
    await_sleeper(&sleeper.thread);
    assert_int_equal(configure(&m[1], 0), 0);
    arrive(&m[0], 1);
    arrive(&m[1], 1);
    pthread_join(thread, NULL);
    assert_int_equal(sleeper.error, 0);
    assert_int_equal(sleeper.events, GBA_EVENT_ROUND);
    /* The NOTIFY of that member was no error of the group. */
    assert_int_equal(inspect(&m[0], &registers), 0);
    assert_int_equal(registers.last_error, GBA_ERROR_NONE);
    unmap(&m[0]);
    unmap(&m[1]);
    close(file);
}

/* What WAIT has found about a group ends with the membership: a WAIT in the next allocation of the
 * same group waits until that is armed. */
TEST(test_DRV_18_wait_in_the_next_allocation)
{
    int file = open_device();
    uint32_t groups = query_device(file, 0).groups_free, events = 0;
    struct gba_ioc_alloc first = alloc_group(file, 1), next;
    struct test_member m = join_group(file, &first, 0), again;
    struct gba_ioc_inspect registers;

    assert_int_equal(configure(&m, 0), 0);
    arrive(&m, 1);
    assert_int_equal(wait_for(&m, 1, GBA_WAIT_FOREVER, &events), 0);
    assert_int_equal(wait_for(&m, 2, 20000000, &events), ETIMEDOUT);
    assert_int_equal(leave(&m), 0);
    next = alloc_group(file, 1);
    assert_int_equal(next.group, first.group);
    again = join_group(file, &next, 0);
    assert_int_equal(wait_for(&again, 1, 20000000, &events), ETIMEDOUT);
    assert_int_equal(inspect(&again, &registers), 0);
    assert_int_equal(registers.last_error, GBA_ERROR_NONE);
    assert_int_equal(configure(&again, 0), 0);
    arrive(&again, 1);
    assert_int_equal(wait_for(&again, 1, 20000000000u, &events), 0);
    assert_int_equal(events & GBA_EVENT_ROUND, GBA_EVENT_ROUND);
    unmap(&m);
    unmap(&again);
    close(file);
    assert_int_equal(groups_free(), groups);
}

TEST_MAIN()
