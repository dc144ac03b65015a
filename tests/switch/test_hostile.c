/* SPDX-License-Identifier: BSD-3-Clause */
/* A real gba-switchd, with clients that it must refuse or drop, and hostile clients. */
#define _GNU_SOURCE /* setgroups */
#include "tests/switch/peer.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Hostile messages. GBA_TEST_MESSAGES in the environment sets another number, up to 2^32 - 1; a
 * million takes some ten seconds. */
#define MESSAGES 10000

/* The daemon's memory may grow by this much after the first tenth of the messages, in KiB. */
#define GROWTH_KIB 1024

static struct daemon_process process;

/* timeout: an option. */
static int start(const char *timeout)
{
    peer_directory(&process);
    peer_start_tcp(&process, "--log-level=error", "--ports=8", timeout);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return start("--client-timeout=3600");
}

static int setup_impatient(void **state)
{
    (void)state;
    return start("--client-timeout=1");
}

static void refused_greeting(const struct gba_switch_message *message, unsigned refusal)
{
    int fd = peer_unix(&process);

    peer_send(fd, message);
    peer_expect_refusal(fd, refusal);
    close(fd);
    fd = peer_tcp(&process);
    peer_send(fd, message);
    peer_expect_refusal(fd, refusal);
    close(fd);
}

PEER_TEST(test_greetings, setup, peer_end_alive)
{
    const struct gba_switch_message hello = {
        .type = GBA_SWITCH_HELLO, .code = GBA_SWITCH_PROTOCOL, .group = GBA_SWITCH_MAGIC};
    struct gba_switch_message message = hello;

    message.group ^= 1;
    refused_greeting(&message, GBA_SWITCH_REFUSED_MESSAGE);
    message = hello;
    message.code++;
    refused_greeting(&message, GBA_SWITCH_REFUSED_VERSION);
    message = hello;
    message.tag = 1; /* a field that it does not use */
    refused_greeting(&message, GBA_SWITCH_REFUSED_MESSAGE);
    message.type = GBA_SWITCH_STATUS;
    message.tag = GBA_SWITCH_STATUS_TEXT + 1;
    refused_greeting(&message, GBA_SWITCH_REFUSED_MESSAGE);
    message = hello;
    message.type = GBA_SWITCH_READ;
    message.group = 0;
    refused_greeting(&message, GBA_SWITCH_REFUSED_MESSAGE);
    message.type = GBA_SWITCH_WELCOME;
    refused_greeting(&message, GBA_SWITCH_REFUSED_MESSAGE);
    message.type = 0xEE;
    refused_greeting(&message, GBA_SWITCH_REFUSED_MESSAGE);
}

PEER_TEST(test_second_hello, setup, peer_end_alive)
{
    uint32_t port;
    int fd = peer_client(&process, &port);

    peer_hello(fd);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_MESSAGE);
    close(fd);
}

PEER_TEST(test_key, setup, peer_end_alive)
{
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];
    struct gba_switch_message message;
    uint32_t port;
    int fd;

    assert_true(gba_switch_secret_parse(PEER_OTHER_KEY, secret));
    gba_switch_secret_set(&message, secret);
    fd = peer_tcp(&process);
    peer_hello(fd);
    peer_send(fd, &message);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_SECRET);
    close(fd);
    /* Without a key there is neither a port nor a status. */
    fd = peer_tcp(&process);
    peer_hello(fd);
    message = (struct gba_switch_message){.type = GBA_SWITCH_READ, .code = 4};
    peer_send(fd, &message);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_MESSAGE);
    close(fd);
    fd = peer_tcp(&process);
    message = (struct gba_switch_message){
        .type = GBA_SWITCH_STATUS, .code = GBA_SWITCH_PROTOCOL, .group = GBA_SWITCH_MAGIC};
    peer_send(fd, &message);
    gba_switch_secret_set(&message, secret);
    peer_send(fd, &message);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_SECRET);
    close(fd);
    close(peer_tcp_client(&process, PEER_KEY, &port));
}

PEER_TEST(test_all_ports, setup, peer_end_alive)
{
    int client[8], fd;

    peer_clients(&process, client, 8);
    fd = peer_unix(&process);
    peer_hello(fd);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_PORTS);
    close(fd);
    peer_close(client, 8);
}

/* A user who may use 3 ports gets no more, and leaves the rest to others. */
PEER_TEST(test_user_ports, setup, peer_end_alive)
{
    const char *const options[] = {"--user-ports=3", "--log-level=error", NULL};
    struct gba_switch_message message;
    int client[3], fd;

    peer_stop(&process, SIGTERM);
    peer_start(&process, options);
    peer_clients(&process, client, 3);
    fd = peer_unix(&process);
    peer_hello(fd);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_QUOTA);
    close(fd);
    close(client[0]);
    do { /* until the daemon has seen the end of that connection */
        fd = peer_unix(&process);
        peer_hello(fd);
        assert_true(peer_receive(fd, &message));
        close(fd);
    } while (message.type != GBA_SWITCH_WELCOME);
    close(client[1]);
    close(client[2]);
}

/* A client of another user is refused, although the mode of the socket file allows it. */
PEER_TEST(test_user, setup, peer_end_alive)
{
    int status;
    pid_t pid;

    if (geteuid() != 0)
        skip();
    assert_return_code(chmod(process.socket, 0666), errno);
    assert_return_code(chmod(process.directory, 0755), errno);
    pid = fork();
    if (pid == 0) {
        struct gba_switch_message message;
        int fd;

        if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
            _exit(2);
        fd = peer_unix(&process);
        _exit(peer_receive(fd, &message) && message.type == GBA_SWITCH_ERROR &&
                      message.code == GBA_SWITCH_REFUSED_USER && !peer_receive(fd, &message)
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* A client that sends nothing is disconnected. */
PEER_TEST(test_no_greeting, setup, peer_end_alive)
{
    int fd = peer_tcp(&process);

    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_IDLE);
    close(fd);
}

/* A client that sends requests and does not read. The daemon stops reading its requests, and drops
 * it after the client timeout. The other member of its group gets an event. */
PEER_TEST(test_slow_client, setup_impatient, peer_end_alive)
{
    struct gba_switch_message event;
    uint8_t bytes[1024 * GBA_SWITCH_MESSAGE_BYTES];
    int client[2];
    uint64_t sent = 0;
    ssize_t count;

    peer_clients(&process, client, 2);
    (void)peer_group(client, 2);
    for (unsigned i = 0; i < 1024; i++) {
        const struct gba_switch_message message = {.type = GBA_SWITCH_READ,
                                                   .code = 4,
                                                   .tag = (uint16_t)i,
                                                   .key = GBA_DEVICE_BASE + GBA_DEV_ID};

        gba_switch_encode(&message, bytes + (size_t)i * GBA_SWITCH_MESSAGE_BYTES);
    }
    /* Until the daemon reads no more, and for a while after it. */
    do {
        count = send(client[1], bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0)
            sent += (uint64_t)count;
        if (count < 0 && errno == EAGAIN)
            usleep(10000);
        assert_true(sent < 64u << 20); /* the daemon stops reading */
    } while (count > 0 || errno == EAGAIN);
    event = peer_expect(client[0], GBA_SWITCH_EVENT);
    assert_int_equal(event.value, GBA_IRQ_PORT_DOWN);
    close(client[0]);
    close(client[1]);
}

/* Send a READ with that tag. Returns false if the daemon takes no more for a while. */
static bool send_read(int fd, uint16_t tag)
{
    const struct gba_switch_message message = {
        .type = GBA_SWITCH_READ, .code = 4, .tag = tag, .key = GBA_DEVICE_BASE + GBA_DEV_ID};
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    gba_switch_encode(&message, bytes);
    for (unsigned i = 0; i < 20; i++) {
        ssize_t count = send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);

        if (count == sizeof(bytes))
            return true;
        if (count >= 0 || errno != EAGAIN)
            fail_msg("the daemon has dropped the client");
        usleep(10000);
    }
    return false;
}

/* A client that reads late: the daemon stops reading its requests, and later answers all of
 * them. */
PEER_TEST(test_late_reader, setup, peer_end_alive)
{
    uint32_t port, requests = 0;
    int fd = peer_client(&process, &port);

    while (send_read(fd, (uint16_t)requests)) {
        requests++;
        assert_true(requests < 10000000); /* the daemon stops reading */
    }
    for (uint32_t i = 0; i < requests; i++) {
        struct gba_switch_message answer = peer_expect(fd, GBA_SWITCH_VALUE);

        assert_int_equal(answer.tag, (uint16_t)i);
        assert_int_equal(answer.value, GBA_DEV_ID_VALUE);
    }
    close(fd);
}

/* --- Hostile messages --- */

static uint64_t number;
static uint32_t sent; /* hostile messages */

static uint32_t next_random(void)
{
    number = number * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(number >> 33);
}

/* A message that a client may send, with plausible values, or with wild ones. */
static void make_message(uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES])
{
    static const uint8_t types[] = {GBA_SWITCH_ARRIVE, GBA_SWITCH_ARRIVE, GBA_SWITCH_COMMAND,
                                    GBA_SWITCH_READ,   GBA_SWITCH_WRITE,  GBA_SWITCH_NAME,
                                    GBA_SWITCH_OWNER};
    bool wild = next_random() % 4 == 0;
    struct gba_switch_message message = {.type = types[next_random() % sizeof(types)]};

    message.group = wild ? next_random() : next_random() % 4;
    message.member = wild ? next_random() : next_random() % 4;
    message.value = wild ? next_random() : next_random() % 4;
    if (message.type == GBA_SWITCH_ARRIVE) {
        message.value = GBA_ARRIVAL(message.value, next_random() % 4, message.member);
        message.member = 0;
    }
    if (message.type == GBA_SWITCH_COMMAND) {
        message.generation = next_random() % 4;
        message.code = (uint8_t)(next_random() % 10);
        message.key = next_random();
    }
    if (message.type == GBA_SWITCH_READ || message.type == GBA_SWITCH_WRITE) {
        message.code = wild ? (uint8_t)next_random() : (uint8_t)(4 << next_random() % 2);
        message.key = wild ? next_random() : next_random() % (2 * GBA_BAR_SIZE) & ~7u;
        message.group = message.member = 0;
        message.value = message.type == GBA_SWITCH_READ ? 0 : message.value;
    }
    if (message.type == GBA_SWITCH_NAME || message.type == GBA_SWITCH_OWNER)
        message.code = (uint8_t)(next_random() % 3);
    if (message.type == GBA_SWITCH_OWNER)
        message.member = 0, message.value = 0;
    gba_switch_encode(&message, bytes);
    if (next_random() % 64 == 0)
        bytes[next_random() % GBA_SWITCH_MESSAGE_BYTES] ^= (uint8_t)(1 << next_random() % 8);
}

/* One connection with hostile messages. It ends by itself, or in the middle of a message. */
static void attack(bool greet)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES], secret[GBA_SWITCH_SECRET_BYTES];
    struct gba_switch_message key;
    bool tcp = next_random() % 4 == 0;
    int fd = tcp ? peer_tcp(&process) : peer_unix(&process);
    unsigned messages = next_random() % 200;

    if (greet)
        peer_hello(fd);
    if (greet && tcp) {
        assert_true(gba_switch_secret_parse(PEER_KEY, secret));
        gba_switch_secret_set(&key, secret);
        peer_send(fd, &key);
    }
    for (unsigned i = 0; i < messages; i++) {
        char answer[4096];

        make_message(bytes);
        if (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(bytes))
            break;
        sent++;
        while (recv(fd, answer, sizeof(answer), MSG_DONTWAIT) == sizeof(answer))
            continue;
    }
    send(fd, bytes, next_random() % GBA_SWITCH_MESSAGE_BYTES, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

PEER_TEST(test_attacks, setup, peer_end_alive)
{
    const char *wanted = getenv("GBA_TEST_MESSAGES");
    const uint32_t messages = wanted == NULL ? MESSAGES : (uint32_t)strtoul(wanted, NULL, 10);
    unsigned before = peer_descriptors(&process), rounds = 0, memory = 0;
    struct gba_switch_message group, message;
    int client[2];

    peer_clients(&process, client, 2);
    group = peer_group(client, 2);
    for (uint32_t round = 1; sent < messages; round++) {
        attack(round % 8 != 0);
        if (memory == 0 && sent >= messages / 10)
            memory = peer_memory(&process);
        /* The group of others continues, and no member leaves early. */
        peer_arrive(client[0], &group, 0, round);
        assert_int_equal(peer_read(client[0], GBA_GROUP_REG(group.group, GBA_REG_ARRIVED_COUNT), 4),
                         1);
        peer_arrive(client[1], &group, 1, round);
        for (unsigned i = 0; i < 2; i++) {
            message = peer_expect(client[i], GBA_SWITCH_RELEASE);
            assert_int_equal(message.value, round);
            assert_int_equal(message.member, i);
        }
        rounds = round;
    }
    /* All connections and groups of the attackers are gone. */
    while (peer_read(client[0], GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE, 4) != 31)
        usleep(1000);
    peer_close(client, 2);
    while (peer_descriptors(&process) != before)
        usleep(1000);
    print_message("%u hostile messages on %u connections; %u descriptors\n", sent, rounds, before);
    peer_expect_memory(&process, memory, GROWTH_KIB);
}

TEST_MAIN()
