/* SPDX-License-Identifier: BSD-3-Clause */
/* Which owners of groups a gba-switchd shows to a client [DRV-20]. */
#include "tests/switch/peer.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define USER 1000u

static struct daemon_process process;

/* Allocate a group. Returns its number. */
static uint32_t allocate(int fd)
{
    struct gba_switch_message group = {.group = GBA_GROUP_ANY, .value = 2};

    assert_int_equal(peer_command(fd, GBA_CMD_ALLOC, &group), GBA_RESULT_OK);
    return group.group;
}

static struct gba_switch_message owner_of(int fd, uint32_t group)
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_OWNER, .tag = 5, .group = group};

    peer_send(fd, &message);
    return peer_expect(fd, GBA_SWITCH_OWNED);
}

static void expect_hidden(int fd, uint32_t group)
{
    struct gba_switch_message owned = owner_of(fd, group);

    assert_int_equal(owned.code, GBA_SWITCH_OWNED_HIDDEN);
    assert_true(owned.generation == 0 && owned.member == 0 && owned.value == 0 && owned.key == 0);
}

static void expect_owner(int fd, uint32_t group, uint32_t user, uint64_t job)
{
    struct gba_switch_message owned = owner_of(fd, group);

    assert_in_range(owned.code, GBA_SWITCH_OWNED_AWAY, GBA_SWITCH_OWNED_HERE);
    assert_int_equal(owned.generation, user);
    assert_int_equal(owned.member, getpid());
    assert_int_equal(owned.value, job);
}

static void expect_batch_job(int fd, uint32_t group, unsigned code, const char *expected)
{
    const struct gba_switch_message message = {
        .type = GBA_SWITCH_OWNER, .code = 1, .tag = 6, .group = group};
    char name[GBA_SWITCH_NAME_BYTES + 1];
    struct gba_switch_message owned;

    peer_send(fd, &message);
    owned = peer_expect(fd, GBA_SWITCH_OWNED);
    gba_switch_name_get(&owned, name);
    assert_int_equal(owned.tag, 6);
    assert_int_equal(owned.code, code);
    assert_string_equal(name, expected);
}

/* A client by TCP has the key, and sees all groups, also those of the Unix socket. */
PEER_TEST(test_owner_tcp, peer_begin, peer_end)
{
    struct gba_switch_message name;
    uint32_t port, group;
    int owner, viewer;

    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    owner = peer_client(&process, &port);
    viewer = peer_tcp_client(&process, PEER_KEY, &port);
    gba_switch_name_set(&name, GBA_SWITCH_NAME_JOB, "slurm:12");
    peer_send(owner, &name);
    group = allocate(owner);
    expect_owner(viewer, group, geteuid(), 0);
    expect_batch_job(viewer, group, GBA_SWITCH_OWNED_HERE, "slurm:12");
    expect_batch_job(viewer, GBA_GROUPS - 1, GBA_SWITCH_OWNED_NOT, "");
    assert_int_equal(owner_of(viewer, GBA_GROUPS - 1).code, GBA_SWITCH_OWNED_NOT);
    close(owner);
    close(viewer);
}

/* A client on the Unix socket that the kernel identifies as that user. */
static int client_of(uid_t user)
{
    uint32_t port;
    int fd;

    assert_return_code(seteuid(user), errno);
    fd = peer_client(&process, &port);
    assert_return_code(seteuid(0), errno);
    return fd;
}

/* A user sees the groups of that user, and root all. The report shows no more. */
PEER_TEST(test_owner_unix, peer_begin, peer_end)
{
    uint32_t group[3], absent;
    int client[3], fd;
    char *text;

    if (geteuid() != 0)
        skip(); /* only root can be several users */
    assert_return_code(chmod(process.directory, 0755), errno);
    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    for (uid_t i = 0; i < 3; i++) {
        client[i] = client_of(i == 0 ? 0 : USER + i);
        group[i] = allocate(client[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        expect_owner(client[0], group[i], i == 0 ? 0 : USER + i, 0);
        if (i == 1)
            expect_owner(client[1], group[i], USER + 1, 0);
        else
            expect_hidden(client[1], group[i]);
    }
    expect_batch_job(client[1], group[0], GBA_SWITCH_OWNED_HIDDEN, "");
    assert_return_code(seteuid(USER + 1), errno);
    fd = peer_unix(&process);
    assert_return_code(seteuid(0), errno);
    text = peer_status(fd, GBA_SWITCH_STATUS_JSON, &absent);
    assert_non_null(strstr(text, "\"user\": 1001,"));
    assert_null(strstr(text, "\"user\": 1002"));
    assert_null(strstr(text, "\"user\": 0,"));
    free(text);
    close(fd);
    peer_close(client, 3);
}

TEST_MAIN()
