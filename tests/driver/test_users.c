/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two users. The tests run as root, and each user is a child with another user's rights. One user
 * has a group, and the other one tries to use it: by calls, by mappings, by a descriptor that the
 * owner passes, and by the files of /proc.
 */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/stat.h>

#include "tests/driver/driver_test.h"

#define OWNER    1001
#define STRANGER 1002

/* What the owner gives to the stranger. */
struct known {
    struct gba_ioc_alloc alloc;
    struct gba_ioc_join join;
    pid_t pid;
    int file; /* its number in the owner */
};

/* Send the descriptor with the data. */
static void send_file(int channel, int file, const struct known *known)
{
    union {
        char buffer[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec data = {(void *)(uintptr_t)known, sizeof *known};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
    if (sizeof *known != sendmsg(channel, &message, 0))
        _exit(98);
}

static int receive_file(int channel, struct known *known)
{
    union {
        char buffer[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec data = {known, sizeof *known};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    int file;

    if (sizeof *known != recvmsg(channel, &message, 0) || CMSG_FIRSTHDR(&message) == NULL)
        _exit(97);
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

static int open_quietly(void)
{
    return open("/dev/gba0", O_RDWR | O_CLOEXEC);
}

/* Join with wrong keys. */
static int guess_keys(int file, const struct known *known)
{
    struct gba_ioc_join join;
    uint64_t key = 0;

    for (int i = 0; i < 1000; i++) {
        join = join_of(&known->alloc, 1);
        join.key = key == known->alloc.key ? key + 1 : key;
        if (ESTALE != call(file, GBA_IOC_JOIN, &join))
            return 1;
        key = i < 64 ? known->alloc.key ^ 1ull << i : key * 6364136223846793005u + 1;
    }
    return 0;
}

static int map_error(int file, int protection, uint64_t offset)
{
    void *page = mmap(NULL, PAGE, protection, MAP_SHARED, file, (off_t)offset);

    return MAP_FAILED == page ? errno : 0;
}

/* The error of OWNER for that group. process: of the owner, set without an error. */
static int owner_error(int file, const struct known *known, uint32_t *process)
{
    struct gba_ioc_owner owner = {.size = sizeof owner, .group = known->alloc.group};
    int error = call(file, GBA_IOC_OWNER, &owner);

    *process = owner.process;
    return error;
}

/* Calls about the owner's group, in a file of the caller: `error` for each. */
static int use_group(int file, const struct known *known, int error)
{
    const struct test_member m = {.file = file, .join = known->join};
    struct gba_ioc_inspect registers;
    uint32_t events;

    if (error != configure(&m, 0) || error != leave(&m) || error != inspect(&m, &registers))
        return 1;
    if (error != wait_for(&m, 1, 0, &events) || error != free_group(file, &known->alloc))
        return 2;
    return 0;
}

/* The owner's file, which was passed: only QUERY works. */
static int use_passed(int file, const struct known *known)
{
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = 1};
    struct gba_ioc_query query = {.size = sizeof query};
    struct gba_ioc_join join = join_of(&known->alloc, 1);
    struct pollfd poll_file = {.fd = file, .events = POLLIN};
    struct gba_event event;
    uint32_t process;

    if (EPERM != owner_error(file, known, &process))
        return 6;
    if (0 != use_group(file, known, EPERM) || EPERM != call(file, GBA_IOC_ALLOC, &alloc) ||
        EPERM != call(file, GBA_IOC_JOIN, &join))
        return 1;
    if (EPERM != map_error(file, PROT_WRITE, known->join.doorbell_offset) ||
        EPERM != map_error(file, PROT_READ | PROT_WRITE, known->join.flag_offset))
        return 2;
    if (-1 != read(file, &event, sizeof event) || EPERM != errno)
        return 3;
    if (1 != poll(&poll_file, 1, 0) || POLLERR != poll_file.revents)
        return 4;
    return 0 == call(file, GBA_IOC_QUERY, &query) ? 0 : 5;
}

/* The owner's memory and files, by /proc. */
static int use_proc(const struct known *known)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)known->pid, known->file);
    if (-1 != open(path, O_RDWR))
        return 1;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)known->pid);
    return -1 == open(path, O_RDWR) ? 0 : 2;
}

/* Allocate until no group is left. */
static int exhaust(int file)
{
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = 1, .job = 1};
    int error, groups = 0;

    while (0 == (error = call(file, GBA_IOC_ALLOC, &alloc)))
        if (++groups > (int)GBA_GROUPS)
            return 1;
    return ENOSPC == error ? 0 : 2;
}

/* Returns 0, or 10 times the number of the part plus that of its check. */
static int stranger(int channel)
{
    struct known known;
    int passed = receive_file(channel, &known), file, another, result;
    uint32_t process;

    become(STRANGER);
    file = open_quietly();
    if (file < 0)
        return 1;
    if (EACCES != owner_error(file, &known, &process) || 0 != process)
        return 2;
    if (0 != (result = guess_keys(file, &known)))
        return 10 + result;
    if (0 != (result = use_group(file, &known, ESTALE)))
        return 20 + result;
    another = open_quietly(); /* without memberships, and thus without offsets */
    if (EINVAL != map_error(another, PROT_WRITE, known.join.doorbell_offset) ||
        EINVAL != map_error(another, PROT_READ | PROT_WRITE, known.join.flag_offset))
        return 30;
    if (0 != (result = use_passed(passed, &known)))
        return 40 + result;
    if (0 != (result = use_proc(&known)))
        return 50 + result;
    if (0 != (result = exhaust(file)))
        return 60 + result;
    return 0;
}

/* Has a group, passes its file, and completes a round when the stranger has ended. */
static int owner(int channel)
{
    struct known known = {.pid = getpid()};
    struct gba_ioc_inspect registers;
    struct test_member m;
    uint32_t process;
    char end;

    become(OWNER);
    known.file = open_quietly();
    if (known.file < 0)
        return 1;
    known.alloc = alloc_group(known.file, 1);
    m = join_group(known.file, &known.alloc, 0);
    known.join = m.join;
    if (0 != configure(&m, 0))
        return 2;
    if (0 != owner_error(known.file, &known, &process) || process != (uint32_t)known.pid)
        return 7;
    send_file(channel, known.file, &known);
    if (0 != read(channel, &end, 1)) /* the end of the stranger */
        return 3;
    if (0 != m.slot->revoked || 0 != m.slot->release)
        return 4;
    if (0 != inspect(&m, &registers) || 0 != registers.sequence || 0 != registers.arrived_count ||
        GBA_ERROR_NONE != registers.last_error)
        return 5;
    arrive(&m, 1);
    return released(&m, 1) && 1 == m.slot->release ? 0 : 6;
}

TEST(test_DRV_19_a_strangers_attempts)
{
    uint32_t groups = groups_free();
    int channel[2], status[2];
    pid_t child[2];

    assert_int_equal(chmod("/dev/gba0", 0666), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel), 0);
    for (int i = 0; i < 2; i++) {
        child[i] = fork();
        if (0 == child[i]) {
            close(channel[1 - i]);
            _exit(0 == i ? owner(channel[0]) : stranger(channel[1]));
        }
    }
    close(channel[0]);
    close(channel[1]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(waitpid(child[i], &status[i], 0), child[i]);
    assert_int_equal(status[1], 0);
    assert_int_equal(status[0], 0);
    assert_int_equal(groups_free(), groups);
}

TEST_MAIN()
