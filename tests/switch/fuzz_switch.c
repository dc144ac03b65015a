/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: the sessions of gba-switchd with any bytes from several clients, on socket
 * pairs. It checks that each message to a client is one of the protocol, that a release store goes
 * only to the session that gave its address, that the device has made that store, and that all
 * resources are free when all clients have ended. Sanitizers check the memory.
 *
 * Input: one byte for each step, (session, action), and the bytes that the action takes. A message
 * in short form has small numbers and the newest handle, because arbitrary bytes rarely arm a
 * group.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/switch/net/outbox.h"
#include "sim/switch/net/session.h"

#define CLIENTS 4
#define GROUPS  3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *input;
static size_t left;
static struct gba_switchd daemon_state;
static int client[CLIENTS]; /* the ends of the clients; -1: not connected */
static uint64_t keys, now;
static uint32_t generation[GROUPS];
static uint64_t sent; /* bytes to the daemon, in all inputs */

static void __attribute__((destructor)) report(void)
{
    fprintf(stderr, "stat::messages: %llu\n",
            (unsigned long long)(sent / GBA_SWITCH_MESSAGE_BYTES));
}

static uint8_t take(void)
{
    if (left == 0)
        return 0;
    left--;
    return *input++;
}

static void check(bool good, const char *rule)
{
    if (good)
        return;
    fprintf(stderr, "broken: %s\n", rule);
    abort();
}

static uint64_t core_now(void *context)
{
    (void)context;
    return now += 1000;
}

static void core_wake(void *context, uint64_t due)
{
    (void)context;
    (void)due;
}

/* The key of an allocation is its number, so that an input can contain it. */
static uint64_t core_random(void *context)
{
    (void)context;
    return ++keys;
}

static void start(void)
{
    static struct gba_switchd_options options = {.client_timeout = 3600, .ports = CLIENTS - 1};
    const struct gba_switch_config config = {.groups = GROUPS,
                                             .ports = CLIENTS - 1,
                                             .quota = 2,
                                             .user_quota = 3,
                                             .latency = {.down = take() % 2 * 500u},
                                             .now = core_now,
                                             .wake = core_wake,
                                             .random = core_random};

    gba_switchd_log_level(GBA_SWITCHD_ERROR);
    signal(SIGPIPE, SIG_IGN); /* as gba-switchd does */
    memset(&daemon_state, 0, sizeof(daemon_state));
    memset(generation, 0, sizeof(generation));
    keys = now = 0;
    daemon_state.options = &options;
    daemon_state.base = event_base_new();
    daemon_state.device = gba_switch_create(&config);
    LIST_INIT(&daemon_state.sessions);
    TAILQ_INIT(&daemon_state.dirty);
    for (unsigned i = 0; i < CLIENTS; i++)
        client[i] = -1;
}

static void leave(unsigned i)
{
    if (client[i] >= 0)
        close(client[i]);
    client[i] = -1;
}

static void connect_client(unsigned i, bool tcp, bool allowed)
{
    const struct gba_switch_identity identity = {.kind = "fuzz", .user = i / 2, .local = !tcp};
    int ends[2];

    leave(i);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    client[i] = ends[0];
    gba_session_open(&daemon_state, ends[1], &identity, tcp, allowed);
}

static void send_bytes(unsigned i, const void *bytes, size_t count)
{
    if (client[i] < 0)
        return;
    sent += count;
    if (send(client[i], bytes, count, MSG_NOSIGNAL) < 0)
        leave(i);
}

static void send_message(unsigned i, const struct gba_switch_message *message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    gba_switch_encode(message, bytes);
    send_bytes(i, bytes, sizeof(bytes));
}

static void send_hello(unsigned i)
{
    struct gba_switch_message hello = {.type =
                                           take() % 16 == 0 ? GBA_SWITCH_STATUS : GBA_SWITCH_HELLO,
                                       .code = GBA_SWITCH_PROTOCOL,
                                       .group = GBA_SWITCH_MAGIC};
    struct gba_switch_message secret;
    uint8_t how = take();

    hello.value = how / 4 % 4; /* the job */
    send_message(i, &hello);
    if (how % 2 != 0) {
        gba_switch_secret_set(&secret, daemon_state.secret);
        secret.key += how / 2 % 2; /* a wrong one */
        send_message(i, &secret);
    }
}

/* A message in short form: small numbers, and the newest generation and key. */
static void send_short(unsigned i)
{
    struct gba_switch_message message = {.type = take() % (GBA_SWITCH_OWNED + 1),
                                         .group = take() % (GROUPS + 1)};
    uint8_t how = take();

    message.member = take() % 4;
    message.value = take() % 8;
    if (message.type == GBA_SWITCH_NAME || message.type == GBA_SWITCH_OWNER)
        message.code = how % 3;
    if (message.type == GBA_SWITCH_COMMAND) {
        message.code = how % 10;
        message.generation = generation[message.group % GROUPS];
        message.key = keys;
        if (how % 32 == 0)
            message.group = GBA_GROUP_ANY;
    }
    if (message.type == GBA_SWITCH_READ || message.type == GBA_SWITCH_WRITE) {
        message.code = how % 2 == 0 ? 8 : 4;
        message.key = how % 4 < 2 ? GBA_TABLE_ENTRY(message.group, message.member)
                                  : GBA_PORT_REG(how & 0xFCu);
        /* Each client has its own addresses, so that a release shows its client. */
        message.value = message.type == GBA_SWITCH_READ ? 0
                        : message.value == 0            ? 0
                                                        : 0x100u * (i + 1) + 8 * message.value;
        message.group = message.member = 0;
    }
    send_message(i, &message);
}

static void run(void)
{
    gba_switch_run(daemon_state.device);
    gba_session_flush(&daemon_state);
    for (int i = 0; i < 4; i++)
        event_base_loop(daemon_state.base, EVLOOP_NONBLOCK);
}

static void send_command(unsigned i, uint8_t command, struct gba_switch_message message)
{
    message.type = GBA_SWITCH_COMMAND;
    message.code = command;
    send_message(i, &message);
}

/* Arm a group whose members are client i and the next one, if they are connected and nothing else
 * happens meanwhile. */
static void arm(unsigned i)
{
    const struct gba_model *model = gba_switch_model(daemon_state.device);
    uint32_t group = take() % GROUPS;
    struct gba_switch_message message = {.group = group, .value = 2};

    send_command(i, GBA_CMD_ALLOC, message);
    run();
    message.generation = model->group[group].record.generation;
    message.key = model->group[group].record.key;
    message.value = 0;
    for (uint32_t member = 0; member < 2; member++) {
        unsigned other = (i + member) % CLIENTS;
        const struct gba_switch_message address = {.type = GBA_SWITCH_WRITE,
                                                   .code = 8,
                                                   .key = GBA_TABLE_ENTRY(group, member),
                                                   .value = 0x100u * (other + 1)};

        message.member = member;
        send_command(other, GBA_CMD_JOIN, message);
        send_message(other, &address);
        run();
    }
    send_command(i, GBA_CMD_ARM, message);
}

/* The arrival that completes the next round, if another member has arrived. */
static void arrive(unsigned i)
{
    const struct gba_model *model = gba_switch_model(daemon_state.device);
    uint8_t byte = take();
    uint32_t group = byte % GROUPS;
    const struct gba_switch_message message = {
        .type = GBA_SWITCH_ARRIVE,
        .group = group,
        .value = GBA_ARRIVAL(1u + model->group[group].core.sequence,
                             model->group[group].record.generation, byte / 4u % 2)};

    send_message(i, &message);
}

static void send_raw(unsigned i, size_t count)
{
    uint8_t bytes[64];

    for (size_t k = 0; k < count; k++)
        bytes[k] = take();
    send_bytes(i, bytes, count);
}

/* --- Output to clients --- */

static void check_message(unsigned i, const uint8_t *bytes)
{
    const struct gba_model *model = gba_switch_model(daemon_state.device);
    struct gba_switch_message message;

    check(gba_switch_decode(bytes, GBA_SWITCH_SERVER, &message), "a message of the protocol");
    if (message.type == GBA_SWITCH_RESULT && message.code == GBA_RESULT_OK &&
        message.group < GROUPS)
        generation[message.group] = model->group[message.group].record.generation;
    if (message.type != GBA_SWITCH_RELEASE)
        return;
    check(message.group < GROUPS && message.member < GBA_MEMBERS_MAX, "a release of a group");
    check(message.key >> 8 == i + 1, "a release to its own session");
    check(model->group[message.group].core.counters[GBA_COUNTER_RELEASES] != 0,
          "a release that the device has made");
}

/* Take what the daemon has sent. A status is text, not messages. */
static void receive(unsigned i)
{
    static uint8_t bytes[1 << 16];
    ssize_t count;

    if (client[i] < 0)
        return;
    count = recv(client[i], bytes, sizeof(bytes), 0);
    for (ssize_t at = 0;
         at + (ssize_t)GBA_SWITCH_MESSAGE_BYTES <= count && bytes[at] != GBA_SWITCH_TEXT;
         at += GBA_SWITCH_MESSAGE_BYTES)
        check_message(i, bytes + at);
}

static void step(void)
{
    uint8_t byte = take();
    unsigned i = byte % CLIENTS;

    switch (byte / CLIENTS % 8) {
    case 0:
        connect_client(i, take() % 4 == 0, take() % 16 != 0);
        send_hello(i);
        break;
    case 1:
        leave(i);
        break;
    case 2:
        send_raw(i, GBA_SWITCH_MESSAGE_BYTES);
        break;
    case 3:
        send_raw(i, take() % 64);
        break;
    case 4:
        receive(i);
        break;
    case 5:
        arm(i);
        break;
    case 6:
        arrive(i);
        break;
    default:
        send_short(i);
    }
    if (byte < 128) /* else several messages come at once */
        run();
}

static void finish(void)
{
    const struct gba_model *model = gba_switch_model(daemon_state.device);

    for (unsigned i = 0; i < CLIENTS; i++)
        leave(i);
    run();
    check(LIST_EMPTY(&daemon_state.sessions) && daemon_state.connections == 0,
          "no session without a client");
    for (uint32_t port = 0; port < model->ports; port++)
        check(model->port[port].up == 0, "no port without a client");
    for (uint32_t group = 0; group < GROUPS; group++)
        check(model->group[group].record.life == GBA_LIFE_FREE, "no group without a client");
    gba_switch_destroy(daemon_state.device);
    event_base_free(daemon_state.base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = data;
    left = size;
    start();
    while (left > 0)
        step();
    finish();
    return 0;
}
