/* SPDX-License-Identifier: BSD-3-Clause */
/* A real gba-switchd on a Unix socket and on TCP: sessions, rounds, failures of links, start and
 * stop. */
#include "tests/switch/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct daemon_process process;

static void start(const char *option, const char *value)
{
    const char *const options[] = {"--log-level=error", option, value, NULL};

    peer_start(&process, options);
}

PEER_TEST(test_welcome, peer_begin, peer_end)
{
    struct gba_switch_message first, second;
    int client[2];

    start("--groups", "5");
    for (unsigned i = 0; i < 2; i++) {
        client[i] = peer_unix(&process);
        peer_hello(client[i]);
    }
    first = peer_expect(client[0], GBA_SWITCH_WELCOME);
    second = peer_expect(client[1], GBA_SWITCH_WELCOME);
    assert_int_equal(first.code, GBA_SWITCH_PROTOCOL);
    assert_int_equal(first.tag + second.tag, 1); /* ports 0 and 1 */
    assert_int_equal(first.group, 5);
    assert_int_equal(first.generation, GBA_REGS_MAJOR << 16 | GBA_REGS_MINOR);
    assert_int_equal(first.member, GBA_PORTS_MAX);
    assert_true(first.value == second.value && first.key == second.key);
    assert_true(first.value != 0 || first.key != 0);
    assert_int_equal(peer_read(client[1], GBA_PORT_REG(GBA_PORT_NUMBER), 4), second.tag);
    assert_int_equal(peer_read(client[1], GBA_DEVICE_BASE + GBA_DEV_GROUPS, 4), 5);
    assert_int_equal(peer_read(client[1], GBA_DEVICE_BASE + GBA_DEV_GROUPS, 8), GBA_READ_NONE);
    peer_close(client, 2);
}

/* Rounds of members on Unix sockets and on TCP. No member is released before the last member has
 * arrived. */
PEER_TEST(test_rounds, peer_begin, peer_end)
{
    enum { MEMBERS = 4 };
    struct gba_switch_message group, release;
    int client[MEMBERS];
    uint32_t port;

    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    for (unsigned i = 0; i < MEMBERS; i++)
        client[i] =
            i % 2 == 0 ? peer_client(&process, &port) : peer_tcp_client(&process, PEER_KEY, &port);
    group = peer_group(client, MEMBERS);
    for (uint32_t round = 1; round <= 200; round++) {
        uint32_t last = round % MEMBERS;

        for (uint32_t member = 0; member < MEMBERS; member++) {
            if (member != last)
                peer_arrive(client[member], &group, member, round);
        }
        /* The answer would follow a release. */
        for (uint32_t member = 0; member < MEMBERS; member++)
            assert_int_equal(
                peer_read(client[member], GBA_GROUP_REG(group.group, GBA_REG_SEQUENCE), 4),
                round - 1);
        peer_arrive(client[last], &group, last, round);
        for (uint32_t member = 0; member < MEMBERS; member++) {
            release = peer_expect(client[member], GBA_SWITCH_RELEASE);
            assert_int_equal(release.group, group.group);
            assert_int_equal(release.member, member);
            assert_int_equal(release.value, round);
            assert_int_equal(release.key, 0x1000 + 8 * member);
        }
    }
    peer_close(client, MEMBERS);
}

/* Several members of one connection, and many messages in one write, also in pieces. */
PEER_TEST(test_shared_connection, peer_begin, peer_end)
{
    enum { MEMBERS = 40 };
    uint8_t bytes[MEMBERS * GBA_SWITCH_MESSAGE_BYTES];
    struct gba_switch_message group, release;
    int client[MEMBERS];
    uint32_t port;
    int other;

    start(NULL, NULL);
    client[0] = peer_client(&process, &port);
    for (unsigned i = 1; i < MEMBERS; i++)
        client[i] = client[0];
    group = peer_group(client, MEMBERS);
    for (uint32_t member = 0; member < MEMBERS; member++) {
        const struct gba_switch_message message = {.type = GBA_SWITCH_ARRIVE,
                                                   .group = group.group,
                                                   .value =
                                                       GBA_ARRIVAL(1, group.generation, member)};

        gba_switch_encode(&message, bytes + member * GBA_SWITCH_MESSAGE_BYTES);
    }
    /* The daemon has the first message and a byte of the next one. */
    other = peer_client(&process, &port);
    assert_int_equal(send(client[0], bytes, 33, 0), 33);
    while (peer_read(other, GBA_GROUP_REG(group.group, GBA_REG_ARRIVED_COUNT), 4) != 1)
        usleep(1000);
    close(other);
    assert_int_equal(send(client[0], bytes + 33, sizeof(bytes) - 33, 0), sizeof(bytes) - 33);
    for (uint32_t member = 0; member < MEMBERS; member++) {
        release = peer_expect(client[0], GBA_SWITCH_RELEASE);
        assert_int_equal(release.member, member);
        assert_int_equal(release.value, 1);
    }
    close(client[0]);
}

PEER_TEST(test_notify, peer_begin, peer_end)
{
    struct gba_switch_message group, event;
    int client[2];

    start(NULL, NULL);
    peer_clients(&process, client, 2);
    group = peer_group(client, 2);
    for (uint32_t round = 1; round <= 10; round++) {
        const uint32_t bell = GBA_DOORBELL(group.group) + GBA_BELL_NOTIFY;

        peer_arrive(client[0], &group, 0, round);
        if (round % 2 == 0)
            peer_write(client[0], bell, 8,
                       GBA_ARRIVAL(round, group.generation, 0)); /* before the round is complete */
        peer_arrive(client[1], &group, 1, round);
        peer_expect(client[1], GBA_SWITCH_RELEASE);
        if (round % 2 != 0)
            peer_write(client[0], bell, 8,
                       GBA_ARRIVAL(round, group.generation, 0)); /* or after it */
        assert_int_equal(peer_expect(client[0], GBA_SWITCH_RELEASE).value, round);
        event = peer_expect(client[0], GBA_SWITCH_EVENT);
        assert_int_equal(event.group, group.group);
        assert_int_equal(event.generation, group.generation);
        assert_int_equal(event.value, GBA_IRQ_ROUND);
    }
    peer_close(client, 2);
}

/* A connection that is cut: its member is withdrawn, the others get an event, its groups are free.
 */
PEER_TEST(test_cut, peer_begin, peer_end)
{
    struct gba_switch_message group, event, member;
    int client[3];
    uint32_t port;

    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    for (unsigned i = 0; i < 3; i++)
        client[i] =
            i == 1 ? peer_tcp_client(&process, PEER_KEY, &port) : peer_client(&process, &port);
    group = peer_group(client, 3);
    peer_arrive(client[0], &group, 0, 1);
    close(client[1]);
    for (unsigned i = 0; i < 3; i += 2) {
        event = peer_expect(client[i], GBA_SWITCH_EVENT);
        assert_int_equal(event.group, group.group);
        assert_int_equal(event.value, GBA_IRQ_PORT_DOWN);
    }
    member = group;
    member.member = 1;
    assert_int_equal(peer_command(client[0], GBA_CMD_MEMBER, &member), GBA_RESULT_OK);
    assert_int_equal(GBA_MEMBER_STATE(member.value), GBA_MEMBERSHIP_LEFT);
    peer_arrive(client[2], &group, 2, 1);
    assert_int_equal(peer_read(client[2], GBA_GROUP_REG(group.group, GBA_REG_SEQUENCE), 4), 0);
    assert_int_equal(peer_read(client[2], GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE, 4), 31);
    close(client[0]);
    peer_expect(client[2], GBA_SWITCH_EVENT);
    close(client[2]);
    client[0] = peer_client(&process, &port);
    while (peer_read(client[0], GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE, 4) != 32)
        usleep(1000); /* until the daemon has seen the end of the last connection */
    close(client[0]);
}

/* No arrival of an old team counts in the next one, in which the same ports have the same members.
 */
PEER_TEST(test_old_arrivals, peer_begin, peer_end)
{
    struct gba_switch_message old, group;
    int client[2];

    start(NULL, NULL);
    peer_clients(&process, client, 2);
    old = peer_group(client, 2);
    for (unsigned i = 0; i < 2; i++) {
        group = old;
        group.member = i;
        group.value = 0;
        assert_int_equal(peer_command(client[i], GBA_CMD_LEAVE, &group), GBA_RESULT_OK);
    }
    assert_int_equal(peer_read(client[0], GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE, 4), GBA_GROUPS);

    group = peer_group(client, 2);
    assert_int_equal(group.group, old.group);
    assert_int_not_equal(group.generation, old.generation);
    peer_arrive(client[0], &old, 0, 1);
    assert_int_equal(peer_expect(client[0], GBA_SWITCH_EVENT).value, GBA_IRQ_ERROR);
    assert_int_equal(peer_read(client[0], GBA_GROUP_REG(group.group, GBA_REG_ARRIVED_COUNT), 4), 0);
    peer_arrive(client[1], &group, 1, 1);
    assert_int_equal(peer_read(client[1], GBA_GROUP_REG(group.group, GBA_REG_ARRIVED_COUNT), 4), 1);
    peer_arrive(client[0], &group, 0, 1);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(peer_expect(client[i], GBA_SWITCH_RELEASE).value, 1);
    peer_close(client, 2);
}

/* The status, as an administrator sees it. */
PEER_TEST(test_status, peer_begin, peer_end)
{
    struct gba_switch_message group;
    int client[3];
    uint32_t absent;
    char *text;

    start(NULL, NULL);
    peer_clients(&process, client, 3);
    group = peer_group(client, 3);
    peer_arrive(client[0], &group, 0, 1);
    close(client[2]);
    peer_expect(client[0], GBA_SWITCH_EVENT);
    text = peer_status(peer_unix(&process), GBA_SWITCH_STATUS_JSON, &absent);
    assert_int_equal(absent, 1);
    assert_non_null(strstr(text, "{\"member\": 0, \"state\": \"arrived\", \"port\": 0,"));
    assert_non_null(strstr(text, "{\"member\": 1, \"state\": \"missing\", \"port\": 1,"));
    assert_non_null(strstr(text, "{\"member\": 2, \"state\": \"link down\", \"port\": 2,"));
    assert_non_null(strstr(text, "\"process\": \"running\""));
    free(text);
    text = peer_status(peer_unix(&process), GBA_SWITCH_STATUS_TEXT, &absent);
    assert_int_equal(absent, 1);
    assert_non_null(
        strstr(text, "group 0: armed, round 1: 1 of 3 members have arrived, waiting for "));
    assert_null(strstr(text, "  member 0: "));
    assert_non_null(strstr(text, "  member 1 (pid "));
    assert_non_null(strstr(text, ", port 1): late, running\n"));
    assert_non_null(strstr(text, ", port 2): link down"));
    free(text);
    close(client[0]);
    close(client[1]);
}

/* --- Start and stop --- */

PEER_TEST(test_stop, peer_begin, peer_end)
{
    struct stat status;
    uint32_t port;
    int client;

    start(NULL, NULL);
    assert_return_code(stat(process.socket, &status), errno);
    assert_int_equal(status.st_mode & 07777, 0660);
    client = peer_client(&process, &port);
    assert_int_equal(peer_stop(&process, SIGTERM), 0);
    peer_expect_refusal(client, GBA_SWITCH_REFUSED_SHUTDOWN);
    close(client);
    assert_int_equal(stat(process.socket, &status), -1);
    start(NULL, NULL);
    assert_int_equal(peer_stop(&process, SIGINT), 0);
    assert_int_equal(stat(process.socket, &status), -1);
}

/* Whether the file has a line with the text. */
static bool file_has(const char *path, const char *text)
{
    char line[512];
    bool found = false;
    FILE *file = fopen(path, "re");

    while (!found && file != NULL && fgets(line, sizeof(line), file) != NULL)
        found = strstr(line, text) != NULL;
    if (file != NULL)
        fclose(file);
    return found;
}

/* SIGHUP, and wait until the daemon has logged that text. */
static void reload(const char *log, const char *text)
{
    assert_return_code(kill(process.pid, SIGHUP), errno);
    for (unsigned i = 0; !file_has(log, text); i++) {
        assert_true(i < PEER_TIMEOUT_MS / 10);
        usleep(10000);
    }
}

/* The daemon reads another key, and the connections stay. With a file that has no key it keeps the
 * earlier one. */
PEER_TEST(test_reload, peer_begin, peer_end)
{
    int file, standard_error = dup(STDERR_FILENO), client, other;
    uint32_t port;
    char log[64];

    snprintf(log, sizeof(log), "%s/log", process.directory);
    file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_return_code(dup2(file, STDERR_FILENO), errno); /* the daemon inherits it */
    peer_start_tcp(&process, NULL, NULL, NULL);
    assert_return_code(dup2(standard_error, STDERR_FILENO), errno);
    close(standard_error);
    close(file);
    client = peer_tcp_client(&process, PEER_KEY, &port);
    peer_write_key(&process, "no key\n", 0600);
    reload(log, "error: --key-file ");
    close(peer_tcp_client(&process, PEER_KEY, &port));
    peer_write_key(&process, PEER_OTHER_KEY "\n", 0600);
    reload(log, "info: reloaded: key file ");
    other = peer_tcp_client(&process, PEER_OTHER_KEY, &port);
    assert_int_equal(peer_read(other, GBA_DEVICE_BASE + GBA_DEV_GROUPS, 4), GBA_GROUPS);
    assert_int_equal(peer_read(client, GBA_DEVICE_BASE + GBA_DEV_GROUPS, 4), GBA_GROUPS);
    close(other);
    close(client);
    assert_int_equal(peer_stop(&process, SIGTERM), 0);
    assert_true(file_has(log, "info: stopping: "));
}

PEER_TEST(test_stale_socket, peer_begin, peer_end)
{
    static const char *const options[] = {"--log-level=error", NULL};
    struct daemon_process second;
    uint32_t port;
    int fd;

    start(NULL, NULL);
    peer_stop(&process, SIGKILL); /* its socket file stays */
    assert_return_code(access(process.socket, F_OK), errno);
    start(NULL, NULL);
    /* A running daemon keeps its socket. */
    second = process;
    assert_int_equal(peer_start_fails(&second, options), 1);
    close(peer_client(&process, &port));
    peer_stop(&process, SIGTERM);
    /* So does another file. */
    fd = open(process.socket, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_return_code(fd, errno);
    close(fd);
    assert_int_equal(peer_start_fails(&process, options), 1);
    assert_return_code(access(process.socket, F_OK), errno);
}

PEER_TEST(test_ready_notification, peer_begin, peer_end)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char text[256];
    ssize_t count;

    snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", process.directory);
    assert_return_code(bind(fd, (struct sockaddr *)&address, sizeof(address)), errno);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    start(NULL, NULL);
    unsetenv("NOTIFY_SOCKET");
    count = recv(fd, text, sizeof(text) - 1, 0);
    assert_true(count > 0);
    text[count] = '\0';
    assert_ptr_equal(strstr(text, "READY=1\n"), text);
    peer_stop(&process, SIGTERM);
    count = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
    assert_true(count > 0);
    text[count] = '\0';
    assert_string_equal(text, "STOPPING=1\n");
    close(fd);
}

/* The key file of another user, a credential of systemd, and a file that is none. */
PEER_TEST(test_key_file, peer_begin, peer_end)
{
    char key[128];
    const char *const with_key[] = {"--tcp=:0", key, "--log-level=error", NULL};

    if (geteuid() != 0)
        skip();
    peer_write_key(&process, PEER_KEY, 0644);
    snprintf(key, sizeof(key), "--key-file=%s", process.key);
    assert_int_equal(peer_start_fails(&process, with_key), 1);
    assert_return_code(chown(process.key, 65533, 0), errno);
    assert_return_code(chmod(process.key, 0440), errno);
    assert_int_equal(peer_start_fails(&process, with_key), 1);
    assert_return_code(chown(process.key, 0, 65533), errno);
    assert_int_equal(peer_start_fails(&process, with_key), 1);
    assert_return_code(chown(process.key, 0, 0), errno);
    peer_start(&process, with_key);
}

TEST_MAIN()
