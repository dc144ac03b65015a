/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time from the start of a revocation until a thread that polls its flag, and one that sleeps
 * in WAIT, have noticed it. Prints the times.
 *
 *   latency [CYCLES [MS]]     default: 20 of each kind. Needs root.
 *
 * MS: the exit status is 1 if fewer than 99.9% of the times of a kind are within this number of
 * milliseconds. Only with contrib/vm --icount the times do not depend on the load of the machine.
 *
 * Kinds: the device is reset, the driver is unbound (as when the
 * device is unplugged). The times include the system call that starts the revocation.
 */
#define _GNU_SOURCE
#include <sched.h>

#include "tests/driver/driver_test.h"

enum kind { RESET, UNBOUND, KINDS };
static const char *const names[KINDS] = {"reset", "unbound"};

struct waiter {
    struct test_member member;
    int sleeps;
    uint64_t noticed;
};

static void *wait_for_revocation(void *argument)
{
    struct waiter *waiter = argument;
    uint32_t events;

    if (waiter->sleeps)
        (void)wait_for(&waiter->member, 1, GBA_WAIT_FOREVER, &events);
    else
        while (0 == (waiter->member.slot->release & GBA_FLAG_REVOKED))
            sched_yield();
    waiter->noticed = now_ns();
    return NULL;
}

/* Revoke a group of two members. Stores the times of both in ns. */
static void cycle(enum kind kind, const char *address, uint64_t times[2])
{
    struct waiter waiter[2] = {{.sleeps = 0}, {.sleeps = 1}};
    int file = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 2);
    pthread_t thread[2];
    char path[512];
    uint64_t start;

    for (uint32_t i = 0; i < 2; i++)
        waiter[i].member = join_group(file, &alloc, i);
    assert_int_equal(configure(&waiter[0].member, 0), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, wait_for_revocation, &waiter[i]), 0);
    usleep(60000);
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/reset", address);
    start = now_ns();
    if (RESET == kind)
        write_file(path, "1");
    else
        write_file("/sys/bus/pci/drivers/gba/unbind", address);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        times[i] = waiter[i].noticed - start;
        unmap(&waiter[i].member);
    }
    close(file);
    if (UNBOUND == kind)
        write_file("/sys/bus/pci/drivers/gba/bind", address);
}

static int compare(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* Returns the time in ns within which 99.9% are. */
static uint64_t print(const char *name, const char *waits, uint64_t *times, size_t count)
{
    size_t within = 0;
    size_t middle = count / 2, late = (count * 999 + 999) / 1000 - 1;

    qsort(times, count, sizeof *times, compare);
    while (within < count && times[within] <= 10000000)
        within++;
    printf("%-10s %-7s %zu times: median %.2f ms, 99.9%% %.2f ms, max %.2f ms; %.1f%% in 10 ms\n",
           name, waits, count, (double)times[middle] / 1e6, (double)times[late] / 1e6,
           (double)times[count - 1] / 1e6, 100.0 * (double)within / (double)count);
    return times[late];
}

int main(int argc, char **argv)
{
    size_t cycles = argc > 1 ? strtoul(argv[1], NULL, 10) : 20;
    uint64_t *times = calloc(2 * (cycles ? cycles : 1), sizeof *times);
    uint64_t limit = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : UINT64_MAX;
    const char *address = pci_address();
    int late = 0;

    if (0 == cycles || times == NULL) {
        fputs("usage: latency [CYCLES [MS]]; needs /dev/gba0\n", stderr);
        free(times);
        return 2;
    }
    for (enum kind kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < cycles; i++) {
            uint64_t both[2];

            cycle(kind, address, both);
            times[i] = both[0];
            times[cycles + i] = both[1];
        }
        late |= print(names[kind], "polling", times, cycles) > limit;
        late |= print(names[kind], "asleep", times + cycles, cycles) > limit;
    }
    free(times);
    if (late)
        fprintf(stderr, "latency: more than 0.1%% of the times are above %s ms\n", argv[2]);
    return late;
}
