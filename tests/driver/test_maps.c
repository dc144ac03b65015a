/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mappings: arguments that mmap refuses, the effects of fork, exec, mremap and mprotect, and all
 * orders in which mapping, membership and file end. GBA_TEST_CYCLES: number of cycles of the test
 * that lets mmap and LEAVE interleave (default 300).
 */
#define _GNU_SOURCE
#include <sched.h>

#include "tests/driver/driver_test.h"

static sigjmp_buf fault;

static void catch_fault(int number)
{
    siglongjmp(fault, number);
}

/* Store to the doorbell. Returns 0 or the signal. */
static int store(volatile uint64_t *bell, uint64_t value)
{
    struct sigaction action = {.sa_handler = catch_fault};
    int number;

    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    number = sigsetjmp(fault, 1);
    if (0 == number)
        *bell = value;
    return number;
}

/* A group of one member, in a file of its own. */
static struct test_member one_member(uint32_t sequence)
{
    int file = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 1);
    struct test_member m = join_group(file, &alloc, 0);

    m.slot->release = sequence;
    assert_int_equal(configure(&m, sequence), 0);
    return m;
}

static int try_map(int file, size_t size, int protection, int flags, uint64_t offset)
{
    void *page = mmap(NULL, size, protection, flags, file, (off_t)offset);

    if (MAP_FAILED == page)
        return errno;
    munmap(page, size);
    return 0;
}

TEST(test_DRV_9_mmap_refuses)
{
    int file = open_device(), other = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 2);
    struct gba_ioc_join join = join_of(&alloc, 0);
    const int rw = PROT_READ | PROT_WRITE;

    assert_int_equal(call(file, GBA_IOC_JOIN, &join), 0);
    assert_int_equal(try_map(file, PAGE, PROT_WRITE, MAP_SHARED, 0), EINVAL);
    for (uint64_t offset = PAGE; offset < 64 * PAGE; offset += PAGE) /* all other offsets */
        if (offset != join.doorbell_offset && offset != join.flag_offset)
            assert_int_equal(try_map(file, PAGE, PROT_WRITE, MAP_SHARED, offset), EINVAL);
    assert_int_equal(try_map(file, PAGE, rw, MAP_SHARED, 0x100000000), EINVAL);
    /* A mapping is one page, so munmap cannot split it. */
    assert_int_equal(try_map(file, 2 * PAGE, PROT_WRITE, MAP_SHARED, join.doorbell_offset), EINVAL);
    assert_int_equal(try_map(file, PAGE, PROT_WRITE, MAP_PRIVATE, join.doorbell_offset), EINVAL);
    assert_int_equal(try_map(file, PAGE, rw, MAP_SHARED, join.doorbell_offset), EPERM);
    assert_int_equal(try_map(file, PAGE, PROT_READ, MAP_SHARED, join.doorbell_offset), EPERM);
    assert_int_equal(try_map(file, PAGE, rw | PROT_EXEC, MAP_SHARED, join.flag_offset), EPERM);
    assert_int_equal(try_map(file, PAGE, rw, MAP_PRIVATE, join.flag_offset), EINVAL);
    /* An offset belongs to its file. */
    assert_int_equal(try_map(other, PAGE, PROT_WRITE, MAP_SHARED, join.doorbell_offset), EINVAL);
    /* A failed mmap can be repeated, and a page be mapped again. */
    assert_int_equal(try_map(file, PAGE, PROT_WRITE, MAP_SHARED, join.doorbell_offset), 0);
    assert_int_equal(try_map(file, PAGE, PROT_WRITE, MAP_SHARED, join.doorbell_offset), 0);
    assert_int_equal(try_map(file, PAGE, rw, MAP_SHARED, join.flag_offset), 0);
    assert_int_equal(try_map(file, PAGE, PROT_READ, MAP_SHARED, join.flag_offset), 0);
    close(other);
    close(file);
    assert_int_equal(try_map(file, PAGE, rw, MAP_SHARED, join.flag_offset), EBADF);
}

TEST(test_mprotect_and_mremap)
{
    struct test_member m = one_member(0);
    void *moved, *twice;

    assert_int_equal(mprotect((void *)(uintptr_t)m.bell, PAGE, PROT_READ | PROT_WRITE), -1);
    assert_int_equal(errno, EACCES);
    assert_int_equal(mprotect((void *)(uintptr_t)m.bell, PAGE, PROT_WRITE | PROT_EXEC), -1);
    assert_int_equal(mprotect((void *)(uintptr_t)m.bell, PAGE, PROT_NONE), 0);
    assert_int_equal(store(m.bell, GBA_ARRIVAL(1, m.join.generation, 0)), SIGSEGV);
    assert_int_equal(mprotect((void *)(uintptr_t)m.bell, PAGE, PROT_WRITE), 0);
    assert_ptr_equal(mremap((void *)(uintptr_t)m.bell, PAGE, 2 * PAGE, MREMAP_MAYMOVE), MAP_FAILED);
    moved = mremap((void *)(uintptr_t)m.bell, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
                   mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    assert_ptr_not_equal(moved, MAP_FAILED);
    m.bell = moved;
    arrive(&m, 1);
    assert_true(released(&m, 1));
    /* A second mapping of the page, if mremap makes one, is revoked, too. */
    twice = mremap(moved, 0, PAGE, MREMAP_MAYMOVE);
    assert_int_equal(leave(&m), 0);
    {
        struct test_member next = one_member(1);
        struct gba_ioc_inspect registers;

        assert_int_equal(next.join.group, m.join.group);
        assert_int_equal(store(m.bell, GBA_ARRIVAL(2, next.join.generation, 0)), 0);
        if (MAP_FAILED != twice)
            assert_int_equal(store(twice, GBA_ARRIVAL(2, next.join.generation, 0)), 0);
        assert_int_equal(inspect(&next, &registers), 0);
        assert_int_equal(registers.sequence, 1);
        close(next.file);
        unmap(&next);
    }
    if (MAP_FAILED != twice)
        munmap(twice, PAGE);
    close(m.file);
    unmap(&m);
}

TEST(test_DRV_16_leave_revokes_the_doorbell)
{
    struct test_member m = one_member(0), next;
    uint64_t errors, refused;

    arrive(&m, 1);
    assert_true(released(&m, 1));
    assert_int_equal(leave(&m), 0);
    errors = counted(m.file, GBA_COUNTER_ERR_DISABLED) + counted(m.file, GBA_COUNTER_ERR_MEMBER);
    refused = query_device(m.file, 0).bad_access;
    arrive(&m, 2);
    notify(&m, 2);
    assert_int_equal(counted(m.file, GBA_COUNTER_ERR_DISABLED) +
                         counted(m.file, GBA_COUNTER_ERR_MEMBER),
                     errors);
    assert_int_equal(query_device(m.file, 0).bad_access, refused);
    /* The next owner of the group expects just that arrival. */
    next = one_member(1);
    assert_int_equal(next.join.group, m.join.group);
    arrive(&m, 2);
    assert_int_equal(wait_for(&next, 2, 50000000, &(uint32_t){0}), ETIMEDOUT);
    arrive(&next, 2);
    assert_true(released(&next, 2));
    close(next.file);
    unmap(&next);
    /* Its offset has no page any more. */
    assert_int_equal(try_map(m.file, PAGE, PROT_WRITE, MAP_SHARED, m.join.doorbell_offset), EINVAL);
    close(m.file);
    unmap(&m);
}

/* --- mmap against LEAVE --- */

struct mapper {
    int file;
    pthread_barrier_t barrier;
    uint64_t offset;
    unsigned delay; /* turns of a loop before mmap */
    void *page;     /* the mapping, or MAP_FAILED */
    long started;   /* number of the cycle in which it is about to map */
    int ends;
};

static void turn(unsigned count)
{
    for (volatile unsigned i = 0; i < count; i++)
        ;
}

/* In each cycle: map the doorbell and store to it while the other thread leaves. Fault, insertion
 * and revocation interleave in many ways, because the delay differs in each cycle. */
static void *map_in_cycles(void *argument)
{
    struct mapper *mapper = argument;

    for (;;) {
        pthread_barrier_wait(&mapper->barrier);
        if (mapper->ends)
            return NULL;
        __atomic_fetch_add(&mapper->started, 1, __ATOMIC_RELEASE);
        turn(mapper->delay);
        mapper->page =
            mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, mapper->file, (off_t)mapper->offset);
        if (MAP_FAILED != mapper->page)
            *(volatile uint64_t *)mapper->page =
                GBA_ARRIVAL(0, 0, 0); /* of no effect, if it is early */
        pthread_barrier_wait(&mapper->barrier);
    }
}

TEST(test_DRV_16_mmap_and_leave_interleave)
{
    const char *number = getenv("GBA_TEST_CYCLES");
    long cycles = number == NULL ? 300 : atol(number), mapped = 0;
    int file = open_device(), other = open_device();
    struct mapper mapper = {.file = file};
    pthread_t thread;

    pthread_barrier_init(&mapper.barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, map_in_cycles, &mapper), 0);
    for (long i = 0; i < cycles; i++) {
        struct gba_ioc_alloc alloc = alloc_group(file, 1), next;
        struct test_member m = {.file = file, .join = join_of(&alloc, 0)}, owner;
        struct gba_ioc_inspect registers;

        assert_int_equal(call(file, GBA_IOC_JOIN, &m.join), 0);
        mapper.offset = m.join.doorbell_offset;
        mapper.delay = (unsigned)(i * 37 % 2000);
        pthread_barrier_wait(&mapper.barrier);
        while (i == __atomic_load_n(&mapper.started, __ATOMIC_ACQUIRE))
            sched_yield();
        turn((unsigned)(i * 53 % 2000));
        assert_int_equal(leave(&m), 0);
        next = alloc_group(other, 1);
        assert_int_equal(next.group, alloc.group);
        owner = join_group(other, &next, 0);
        assert_int_equal(configure(&owner, 0), 0);
        pthread_barrier_wait(&mapper.barrier);
        if (MAP_FAILED != mapper.page) {
            mapped++;
            assert_int_equal(store(mapper.page, GBA_ARRIVAL(1, next.generation, 0)), 0);
            munmap(mapper.page, PAGE);
        }
        /* A store to the doorbell would have been an error, a late arrival or a round. */
        assert_int_equal(inspect(&owner, &registers), 0);
        assert_int_equal(registers.sequence, 0);
        assert_int_equal(registers.last_error, GBA_ERROR_NONE);
        assert_int_equal(registers.counters[GBA_COUNTER_LATE], 0);
        assert_int_equal(owner.slot->release, 0);
        assert_int_equal(leave(&owner), 0);
        unmap(&owner);
    }
    mapper.ends = 1;
    pthread_barrier_wait(&mapper.barrier);
    pthread_join(thread, NULL);
    print_message("%ld cycles, %ld of them with a mapping\n", cycles, mapped);
    close(file);
    close(other);
}

TEST(test_close_before_munmap)
{
    uint32_t groups = groups_free();
    struct test_member m = one_member(0);

    arrive(&m, 1);
    assert_true(released(&m, 1));
    assert_int_equal(groups_free(), groups - 1);
    close(m.file);
    assert_int_equal(groups_free(), groups);
    assert_int_equal(m.slot->revoked, GBA_REVOKED_ENDED);
    assert_true(m.slot->release == (GBA_FLAG_REVOKED | 1));
    assert_int_equal(store(m.bell, GBA_ARRIVAL(2, m.join.generation, 0)), 0);
    unmap(&m);
}

/* In a child of fork: no mapping, and no call but QUERY. Returns 0, or the number of a check. */
static int use_in_child(void *argument)
{
    const struct test_member *m = argument;
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = 1};
    struct gba_ioc_query query = {.size = sizeof query};
    struct gba_ioc_inspect registers;
    struct gba_event event;
    uint32_t events;

    if (SIGSEGV != store(m->bell, GBA_ARRIVAL(1, m->join.generation, 0)))
        return 1;
    if (EPERM != try_map(m->file, PAGE, PROT_WRITE, MAP_SHARED, m->join.doorbell_offset))
        return 2;
    if (EPERM != leave(m) || EPERM != configure(m, 0) || EPERM != inspect(m, &registers))
        return 3;
    if (EPERM != call(m->file, GBA_IOC_ALLOC, &alloc) || EPERM != wait_for(m, 1, 0, &events))
        return 4;
    if (-1 != read(m->file, &event, sizeof event) || EPERM != errno)
        return 5;
    if (0 != call(m->file, GBA_IOC_QUERY, &query))
        return 6;
    return 0 == close(m->file) ? 0 : 7; /* does not end the membership of the parent */
}

TEST(test_fork)
{
    struct test_member m = one_member(0);

    assert_int_equal(madvise((void *)(uintptr_t)m.bell, PAGE, MADV_DOFORK), -1);
    assert_int_equal(in_child(use_in_child, &m), 0);
    arrive(&m, 1);
    assert_true(released(&m, 1));
    assert_int_equal(leave(&m), 0);
    unmap(&m);
    close(m.file);
}

/* A child with the descriptor of the parent cannot use it. The membership ends when the parent
 * closes its own. */
TEST(test_passed_descriptor)
{
    struct test_member m = one_member(0);
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), m.file);
    assert_int_equal(in_child(use_in_child, &m), 0);
    /* The owner closes its descriptor while the child still has one. */
    {
        int pipe_end[2], status;
        pid_t child;

        assert_int_equal(pipe(pipe_end), 0);
        child = fork();
        if (0 == child) {
            close(pipe_end[1]);
            _exit((int)read(pipe_end[0], path, 1)); /* until the parent closes */
        }
        close(pipe_end[0]);
        close(m.file);
        assert_int_equal(m.slot->revoked, GBA_REVOKED_ENDED);
        close(pipe_end[1]);
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    unmap(&m);
}

/* exec in a child that owns a membership of a group that the parent is in, too. */
struct exec_case {
    const struct gba_ioc_alloc *alloc;
    int keep; /* the descriptor stays open in the new program */
    int end;  /* a pipe: the new program runs until its other end is closed */
};

static int join_and_exec(void *argument)
{
    const struct exec_case *exec_case = argument;
    int file = open("/dev/gba0", exec_case->keep ? O_RDWR : O_RDWR | O_CLOEXEC);
    struct gba_ioc_join join = join_of(exec_case->alloc, 1);

    if (0 != call(file, GBA_IOC_JOIN, &join))
        return 1;
    dup2(exec_case->end, STDIN_FILENO);
    execl("/bin/cat", "cat", (char *)NULL);
    return 2;
}

TEST(test_DRV_10_exec_ends_the_memberships)
{
    for (int keep = 0; keep < 2; keep++) {
        int file = open_device();
        struct gba_ioc_alloc alloc = alloc_group(file, 2);
        struct test_member m = join_group(file, &alloc, 0);
        struct exec_case exec_case = {&alloc, keep, -1};
        uint32_t events = 0;
        int ends[2];
        pid_t child;

        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        exec_case.end = ends[0];
        child = fork();
        if (0 == child)
            _exit(join_and_exec(&exec_case));
        /* The event comes while the new program still runs. */
        assert_int_equal(wait_for(&m, 1, 20000000000u, &events), 0);
        assert_int_equal(events, GBA_EVENT_DIED);
        assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
        close(ends[1]);
        waitpid(child, NULL, 0);
        close(ends[0]);
        assert_int_equal(leave(&m), 0);
        unmap(&m);
        close(file);
    }
}

TEST_MAIN()
