/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends of processes, of the device and of the driver, and the revocation of a doorbell in use.
 * GBA_TEST_CYCLES: number of cycles (default 300).
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/syscall.h>

#include "tests/driver/driver_test.h"

static int die_as_member(void *argument)
{
    const struct gba_ioc_alloc *alloc = argument;
    int file = open("/dev/gba0", O_RDWR | O_CLOEXEC);
    struct gba_ioc_join join = join_of(alloc, 1);

    if (0 != call(file, GBA_IOC_JOIN, &join))
        return 1;
    kill(getpid(), SIGKILL);
    return 2;
}

TEST(test_DRV_10_a_killed_member)
{
    uint32_t groups = groups_free(), events = 0;
    int file = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 3);
    struct test_member m = join_group(file, &alloc, 0);
    struct pollfd poll_file = {.fd = file, .events = POLLIN};
    struct gba_event event;

    assert_int_equal(in_child(die_as_member, &alloc), SIGKILL);
    assert_int_equal(poll(&poll_file, 1, (int)test_limit(20000)), 1);
    assert_int_equal(read(file, &event, sizeof event), sizeof event);
    assert_int_equal(event.events, GBA_EVENT_DIED);
    assert_int_equal(wait_for(&m, 1, 0, &events), ETIMEDOUT); /* delivered once */
    assert_int_equal(configure(&m, 0), EAGAIN);
    assert_int_equal(leave(&m), 0);
    assert_int_equal(groups_free(), groups);
    unmap(&m);
    close(file);
}

/* --- A thread that stores to the doorbell all the time --- */

static volatile uint64_t *storm_bell, storm_value;
static volatile int storm_ends;

static void *storm(void *argument)
{
    uint64_t *stores = argument;

    while (!storm_ends) {
        storm_bell[0] = storm_value;
        __atomic_fetch_add(stores, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* Wait until the thread has made another store. */
static void await_store(uint64_t *stores)
{
    uint64_t before = __atomic_load_n(stores, __ATOMIC_RELAXED);

    while (before == __atomic_load_n(stores, __ATOMIC_RELAXED))
        sched_yield();
}

/* In each cycle the group gets a new owner, which expects just the arrival that the thread stores.
 * A store after LEAVE that reached the device would complete a round of that owner. */
TEST(test_DRV_16_revoked_while_it_is_used)
{
    const char *number = getenv("GBA_TEST_CYCLES");
    long cycles = number == NULL ? 300 : atol(number);
    void *page = mmap(NULL, PAGE, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int file = open_device(), other = open_device();
    uint64_t stores = 0;
    pthread_t thread;

    storm_bell = page;
    assert_int_equal(pthread_create(&thread, NULL, storm, &stores), 0);
    for (long i = 0; i < cycles; i++) {
        struct gba_ioc_alloc alloc = alloc_group(file, 1), next;
        struct test_member m = join_at(file, &alloc, 0, page), owner;
        struct gba_ioc_inspect registers;

        storm_value = GBA_ARRIVAL(1, alloc.generation + 1, 0);
        if (i % 32 == 0) /* not in each cycle: it can take long on a busy host */
            await_store(&stores);
        assert_int_equal(leave(&m), 0);
        next = alloc_group(other, 1);
        assert_int_equal(next.group, alloc.group);
        owner = join_group(other, &next, 0);
        assert_int_equal(configure(&owner, 0), 0);
        assert_int_equal(inspect(&owner, &registers), 0);
        assert_int_equal(registers.sequence, 0);
        assert_int_equal(registers.counters[GBA_COUNTER_LATE], 0);
        assert_int_equal(owner.slot->release, 0);
        assert_int_equal(leave(&owner), 0);
        unmap(&owner);
        munmap((void *)((uintptr_t)m.slot & ~(uintptr_t)(PAGE - 1)), PAGE);
    }
    storm_ends = 1;
    pthread_join(thread, NULL);
    print_message("%ld cycles, %llu stores\n", cycles, (unsigned long long)stores);
    munmap(page, PAGE);
    close(file);
    close(other);
}

/* --- The end of the device --- */

/* A spinner, a sleeper and a poller on a device that ends by a write to a file of sysfs. */
static void check_end(const char *path, const char *text, int gone)
{
    int file = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 3), unused = alloc_group(file, 1);
    struct test_member m[2];
    struct gba_event event[2];
    struct sleeper sleeper = {.member = &m[1], .sequence = 1};
    struct pollfd poll_file = {.fd = file, .events = POLLIN};
    struct gba_ioc_query query = {.size = sizeof query};
    struct gba_ioc_inspect registers;
    struct gba_ioc_join join = join_of(&alloc, 2);
    pthread_t thread;

    m[0] = join_group(file, &alloc, 0);
    m[1] = join_group(file, &alloc, 1);
    m[0].slot->release = 7;
    assert_int_equal(pthread_create(&thread, NULL, sleep_in_wait, &sleeper), 0);
    await_sleeper(&sleeper.thread);
    write_file(path, text);
    assert_int_equal(revoked(&m[0]), GBA_REVOKED_DEAD);
    assert_true(m[0].slot->release == (GBA_FLAG_REVOKED | 7));
    pthread_join(thread, NULL);
    assert_int_equal(sleeper.error, 0);
    assert_int_equal(sleeper.events & (GBA_EVENT_REVOKED | GBA_EVENT_DEAD),
                     GBA_EVENT_REVOKED | GBA_EVENT_DEAD);
    arrive(&m[0], 1); /* no SIGBUS */
    notify(&m[1], 1);
    assert_int_equal(poll(&poll_file, 1, (int)test_limit(20000)), 1);
    assert_int_equal(poll_file.revents & POLLIN, POLLIN);
    assert_int_equal(call(file, GBA_IOC_QUERY, &query), 0);
    assert_int_equal(call(file, GBA_IOC_JOIN, &join), gone ? ENODEV : ESTALE);
    if (gone) {
        assert_int_equal(poll_file.revents & POLLHUP, POLLHUP);
        assert_int_equal(query.state, GBA_DEV_STATE_DEAD);
    }
    assert_int_equal(inspect(&m[0], &registers), ENODEV);
    assert_int_equal(configure(&m[0], 0), ENODEV);
    assert_int_equal(free_group(file, &unused), gone ? 0 : ESTALE);
    assert_int_equal(leave(&m[0]), 0);
    assert_int_equal(m[1].slot->revoked, GBA_REVOKED_DEAD);
    if (gone) { /* read ends, blocking or not */
        fcntl(file, F_SETFL, O_NONBLOCK);
        while (0 < read(file, event, sizeof event))
            ;
        assert_int_equal(read(file, event, sizeof event), 0);
    }
    close(file);
    assert_int_equal(m[1].slot->revoked, GBA_REVOKED_DEAD);
    unmap(&m[0]);
    unmap(&m[1]);
}

/* The device works again. */
static void check_device(void)
{
    uint32_t groups = groups_free();
    int file = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 1);
    struct test_member m = join_group(file, &alloc, 0);

    assert_int_equal(groups, query_device(file, 0).groups);
    assert_int_equal(configure(&m, 0), 0);
    arrive(&m, 1);
    assert_true(released(&m, 1));
    close(file);
    unmap(&m);
}

/* A port that was down and is up again has no mask, and its host may not have detected it. A member
 * that joins then must not share a group with earlier doorbells. */
TEST(test_PORT_4_the_port_was_down)
{
    int file = open_device(), other = open_device(), registers = open_registers();
    uint32_t groups = query_device(file, 0).groups;
    struct gba_ioc_alloc alloc = alloc_group(file, 2), unused = alloc_group(file, 1);
    struct test_member m = join_group(file, &alloc, 0);
    struct gba_ioc_join join = join_of(&alloc, 1);

    register_write(registers, GBA_PORT_REG(GBA_PORT_IRQ_MASK), 0);
    assert_int_equal(call(other, GBA_IOC_JOIN, &join), ESTALE);
    assert_int_equal(m.slot->revoked, GBA_REVOKED_DEAD);
    assert_int_equal(query_device(file, 0).groups_free, groups);
    assert_int_equal(free_group(file, &unused), ESTALE);
    close(registers);
    close(other);
    close(file);
    unmap(&m);
    check_device();
}

TEST(test_DRV_17_reset)
{
    char path[512];

    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/reset", pci_address());
    check_end(path, "1", 0);
    check_device();
}

TEST(test_DRV_17_unbound)
{
    const char *address = pci_address();

    check_end("/sys/bus/pci/drivers/gba/unbind", address, 1);
    write_file("/sys/bus/pci/drivers/gba/bind", address);
    check_device();
}

TEST(test_DRV_17_removed)
{
    char path[512];

    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/remove", pci_address());
    check_end(path, "1", 1);
    write_file("/sys/bus/pci/rescan", "1");
    check_device();
}

/* --- Memory of the kernel --- */

/* Objects of the kernel's allocator that are in use. */
static long objects(void)
{
    FILE *file = fopen("/proc/slabinfo", "r");
    char line[512];
    long sum = 0, count;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (0 == strncmp(line, "kmalloc-", 8) && 1 == sscanf(line, "%*s %ld", &count))
            sum += count;
    fclose(file);
    return sum;
}

/* Pages that are in use. */
static long pages(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    long total = 0, unused = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "MemTotal: %ld kB MemFree: %ld", &total, &unused), 2);
    fclose(file);
    return (total - unused) / 4;
}

/* Files with a group, a membership and mappings use no more memory after their end. Other parts of
 * the kernel allocate, too, so one batch without a leak is enough: a leak of one object or page of
 * each file would be in all batches. */
TEST(test_memory_of_files)
{
    long leaked_objects, leaked_pages;
    const int files = 300;

    for (int batch = 0; batch < 6; batch++) {
        leaked_objects = objects();
        leaked_pages = pages();
        for (int i = 0; i < files; i++) {
            int file = open_device();
            struct gba_ioc_alloc alloc = alloc_group(file, 1);
            struct test_member m = join_group(file, &alloc, 0);

            close(file);
            unmap(&m);
        }
        leaked_objects = objects() - leaked_objects;
        leaked_pages = pages() - leaked_pages;
        if (leaked_objects < files / 2 && leaked_pages < files / 2)
            return;
        usleep(200000); /* memory is also freed later */
    }
    fail_msg("%d files: %ld objects, %ld pages are not free", files, leaked_objects, leaked_pages);
}

/* A file and a mapping keep the module. module_life in tests/driver/guest unloads it. */
TEST(test_unload)
{
    int file = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 1);
    struct test_member m = join_group(file, &alloc, 0);

    assert_int_equal(syscall(SYS_delete_module, "gba", O_NONBLOCK), -1);
    assert_int_equal(errno, EWOULDBLOCK);
    close(file);
    assert_int_equal(syscall(SYS_delete_module, "gba", O_NONBLOCK), -1); /* mapped */
    assert_int_equal(errno, EWOULDBLOCK);
    unmap(&m);
}

TEST_MAIN()
