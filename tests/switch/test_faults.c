/* SPDX-License-Identifier: BSD-3-Clause */
/* A real gba-switchd with --fault. */
#include "tests/switch/peer.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "sim/switch/command_line.h"

static struct daemon_process process;

static void start(const char *first, const char *second)
{
    const char *const options[] = {"--log-level=error", first, second, NULL};

    peer_start(&process, options);
}

static uint64_t arrived(int fd, uint32_t group)
{
    return peer_read(fd, GBA_GROUP_REG(group, GBA_REG_ARRIVED_COUNT), 4);
}

/* Arrivals 2 and 3 are lost, from any sender. */
PEER_TEST(test_drop, peer_begin, peer_end_alive)
{
    struct gba_switch_message group;
    int client[2];

    start("--fault=drop=3", "--fault=drop=2");
    peer_clients(&process, client, 2);
    group = peer_group(client, 2);
    peer_arrive(client[0], &group, 0, 1);
    assert_int_equal(arrived(client[0], group.group), 1);
    for (unsigned i = 0; i < 2; i++) {
        peer_arrive(client[1], &group, 1, 1);
        assert_int_equal(arrived(client[1], group.group), 1);
    }
    peer_arrive(client[1], &group, 1, 1);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(peer_expect(client[i], GBA_SWITCH_RELEASE).value, 1);
        close(client[i]);
    }
}

/* The connection of the second client is closed at its time, and only once. */
PEER_TEST(test_cut, peer_begin, peer_end_alive)
{
    struct gba_switch_message message;
    int client[2];
    uint32_t port;

    start("--fault=cut=1@50ms", NULL);
    peer_clients(&process, client, 2);
    assert_false(peer_receive(client[1], &message));
    close(client[1]);
    client[1] = peer_client(&process, &port);
    assert_int_equal(port, 1);
    usleep(200000);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(peer_read(client[i], GBA_PORT_REG(GBA_PORT_NUMBER), 4), i);
        close(client[i]);
    }
}

/* A port that is held answers later, the other port at once. No message is lost. */
PEER_TEST(test_hold, peer_begin, peer_end_alive)
{
    enum { HOLD_NS = 700000000 };
    uint64_t begin = gba_clock_ns();
    struct gba_switch_message group;
    int client[2];

    start("--fault=hold=0@0s+700ms", NULL);
    peer_clients(&process, client, 2);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(peer_read(client[1], GBA_PORT_REG(GBA_PORT_NUMBER), 4), 1);
    group = peer_group(client, 2); /* waits until the first client has its answers */
    assert_true(gba_clock_ns() - begin >= HOLD_NS);
    for (uint32_t i = 0; i < 2; i++)
        peer_arrive(client[i], &group, i, 1);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(peer_expect(client[i], GBA_SWITCH_RELEASE).value, 1);
        close(client[i]);
    }
}

/* A client that is held can be cut, and the daemon can stop. */
PEER_TEST(test_hold_and_cut, peer_begin, peer_end_alive)
{
    struct gba_switch_message message;
    int client[2];

    start("--fault=hold=0@0s+1000s", "--fault=cut=1@0s");
    peer_clients(&process, client, 2);
    assert_false(peer_receive(client[1], &message));
    assert_int_equal(peer_stop(&process, SIGTERM), 0);
    peer_expect_refusal(client[0], GBA_SWITCH_REFUSED_SHUTDOWN);
    peer_close(client, 2);
}

/* The daemon dies, and is started again on the same socket. */
PEER_TEST(test_die, peer_begin, peer_end_alive)
{
    uint32_t port;

    start("--fault=die=50ms", NULL);
    assert_int_equal(peer_stop(&process, 0), -1); /* 0 sends no signal; another one ends it */
    start(NULL, NULL);
    close(peer_client(&process, &port));
}

TEST(test_parse)
{
    char refused[] = "|drop|drop=|drop=0|drop=-1|drop=1s|cut=1|cut=1@|cut=1@5|cut=708@1s|"
                     "cut=@1s|cut=1@1s+|cut=1@1s+1s|hold=1@1s|hold=1@1s+|hold=1@1|hold=+1s|"
                     "hold=1@1s+1s |die|die=1|die=-1s|die= 1s|die=0x1s|die=infs|die=86401s|"
                     "die=1sec|fall=1s|die=1s,die=2s|hold=1@1s+1s+1s";
    struct gba_switchd_fault fault;

    assert_true(gba_switchd_fault_parse("drop=18446744073709551614", &fault));
    assert_int_equal(fault.kind, GBA_SWITCHD_DROP);
    assert_true(fault.number == UINT64_MAX - 1);
    assert_true(gba_switchd_fault_parse("cut=707@1.5us", &fault));
    assert_int_equal(fault.kind, GBA_SWITCHD_CUT);
    assert_int_equal(fault.number, 707);
    assert_int_equal(fault.time, 1500);
    assert_true(gba_switchd_fault_parse("hold=3@2s+20ns", &fault));
    assert_int_equal(fault.kind, GBA_SWITCHD_HOLD);
    assert_int_equal(fault.number, 3);
    assert_int_equal(fault.time, 2000000000);
    assert_int_equal(fault.duration, 20);
    assert_true(gba_switchd_fault_parse("die=86400s", &fault));
    assert_int_equal(fault.kind, GBA_SWITCHD_DIE);
    assert_true(fault.time == 86400000000000u);
    for (char *rest = refused, *text; (text = strsep(&rest, "|")) != NULL;)
        if (gba_switchd_fault_parse(text, &fault))
            fail_msg("\"%s\" was accepted", text);
}

TEST_MAIN()
