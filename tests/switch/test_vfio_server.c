/* SPDX-License-Identifier: BSD-3-Clause */
/* The PCI devices of gba-switchd: guests in a barrier, with a client on its Unix socket too, guests
 * that are killed or restarted, and many guests at once. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/vfio.h>

#include "tests/switch/peer.h"
#include "tests/switch/vfio_test.h"

#define BAR     VFIO_PCI_BAR0_REGION_INDEX
#define DEVICES 64u
#define PORTS   65u

/* The daemon's memory may grow by this much while 150 guests are killed, in KiB. A page for each
 * would be 600. The heap grows in steps of 132, and the first measurement may come before one of
 * them. */
#define GROWTH_KIB 300u

struct guest {
    struct vfio_test client;
    int memory, vector;
};

static struct daemon_process process;
static struct guest guests[DEVICES];

static void start(void)
{
    const char *const options[] = {"--vfio-user",
                                   process.directory,
                                   "--vfio-user-devices",
                                   "64",
                                   "--ports",
                                   "65",
                                   "--log-level=error",
                                   NULL};

    peer_start(&process, options);
}

static int set_up(void **state)
{
    (void)peer_begin(state);
    start();
    return 0;
}

static const char *path_of(unsigned device)
{
    static char path[64];

    snprintf(path, sizeof path, "%s/%u", process.directory, device);
    return path;
}

/* The daemon ends by itself and removes its sockets. */
static int tear_down(void **state)
{
    assert_int_equal(peer_stop(&process, SIGTERM), 0);
    assert_int_equal(access(path_of(0), F_OK), -1);
    assert_int_equal(access(path_of(1), F_OK), -1);
    return peer_end(state);
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

/* A guest joins a group, with a flag at the beginning of its memory. */
static void join(struct guest *guest, uint32_t group, uint32_t generation, uint64_t key,
                 uint32_t member)
{
    put(guest, GBA_PORT_REG(GBA_PORT_GROUP), 4, group);
    put(guest, GBA_PORT_REG(GBA_PORT_GENERATION), 4, generation);
    put(guest, GBA_PORT_REG(GBA_PORT_KEY), 8, key);
    put(guest, GBA_PORT_REG(GBA_PORT_MEMBER), 4, member);
    put(guest, GBA_PORT_REG(GBA_PORT_VALUE), 4, 0);
    assert_int_equal(command(guest, GBA_CMD_JOIN), GBA_RESULT_OK);
    put(guest, GBA_TABLE_ENTRY(group, member), 8, GUEST_BASE);
    put(guest, GBA_PORT_REG(GBA_PORT_IRQ_MASK), 4, UINT32_MAX);
}

/* The first guest allocates a group for `members` guests, and each joins. Returns the group. */
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
    for (uint32_t i = 0; i < members; i++)
        join(&guests[i], group, generation, key, i);
    assert_int_equal(command(&guests[0], GBA_CMD_ARM), GBA_RESULT_OK);
    return group;
}

static uint64_t arrival(struct guest *guest, uint32_t group, uint32_t sequence, uint32_t member)
{
    const uint64_t generation = get(guest, GBA_GROUP_REG(group, GBA_REG_GENERATION), 4);

    return GBA_ARRIVAL(sequence, generation, member);
}

static void arrive(struct guest *guest, uint32_t group, uint32_t sequence, uint32_t member)
{
    put(guest, GBA_DOORBELL(group), 8, arrival(guest, group, sequence, member));
}

static bool wait_interrupt(const struct guest *guest)
{
    struct pollfd event = {.fd = guest->vector, .events = POLLIN};

    return poll(&event, 1, -1) == 1 && vfio_test_signalled(guest->vector);
}

static void check_rounds(unsigned members, uint32_t rounds)
{
    struct guest *last = &guests[members - 1];
    uint32_t group;

    for (unsigned i = 0; i < members; i++)
        boot(&guests[i], i);
    assert_int_equal(get(&guests[0], GBA_DEVICE_BASE + GBA_DEV_ID, 4), GBA_DEV_ID_VALUE);
    assert_int_equal(get(&guests[0], GBA_DEVICE_BASE + GBA_DEV_PORTS, 4), PORTS);
    group = make_group(members);
    for (uint32_t round = 1; round <= rounds; round++) {
        /* A guest that sleeps until the round is complete. */
        put(last, GBA_DOORBELL_BASE + group * GBA_DOORBELL_STRIDE + GBA_BELL_NOTIFY, 8,
            arrival(last, group, round, members - 1));
        for (uint32_t i = 0; i < members; i++) {
            for (uint32_t j = 0; j < members; j++) /* none is released before all have arrived */
                assert_int_equal(vfio_test_word(guests[j].memory, 0), round - 1);
            arrive(&guests[i], group, round, i);
        }
        for (uint32_t j = 0; j < members; j++)
            assert_int_equal(vfio_test_word(guests[j].memory, 0), round);
        assert_true(wait_interrupt(last));
        assert_int_equal(get(last, GBA_PORT_EVENT(group), 4), GBA_IRQ_ROUND);
        put(last, GBA_PORT_EVENT(group), 4, GBA_IRQ_ROUND);
    }
    for (unsigned i = 0; i < members; i++)
        end(&guests[i]);
}

TEST_WITH(test_rounds, set_up, tear_down, &process)
{
    check_rounds(3, 100);
    check_rounds(DEVICES, 3);
}

/* An arrival of a guest releases a client that sends nothing, and the reverse. */
TEST_WITH(test_guest_and_client, set_up, tear_down, &process)
{
    struct gba_switch_message message, made = {.group = GBA_GROUP_ANY, .value = 2}, mailbox;
    struct guest *guest = &guests[0];
    uint32_t group, port;
    int client = peer_client(&process, &port);

    boot(guest, 1);
    assert_int_equal(peer_command(client, GBA_CMD_ALLOC, &made), GBA_RESULT_OK);
    group = made.group;
    mailbox = made;
    mailbox.value = 0;
    assert_int_equal(peer_command(client, GBA_CMD_JOIN, &mailbox), GBA_RESULT_OK);
    join(guest, group, made.generation, made.key, 1);
    peer_write(client, GBA_TABLE_ENTRY(group, 0), 8, 8);
    assert_int_equal(peer_command(client, GBA_CMD_ARM, &mailbox), GBA_RESULT_OK);
    peer_write(client, GBA_PORT_REG(GBA_PORT_IRQ_MASK), 4, UINT32_MAX);
    for (uint32_t round = 1; round <= 50; round++) {
        if (round % 2 == 0) {
            peer_arrive(client, &made, 0, round);
            assert_int_equal(peer_read(client, GBA_GROUP_REG(group, GBA_REG_SEQUENCE), 4),
                             round - 1);
        }
        assert_int_equal(vfio_test_word(guest->memory, 0), round - 1);
        arrive(guest, group, round, 1);
        if (round % 2 == 1) {
            assert_int_equal(vfio_test_word(guest->memory, 0), round - 1);
            peer_arrive(client, &made, 0, round);
        }
        message = peer_expect(client, GBA_SWITCH_RELEASE);
        assert_int_equal(message.value, round);
        peer_settle(client);
        assert_int_equal(vfio_test_word(guest->memory, 0), round);
    }
    end(guest);
    message = peer_expect(client, GBA_SWITCH_EVENT);
    assert_int_equal(message.group, group);
    assert_int_equal(message.value, GBA_IRQ_PORT_DOWN);
    close(client);
}

/* At the end of a guest its link goes down. The next guest at its socket gets a device in the state
 * after power-on. */
TEST_WITH(test_guest_goes_in_a_round, set_up, tear_down, &process)
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
TEST_WITH(test_reset_in_a_round, set_up, tear_down, &process)
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
    pid_t child;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        boot(&guests[0], device);
        fds[0] = fds[1] = guests[0].memory;
        vfio_test_send(&guests[0].client, &half, sizeof half - device % 2, fds, 2);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

TEST_WITH(test_killed_guests_leave_nothing, set_up, tear_down, &process)
{
    unsigned before, memory = 0;

    die_in_a_request(0);
    boot(&guests[0], 0);
    end(&guests[0]);
    boot(&guests[1], 1); /* after this reply the daemon has closed what was before */
    before = peer_descriptors(&process);
    for (unsigned i = 0; i < 500; i++) {
        if (i % 2 == 0)
            die_in_a_request(2 + i / 2 % (DEVICES - 2));
        boot(&guests[0], 0);
        end(&guests[0]);
        if (i == 200)
            memory = peer_memory(&process);
    }
    (void)get(&guests[1], GBA_DEVICE_BASE + GBA_DEV_ID, 4);
    /* The last guest's socket may not be closed yet. */
    for (unsigned i = 0; i < test_limit(1000) && peer_descriptors(&process) != before; i++)
        usleep(10000);
    assert_int_equal(peer_descriptors(&process), before);
    peer_expect_memory(&process, memory, GROWTH_KIB);
    end(&guests[1]);
}

/* A socket has one client at a time; the next client waits. */
TEST_WITH(test_second_client_waits, set_up, tear_down, &process)
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

/* A guest's monitor that does not read its replies does not delay others. It is disconnected. */
TEST_WITH(test_client_that_does_not_read, set_up, tear_down, &process)
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
        if (!vfio_test_send(&guests[0].client, request, sizeof request, NULL, 0))
            break;
    assert_int_equal(get(&guests[1], GBA_DEVICE_BASE + GBA_DEV_ID, 4), GBA_DEV_ID_VALUE);
    while (vfio_test_receive(&guests[0].client))
        ;
    end(&guests[0]);
    boot(&guests[0], 0);
    end(&guests[0]);
    end(&guests[1]);
}

/* A daemon replaces the sockets of a killed daemon, and not those of a running one. */
TEST_WITH(test_daemon_is_killed, set_up, tear_down, &process)
{
    unsigned descriptors = 0;

    for (unsigned i = 0; i < 20; i++) {
        boot(&guests[0], 0);
        assert_int_equal(get(&guests[0], GBA_DEVICE_BASE + GBA_DEV_ID, 4), GBA_DEV_ID_VALUE);
        if (i == 0)
            descriptors = peer_descriptors(&process);
        assert_int_equal(peer_descriptors(&process), descriptors);
        peer_stop(&process, SIGKILL);
        assert_int_equal(vfio_test_access(&guests[0].client, BAR, 0, 4, NULL), -1);
        end(&guests[0]);
        start();
    }
    boot(&guests[0], 0);
    assert_int_equal(get(&guests[0], GBA_DEVICE_BASE + GBA_DEV_ID, 4), GBA_DEV_ID_VALUE);
    end(&guests[0]);
}

TEST_WITH(test_second_daemon_is_refused, set_up, tear_down, &process)
{
    struct daemon_process second = process;
    const char *const options[] = {"--vfio-user", process.directory, NULL};

    snprintf(second.socket, sizeof second.socket, "%s/second", process.directory);
    assert_int_equal(peer_start_fails(&second, options), 1);
    boot(&guests[0], 0);
    end(&guests[0]);
}

TEST_MAIN(alarm(test_limit(300)))
