/* SPDX-License-Identifier: BSD-3-Clause */
/* gba-switchd with a client on its Unix socket and a virtual machine, in one group. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>
#include <linux/vfio.h>

#include "tests/limit.h"
#include "tests/switch/peer.h"
#include "tests/switch/vfio_test.h"

#define BAR VFIO_PCI_BAR0_REGION_INDEX

static struct daemon_process process;
static struct vfio_test guest;
static int client, memory, vector;

static const char *socket_of(unsigned device)
{
    static char path[64];

    snprintf(path, sizeof(path), "%s/%u", process.directory, device);
    return path;
}

static uint32_t guest_command(uint32_t command, const struct gba_switch_message *mailbox)
{
    vfio_test_write(&guest, BAR, GBA_PORT_REG(GBA_PORT_GROUP), 4, mailbox->group);
    vfio_test_write(&guest, BAR, GBA_PORT_REG(GBA_PORT_GENERATION), 4, mailbox->generation);
    vfio_test_write(&guest, BAR, GBA_PORT_REG(GBA_PORT_KEY), 8, mailbox->key);
    vfio_test_write(&guest, BAR, GBA_PORT_REG(GBA_PORT_MEMBER), 4, mailbox->member);
    vfio_test_write(&guest, BAR, GBA_PORT_REG(GBA_PORT_VALUE), 4, mailbox->value);
    vfio_test_write(&guest, BAR, GBA_PORT_REG(GBA_PORT_COMMAND), 4, command);
    return (uint32_t)vfio_test_read(&guest, BAR, GBA_PORT_REG(GBA_PORT_RESULT), 4);
}

/* Join member 0, the client, and member 1, the guest, and arm the group. */
static void arm(struct gba_switch_message mailbox)
{
    const uint32_t group = mailbox.group;

    mailbox.member = 0;
    mailbox.value = 0;
    assert_int_equal(peer_command(client, GBA_CMD_JOIN, &mailbox), GBA_RESULT_OK);
    mailbox.member = 1;
    assert_int_equal(guest_command(GBA_CMD_JOIN, &mailbox), GBA_RESULT_OK);
    peer_write(client, GBA_TABLE_ENTRY(group, 0), 8, 8);
    vfio_test_write(&guest, BAR, GBA_TABLE_ENTRY(group, 1), 8, GUEST_BASE);
    assert_int_equal(peer_command(client, GBA_CMD_ARM, &mailbox), GBA_RESULT_OK);
    peer_write(client, GBA_PORT_REG(GBA_PORT_IRQ_MASK), 4, UINT32_MAX);
}

static void start(void)
{
    const char *const options[] = {"--vfio-user", process.directory, "--vfio-user-devices", "2",
                                   NULL};
    uint32_t port;

    peer_start(&process, options);
    client = peer_client(&process, &port);
    vfio_test_connect(&guest, socket_of(1));
    vfio_test_boot(&guest, &memory, &vector);
}

/* An arrival of the guest releases a client that sends nothing, and the reverse. */
PEER_TEST(test_guest_and_client, peer_begin, peer_end)
{
    struct gba_switch_message message, made = {.group = GBA_GROUP_ANY, .value = 2};
    uint32_t group;

    start();
    assert_int_equal(peer_command(client, GBA_CMD_ALLOC, &made), GBA_RESULT_OK);
    arm(made);
    group = made.group;
    for (uint32_t round = 1; round <= 50; round++) {
        if (round % 2 == 0) {
            peer_arrive(client, &made, 0, round);
            assert_int_equal(peer_read(client, GBA_GROUP_REG(group, GBA_REG_SEQUENCE), 4),
                             round - 1);
        }
        assert_int_equal(vfio_test_word(memory, 0), round - 1);
        vfio_test_write(&guest, BAR, GBA_DOORBELL(group), 8, GBA_ARRIVAL(round, 1));
        if (round % 2 == 1) {
            assert_int_equal(vfio_test_word(memory, 0), round - 1);
            peer_arrive(client, &made, 0, round);
        }
        message = peer_expect(client, GBA_SWITCH_RELEASE);
        assert_int_equal(message.value, round);
        (void)peer_read(client, GBA_GROUP_REG(group, GBA_REG_SEQUENCE), 4);
        assert_int_equal(vfio_test_word(memory, 0), round);
    }
    vfio_test_close(&guest);
    message = peer_expect(client, GBA_SWITCH_EVENT);
    assert_int_equal(message.group, group);
    assert_int_equal(message.value, GBA_IRQ_PORT_DOWN);
    close(client);
    close(memory);
    close(vector);
    assert_int_equal(peer_stop(&process, SIGTERM), 0);
    assert_int_equal(access(socket_of(0), F_OK), -1); /* removed */
    assert_int_equal(access(socket_of(1), F_OK), -1);
}

TEST_MAIN(alarm(test_limit(120)))
