/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gba-switchd under load: 708 connections, half of them by TCP, are the members of all 32 groups.
 * Each member arrives again as soon as it is released. No release is lost, early or repeated, and
 * the memory of the daemon stays as it is. The load lasts for 2 seconds, or GBA_TEST_LOAD_SECONDS
 * in the environment.
 */
#include "tests/switch/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/base/clock.h"

#define MEMBERS   GBA_PORTS_MAX
#define GROUP_MAX (MEMBERS / GBA_GROUPS + 1)
#define SECONDS   2u
#define INPUT     (8u * GBA_SWITCH_MESSAGE_BYTES)

/* Growth of the daemon's memory that is no leak, in KiB. One byte for each arrival would be more in
 * a minute. */
#define GROWTH_KIB 1024u

struct member {
    int fd;
    uint32_t group, number, sequence; /* of its last arrival */
    uint32_t used;
    uint8_t input[INPUT];
};

struct group {
    struct gba_switch_message handle;
    uint32_t members, final; /* final: the last round; 0: not known yet */
    uint64_t arrivals, releases;
};

static struct daemon_process process;
static struct member members[MEMBERS];
static struct group groups[GBA_GROUPS];
static uint32_t unfinished; /* groups with a round that is not complete */

/* Time for which the daemon has used a core, in seconds. */
static double cpu_seconds(void)
{
    unsigned long user, system;
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process.pid);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(
        fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system),
        2);
    fclose(file);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* --- The load --- */

static void arrive(struct member *member)
{
    struct group *group = &groups[member->group];

    member->sequence++;
    peer_arrive(member->fd, &group->handle, member->number, member->sequence);
    group->arrivals++;
}

static void take_release(struct member *member, const struct gba_switch_message *message)
{
    struct group *group = &groups[member->group];

    assert_int_equal(message->type, GBA_SWITCH_RELEASE);
    assert_int_equal(message->group, group->handle.group);
    assert_int_equal(message->member, member->number);
    assert_int_equal(message->value, member->sequence); /* not an earlier or a later round */
    assert_true(group->arrivals >= (uint64_t)group->members * member->sequence); /* not early */
    group->releases++;
    if (group->final == 0 || member->sequence < group->final)
        arrive(member);
    else if (group->releases == (uint64_t)group->members * group->final)
        unfinished--;
}

static void take_input(struct member *member)
{
    struct gba_switch_message message;
    uint32_t at = 0;
    ssize_t count =
        recv(member->fd, member->input + member->used, INPUT - member->used, MSG_DONTWAIT);

    assert_true(count > 0);
    member->used += (uint32_t)count;
    for (; member->used - at >= GBA_SWITCH_MESSAGE_BYTES; at += GBA_SWITCH_MESSAGE_BYTES) {
        assert_true(gba_switch_decode(member->input + at, GBA_SWITCH_SERVER, &message));
        take_release(member, &message);
    }
    member->used -= at;
    memmove(member->input, member->input + at, member->used);
}

/* Take releases until the time, or until all groups have completed their final round. */
static void run(int epoll, uint64_t until)
{
    struct epoll_event event[64];

    while (gba_clock_ns() < until && unfinished != 0) {
        int count = epoll_wait(epoll, event, 64, 1000);

        for (int i = 0; i < count; i++)
            take_input(event[i].data.ptr);
    }
}

static void expect_no_absence(void)
{
    uint32_t absent;

    free(peer_status(peer_unix(&process), GBA_SWITCH_STATUS_TEXT, &absent));
    assert_int_equal(absent, 0);
}

/* --- Start and end --- */

static void connect_all(int epoll)
{
    int client[GROUP_MAX];
    uint32_t next = 0, port;

    for (uint32_t i = 0; i < MEMBERS; i++) {
        struct member *member = &members[i];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = member};

        *member = (struct member){.fd = i % 2 == 0 ? peer_client(&process, &port)
                                                   : peer_tcp_client(&process, PEER_KEY, &port)};
        assert_return_code(epoll_ctl(epoll, EPOLL_CTL_ADD, member->fd, &event), errno);
    }
    for (uint32_t i = 0; i < GBA_GROUPS; i++) {
        uint32_t count = MEMBERS / GBA_GROUPS + (i < MEMBERS % GBA_GROUPS);

        for (uint32_t number = 0; number < count; number++, next++) {
            members[next].group = i;
            members[next].number = number;
            client[number] = members[next].fd;
        }
        groups[i] = (struct group){.members = count, .handle = peer_group(client, count)};
    }
    assert_int_equal(next, MEMBERS);
    unfinished = GBA_GROUPS;
}

/* All members of a group end with the last round for which one has arrived. */
static void finish(int epoll)
{
    for (uint32_t i = 0; i < MEMBERS; i++) {
        struct group *group = &groups[members[i].group];

        if (members[i].sequence > group->final)
            group->final = members[i].sequence;
    }
    run(epoll, gba_clock_ns() + PEER_TIMEOUT_MS * UINT64_C(1000000));
    assert_int_equal(unfinished, 0);
}

/* The device has counted the same, and no error. */
static void check_counters(void)
{
    for (uint32_t i = 0; i < GBA_GROUPS; i++) {
        const uint64_t all = (uint64_t)groups[i].members * groups[i].final;
        uint64_t counter[GBA_COUNTERS];

        assert_true(groups[i].arrivals == all && groups[i].releases == all);
        for (uint32_t n = 0; n < GBA_COUNTERS; n++)
            counter[n] = peer_read(
                members[0].fd, GBA_GROUP_REG(groups[i].handle.group, GBA_REG_COUNTERS + 8 * n), 8);
        for (uint32_t n = 0; n < GBA_COUNTERS; n++) {
            if (n == GBA_COUNTER_ARRIVALS || n == GBA_COUNTER_RELEASES)
                assert_int_equal(counter[n], all);
            else
                assert_int_equal(counter[n], n == GBA_COUNTER_ROUNDS ? groups[i].final : 0);
        }
    }
}

static int setup(void **state)
{
    struct rlimit limit;

    (void)state;
    assert_return_code(getrlimit(RLIMIT_NOFILE, &limit), errno);
    limit.rlim_cur = limit.rlim_max;
    assert_return_code(setrlimit(RLIMIT_NOFILE, &limit), errno);
    peer_directory(&process);
    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    return 0;
}

PEER_TEST(test_load, setup, peer_end)
{
    const char *wanted = getenv("GBA_TEST_LOAD_SECONDS");
    double seconds = wanted == NULL ? SECONDS : strtod(wanted, NULL), cpu, took;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    uint64_t begin, length, arrivals = 0;
    unsigned memory;

    assert_true(seconds > 0);
    length = (uint64_t)(seconds * 1e9);
    assert_return_code(epoll, errno);
    connect_all(epoll);
    for (uint32_t i = 0; i < MEMBERS; i++)
        arrive(&members[i]);
    begin = gba_clock_ns();
    cpu = cpu_seconds();
    run(epoll, begin + length / 4);
    expect_no_absence();
    memory = peer_memory(&process);
    run(epoll, begin + length / 2);
    expect_no_absence();
    run(epoll, begin + length);
    peer_expect_memory(&process, memory, GROWTH_KIB);
    finish(epoll);
    took = (double)(gba_clock_ns() - begin) / 1e9;
    cpu = cpu_seconds() - cpu;
    check_counters();
    for (uint32_t i = 0; i < GBA_GROUPS; i++)
        arrivals += groups[i].arrivals;
    print_message("%u members in %u groups: %" PRIu64 " arrivals in %.1f s; %.0f a second of the "
                  "daemon's processor time\n",
                  MEMBERS, GBA_GROUPS, arrivals, took, (double)arrivals / (cpu > 0 ? cpu : 1));
    for (uint32_t i = 0; i < MEMBERS; i++)
        close(members[i].fd);
    close(epoll);
}

TEST_MAIN()
