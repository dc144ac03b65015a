/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The vfio-user server in a process of its own, with the core of the switch: guests in a barrier,
 * guests that are killed or restarted, and many guests at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/vfio.h>

#include "gba/spec/gba_regs.h"
#include "tests/limit.h"
#include "tests/suite.h"
#include "tests/switch/vfio_serve.h"
#include "tests/switch/vfio_test.h"

#define BAR     VFIO_PCI_BAR0_REGION_INDEX
#define DEVICES 64u
#define PORTS   65u

/* The server's memory may grow by this much while 150 guests are killed, in KiB. A page for each
 * would be 600. The heap grows in steps of 132, and the first measurement may come before one of
 * them. */
#define GROWTH_KIB 300u

struct guest {
    struct vfio_test client;
    int memory, vector;
};

static struct {
    char directory[64];
    pid_t process;
} server;

static struct guest guests[DEVICES];

int __real_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog);

/* The server cannot start unless it locks the directory. Between bind and listen, another server
 * would otherwise take the socket for one of a killed server, and replace it. */
int __wrap_listen(int fd, int backlog)
{
    int directory = open(server.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = flock(directory, LOCK_EX | LOCK_NB);

    (void)close(directory);
    if (error == 0) {
        errno = ENOLCK;
        return -1;
    }
    return __real_listen(fd, backlog);
}

static void start_server(void)
{
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    server.process = fork();
    assert_true(server.process >= 0);
    if (server.process == 0) {
        close(ready[0]);
        assert_non_null(freopen("/dev/null", "w", stderr)); /* the log */
        _exit(vfio_serve(server.directory, DEVICES, PORTS, false, ready[1]));
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
}

static void stop_server(int signal_number)
{
    int status;

    assert_int_equal(kill(server.process, signal_number), 0);
    assert_int_equal(waitpid(server.process, &status, 0), server.process);
    if (signal_number == SIGTERM)
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(server.directory, sizeof server.directory, "/tmp/gba-test-vfio-XXXXXX");
    assert_non_null(mkdtemp(server.directory));
    start_server();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    stop_server(SIGTERM);
    assert_int_equal(rmdir(server.directory), 0); /* the server has removed its sockets */
    return 0;
}

static const char *path_of(unsigned device)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%u", server.directory, device);
    return path;
}

static void boot(struct guest *guest, unsigned device)
{
    vfio_test_connect(&guest->client, path_of(device));
    vfio_test_boot(&guest->client, &guest->memory, &guest->vector);
}

static void end(struct guest *guest)
{
    vfio_test_close(&guest->client);
    close(guest->memory);
    close(guest->vector);
}

static uint64_t get(struct guest *guest, uint32_t address, uint32_t width)
{
    return vfio_test_read(&guest->client, BAR, address, width);
}

static void put(struct guest *guest, uint32_t address, uint32_t width, uint64_t value)
{
    vfio_test_write(&guest->client, BAR, address, width, value);
}

static uint32_t command(struct guest *guest, uint32_t number)
{
    put(guest, GBA_PORT_REG(GBA_PORT_COMMAND), 4, number);
    return (uint32_t)get(guest, GBA_PORT_REG(GBA_PORT_RESULT), 4);
}

/* The first guest allocates a group for `members` guests, and each joins with a flag at the
 * beginning of its memory. Returns the group. */
static uint32_t make_group(unsigned members)
{
    uint32_t group, generation;
    uint64_t key;

    put(&guests[0], GBA_PORT_REG(GBA_PORT_GROUP), 4, GBA_GROUP_ANY);
    put(&guests[0], GBA_PORT_REG(GBA_PORT_VALUE), 4, members);
    assert_int_equal(command(&guests[0], GBA_CMD_ALLOC), GBA_RESULT_OK);
    group = (uint32_t)get(&guests[0], GBA_PORT_REG(GBA_PORT_GROUP), 4);
    generation = (uint32_t)get(&guests[0], GBA_PORT_REG(GBA_PORT_GENERATION), 4);
    key = get(&guests[0], GBA_PORT_REG(GBA_PORT_KEY), 8);
    for (uint32_t i = 0; i < members; i++) {
        put(&guests[i], GBA_PORT_REG(GBA_PORT_GROUP), 4, group);
        put(&guests[i], GBA_PORT_REG(GBA_PORT_GENERATION), 4, generation);
        put(&guests[i], GBA_PORT_REG(GBA_PORT_KEY), 8, key);
        put(&guests[i], GBA_PORT_REG(GBA_PORT_MEMBER), 4, i);
        put(&guests[i], GBA_PORT_REG(GBA_PORT_VALUE), 4, 0);
        assert_int_equal(command(&guests[i], GBA_CMD_JOIN), GBA_RESULT_OK);
        put(&guests[i], GBA_TABLE_ENTRY(group, i), 8, GUEST_BASE);
        put(&guests[i], GBA_PORT_REG(GBA_PORT_IRQ_MASK), 4, UINT32_MAX);
    }
    assert_int_equal(command(&guests[0], GBA_CMD_ARM), GBA_RESULT_OK);
    return group;
}

static void arrive(struct guest *guest, uint32_t group, uint32_t sequence, uint32_t member)
{
    put(guest, GBA_DOORBELL(group), 8, GBA_ARRIVAL(sequence, member));
}

static bool wait_interrupt(const struct guest *guest)
{
    struct pollfd event = {.fd = guest->vector, .events = POLLIN};

    return poll(&event, 1, -1) == 1 && vfio_test_signalled(guest->vector);
}

TEST_WITH(test_barrier, set_up, tear_down, NULL)
{
    uint32_t group;

    for (unsigned i = 0; i < 3; i++)
        boot(&guests[i], i);
    assert_int_equal(get(&guests[0], GBA_DEVICE_BASE + GBA_DEV_ID, 4), GBA_DEV_ID_VALUE);
    assert_int_equal(get(&guests[0], GBA_DEVICE_BASE + GBA_DEV_PORTS, 4), PORTS);
    group = make_group(3);
    for (uint32_t round = 1; round <= 100; round++) {
        /* A guest that sleeps until the round is complete. */
        put(&guests[2], GBA_DOORBELL_BASE + group * GBA_DOORBELL_STRIDE + GBA_BELL_NOTIFY, 8,
            GBA_ARRIVAL(round, 2));
        for (uint32_t i = 0; i < 3; i++) {
            for (uint32_t j = 0; j < 3; j++) /* no guest is released before all have arrived */
                assert_int_equal(vfio_test_word(guests[j].memory, 0), round - 1);
            arrive(&guests[i], group, round, i);
        }
        for (uint32_t j = 0; j < 3; j++)
            assert_int_equal(vfio_test_word(guests[j].memory, 0), round);
        assert_true(wait_interrupt(&guests[2]));
        assert_int_equal(get(&guests[2], GBA_PORT_EVENT(group), 4), GBA_IRQ_ROUND);
        put(&guests[2], GBA_PORT_EVENT(group), 4, GBA_IRQ_ROUND);
    }
    for (unsigned i = 0; i < 3; i++)
        end(&guests[i]);
}

/* At the end of a guest its link goes down. The next guest at its socket gets a device in the state
 * after power-on. */
TEST_WITH(test_guest_goes_in_a_round, set_up, tear_down, NULL)
{
    uint32_t group, port;

    for (unsigned i = 0; i < 2; i++)
        boot(&guests[i], i);
    group = make_group(2);
    port = (uint32_t)get(&guests[1], GBA_PORT_REG(GBA_PORT_NUMBER), 4);
    arrive(&guests[0], group, 1, 0);
    end(&guests[1]);
    assert_true(wait_interrupt(&guests[0]));
    assert_int_equal(get(&guests[0], GBA_PORT_EVENT(group), 4), GBA_IRQ_PORT_DOWN);
    assert_int_equal(vfio_test_word(guests[0].memory, 0), 0); /* not released */
    boot(&guests[1], 1);
    assert_int_equal(get(&guests[1], GBA_PORT_REG(GBA_PORT_NUMBER), 4), port);
    assert_int_equal(get(&guests[1], GBA_PORT_REG(GBA_PORT_IRQ_MASK), 4), 0);
    arrive(&guests[1], group, 1, 1); /* not its member any more */
    assert_int_equal(vfio_test_word(guests[0].memory, 0), 0);
    assert_int_equal(vfio_test_word(guests[1].memory, 0), 0);
    for (unsigned i = 0; i < 2; i++)
        end(&guests[i]);
}

/* A reset does the same, and the port keeps its number. */
TEST_WITH(test_reset_in_a_round, set_up, tear_down, NULL)
{
    uint32_t group, port;

    for (unsigned i = 0; i < 3; i++)
        boot(&guests[i], i);
    end(&guests[0]); /* a lower port is free */
    boot(&guests[0], 3);
    group = make_group(2);
    port = (uint32_t)get(&guests[1], GBA_PORT_REG(GBA_PORT_NUMBER), 4);
    assert_int_equal(vfio_test_call(&guests[1].client, GBA_VFIO_RESET, NULL, 0, NULL, 0), 0);
    assert_true(wait_interrupt(&guests[0]));
    assert_int_equal(get(&guests[0], GBA_PORT_EVENT(group), 4), GBA_IRQ_PORT_DOWN);
    assert_int_equal(get(&guests[1], GBA_PORT_REG(GBA_PORT_NUMBER), 4), port);
    assert_int_equal(get(&guests[1], GBA_PORT_REG(GBA_PORT_IRQ_MASK), 4), 0);
    for (unsigned i = 0; i < 3; i++)
        end(&guests[i]);
}

/* A guest process dies after it has sent a part of a request, with descriptors. */
static void die_in_a_request(unsigned device)
{
    struct gba_vfio_header half = {
        .id = 1, .command = GBA_VFIO_DMA_MAP, .size = GBA_VFIO_HEADER_SIZE + 32};
    int fds[2];
    int status;
    pid_t process;

    fflush(NULL);
    process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        boot(&guests[0], device);
        fds[0] = fds[1] = guests[0].memory;
        vfio_test_send(&guests[0].client, &half, sizeof half - device % 2, fds, 2);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFSIGNALED(status));
}

TEST_WITH(test_killed_guests_leave_nothing, set_up, tear_down, NULL)
{
    unsigned before, memory = 0, now;

    die_in_a_request(0);
    boot(&guests[0], 0);
    end(&guests[0]);
    boot(&guests[1], 1); /* after this reply the server has closed what was before */
    before = vfio_test_descriptors(server.process);
    for (unsigned i = 0; i < 500; i++) {
        if (i % 2 == 0)
            die_in_a_request(2 + i / 2 % (DEVICES - 2));
        boot(&guests[0], 0);
        end(&guests[0]);
        if (i == 200)
            memory = vfio_test_memory_kib(server.process);
    }
    (void)get(&guests[1], GBA_DEVICE_BASE + GBA_DEV_ID, 4);
    /* The last guest's socket may not be closed yet. */
    for (unsigned i = 0; i < test_limit(1000) && vfio_test_descriptors(server.process) != before;
         i++)
        usleep(10000);
    assert_int_equal(vfio_test_descriptors(server.process), before);
    now = vfio_test_memory_kib(server.process);
    print_message("memory of the server: %u KiB, then %u KiB\n", memory, now);
#ifndef __SANITIZE_ADDRESS__ /* it keeps freed memory */
    assert_true(now <= memory + GROWTH_KIB);
#endif
    end(&guests[1]);
}

TEST_WITH(test_many_guests_at_once, set_up, tear_down, NULL)
{
    uint32_t group;

    for (unsigned i = 0; i < DEVICES; i++)
        boot(&guests[i], i);
    group = make_group(DEVICES);
    for (uint32_t round = 1; round <= 3; round++) {
        for (uint32_t i = 0; i < DEVICES; i++) {
            assert_int_equal(vfio_test_word(guests[0].memory, 0), round - 1);
            arrive(&guests[i], group, round, i);
        }
        for (unsigned i = 0; i < DEVICES; i++)
            assert_int_equal(vfio_test_word(guests[i].memory, 0), round);
    }
    for (unsigned i = 0; i < DEVICES; i++)
        end(&guests[i]);
}

/* A socket has one client at a time; the next client waits. */
TEST_WITH(test_second_client_waits, set_up, tear_down, NULL)
{
    struct pollfd answer;
    static const char version[] = "\1\0\1\0\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    boot(&guests[0], 0);
    vfio_test_connect(&guests[1].client, path_of(0));
    assert_true(vfio_test_send(&guests[1].client, version, 20, NULL, 0));
    (void)get(&guests[0], GBA_DEVICE_BASE + GBA_DEV_ID, 4);
    answer = (struct pollfd){.fd = guests[1].client.fd, .events = POLLIN};
    assert_int_equal(poll(&answer, 1, 0), 0);
    end(&guests[0]);
    assert_true(vfio_test_receive(&guests[1].client));
    vfio_test_close(&guests[1].client);
}

/* A client that does not read its replies does not delay other clients. */
TEST_WITH(test_client_that_does_not_read, set_up, tear_down, NULL)
{
    uint8_t request[GBA_VFIO_HEADER_SIZE + 16] = {0};
    struct gba_vfio_header header = {
        .id = 1, .command = GBA_VFIO_REGION_READ, .size = sizeof request};
    const uint32_t region = VFIO_PCI_CONFIG_REGION_INDEX, count = 4096;
    struct pollfd room;

    boot(&guests[0], 0);
    boot(&guests[1], 1);
    memcpy(request, &header, sizeof header);
    memcpy(request + 24, &region, 4);
    memcpy(request + 28, &count, 4);
    room = (struct pollfd){.fd = guests[0].client.fd, .events = POLLOUT};
    for (int i = 0; i < 100000 && poll(&room, 1, 100) == 1; i++)
        assert_true(vfio_test_send(&guests[0].client, request, sizeof request, NULL, 0));
    assert_int_equal(get(&guests[1], GBA_DEVICE_BASE + GBA_DEV_ID, 4), GBA_DEV_ID_VALUE);
    end(&guests[0]);
    boot(&guests[0], 0);
    end(&guests[0]);
    end(&guests[1]);
}

/* A server replaces the sockets of a killed server, and not those of a running one. */
TEST_WITH(test_server_is_killed, set_up, tear_down, NULL)
{
    unsigned descriptors = 0;

    for (unsigned i = 0; i < 100; i++) {
        boot(&guests[0], 0);
        assert_int_equal(get(&guests[0], GBA_DEVICE_BASE + GBA_DEV_ID, 4), GBA_DEV_ID_VALUE);
        if (i == 0)
            descriptors = vfio_test_descriptors(server.process);
        assert_int_equal(vfio_test_descriptors(server.process), descriptors);
        stop_server(SIGKILL);
        assert_int_equal(vfio_test_access(&guests[0].client, BAR, 0, 4, NULL), -1);
        end(&guests[0]); /* before the next server is forked, which would have its descriptors */
        start_server();
    }
    boot(&guests[0], 0);
    assert_int_equal(get(&guests[0], GBA_DEVICE_BASE + GBA_DEV_ID, 4), GBA_DEV_ID_VALUE);
    end(&guests[0]);
}

TEST_WITH(test_second_server_is_refused, set_up, tear_down, NULL)
{
    int status;
    pid_t process;

    fflush(NULL);
    process = fork();
    if (process == 0) {
        assert_non_null(freopen("/dev/null", "w", stderr));
        _exit(vfio_serve(server.directory, 1, 1, false, -1));
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    boot(&guests[0], 0);
    end(&guests[0]);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    alarm(test_limit(300)); /* a test that waits for ever fails */
    return SUITE_RUN(NULL, NULL);
}
