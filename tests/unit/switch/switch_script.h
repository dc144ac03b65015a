/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch that a test scripts: it serves one connection of the client in a thread. */
#ifndef GBA_TESTS_SWITCH_SCRIPT_H
#define GBA_TESTS_SWITCH_SCRIPT_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gba/gba.h"
#include "gba/spec/gba_regs.h"
#include "sim/switch/core/protocol.h"

#define SCRIPT_GROUP      3u
#define SCRIPT_GENERATION 9u
#define SCRIPT_KEY        77u

static char script_dir[] = "/tmp/gba-test-switch-XXXXXX";
static char script_file[64], script_path[80];
static int script_listener;
static pthread_t script_thread;
static void (*script_serve)(int file);

/* What the scripted device has stored. */
static uint64_t script_table[GBA_MEMBERS_MAX];
static uint32_t script_members;

static inline bool script_get(int file, struct gba_switch_message *message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    if (sizeof bytes != recv(file, bytes, sizeof bytes, MSG_WAITALL))
        return false;
    if (!gba_switch_decode(bytes, GBA_SWITCH_CLIENT, message))
        abort();
    return true;
}

static inline void script_put(int file, struct gba_switch_message message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    gba_switch_encode(&message, bytes);
    if (sizeof bytes != send(file, bytes, sizeof bytes, MSG_NOSIGNAL))
        message.type = 0; /* the client has gone */
}

static inline struct gba_switch_message script_welcome(void)
{
    return (struct gba_switch_message){.type = GBA_SWITCH_WELCOME,
                                       .code = GBA_SWITCH_PROTOCOL,
                                       .group = GBA_GROUPS,
                                       .generation = GBA_REGS_MAJOR << 16 | GBA_REGS_MINOR,
                                       .member = GBA_PORTS_MAX,
                                       .value = 0x1122334455667788u,
                                       .key = 5};
}

/* Take the greeting of a client over a Unix socket, and welcome it. */
static inline void script_greet(int file)
{
    struct gba_switch_message hello, name;

    if (!script_get(file, &hello) || !script_get(file, &name) || GBA_SWITCH_HELLO != hello.type ||
        GBA_SWITCH_PROTOCOL != hello.code || GBA_SWITCH_MAGIC != hello.group ||
        GBA_SWITCH_NAME != name.type)
        abort();
    script_put(file, script_welcome());
}

static inline void script_release(int file, uint32_t member, uint32_t sequence)
{
    script_put(file, (struct gba_switch_message){.type = GBA_SWITCH_RELEASE,
                                                 .group = SCRIPT_GROUP,
                                                 .member = member,
                                                 .value = sequence,
                                                 .key = script_table[member]});
}

/* The value of a register of a device with one armed group, in which no member has arrived. */
static inline uint64_t script_value(uint32_t address)
{
    const uint32_t table = GBA_TABLE_ENTRY(SCRIPT_GROUP, 0);

    if (address >= table && address < table + GBA_MEMBERS_MAX * GBA_TABLE_ENTRY_SIZE)
        return script_table[(address - table) / GBA_TABLE_ENTRY_SIZE];
    if (GBA_GROUP_REG(SCRIPT_GROUP, GBA_REG_GENERATION) == address)
        return SCRIPT_GENERATION;
    if (GBA_GROUP_REG(SCRIPT_GROUP, GBA_REG_MEMBER_COUNT) == address)
        return script_members;
    return 0;
}

/* Answer a request. Returns false for a message that has no answer. */
static inline bool script_answer(int file, struct gba_switch_message message)
{
    switch (message.type) {
    case GBA_SWITCH_READ:
        message.type = GBA_SWITCH_VALUE;
        message.value = script_value((uint32_t)message.key);
        break;
    case GBA_SWITCH_WRITE:
        script_table[(message.key - GBA_TABLE_ENTRY(SCRIPT_GROUP, 0)) / GBA_TABLE_ENTRY_SIZE] =
            message.value;
        return true;
    case GBA_SWITCH_COMMAND:
        if (GBA_CMD_ALLOC == message.code) {
            script_members = message.value;
            message.group = SCRIPT_GROUP;
            message.generation = SCRIPT_GENERATION;
            message.key = SCRIPT_KEY;
        }
        message.type = GBA_SWITCH_RESULT;
        message.code = GBA_RESULT_OK;
        break;
    case GBA_SWITCH_OWNER: /* no link is lost */
        message = (struct gba_switch_message){.type = GBA_SWITCH_OWNED, .tag = message.tag};
        break;
    default:
        return false;
    }
    script_put(file, message);
    return true;
}

static inline void *script_main(void *arg)
{
    int file = accept(script_listener, NULL, NULL);

    (void)arg;
    if (file < 0)
        abort();
    script_serve(file);
    close(file);
    return NULL;
}

/* Serve the next connection with that function. */
static inline void script_start(void (*serve)(int file))
{
    script_serve = serve;
    if (0 != pthread_create(&script_thread, NULL, script_main, NULL))
        abort();
}

/* Wait until the connection was served. */
static inline void script_join(void)
{
    if (0 != pthread_join(script_thread, NULL))
        abort();
}

static inline int script_setup(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)state;
    if (mkdtemp(script_dir) == NULL)
        return -1;
    snprintf(script_file, sizeof script_file, "%s/socket", script_dir);
    snprintf(script_path, sizeof script_path, "switch:%s", script_file);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", script_file);
    script_listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (0 != bind(script_listener, (const struct sockaddr *)&address, sizeof address))
        return -1;
    return listen(script_listener, 1);
}

static inline int script_teardown(void **state)
{
    (void)state;
    close(script_listener);
    unlink(script_file);
    return rmdir(script_dir);
}

#endif
