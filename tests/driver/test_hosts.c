/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups with members in two guests. The first guest runs the tests, and the second one
 * "test_hosts peer", which executes steps. /run/vm is a directory of both guests: the file step.N
 * has step N and its arguments, and step.N.done shows that the peer has executed it.
 *
 *   test_hosts          in the first guest
 *   test_hosts peer     in the second guest
 */
#define _GNU_SOURCE
#include <stdbool.h>

#include "tests/driver/driver_test.h"

static int steps;

static bool exists(const char *path)
{
    return 0 == access(path, F_OK);
}

static void put(const char *path, const char *text)
{
    char new[128];
    FILE *file;

    snprintf(new, sizeof new, "%s.new", path);
    file = fopen(new, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(rename(new, path), 0);
}

/* Let the peer execute a step, and wait until it has done so. */
__attribute__((format(printf, 1, 2))) static void peer(const char *format, ...)
{
    char path[64], text[128];
    uint64_t end = now_ns() + test_limit(120) * UINT64_C(1000000000);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "/run/vm/step.%d", ++steps);
    put(path, text);
    strcat(path, ".done");
    while (!exists(path)) {
        assert_true(now_ns() < end);
        usleep(5000);
    }
}

/* The arguments of the step "join" for a member of an allocation. */
static void peer_joins(const struct gba_ioc_alloc *alloc, uint32_t member)
{
    peer("join %u %u %llu %u", alloc->group, alloc->generation, (unsigned long long)alloc->key,
         member);
}

/* Execute the steps of the first guest, until "end". */
static int run_peer(void)
{
    int file = -1, registers = open_registers();

    for (int step = 1;; step++) {
        struct gba_ioc_alloc alloc = {0};
        char path[64], word[16] = "";
        unsigned long long key = 0;
        uint32_t member = 0;
        FILE *text;

        snprintf(path, sizeof path, "/run/vm/step.%d", step);
        while (!exists(path))
            usleep(5000);
        text = fopen(path, "r");
        assert_non_null(text);
        assert_true(fscanf(text, "%15s %u %u %llu %u", word, &alloc.group, &alloc.generation, &key,
                           &member) >= 1);
        fclose(text);
        alloc.key = key;
        if (0 == strcmp(word, "join")) {
            file = open_device();
            (void)join_group(file, &alloc, member);
        } else if (0 == strcmp(word, "die")) {
            close(file);
        } else if (0 == strcmp(word, "mask")) {
            mask_group(registers, alloc.group, 1);
        } else if (0 == strcmp(word, "unmask")) {
            mask_group(registers, alloc.group, 0);
        }
        strcat(path, ".done");
        put(path, "");
        if (0 == strcmp(word, "end"))
            return 0;
    }
}

/* The death of a member of another host is an event of the group's members, but not of the next
 * owner of the group, even if its interrupt comes only then. */
TEST(test_DRV_18_a_death_on_another_host)
{
    int file = open_device(), registers = open_registers();

    for (int masked = 0; masked < 2; masked++) {
        struct gba_ioc_alloc alloc = alloc_group(file, 2);
        struct test_member m = join_group(file, &alloc, 0);

        peer_joins(&alloc, 1);
        mask_group(registers, alloc.group, masked);
        peer("die");
        if (0 == masked) {
            assert_int_equal(next_events(file), GBA_EVENT_DIED);
        } else {
            assert_true(has_event(registers, alloc.group, GBA_IRQ_DIED));
        }
        assert_int_equal(leave(&m), 0);
        unmap(&m);
        if (1 == masked)
            assert_int_equal(events_of_next_owner(file, registers, alloc.group), GBA_EVENT_ROUND);
    }
    close(registers);
    close(file);
}

/* ALLOC waits until the other host has confirmed, for seconds: a busy host takes some time. Until
 * then no other group is taken back, whatever the number of ALLOCs. Then the group is free. */
TEST(test_CMD_8_alloc_waits_for_the_other_host)
{
    int file = open_device();
    uint32_t groups = query_device(file, 0).groups_free;
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = 1, .barrier_rate = 1000000};
    struct gba_ioc_alloc shared = alloc_group(file, 2);
    struct gba_ioc_alloc local = alloc_group(file, 1);
    struct test_member m = join_group(file, &shared, 0), idle = join_group(file, &local, 0);
    uint64_t start;
    int error;

    peer_joins(&shared, 1);
    peer("mask %u", shared.group);
    assert_int_equal(configure(&m, 0), 0);
    assert_int_equal(configure(&idle, 0), 0);
    for (uint32_t i = 2; i < groups; i++)
        (void)alloc_group(file, 1); /* they are not armed, so they cannot be taken back */
    usleep(60000);
    start = now_ns();
    assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), ENOSPC);
    assert_true(now_ns() - start > 1000000000u);
    assert_int_equal(m.slot->revoked, GBA_REVOKED_TAKEN);
    for (int i = 0; i < 3; i++)
        assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), ENOSPC);
    assert_int_equal(idle.slot->revoked, GBA_REVOKED_NO);
    alloc.barrier_rate = 0;
    assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), ENOSPC);
    peer("unmask %u", shared.group);
    start = now_ns();
    while (0 != (error = call(file, GBA_IOC_ALLOC, &alloc)) &&
           now_ns() - start < test_limit(60) * UINT64_C(1000000000))
        usleep(5000);
    assert_int_equal(error, 0);
    assert_int_equal(alloc.group, shared.group);
    alloc.barrier_rate = 1000000;
    assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), 0);
    assert_int_equal(alloc.group, local.group);
    assert_int_equal(idle.slot->revoked, GBA_REVOKED_TAKEN);
    unmap(&m);
    unmap(&idle);
    close(file);
    peer("die");
    assert_int_equal(groups_free(), groups);
}

struct waiter {
    int file, error;
    struct gba_ioc_alloc alloc;
};

static void *alloc_in_thread(void *argument)
{
    struct waiter *waiter = argument;

    waiter->error = call(waiter->file, GBA_IOC_ALLOC, &waiter->alloc);
    return NULL;
}

/* While an ALLOC waits for the group that it has taken back, another ALLOC gets that group, and
 * later another group is free. Returns whether the first ALLOC got that one. */
static bool alloc_gets_another_group(void)
{
    int file = open_device(), registers = open_registers();
    uint32_t groups = query_device(file, 0).groups_free;
    struct waiter waiter = {
        .file = file,
        .alloc = {.size = sizeof waiter.alloc, .members = 1, .barrier_rate = 1000000}};
    struct gba_ioc_alloc shared = alloc_group(file, 2), other = shared, faster = shared;
    struct test_member m = join_group(file, &shared, 0);
    pthread_t thread;
    bool done;

    peer_joins(&shared, 1);
    peer("mask %u", shared.group);
    assert_int_equal(configure(&m, 0), 0);
    for (uint32_t i = 1; i < groups; i++)
        other = alloc_group(file, 1); /* they are not armed, so they cannot be taken back */
    usleep(60000);
    assert_int_equal(pthread_create(&thread, NULL, alloc_in_thread, &waiter), 0);
    assert_int_equal(revoked(&m), GBA_REVOKED_TAKEN);
    mask_group(registers, shared.group, 1); /* so FREED does not wake the thread yet */
    peer("unmask %u", shared.group);
    assert_true(has_event(registers, shared.group, GBA_IRQ_FREED));
    faster.barrier_rate = 0;
    done = 0 == call(file, GBA_IOC_ALLOC, &faster); /* not if the thread has it */
    assert_int_equal(free_group(file, &other), 0);
    mask_group(registers, shared.group, 0);
    pthread_join(thread, NULL);
    done = done && 0 == waiter.error;
    if (done) {
        assert_int_equal(faster.group, shared.group);
        assert_int_equal(waiter.alloc.group, other.group);
    }
    unmap(&m);
    close(registers);
    close(file);
    peer("die");
    assert_int_equal(groups_free(), groups);
    return done;
}

TEST(test_DRV_12_another_alloc_gets_the_group)
{
    int tries = 0;

    while (!alloc_gets_another_group())
        assert_true(++tries <
                    10); /* ALLOC waits for 2 s, which a busy host may need for the rest */
}

static int end_peer(void **state)
{
    (void)state;
    peer("end");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && 0 == strcmp(argv[1], "peer"))
        return run_peer();
    return SUITE_RUN(NULL, end_peer);
}
