/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba-switchd asks clients of another host for the state of a process there. The clients are made
 * of messages: they state any host, and answer as the test wants.
 */
#include "tests/switch/peer.h"

#include <inttypes.h>
#include <unistd.h>

#include "gba/base/process.h"

#define HERE  UINT64_C(0x1234)
#define THERE UINT64_C(0x4321)
#define START UINT64_C(4711)

/* Some clients of one group by TCP: all have arrived but the last one. */
#define CLIENTS 3u
#define LAST    (CLIENTS - 1)

static struct daemon_process process;
static int client[CLIENTS];
static uint32_t port[CLIENTS];
static struct gba_switch_message group;

static void state_process(int fd, uint64_t host)
{
    const struct gba_switch_message message = {
        .type = GBA_SWITCH_PROCESS, .value = host, .key = START};

    peer_send(fd, &message);
    peer_settle(fd);
}

/* host: of each client; 0: not stated. */
static void start(const uint64_t host[CLIENTS])
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        client[i] = peer_tcp_client(&process, PEER_KEY, &port[i]);
        if (host[i] != 0)
            state_process(client[i], host[i]);
    }
    group = peer_group(client, CLIENTS);
    for (uint32_t i = 0; i < LAST; i++) {
        peer_arrive(client[i], &group, i, 1);
        peer_settle(client[i]);
    }
}

/* The barrier completes, whatever the clients have answered. */
static void finish(void)
{
    peer_arrive(client[LAST], &group, LAST, 1);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct gba_switch_message release = peer_expect(client[i], GBA_SWITCH_RELEASE);

        assert_int_equal(release.value, 1);
        close(client[i]);
    }
}

static const struct gba_switch_message status = {.type = GBA_SWITCH_STATUS,
                                                 .code = GBA_SWITCH_PROTOCOL,
                                                 .tag = GBA_SWITCH_STATUS_TEXT,
                                                 .group = GBA_SWITCH_MAGIC};

static int ask(uint16_t form)
{
    int fd = peer_unix(&process);

    peer_ask(fd, form);
    return fd;
}

static char *report(int fd, uint32_t *absent)
{
    char *text = peer_answer(fd, absent);

    close(fd);
    return text;
}

static struct gba_switch_message expect_probe(uint32_t number)
{
    struct gba_switch_message probe = peer_expect(client[number], GBA_SWITCH_PROBE);

    assert_int_equal(probe.tag, port[LAST]);
    assert_int_equal(probe.member, getpid());
    assert_int_equal(probe.key, START);
    return probe;
}

static void answer(uint32_t number, const struct gba_switch_message *probe, unsigned state)
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_PROBED,
                                               .code = (uint8_t)state,
                                               .tag = probe->tag,
                                               .value = probe->value};

    peer_send(client[number], &message);
}

/* Whether the report has that line about the last member, and that many faults. */
static bool reports(int fd, const char *absence, uint32_t faults)
{
    char line[64];
    uint32_t absent;
    char *text = report(fd, &absent);
    bool right;

    snprintf(line, sizeof(line), "\n  member %u: %s; port %" PRIu32 ",", LAST, absence, port[LAST]);
    right = strstr(text, line) != NULL && absent == faults;
    if (!right)
        print_message("no \"%s\" with %" PRIu32 " faults in: %s", line + 1, faults, text);
    free(text);
    return right;
}

/* Ask, and let the first client answer. The daemon does not wait for a slow test, so try again. */
static void expect_answer(unsigned code, const char *absence, uint32_t faults)
{
    struct gba_switch_message probe;
    unsigned tries = 0;
    int fd;

    do {
        assert_true(tries++ < 20);
        fd = ask(GBA_SWITCH_STATUS_TEXT);
        probe = expect_probe(0);
        (void)expect_probe(1);
        answer(0, &probe, code);
    } while (!reports(fd, absence, faults));
}

static const uint64_t one_host[CLIENTS] = {HERE, HERE, HERE};

/* Each state that a client can answer. */
TEST(test_answers)
{
    start(one_host);
    expect_answer(GBA_PROCESS_STOPPED, "process stopped", 1);
    expect_answer(GBA_PROCESS_GONE, "process gone", 1);
    expect_answer(GBA_PROCESS_RUNNING, "late", 0);
    finish();
}

/* Nobody answers, or none of the clients can tell: the report comes, and the member is late. */
TEST(test_no_answer)
{
    struct gba_switch_message probe;
    int fd;

    start(one_host);
    fd = ask(GBA_SWITCH_STATUS_TEXT);
    assert_true(reports(fd, "late", 0));
    probe = expect_probe(0);
    answer(0, &probe, GBA_PROCESS_STOPPED); /* too late: of no report */
    peer_settle(client[0]);
    (void)expect_probe(1);
    fd = ask(GBA_SWITCH_STATUS_TEXT);
    for (uint32_t i = 0; i < LAST; i++) {
        probe = expect_probe(i);
        answer(i, &probe, i == 0 ? GBA_PROCESS_UNKNOWN : 99);
    }
    assert_true(reports(fd, "late", 0));
    finish();
}

/* Clients of other hosts, and clients that state no host, are not asked, and their answers are of
 * no effect. */
TEST(test_other_hosts)
{
    static const uint64_t hosts[][CLIENTS] = {{THERE, 0, HERE}, {HERE, HERE, 0}, {0, 0, 0}};

    for (unsigned i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        start(hosts[i]);
        assert_true(reports(ask(GBA_SWITCH_STATUS_TEXT), "late", 0));
        for (uint32_t number = 0; number < LAST; number++)
            peer_settle(client[number]); /* expects no PROBE */
        finish();
    }
}

/* A client that was not asked guesses the number of the probe. */
TEST(test_stranger)
{
    static const uint64_t hosts[CLIENTS] = {HERE, THERE, HERE};
    struct gba_switch_message probe;
    int fd;

    start(hosts);
    fd = ask(GBA_SWITCH_STATUS_TEXT);
    probe = expect_probe(0);
    answer(1, &probe, GBA_PROCESS_STOPPED);
    peer_settle(client[1]);
    answer(0, &probe, GBA_PROCESS_RUNNING);
    assert_true(reports(fd, "late", 0));
    finish();
}

/* A process that is gone, as a client says, loses nothing: --free-dead asks no client. */
TEST(test_free_dead)
{
    uint32_t absent;
    char *text;

    start(one_host);
    expect_answer(GBA_PROCESS_GONE, "process gone", 1);
    text = report(ask(GBA_SWITCH_STATUS_FREE_DEAD), &absent);
    assert_string_equal(text, "no port of a dead process\n");
    free(text);
    finish();
}

/* The process ends while its state is awaited, or the one that wants the report does. */
TEST(test_ends)
{
    struct gba_switch_message probe;
    uint32_t absent;
    int fd;

    start(one_host);
    fd = ask(GBA_SWITCH_STATUS_TEXT);
    probe = expect_probe(0);
    close(fd);
    answer(0, &probe, GBA_PROCESS_STOPPED);
    peer_settle(client[0]);
    (void)expect_probe(1);

    fd = ask(GBA_SWITCH_STATUS_TEXT);
    probe = expect_probe(0);
    (void)expect_probe(1);
    close(client[LAST]);
    assert_int_equal(peer_expect(client[0], GBA_SWITCH_EVENT).value, GBA_IRQ_PORT_DOWN);
    answer(0, &probe, GBA_PROCESS_STOPPED);
    peer_settle(client[0]);
    free(report(fd, &absent));
    for (uint32_t i = 0; i < LAST; i++)
        close(client[i]);
}

/* PROCESS comes once, and names a host. A client that wants a report sends nothing else. */
TEST(test_refused)
{
    const struct gba_switch_message nothing = {.type = GBA_SWITCH_PROCESS},
                                    again = {.type = GBA_SWITCH_PROCESS, .value = HERE};
    uint8_t bytes[2 * GBA_SWITCH_MESSAGE_BYTES];
    uint32_t number;
    int fd = peer_tcp_client(&process, PEER_KEY, &number);

    peer_send(fd, &nothing);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_MESSAGE);
    close(fd);
    fd = peer_tcp_client(&process, PEER_KEY, &number);
    state_process(fd, HERE);
    peer_send(fd, &again);
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_MESSAGE);
    close(fd);
    start(one_host);
    gba_switch_encode(&status, bytes);
    gba_switch_encode(&again, bytes + GBA_SWITCH_MESSAGE_BYTES);
    fd = peer_unix(&process);
    assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes)); /* the daemon reads both */
    peer_expect_refusal(fd, GBA_SWITCH_REFUSED_MESSAGE);
    close(fd);
    for (uint32_t i = 0; i < LAST; i++)
        (void)expect_probe(i);
    finish();
}

static int setup(void **state)
{
    (void)state;
    peer_directory(&process);
    peer_start_tcp(&process, "--log-level=error", NULL, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    peer_clean(&process);
    return 0;
}

int main(void)
{
    return SUITE_RUN(setup, teardown);
}
