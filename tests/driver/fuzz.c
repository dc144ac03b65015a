/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random calls, mappings, stores, forks and kills of several processes on /dev/gba0, while a group
 * of another user completes rounds. The driver must refuse or execute each call: no process gets a
 * SIGBUS, the other user's rounds are correct, all groups are free at the end, and the log of the
 * kernel has no warning (contrib/vm looks for them).
 *
 *   fuzz [SECONDS [SEED]]     default: 5 s, seed 1. Needs root and two unused user numbers.
 *
 * The seed determines the operations of each process, but not how they interleave.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "tests/driver/driver_test.h"

#define FUZZERS     3
#define FILES       4
#define MAPPINGS    8
#define KNOWN       64
#define OPERATIONS  3000 /* of a process */
#define SIGBUS_EXIT 50

/* Memberships and allocations of all fuzzers. Each field may be changed at any time. */
static struct gba_ioc_join *known;
static struct gba_ioc_alloc *known_alloc;

static uint64_t state;
static int files[FILES];
static void *mappings[MAPPINGS];
static sigjmp_buf fault;
static bool is_child; /* of a fuzzer, by fork: ends at a fault */

static uint64_t random64(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(random64() % limit);
}

/* A value that is often near a limit. */
static uint32_t odd_value(void)
{
    static const uint32_t values[] = {0,   1,   2,   3,    31,         32,         707, 708,
                                      709, 127, 128, 4096, 0x7FFFFFFF, 0x80000000, ~0u};

    return below(4) == 0 ? (uint32_t)random64() : values[below(sizeof values / sizeof values[0])];
}

/* --- The operations --- */

static void reopen(void)
{
    int *file = &files[below(FILES)];

    if (*file >= 0)
        close(*file);
    *file = open("/dev/gba0", O_RDWR | O_NONBLOCK | (below(2) ? O_CLOEXEC : 0));
}

/* Fill the structure of a call with values that are partly valid. Returns its size. */
static uint32_t fill(unsigned number, void *memory)
{
    const struct gba_ioc_join *join = &known[below(KNOWN)];
    const struct gba_ioc_alloc *alloc = &known_alloc[below(KNOWN)];

    switch (number) {
    case 1:
        *(struct gba_ioc_alloc *)memory =
            (struct gba_ioc_alloc){.members = 1 + below(4),
                                   .groups_max = below(3) ? 0 : below(8),
                                   .unused = below(2) ? 0 : 1u << below(32),
                                   .job = below(3)};
        return sizeof *alloc;
    case 2:
        *(struct gba_ioc_free *)memory =
            (struct gba_ioc_free){.group = alloc->group, .generation = alloc->generation};
        return sizeof(struct gba_ioc_free);
    case 3:
        *(struct gba_ioc_join *)memory = join_of(alloc, below(4));
        return sizeof *join;
    case 4:
        *(struct gba_ioc_configure *)memory = (struct gba_ioc_configure){
            .group = join->group, .generation = join->generation, .sequence = odd_value()};
        return sizeof(struct gba_ioc_configure);
    case 5:
        *(struct gba_ioc_leave *)memory = (struct gba_ioc_leave){
            .group = join->group, .generation = join->generation, .member = join->member};
        return sizeof(struct gba_ioc_leave);
    case 6:
        *(struct gba_ioc_inspect *)memory =
            (struct gba_ioc_inspect){.group = join->group, .generation = join->generation};
        return sizeof(struct gba_ioc_inspect);
    case 7:
        *(struct gba_ioc_wait *)memory = (struct gba_ioc_wait){.group = join->group,
                                                               .generation = join->generation,
                                                               .member = join->member,
                                                               .sequence = below(3),
                                                               .timeout = below(2000000)};
        return sizeof(struct gba_ioc_wait);
    default:
        return sizeof(struct gba_ioc_query);
    }
}

/* One call. Its structure is mostly valid, with one or two changed words. */
static void make_call(void)
{
    static _Alignas(8) uint32_t buffer[2048];
    unsigned number = below(8);
    unsigned long request = _IO(GBA_IOC_MAGIC, number);
    int file = files[below(FILES)];
    void *argument = buffer;

    memset(buffer, 0, sizeof buffer);
    buffer[0] = fill(number, buffer);
    if (below(8) == 0)
        buffer[below(buffer[0] / 4)] = odd_value();
    if (below(16) == 0)
        buffer[below(64)] = odd_value();
    if (below(64) == 0)
        request = random64();
    if (below(64) == 0) /* bad addresses, and the mappings of the device */
        argument =
            below(2) ? mappings[below(MAPPINGS)] : (void *)(uintptr_t)(random64() >> below(64));
    /* An argument that is not 0 for GBA_WAIT_FOREVER could sleep until the process is killed, so
     * an alarm ends it. */
    if (0 != ioctl(file, request, argument) || argument != buffer)
        return;
    if (1 == number)
        memcpy(&known_alloc[below(KNOWN)], buffer, sizeof *known_alloc);
    if (3 == number)
        memcpy(&known[below(KNOWN)], buffer, sizeof *known);
}

static void make_mapping(void)
{
    const struct gba_ioc_join *join = &known[below(KNOWN)];
    void **mapping = &mappings[below(MAPPINGS)];
    uint64_t offset = below(2) ? join->doorbell_offset : join->flag_offset;
    int protection = below(2) ? PROT_WRITE : PROT_READ | PROT_WRITE;
    void *page;

    if (below(16) == 0)
        offset = (uint64_t)below(64) * PAGE;
    if (below(32) == 0)
        protection = (int)below(8);
    page = mmap(NULL, below(16) ? PAGE : PAGE * below(4), protection,
                below(16) ? MAP_SHARED : MAP_PRIVATE, files[below(FILES)], (off_t)offset);
    if (MAP_FAILED == page)
        return;
    if (*mapping != NULL)
        munmap(*mapping, PAGE);
    *mapping = page;
}

static void change_mapping(void)
{
    void **mapping = &mappings[below(MAPPINGS)], *moved;

    if (*mapping == NULL)
        return;
    switch (below(6)) {
    case 0:
        munmap(*mapping, PAGE);
        *mapping = NULL;
        break;
    case 1:
        moved = mremap(*mapping, below(4) ? PAGE : 0, PAGE * (1 + below(2)), MREMAP_MAYMOVE);
        if (MAP_FAILED != moved)
            *mapping = moved;
        break;
    case 2:
        mprotect(*mapping, PAGE, (int)below(8));
        break;
    case 3:
        madvise(*mapping, PAGE, (int)below(26));
        break;
    case 4:
        msync(*mapping, PAGE, MS_SYNC);
        break;
    default:
        mlock(*mapping, PAGE);
        break;
    }
}

/* A store or a load. A fault returns to run(). */
static void access_mapping(void)
{
    const struct gba_ioc_join *join = &known[below(KNOWN)];
    char *page = mappings[below(MAPPINGS)];
    uint64_t value = below(4) ? GBA_ARRIVAL(below(4), join->generation, join->member) : random64();
    uint32_t offset = below(4) ? 8 * below(2) : 8 * below(PAGE / 8);

    if (page == NULL)
        return;
    if (below(8) == 0)
        *(volatile uint32_t *)(void *)(page + offset) = (uint32_t)value;
    else if (below(8) == 0)
        state ^= *(volatile uint64_t *)(void *)(page + offset) & 1;
    else
        *(volatile uint64_t *)(void *)(page + offset) = value;
}

static void take_events(void)
{
    struct pollfd poll_file = {.fd = files[below(FILES)], .events = POLLIN};
    struct gba_event event[4];

    (void)poll(&poll_file, 1, (int)below(2));
    if (read(poll_file.fd, event, below(sizeof event + 1)) < 0)
        sched_yield();
}

/* One operation on what a child has inherited. */
static void operate(bool fork_too);

static void make_child(void)
{
    pid_t child = fork();
    int status;

    if (0 == child) {
        state ^= 0x5555;
        is_child = true;
        ualarm(20000, 20000);
        for (int i = 0; i < 8; i++)
            operate(false);
        if (below(4) == 0)
            execl("/bin/true", "true", (char *)NULL);
        _exit(0);
    }
    if (child < 0)
        return;
    while (waitpid(child, &status, 0) != child) /* an alarm interrupts it */
        ;
    if (WIFEXITED(status) && SIGBUS_EXIT == WEXITSTATUS(status))
        _exit(SIGBUS_EXIT);
}

static void operate(bool fork_too)
{
    uint32_t which = below(100);

    if (which < 4)
        reopen();
    else if (which < 50)
        make_call();
    else if (which < 60)
        make_mapping();
    else if (which < 66)
        change_mapping();
    else if (which < 92)
        access_mapping();
    else if (which < 98 || !fork_too)
        take_events();
    else
        make_child();
}

static void on_fault(int number)
{
    if (SIGBUS == number)
        _exit(SIGBUS_EXIT);
    if (is_child)
        _exit(0);
    siglongjmp(fault, 1);
}

static void on_alarm(int number)
{
    (void)number;
}

/* The life of a fuzzing process. */
static void run(uint64_t seed, uint64_t end)
{
    const struct sigaction faults = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
    const struct sigaction alarms = {.sa_handler = on_alarm};
    volatile int i = 0;

    state = seed;
    sigaction(SIGSEGV, &faults, NULL);
    sigaction(SIGBUS, &faults, NULL);
    sigaction(SIGALRM, &alarms, NULL);
    ualarm(20000, 20000); /* ends calls that sleep */
    for (int k = 0; k < FILES; k++)
        files[k] = open("/dev/gba0", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    (void)sigsetjmp(fault, 1);
    while (i < OPERATIONS && now_ns() < end) {
        i++;
        operate(true);
    }
    _exit(0);
}

/* Start one fuzzing process after the other, and kill every second one at a random time. Returns
 * the exit status. */
static int fuzz(uint64_t seed, uint64_t end)
{
    int status;

    become(1002);
    for (uint64_t i = 0; now_ns() < end; i++) {
        pid_t child = fork();

        if (0 == child)
            run(seed + i, end);
        state = seed + i;
        if (i % 2) {
            usleep(below(100000));
            kill(child, SIGKILL);
        }
        if (waitpid(child, &status, 0) != child)
            return 2;
        if (WIFEXITED(status) ? 0 != WEXITSTATUS(status) : SIGKILL != WTERMSIG(status)) {
            fprintf(stderr, "seed %llu: status %#x\n", (unsigned long long)seed + i, status);
            return 3;
        }
    }
    return 0;
}

/* Rounds of the other user's group, until the pipe is closed. Returns 0, or the number of a check.
 */
static int complete_rounds(int pipe_end, int ready)
{
    struct gba_ioc_inspect registers;
    struct pollfd poll_pipe = {.fd = pipe_end, .events = POLLIN};
    struct test_member m[2];
    struct gba_ioc_alloc alloc;
    uint32_t round = 0, events;
    int file;

    become(1001);
    file = open_device();
    alloc = alloc_group(file, 2);
    m[0] = join_group(file, &alloc, 0);
    m[1] = join_group(file, &alloc, 1);
    if (0 != configure(&m[0], 0) || 1 != write(ready, "", 1))
        return 1;
    while (0 == poll(&poll_pipe, 1, 0)) {
        round++;
        arrive(&m[round % 2], round);
        if (m[0].slot->release != round - 1 || m[1].slot->release != round - 1)
            return 2; /* released before all have arrived */
        arrive(&m[1 - round % 2], round);
        if (round % 2 &&
            (0 != wait_for(&m[0], round, 60000000000u, &events) || GBA_EVENT_ROUND != events))
            return 3;
        if (!released(&m[0], round) || !released(&m[1], round))
            return 4;
        usleep(1000); /* most of the time is for the fuzzers */
    }
    if (0 != inspect(&m[0], &registers) || round != registers.sequence ||
        GBA_ERROR_NONE != registers.last_error)
        return 5;
    printf("%u rounds of the other user\n", round);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 5;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, end;
    int stop[2], ready[2], status, failed = 0;
    pid_t child[FUZZERS], rounds;
    uint32_t groups;
    char byte;

    groups = groups_free();
    known = mmap(NULL, PAGE * 2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    known_alloc = (void *)(known + KNOWN);
    _Static_assert(KNOWN * (sizeof *known + sizeof *known_alloc) <= PAGE * 2, "two pages");
    if (MAP_FAILED == (void *)known || 0 != chmod("/dev/gba0", 0666) || 0 != pipe(stop) ||
        0 != pipe(ready)) {
        perror("fuzz");
        return 1;
    }
    rounds = fork();
    if (0 == rounds) {
        close(stop[1]);
        _exit(complete_rounds(stop[0], ready[1]));
    }
    close(ready[1]);
    if (1 != read(ready[0], &byte, 1))
        return 1;
    end = now_ns() + seconds * 1000000000u;
    for (uint64_t i = 0; i < FUZZERS; i++) {
        child[i] = fork();
        if (0 == child[i])
            _exit(fuzz(seed * 1000003 + i * 1000000000, end));
    }
    for (int i = 0; i < FUZZERS; i++)
        if (waitpid(child[i], &status, 0) != child[i] || 0 != status)
            failed = 1;
    close(stop[1]);
    if (waitpid(rounds, &status, 0) != rounds || 0 != status) {
        fprintf(stderr, "the rounds of the other user: status %#x\n", status);
        failed = 1;
    }
    for (unsigned i = 0; i < test_limit(600) && groups_free() != groups; i++)
        usleep(100000);
    if (groups_free() != groups) {
        fprintf(stderr, "%u groups are free, not %u\n", groups_free(), groups);
        failed = 1;
    }
    return failed;
}
