/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of the driver: each field invalid while all others are valid, and the effects of failed
 * calls. */
#define _GNU_SOURCE
#include "tests/driver/driver_test.h"

/* Every call with an argument that is valid except for the field that the test changes. The group
 * and member do not exist, so a valid argument is ESTALE, except for QUERY and ALLOC. */
static const struct {
    unsigned long number;
    uint32_t size;
    int valid;      /* errno of the valid argument */
    int reserved;   /* offset of a reserved field, or -1 */
    uint32_t first; /* the third field */
} calls[] = {
    {GBA_IOC_QUERY, sizeof(struct gba_ioc_query), 0, -1, 0},
    {GBA_IOC_ALLOC, sizeof(struct gba_ioc_alloc), 0, offsetof(struct gba_ioc_alloc, reserved), 1},
    {GBA_IOC_FREE, sizeof(struct gba_ioc_free), ESTALE, -1, 99},
    {GBA_IOC_JOIN, sizeof(struct gba_ioc_join), ESTALE, offsetof(struct gba_ioc_join, reserved),
     99},
    {GBA_IOC_CONFIGURE, sizeof(struct gba_ioc_configure), ESTALE,
     offsetof(struct gba_ioc_configure, reserved), 99},
    {GBA_IOC_LEAVE, sizeof(struct gba_ioc_leave), ESTALE, offsetof(struct gba_ioc_leave, reserved),
     99},
    {GBA_IOC_INSPECT, sizeof(struct gba_ioc_inspect), ESTALE,
     offsetof(struct gba_ioc_inspect, reserved), 99},
    {GBA_IOC_WAIT, sizeof(struct gba_ioc_wait), ESTALE, -1, 99},
    {GBA_IOC_OWNER, sizeof(struct gba_ioc_owner), ENOENT, -1, 0}, /* a free group */
};
#define CALLS (sizeof calls / sizeof calls[0])

/* Make call i in a file of its own, with a buffer of 8 KiB. */
static int try_call(size_t i, uint32_t size, uint32_t flags, int offset, uint32_t value)
{
    static uint32_t buffer[2048];
    int file = open_device(), error;

    memset(buffer, 0, sizeof buffer);
    buffer[0] = size;
    buffer[1] = flags;
    buffer[2] = calls[i].first;
    if (offset >= 0)
        buffer[offset / 4] = value;
    error = call(file, calls[i].number, buffer);
    close(file);
    return error;
}

TEST(test_sizes_and_flags)
{
    for (size_t i = 0; i < CALLS; i++) {
        uint32_t size = calls[i].size;

        assert_int_equal(try_call(i, size, 0, -1, 0), calls[i].valid);
        assert_int_equal(try_call(i, size + 64, 0, -1, 0), calls[i].valid);
        assert_int_equal(try_call(i, 4096, 0, -1, 0), calls[i].valid);
        assert_int_equal(try_call(i, 0, 0, -1, 0), EINVAL);
        assert_int_equal(try_call(i, size - 4, 0, -1, 0), EINVAL);
        assert_int_equal(try_call(i, 4100, 0, -1, 0), E2BIG);
        assert_int_equal(try_call(i, size + 64, 0, (int)size, 1), E2BIG);
        assert_int_equal(try_call(i, size + 64, 0, (int)size + 60, 1), E2BIG);
        assert_int_equal(try_call(i, size, 0x80000000u, -1, 0), EINVAL);
        assert_int_equal(try_call(i, size, 2, -1, 0), EINVAL);
        if (calls[i].reserved >= 0)
            assert_int_equal(try_call(i, size, 0, calls[i].reserved, 1), EINVAL);
    }
}

TEST(test_numbers)
{
    uint32_t old[34] = {sizeof old, 0};
    int file = open_device();

    assert_int_equal(call(file, _IO(GBA_IOC_MAGIC, 9), old), ENOTTY);
    assert_int_equal(call(file, _IO(GBA_IOC_MAGIC, 255), old), ENOTTY);
    assert_int_equal(call(file, _IOWR(GBA_IOC_MAGIC, 0, uint32_t), old), ENOTTY);
    assert_int_equal(call(file, _IOWR(0xBA, 1, char[48]), old), ENOTTY);
    /* A library of version 2 receives the version of the driver. */
    assert_int_equal(call(file, _IOWR(0xBA, 0, char[136]), old), 0);
    assert_int_equal(old[2], GBA_ABI_VERSION);
    assert_int_equal(old[3] >> 16, GBA_REGS_MAJOR);
    old[0] = 135;
    assert_int_equal(call(file, _IOWR(0xBA, 0, char[136]), old), EINVAL);
    close(file);
}

TEST(test_bad_memory)
{
    uint32_t before = groups_free();
    char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct gba_ioc_alloc *alloc = (void *)memory;
    int file = open_device();

    for (size_t i = 0; i < CALLS; i++)
        assert_int_equal(call(file, calls[i].number, NULL), EFAULT);
    *alloc = (struct gba_ioc_alloc){.size = sizeof *alloc, .members = 1};
    mprotect(memory, PAGE, PROT_READ);
    assert_int_equal(call(file, GBA_IOC_ALLOC, alloc), EFAULT);
    assert_int_equal(query_device(file, 0).groups_free, before);
    mprotect(memory, PAGE, PROT_READ | PROT_WRITE);
    assert_int_equal(call(file, GBA_IOC_ALLOC, alloc), 0);
    close(file);
    munmap(memory, PAGE);
}

TEST(test_query)
{
    int file = open_device();
    struct gba_ioc_query query = query_device(file, GBA_QUERY_COUNTERS);

    assert_int_equal(query.abi_version, GBA_ABI_VERSION);
    assert_int_equal(query.regs_version >> 16, GBA_REGS_MAJOR);
    assert_int_equal(query.state, GBA_DEV_STATE_UP);
    assert_in_range(query.groups, 1, GBA_GROUPS);
    assert_int_equal(query.members_max, GBA_MEMBERS_MAX);
    assert_true(query.port < query.ports);
    assert_int_equal(query.features & (GBA_FEATURE_WAIT | GBA_FEATURE_EVENTS | GBA_FEATURE_OWNER),
                     7);
    close(file);
}

TEST(test_alloc_and_free)
{
    int file = open_device(), other = open_device();
    uint32_t groups = query_device(file, 0).groups_free;
    struct gba_ioc_alloc alloc, held[GBA_GROUPS], bad = {.size = sizeof bad};

    assert_int_equal(call(file, GBA_IOC_ALLOC, &bad), EINVAL);
    bad.members = GBA_MEMBERS_MAX + 1;
    assert_int_equal(call(file, GBA_IOC_ALLOC, &bad), EINVAL);
    for (uint32_t i = 0; i < groups; i++)
        held[i] = alloc_group(file, GBA_MEMBERS_MAX);
    bad.members = 2;
    assert_int_equal(call(file, GBA_IOC_ALLOC, &bad), ENOSPC);
    assert_int_equal(query_device(file, 0).user_groups, groups);
    alloc = held[0];
    assert_int_equal(free_group(other, &alloc), ESTALE);
    alloc.generation++;
    assert_int_equal(free_group(file, &alloc), ESTALE);
    alloc = held[0];
    alloc.group = GBA_GROUPS;
    assert_int_equal(free_group(file, &alloc), ESTALE);
    for (uint32_t i = 0; i < groups; i++)
        assert_int_equal(free_group(file, &held[i]), 0);
    assert_int_equal(free_group(file, &held[0]), ESTALE);
    /* The limit that a job states. */
    bad.groups_max = 1;
    bad.job = 7;
    assert_int_equal(call(file, GBA_IOC_ALLOC, &bad), 0);
    assert_int_equal(call(file, GBA_IOC_ALLOC, &bad), EDQUOT);
    bad.job = 8;
    assert_int_equal(call(file, GBA_IOC_ALLOC, &bad), 0);
    close(file); /* frees both */
    assert_int_equal(query_device(other, 0).groups_free, groups);
    close(other);
}

TEST(test_join)
{
    int file = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 2);
    struct gba_ioc_join join;

#define WRONG(field, value, error) \
    join = join_of(&alloc, 0);     \
    join.field = (value);          \
    assert_int_equal(call(file, GBA_IOC_JOIN, &join), (error))
    WRONG(group, alloc.group + 1, ESTALE);
    WRONG(group, GBA_GROUPS, ESTALE);
    WRONG(group, GBA_GROUP_ANY, ESTALE);
    WRONG(generation, alloc.generation + 1, ESTALE);
    WRONG(key, alloc.key ^ 1, ESTALE);
    WRONG(member, 2, EINVAL);
    WRONG(member, GBA_MEMBERS_MAX, EINVAL);
    WRONG(member, GBA_MEMBER_NONE, EINVAL);
    WRONG(member, 0, 0);
    WRONG(member, 0, EBUSY);
    assert_int_equal(join.size, sizeof join);
    assert_int_equal(free_group(file, &alloc), EBUSY);
    close(file);
}

/* A process that closes copies of its descriptor ends its memberships each time. It may still poll
 * the flags, so they stay until the file is closed, and their number has a limit. */
TEST(test_limit_of_a_file)
{
    enum { MEMBERS = 700, LIMIT = 4096 };
    int file = open_device(), other = open_device(), error = 0;
    struct gba_ioc_alloc alloc;
    struct gba_ioc_join join;
    uint32_t joined = 0;

    while (0 == error && joined <= LIMIT) {
        alloc = alloc_group(file, MEMBERS);
        for (uint32_t i = 0; i < MEMBERS && 0 == error; i++) {
            join = join_of(&alloc, i);
            error = call(file, GBA_IOC_JOIN, &join);
            joined += 0 == error;
        }
        close(dup(file));
    }
    assert_int_equal(error, EDQUOT);
    assert_int_equal(joined, LIMIT);
    close(file);
    alloc = alloc_group(other, 1); /* another file has a limit of its own */
    join = join_of(&alloc, 0);
    assert_int_equal(call(other, GBA_IOC_JOIN, &join), 0);
    close(other);
}

TEST(test_configure_inspect_leave)
{
    int file = open_device(), other = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 2);
    struct test_member one = join_group(file, &alloc, 0), two, wrong;
    struct gba_ioc_inspect registers;

    assert_int_equal(configure(&one, 0), EAGAIN);
    two = join_group(other, &alloc, 1);
    wrong = one;
    wrong.join.generation++;
    assert_int_equal(configure(&wrong, 0), ESTALE);
    assert_int_equal(inspect(&wrong, &registers), ESTALE);
    assert_int_equal(leave(&wrong), ESTALE);
    wrong = one;
    wrong.join.member = 1; /* the membership of the other file */
    assert_int_equal(leave(&wrong), ESTALE);
    wrong.join.member = GBA_MEMBER_NONE;
    assert_int_equal(leave(&wrong), ESTALE);
    wrong = one;
    wrong.join.group ^= 1;
    assert_int_equal(leave(&wrong), ESTALE);
    assert_int_equal(configure(&wrong, 0), ESTALE);
    assert_int_equal(inspect(&wrong, &registers), ESTALE);
    assert_int_equal(configure(&one, 41), 0);
    assert_int_equal(configure(&two, 41), EBUSY);
    assert_int_equal(inspect(&two, &registers), 0);
    assert_int_equal(registers.sequence, 41);
    assert_int_equal(registers.members, 2);
    assert_int_equal(registers.status & GBA_STATUS_READY, GBA_STATUS_READY);
    assert_int_equal(leave(&one), 0);
    assert_int_equal(leave(&one), ESTALE);
    assert_int_equal(inspect(&one, &registers), ESTALE);
    assert_int_equal(leave(&two), 0);
    assert_int_equal(configure(&two, 0), ESTALE);
    unmap(&one);
    unmap(&two);
    close(file);
    close(other);
}

/* The allocator, then the lowest member. A test with two users is in test_users.c. */
TEST(test_DRV_20_owner)
{
    int file = open_device(), other = open_device();
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = 3, .job = 77};
    struct gba_ioc_owner owner = {.size = sizeof owner, .group = GBA_GROUPS};
    struct test_member two, one;

    assert_int_equal(call(file, GBA_IOC_OWNER, &owner), EINVAL);
    assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), 0);
    owner.group = alloc.group ^ 1;
    assert_int_equal(call(file, GBA_IOC_OWNER, &owner), ENOENT);
    owner.group = alloc.group;
    assert_int_equal(call(other, GBA_IOC_OWNER, &owner), 0);
    assert_int_equal(owner.generation, alloc.generation);
    assert_int_equal(owner.members, 3);
    assert_int_equal(owner.present, 0);
    assert_int_equal(owner.user, getuid());
    assert_int_equal(owner.process, getpid());
    assert_int_equal(owner.job, 77);
    two = join_group(other, &alloc, 2);
    one = join_group(file, &alloc, 1);
    assert_int_equal(call(other, GBA_IOC_OWNER, &owner), 0);
    assert_int_equal(owner.present, 2);
    assert_int_equal(owner.process, getpid());
    assert_int_equal(leave(&one), 0);
    assert_int_equal(leave(&two), 0);
    assert_int_equal(call(file, GBA_IOC_OWNER, &owner), ENOENT);
    unmap(&one);
    unmap(&two);
    close(file);
    close(other);
}

TEST(test_wait)
{
    int file = open_device(), other = open_device();
    struct gba_ioc_alloc alloc = alloc_group(file, 2);
    struct test_member one = join_group(file, &alloc, 0), two = join_group(other, &alloc, 1);
    struct test_member wrong;
    uint32_t events;

    assert_int_equal(configure(&one, 0), 0);
    wrong = one;
    wrong.join.group ^= 1;
    assert_int_equal(wait_for(&wrong, 1, 0, &events), ESTALE);
    wrong = one;
    wrong.join.generation++;
    assert_int_equal(wait_for(&wrong, 1, 0, &events), ESTALE);
    wrong = one;
    wrong.join.member = 1; /* the membership of the other file */
    assert_int_equal(wait_for(&wrong, 1, 0, &events), ESTALE);
    assert_int_equal(wait_for(&one, 2, 1000000, &events), EINVAL);
    assert_int_equal(wait_for(&one, 1, 1000000, &events), ETIMEDOUT);
    close(file);
    close(other);
    unmap(&one);
    unmap(&two);
}

TEST(test_a_users_limit)
{
    FILE *parameter = fopen("/sys/module/gba/parameters/user_groups_max", "w");
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = 1};
    int file = open_device();

    assert_non_null(parameter);
    fputs("2", parameter);
    fflush(parameter);
    assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), 0);
    assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), 0);
    assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), EUSERS);
    assert_int_equal(query_device(file, 0).user_groups_max, 2);
    fputs("0", parameter);
    fclose(parameter);
    assert_int_equal(call(file, GBA_IOC_ALLOC, &alloc), 0);
    close(file);
}

TEST_MAIN()
