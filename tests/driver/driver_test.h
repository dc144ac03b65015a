/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for tests of the Linux driver in a virtual machine: files, groups, memberships and
 * mappings. */
#ifndef GBA_TESTS_DRIVER_TEST_H
#define GBA_TESTS_DRIVER_TEST_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gba/spec/gba_ioctl.h"
#include "tests/limit.h"
#include "tests/suite.h"

#define PAGE 4096u

/* A membership with its mappings. */
struct test_member {
    int file;
    struct gba_ioc_join join;
    volatile uint64_t *bell; /* the doorbell page */
    volatile struct gba_flag_slot *slot;
};

/* 0, or the errno of a call. */
static inline int call(int file, unsigned long number, void *argument)
{
    return 0 == ioctl(file, number, argument) ? 0 : errno;
}

static inline int open_device(void)
{
    int file = open("/dev/gba0", O_RDWR | O_CLOEXEC);

    assert_true(file >= 0);
    return file;
}

static inline struct gba_ioc_query query_device(int file, uint32_t flags)
{
    struct gba_ioc_query query = {.size = sizeof query, .flags = flags};

    assert_int_equal(call(file, GBA_IOC_QUERY, &query), 0);
    return query;
}

static inline uint32_t groups_free(void)
{
    int file = open_device();
    uint32_t groups = query_device(file, 0).groups_free;

    close(file);
    return groups;
}

/* The sum of a counter over all groups. */
static inline uint64_t counted(int file, unsigned counter)
{
    return query_device(file, GBA_QUERY_COUNTERS).counters[counter];
}

static inline struct gba_ioc_alloc alloc_group(int file, uint32_t members)
{
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = members, .job = 1};

    assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), 0);
    return alloc;
}

static inline int free_group(int file, const struct gba_ioc_alloc *alloc)
{
    struct gba_ioc_free argument = {
        .size = sizeof argument, .group = alloc->group, .generation = alloc->generation};

    return call(file, GBA_IOC_FREE, &argument);
}

static inline struct gba_ioc_join join_of(const struct gba_ioc_alloc *alloc, uint32_t member)
{
    return (struct gba_ioc_join){.size = sizeof(struct gba_ioc_join),
                                 .group = alloc->group,
                                 .generation = alloc->generation,
                                 .key = alloc->key,
                                 .member = member};
}

/* Join, and map the doorbell at an address (NULL: anywhere) and the flag. */
static inline struct test_member join_at(int file, const struct gba_ioc_alloc *alloc,
                                         uint32_t member, void *bell)
{
    struct test_member m = {.file = file, .join = join_of(alloc, member)};
    void *page;

    assert_int_equal(call(file, GBA_IOC_JOIN, &m.join), 0);
    page = mmap(bell, m.join.map_size, PROT_WRITE, MAP_SHARED | (bell ? MAP_FIXED : 0), file,
                (off_t)m.join.doorbell_offset);
    assert_ptr_not_equal(page, MAP_FAILED);
    m.bell = page;
    page = mmap(NULL, m.join.map_size, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                (off_t)m.join.flag_offset);
    assert_ptr_not_equal(page, MAP_FAILED);
    m.slot = (void *)((char *)page + m.join.flag_position);
    return m;
}

static inline struct test_member join_group(int file, const struct gba_ioc_alloc *alloc,
                                            uint32_t member)
{
    return join_at(file, alloc, member, NULL);
}

static inline int configure(const struct test_member *m, uint32_t sequence)
{
    struct gba_ioc_configure argument = {.size = sizeof argument,
                                         .group = m->join.group,
                                         .generation = m->join.generation,
                                         .sequence = sequence};

    return call(m->file, GBA_IOC_CONFIGURE, &argument);
}

static inline int leave(const struct test_member *m)
{
    struct gba_ioc_leave argument = {.size = sizeof argument,
                                     .group = m->join.group,
                                     .generation = m->join.generation,
                                     .member = m->join.member};

    return call(m->file, GBA_IOC_LEAVE, &argument);
}

static inline int inspect(const struct test_member *m, struct gba_ioc_inspect *argument)
{
    *argument = (struct gba_ioc_inspect){
        .size = sizeof *argument, .group = m->join.group, .generation = m->join.generation};
    return call(m->file, GBA_IOC_INSPECT, argument);
}

/* WAIT; sets *events to its result. */
static inline int wait_for(const struct test_member *m, uint32_t sequence, uint64_t timeout,
                           uint32_t *events)
{
    struct gba_ioc_wait argument = {.size = sizeof argument,
                                    .group = m->join.group,
                                    .generation = m->join.generation,
                                    .member = m->join.member,
                                    .sequence = sequence,
                                    .timeout = timeout};
    int error = call(m->file, GBA_IOC_WAIT, &argument);

    *events = argument.events;
    return error;
}

static inline void unmap(const struct test_member *m)
{
    munmap((void *)(uintptr_t)m->bell, PAGE);
    munmap((void *)((uintptr_t)m->slot & ~(uintptr_t)(PAGE - 1)), PAGE);
}

static inline void arrive(const struct test_member *m, uint32_t sequence)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    m->bell[GBA_BELL_ARRIVAL / 8] = GBA_ARRIVAL(sequence, m->join.generation, m->join.member);
}

static inline void notify(const struct test_member *m, uint32_t sequence)
{
    m->bell[GBA_BELL_NOTIFY / 8] = GBA_ARRIVAL(sequence, m->join.generation, m->join.member);
}

static inline uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The time at which a wait of a test has failed. */
static inline uint64_t wait_end(void)
{
    return now_ns() + test_limit(20) * UINT64_C(1000000000);
}

/* Whether the flag reaches a round. Returns 0 after 20 s, so that a failed test ends. */
static inline int released(const struct test_member *m, uint32_t sequence)
{
    uint64_t end = wait_end();

    while (!GBA_SEQ_REACHED((uint32_t)m->slot->release, sequence))
        if (now_ns() > end)
            return 0;
    return 1;
}

/* The registers of the device, by the debug file of the driver. */
static inline int open_registers(void)
{
    int file;

    (void)mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
    file = open("/sys/kernel/debug/gba/gba0/registers", O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    return file;
}

static inline uint32_t register_read(int registers, uint32_t address)
{
    uint32_t value;

    assert_int_equal(pread(registers, &value, sizeof value, address), sizeof value);
    return value;
}

static inline void register_write(int registers, uint32_t address, uint32_t value)
{
    assert_int_equal(pwrite(registers, &value, sizeof value, address), sizeof value);
}

/* Delay the events of a group at this port: they interrupt when the mask is set again. [IRQ-4] */
static inline void mask_group(int registers, uint32_t group, int masked)
{
    uint32_t mask = register_read(registers, GBA_PORT_REG(GBA_PORT_IRQ_MASK)), bit = 1u << group;

    register_write(registers, GBA_PORT_REG(GBA_PORT_IRQ_MASK), masked ? mask & ~bit : mask | bit);
}

/* The end of a thread's preparations, with its id for await_sleeper. */
static inline void sleeper_begins(_Atomic pid_t *thread)
{
    *thread = (pid_t)syscall(SYS_gettid);
}

/* Until that thread of this process sleeps in an ioctl. */
static inline void await_sleeper(const _Atomic pid_t *thread)
{
    uint64_t end = wait_end();
    char path[64];
    long number = -1;

    do {
        FILE *file;

        assert_true(now_ns() < end);
        usleep(1000);
        snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)*thread);
        file = fopen(path, "r");
        /* "running" instead of a number while the thread does not sleep. */
        if (file != NULL && 1 != fscanf(file, "%ld", &number))
            number = -1;
        if (file != NULL)
            fclose(file);
    } while (SYS_ioctl != number);
}

/* A thread that sleeps in WAIT. */
struct sleeper {
    const struct test_member *member;
    uint32_t sequence, events; /* events: the result of WAIT */
    uint64_t timeout;          /* 0: none */
    int error;
    uint64_t woken;
    _Atomic pid_t thread;
};

static inline void *sleep_in_wait(void *context)
{
    struct sleeper *sleeper = context;

    sleeper_begins(&sleeper->thread);
    sleeper->error =
        wait_for(sleeper->member, sleeper->sequence,
                 0 == sleeper->timeout ? GBA_WAIT_FOREVER : sleeper->timeout, &sleeper->events);
    sleeper->woken = now_ns();
    return NULL;
}

/* Until the device has an event of a group for this port. Returns 0 if none comes. */
static inline int has_event(int registers, uint32_t group, uint32_t event)
{
    uint64_t end = wait_end();

    while (0 == (register_read(registers, GBA_PORT_EVENT(group)) & event)) {
        if (now_ns() > end)
            return 0;
        usleep(1000);
    }
    return 1;
}

/* The events of the next record of a file; 0 if none comes. */
static inline uint32_t next_events(int file)
{
    struct pollfd poll_file = {.fd = file, .events = POLLIN};
    struct gba_event event;

    if (1 != poll(&poll_file, 1, (int)test_limit(20000)))
        return 0;
    assert_int_equal(read(file, &event, sizeof event), sizeof event);
    return event.events;
}

/* The events of a member of a new allocation of the group, armed with 0, after an event of the
 * earlier allocation was delayed until now. */
static inline uint32_t events_of_next_owner(int file, int registers, uint32_t group)
{
    struct gba_ioc_alloc alloc = alloc_group(file, 1);
    struct test_member m = join_group(file, &alloc, 0);
    uint32_t events;

    assert_int_equal(alloc.group, group);
    mask_group(registers, group, 0);
    assert_int_equal(configure(&m, 0), 0);
    notify(&m, 0); /* the device answers at once, so no later interrupt is awaited */
    events = next_events(file);
    assert_int_equal(leave(&m), 0);
    unmap(&m);
    return events;
}

/* The reason for which a membership was revoked; 0 if it is not revoked. */
static inline uint32_t revoked(const struct test_member *m)
{
    uint64_t end = wait_end();

    while (0 == m->slot->revoked && now_ns() < end)
        usleep(1000);
    return m->slot->revoked;
}

static inline void write_file(const char *path, const char *text)
{
    int file = open(path, O_WRONLY);

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

/* The PCI address of the device that the driver has. */
static inline const char *pci_address(void)
{
    static char address[sizeof((struct dirent *)0)->d_name];
    DIR *directory = opendir("/sys/bus/pci/drivers/gba");
    struct dirent *entry;

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL)
        if (strchr(entry->d_name, ':') != NULL)
            snprintf(address, sizeof address, "%s", entry->d_name);
    closedir(directory);
    return address;
}

/* Continue as a user without rights, or end the process. */
static inline void become(uid_t user)
{
    if (0 != setgroups(0, NULL) || 0 != setresgid(user, user, user) ||
        0 != setresuid(user, user, user))
        _exit(99);
}

/* Run a function in a child. Returns the status from waitpid. An assert in the child does not fail
 * the parent, so the function returns a number instead. */
static inline int in_child(int (*function)(void *), void *argument)
{
    int status = 0;
    pid_t child = fork();

    if (0 == child)
        _exit(function(argument));
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

#endif
