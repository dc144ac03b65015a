/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connected client of gba-switchd, against a scripted switch: answers that are wrong or
 * missing, descriptors that the program closes, and a child of fork.
 * test_switch_connect.c has the connection, test_switch_wait.c the client that waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "sim/switch/client/client.h"
#include "tests/suite.h"
#include "tests/unit/switch/switch_members.h"

/* --- Barriers --- */

/* Answer all requests, and release each member that arrives, after stores that reach no member. */
static void serve_alone(int file)
{
    struct gba_switch_message message;

    script_greet(file);
    while (script_get(file, &message)) {
        /* Of an earlier team, with another address; of no member; of no group. */
        static const uint32_t strays[][2] = {{SCRIPT_GROUP, 0},
                                             {SCRIPT_GROUP, GBA_MEMBERS_MAX - 1},
                                             {SCRIPT_GROUP, UINT32_MAX},
                                             {SCRIPT_GROUP + 1, UINT32_MAX},
                                             {UINT32_MAX, UINT32_MAX}};

        const uint32_t member = GBA_ARRIVAL_MEMBER(message.value);
        const uint32_t sequence = GBA_ARRIVAL_SEQ(message.value);

        if (script_answer(file, message))
            continue;
        for (int i = 0; i < 5; i++)
            script_put(file, (struct gba_switch_message){.type = GBA_SWITCH_RELEASE,
                                                         .group = strays[i][0],
                                                         .member = 0 == i ? member : strays[i][1],
                                                         .value = sequence + 1,
                                                         .key = 8000});
        script_put(file, (struct gba_switch_message){.type = GBA_SWITCH_EVENT,
                                                     .group = SCRIPT_GROUP,
                                                     .value = GBA_IRQ_PORT_DOWN});
        script_release(file, member, sequence);
    }
}

TEST(rounds)
{
    script_start(serve_alone);
    members_make(3);
    for (uint32_t round = 1; round <= 100; round++)
        for (uint32_t i = 0; i < 3; i++) {
            gba_send_arrival(state_of[i]);
            assert_int_equal(await(i), GBA_OK);
            assert_int_equal(flag_of(i), round);
        }
    members_end(3);
}

/* --- A hostile switch --- */

static struct gba_switch_message hostile;

static void serve_hostile(int file)
{
    struct gba_switch_message message;

    script_greet(file);
    while (script_get(file, &message) && GBA_SWITCH_ARRIVE != message.type)
        script_answer(file, message);
    script_put(file, hostile);
    /* For each hostile message the client closes this connection. */
    while (script_get(file, &message))
        ;
}

TEST(hostile_messages)
{
    const struct gba_switch_message messages[] = {
        {.type = 0},
        {.type = 200},
        {.type = GBA_SWITCH_ARRIVE},
        {.type = GBA_SWITCH_EVENT, .key = 1},
        {.type = GBA_SWITCH_RELEASE, .value = 1ull << 32},
        {.type = GBA_SWITCH_VALUE},
        {.type = GBA_SWITCH_RESULT, .code = 200},
        {.type = GBA_SWITCH_ERROR, .code = GBA_SWITCH_REFUSED_SHUTDOWN},
        script_welcome(),
    };

    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        gba_group_state_t registers;

        hostile = messages[i];
        script_start(serve_hostile);
        members_make(1);
        gba_send_arrival(state_of[0]);
        assert_int_equal(await(0), GBA_ERR_DEAD);
        assert_int_equal(gba_group_inspect(group[0], &registers), GBA_ERR_DEAD);
        gba_resend_arrival(state_of[0]);
        assert_int_equal(gba_poll_release(state_of[0]), GBA_INPROGRESS);
        assert_int_equal(flag_of(0), 0);
        members_end(1);
    }
}

/* --- A program that closes all descriptors --- */

static void serve_without_releases(int file)
{
    struct gba_switch_message message;

    script_greet(file);
    while (script_get(file, &message))
        script_answer(file, message);
}

static struct gba_client *client(void)
{
    return ((struct gba_client_membership *)group[0]->membership)->client;
}

static int client_file(void)
{
    return client()->file.socket.number;
}

/* Another file of the program has the number of the connection: before a round, or when the member
 * has arrived, and only polls. The file gets no message, and stays open. */
TEST(a_reused_descriptor)
{
    for (int arrived = 0; arrived < 2; arrived++) {
        gba_group_state_t registers;
        int pair[2], number;
        char byte;

        script_start(arrived ? serve_without_releases : serve_alone);
        members_make(1);
        if (arrived)
            gba_send_arrival(state_of[0]);
        number = client_file();
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        assert_int_equal(dup2(pair[0], number), number);
        close(pair[0]);
        assert_int_equal(write(pair[1], "x", 1), 1);
        if (!arrived)
            gba_send_arrival(state_of[0]);
        assert_int_equal(gba_poll_release(state_of[0]), GBA_INPROGRESS);
        assert_int_equal(gba_client_failure(group[0]->membership), GBA_ERR_DEAD);
        assert_int_equal(gba_group_inspect(group[0], &registers), GBA_ERR_DEAD);
        assert_int_equal(recv(pair[1], &byte, 1, MSG_DONTWAIT), -1); /* neither data nor an end */
        assert_int_equal(errno, EAGAIN);
        members_end(1);
        assert_int_equal(recv(number, &byte, 1, MSG_DONTWAIT), 1);
        close(number);
        close(pair[1]);
    }
}

/* A function for log lines may wait for a thread that needs the lock. */
static void lock_is_free(void *lines, gba_log_level_t level, const char *line)
{
    (void)level, (void)line;
    assert_int_equal(pthread_mutex_trylock(&client()->lock), 0);
    pthread_mutex_unlock(&client()->lock);
    ++*(int *)lines;
}

/* The program has closed it, and opened no other file. */
TEST(a_closed_descriptor)
{
    int lines = 0;

    script_start(serve_alone);
    members_make(1);
    close(client_file());
    gba_log_set(lock_is_free, &lines, GBA_LOG_INFO);
    gba_send_arrival(state_of[0]);
    assert_int_equal(await(0), GBA_ERR_DEAD);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    assert_int_equal(lines, 1);
    members_end(1);
}

/* --- A child of a process with a group --- */

TEST(child_of_fork)
{
    gba_group_state_t registers;
    gba_group_handle_t handle;
    int status, connection;
    pid_t child;

    script_start(serve_alone);
    members_make(1);
    connection = client_file();
    child = fork();
    if (0 == child) {
        gba_send_arrival(state_of[0]); /* must not reach the switch */
        status = GBA_INPROGRESS != gba_poll_release(state_of[0]);
        status += GBA_ERR_DEAD != gba_group_inspect(group[0], &registers);
        status += GBA_ERR_DEAD != gba_allocate_group(device, 1, &handle);
        /* The port goes down with the parent, even if this process lives. */
        status += -1 != fcntl(connection, F_GETFD);
        gba_local_state_fini(state_of[0]);
        gba_free_group(group[0]);
        gba_device_fini(device);
        _exit(status);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(gba_group_inspect(group[0], &registers), GBA_OK);
    assert_int_equal(flag_of(0), 0);
    gba_send_arrival(state_of[0]);
    assert_int_equal(await(0), GBA_OK);
    members_end(1);
}

int main(void)
{
    return SUITE_RUN(setup, script_teardown);
}
