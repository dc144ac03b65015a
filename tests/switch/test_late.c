/* SPDX-License-Identifier: BSD-3-Clause */
/* What gba_diag counts as absent, and a switch that does not answer. */
#include "tests/switch/jobs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct daemon_process process;

static uint32_t absent_after(uint64_t late_ms)
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_STATUS,
                                               .code = GBA_SWITCH_PROTOCOL,
                                               .tag = GBA_SWITCH_STATUS_TEXT,
                                               .group = GBA_SWITCH_MAGIC,
                                               .value = late_ms};
    int fd = peer_unix(&process);
    uint32_t absent;

    peer_send(fd, &message);
    absent = peer_expect(fd, GBA_SWITCH_TEXT).member;
    close(fd);
    return absent;
}

/* A group that waits for long enough has a fault, if the user asks for that. */
PEER_TEST(test_late, peer_begin_started, peer_end)
{
    struct gba_switch_message group = {.group = GBA_GROUP_ANY, .value = 1};
    int client[2], other;
    uint32_t port;

    peer_clients(&process, client, 2);
    group = peer_group(client, 2);
    peer_arrive(client[0], &group, 0, 1);
    peer_settle(client[0]);
    assert_int_equal(absent_after(0), 0);
    assert_int_equal(absent_after(1000u * 86400), 0);
    while (absent_after(20) != 1)
        usleep(1000);
    peer_arrive(client[1], &group, 1, 1);
    (void)peer_expect(client[1], GBA_SWITCH_RELEASE);
    assert_int_equal(absent_after(1), 0); /* no member waits */
    close(client[0]);
    close(client[1]);
    job_wait_until_free(&process);
    other = peer_client(&process, &port);
    group = (struct gba_switch_message){.group = GBA_GROUP_ANY, .value = 1};
    assert_int_equal(peer_command(other, GBA_CMD_ALLOC, &group), GBA_RESULT_OK);
    assert_int_equal(absent_after(0), 0);
    while (absent_after(20) != 1)
        usleep(1000);
    close(other);
    job_wait_until_free(&process);
}

/* gba_diag gives up when a host does not answer. */
PEER_TEST(test_timeout, peer_begin_started, peer_end)
{
    enum { WAITING = 4 };
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client[WAITING], status;
    socklen_t length = sizeof(address);
    char command[sizeof(GBA_TEST_DIAG) + 512];

    assert_return_code(bind(listener, (struct sockaddr *)&address, sizeof(address)), errno);
    assert_return_code(getsockname(listener, (struct sockaddr *)&address, &length), errno);
    assert_return_code(listen(listener, 0), errno);
    /* When connections that were not accepted fill the queue, the kernel drops further ones. */
    for (unsigned i = 0; i < WAITING; i++) {
        client[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(client[i], (struct sockaddr *)&address, sizeof(address));
    }
    peer_write_key(&process, PEER_KEY, 0600);
    snprintf(command, sizeof(command),
             "exec timeout %u '%s' --timeout=1 --key-file=%s switch://127.0.0.1:%u 2>%s/error",
             test_limit(60), GBA_TEST_DIAG, process.key, ntohs(address.sin_port),
             process.directory);
    status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    peer_close(client, WAITING);
    close(listener);
}

TEST_MAIN()
