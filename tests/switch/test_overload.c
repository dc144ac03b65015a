/* SPDX-License-Identifier: BSD-3-Clause */
/* A real gba-switchd with clients that read late, with more connections than it has room for, and
 * with a directory that another process has locked. */
#include "tests/switch/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORTS 8

static struct daemon_process process;

static int setup(void **state)
{
    (void)state;
    peer_directory(&process);
    peer_start_tcp(&process, "--log-level=error", "--ports=8", NULL);
    return 0;
}

/* --- A client that reads late --- */

/* Rounds that complete with so many releases that the daemon stops executing the requests that it
 * has already read. It goes on when the client takes data, without a further request. */
PEER_TEST(test_requests_before_a_pause, setup, peer_end_alive)
{
    enum { ROUNDS = 3, READS = 125 };
    /* In one write, and no more than libevent reads at once. */
    static uint8_t bytes[(ROUNDS + READS) * GBA_SWITCH_MESSAGE_BYTES];
    struct gba_switch_message message, made[ROUNDS];
    int client[GBA_MEMBERS_MAX];
    uint32_t port;
    int fd = peer_client(&process, &port);

    for (uint32_t i = 0; i < GBA_MEMBERS_MAX; i++)
        client[i] = fd;
    for (uint32_t group = 0; group < ROUNDS; group++) {
        made[group] = peer_group(client, GBA_MEMBERS_MAX);
        assert_int_equal(made[group].group, group);
        for (uint32_t member = 1; member < GBA_MEMBERS_MAX; member++)
            peer_arrive(fd, &made[group], member, 1);
        assert_int_equal(peer_read(fd, GBA_GROUP_REG(group, GBA_REG_ARRIVED_COUNT), 4),
                         GBA_MEMBERS_MAX - 1);
    }
    for (uint32_t i = 0; i < ROUNDS + READS; i++) {
        message = i < ROUNDS
                      ? (struct gba_switch_message){.type = GBA_SWITCH_ARRIVE,
                                                    .group = i,
                                                    .value = GBA_ARRIVAL(1, made[i].generation, 0)}
                      : (struct gba_switch_message){.type = GBA_SWITCH_READ,
                                                    .code = 4,
                                                    .tag = (uint16_t)i,
                                                    .key = GBA_DEVICE_BASE + GBA_DEV_ID};
        gba_switch_encode(&message, bytes + (size_t)i * GBA_SWITCH_MESSAGE_BYTES);
    }
    assert_int_equal(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
    for (uint32_t i = 0; i < ROUNDS * GBA_MEMBERS_MAX; i++) {
        message = peer_expect(fd, GBA_SWITCH_RELEASE);
        assert_int_equal(message.group, i / GBA_MEMBERS_MAX);
        assert_int_equal(message.member, i % GBA_MEMBERS_MAX);
    }
    for (uint32_t i = ROUNDS; i < ROUNDS + READS; i++)
        assert_int_equal(peer_expect(fd, GBA_SWITCH_VALUE).tag, i);
    close(fd);
}

/* --- Many connections --- */

/* More connections than ports and GBA_SESSION_WAITING_MAX: a new one is refused. */
PEER_TEST(test_connections, setup, peer_end_alive)
{
    enum { CLIENTS = PORTS + 64 };
    int client[CLIENTS], fd;

    for (unsigned i = 0; i < CLIENTS; i++)
        client[i] = peer_unix(&process);
    fd = peer_unix(&process);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_PORTS);
    close(fd);
    peer_close(client, CLIENTS);
}

/* Many connections wait while a client sends a request. The daemon does not accept all of them
 * before it answers. */
PEER_TEST(test_connections_at_once, setup, peer_end_alive)
{
    enum { CONNECTIONS = 100 };
    const struct gba_switch_message request = {.type = GBA_SWITCH_STATUS,
                                               .code = GBA_SWITCH_PROTOCOL,
                                               .tag = GBA_SWITCH_STATUS_JSON,
                                               .group = GBA_SWITCH_MAGIC};
    int client[CONNECTIONS], other = peer_unix(&process);
    static char text[4096];
    const char *accepted;
    uint32_t port;

    close(peer_client(&process, &port)); /* the daemon has accepted the other one, too */
    assert_return_code(kill(process.pid, SIGSTOP), errno);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        client[i] = peer_unix(&process);
    peer_send(other, &request);
    assert_return_code(kill(process.pid, SIGCONT), errno);
    assert_in_range(peer_expect(other, GBA_SWITCH_TEXT).value, 1, sizeof(text) - 1);
    while (recv(other, text + strlen(text), sizeof(text) - 1 - strlen(text), 0) > 0)
        continue;
    accepted = strstr(text, "\"accepted\": ");
    assert_non_null(accepted);
    assert_in_range(strtoul(accepted + strlen("\"accepted\": "), NULL, 10), 2, CONNECTIONS / 2);
    close(other);
    peer_close(client, CONNECTIONS);
}

/* --- Start and stop --- */

/* Any process that can read the directory of the socket can lock it. */
PEER_TEST(test_locked_directory, NULL, peer_end_alive)
{
    static const char *const options[] = {"--log-level=error", NULL};
    uint32_t port;
    int directory;

    peer_directory(&process);
    directory = open(process.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_return_code(directory, errno);
    assert_return_code(flock(directory, LOCK_EX), errno);
    peer_start(&process, options);
    close(peer_client(&process, &port));
    assert_int_equal(peer_stop(&process, SIGTERM), 0);
    assert_int_equal(access(process.socket, F_OK), -1);
    close(directory);
    peer_start(&process, options);
}

TEST_MAIN()
