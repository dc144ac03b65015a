/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client of gba-switchd, against a scripted switch: refused greetings, key files, answers that
 * are wrong or missing, a group that is taken back, descriptors that the program closes, addresses
 * that do not answer, and a child of fork. test_switch_wait.c has the client that waits.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "sim/switch/client.h"
#include "tests/unit/switch_members.h"

/* --- Greetings --- */

static gba_status_t open_status(void (*serve)(int file))
{
    gba_status_t status;

    log_forget();
    script_start(serve);
    status = gba_device_init(script_path, NULL, &device);
    if (GBA_OK == status)
        gba_device_fini(device);
    script_join();
    return status;
}

static struct gba_switch_message greeting;

static void serve_greeting(int file)
{
    struct gba_switch_message message;

    script_get(file, &message);
    script_get(file, &message);
    script_put(file, greeting);
}

static void serve_nothing(int file)
{
    struct gba_switch_message message;

    script_get(file, &message);
    script_get(file, &message);
}

static gba_status_t refusal(unsigned code)
{
    greeting = (struct gba_switch_message){.type = GBA_SWITCH_ERROR, .code = (uint8_t)code};
    return open_status(serve_greeting);
}

static void greetings(void **state)
{
    (void)state;
    assert_int_equal(open_status(serve_nothing), GBA_ERR_IO);
    assert_logged("cannot reach gba-switchd at switch:/");
    assert_int_equal(refusal(GBA_SWITCH_REFUSED_USER), GBA_ERR_PERM);
    assert_logged("refused the connection: the user");
    assert_int_equal(refusal(GBA_SWITCH_REFUSED_VERSION), GBA_ERR_VERSION);
    assert_int_equal(refusal(GBA_SWITCH_REFUSED_PORTS), GBA_ERR_BUSY);
    assert_logged("all ports are in use");
    assert_int_equal(refusal(GBA_SWITCH_REFUSED_SHUTDOWN), GBA_ERR_IO);
    greeting = (struct gba_switch_message){.type = 99};
    assert_int_equal(open_status(serve_greeting), GBA_ERR_NOT_GBA);
    greeting = (struct gba_switch_message){.type = GBA_SWITCH_EVENT};
    assert_int_equal(open_status(serve_greeting), GBA_ERR_NOT_GBA);
    greeting = script_welcome();
    greeting.group = GBA_GROUPS + 1;
    assert_int_equal(open_status(serve_greeting), GBA_ERR_NOT_GBA);
    greeting = script_welcome();
    greeting.generation += 1u << 16;
    assert_int_equal(open_status(serve_greeting), GBA_ERR_VERSION);
    greeting = script_welcome();
    greeting.code++;
    assert_int_equal(open_status(serve_greeting), GBA_ERR_VERSION);
}

static void no_switch(void **state)
{
    char text[160];

    (void)state;
    log_forget();
    assert_int_equal(gba_device_init("switch:/nonexistent/socket", NULL, &device), GBA_ERR_IO);
    assert_logged("cannot reach gba-switchd at switch:/nonexistent/socket: No such file");
    gba_device_advice("switch:/nonexistent/socket", GBA_ERR_IO, text, sizeof text);
    assert_non_null(strstr(text, "Start gba-switchd"));
}

/* --- The key file --- */

/* Write a key file. file: set to its name. */
static void key_write(const char *text, mode_t mode, char *file, size_t len)
{
    int key;

    snprintf(file, len, "%s/key", script_dir);
    key = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(key >= 0);
    assert_int_equal(write(key, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(key, mode), 0);
    close(key);
}

static gba_status_t key_status(const char *text, mode_t mode)
{
    char file[80];
    gba_status_t status;

    key_write(text, mode, file, sizeof file);
    setenv("GBA_SWITCH_KEY_FILE", file, 1);
    log_forget();
    /* Nothing listens at port 1, so a good key leads to a refused connection. */
    status = gba_device_init("switch://127.0.0.1:1", NULL, &device);
    assert_null(strstr(log_last, "0123456789abcdef"));
    unlink(file);
    unsetenv("GBA_SWITCH_KEY_FILE");
    return status;
}

static void key_files(void **state)
{
    const char key[] = "0123456789abcdef0123456789abcdef\n";

    (void)state;
    unsetenv("GBA_SWITCH_KEY_FILE");
    log_forget();
    assert_int_equal(gba_device_init("switch://127.0.0.1:1", NULL, &device), GBA_ERR_PERM);
    assert_logged("GBA_SWITCH_KEY_FILE");
    assert_int_equal(key_status(key, 0600), GBA_ERR_IO);
    assert_logged("cannot reach gba-switchd at switch://127.0.0.1:1: Connection refused");
    assert_int_equal(key_status(key, 0400), GBA_ERR_IO);
    assert_int_equal(key_status(key, 0640), GBA_ERR_PERM);
    assert_logged("readable or writable by other users");
    assert_int_equal(key_status(key, 0604), GBA_ERR_PERM);
    assert_int_equal(key_status(key + 2, 0600), GBA_ERR_PERM);
    assert_logged("32 hexadecimal digits");
    assert_int_equal(key_status("", 0600), GBA_ERR_PERM);
}

/* --- Barriers --- */

/* Answer all requests, and release each member that arrives, after stores that reach no member. */
static void serve_alone(int file)
{
    struct gba_switch_message message;

    script_greet(file);
    while (script_get(file, &message)) {
        struct gba_switch_message stray = {.type = GBA_SWITCH_RELEASE,
                                           .group = SCRIPT_GROUP,
                                           .member = message.member,
                                           .value = message.value + 1,
                                           .key = 8000};

        if (script_answer(file, message))
            continue;
        script_put(file, stray); /* of an earlier team: another address */
        stray.member = GBA_MEMBERS_MAX - 1;
        script_put(file, stray);
        stray.member = UINT32_MAX;
        script_put(file, stray);
        stray.group = SCRIPT_GROUP + 1;
        script_put(file, stray);
        stray.group = UINT32_MAX;
        script_put(file, stray);
        script_put(file, (struct gba_switch_message){.type = GBA_SWITCH_EVENT,
                                                     .group = SCRIPT_GROUP,
                                                     .value = GBA_IRQ_PORT_DOWN});
        script_release(file, message.member, (uint32_t)message.value);
    }
}

static void rounds(void **state)
{
    (void)state;
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

static void serve_greeting_late(int file)
{
    struct gba_switch_message message;

    script_greet(file);
    while (script_get(file, &message) && GBA_SWITCH_ARRIVE != message.type)
        script_answer(file, message);
    script_put(file, greeting);
    /* For each hostile message the client closes this connection. */
    while (script_get(file, &message))
        ;
}

static void dies_of(struct gba_switch_message message)
{
    gba_group_state_t registers;

    greeting = message;
    script_start(serve_greeting_late);
    members_make(1);
    gba_send_arrival(state_of[0]);
    assert_int_equal(await(0), GBA_ERR_DEAD);
    assert_int_equal(gba_group_inspect(group[0], &registers), GBA_ERR_DEAD);
    gba_resend_arrival(state_of[0]);
    assert_int_equal(gba_poll_release(state_of[0]), GBA_INPROGRESS);
    assert_int_equal(flag_of(0), 0);
    members_end(1);
}

static void hostile_messages(void **state)
{
    (void)state;
    dies_of((struct gba_switch_message){.type = 0});
    dies_of((struct gba_switch_message){.type = 200});
    dies_of((struct gba_switch_message){.type = GBA_SWITCH_ARRIVE});
    dies_of((struct gba_switch_message){.type = GBA_SWITCH_EVENT, .key = 1});
    dies_of((struct gba_switch_message){.type = GBA_SWITCH_RELEASE, .value = 1ull << 32});
    dies_of((struct gba_switch_message){.type = GBA_SWITCH_VALUE});
    dies_of((struct gba_switch_message){.type = GBA_SWITCH_RESULT, .code = 200});
    dies_of(script_welcome());
    dies_of(
        (struct gba_switch_message){.type = GBA_SWITCH_ERROR, .code = GBA_SWITCH_REFUSED_SHUTDOWN});
}

/* --- A group that is taken back --- */

/* Take the group back after the first arrival: withdraw its members. */
static void serve_and_take_back(int file)
{
    struct gba_switch_message message;

    script_greet(file);
    while (script_get(file, &message))
        if (!script_answer(file, message))
            memset(script_table, 0, sizeof script_table);
}

static gba_status_t inspect_until_answered(void)
{
    gba_group_state_t registers;
    gba_status_t status;

    do
        status = gba_group_inspect(group[0], &registers);
    while (GBA_INPROGRESS == status);
    return status;
}

/* The member was not released from its last round, and is not going to be. */
static void a_group_that_is_taken_back(void **state)
{
    (void)state;
    script_start(serve_and_take_back);
    members_make(2);
    assert_int_equal(inspect_until_answered(), GBA_OK);
    gba_send_arrival(state_of[0]);
    assert_int_equal(inspect_until_answered(), GBA_ERR_RECLAIMED);
    assert_int_equal(gba_poll_release(state_of[0]), GBA_INPROGRESS);
    assert_int_equal(inspect_until_answered(), GBA_ERR_RECLAIMED);
    members_end(2);
}

/* --- A program that closes all descriptors --- */

static int client_file(void)
{
    return ((struct gba_client_membership *)group[0]->membership)->client->file.number;
}

/* Another file of the program has the number of the connection. It gets no message, and stays open.
 */
static void a_reused_descriptor(void **state)
{
    gba_group_state_t registers;
    int pair[2], number;
    char byte;

    (void)state;
    log_forget();
    script_start(serve_alone);
    members_make(1);
    number = client_file();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(dup2(pair[0], number), number);
    close(pair[0]);
    assert_int_equal(write(pair[1], "x", 1), 1);
    gba_send_arrival(state_of[0]);
    assert_int_equal(gba_poll_release(state_of[0]), GBA_INPROGRESS);
    assert_int_equal(gba_group_inspect(group[0], &registers), GBA_ERR_DEAD);
    assert_int_equal(recv(pair[1], &byte, 1, MSG_DONTWAIT), -1); /* neither data nor an end */
    assert_int_equal(errno, EAGAIN);
    members_end(1);
    assert_int_equal(recv(number, &byte, 1, MSG_DONTWAIT), 1);
    close(number);
    close(pair[1]);
}

/* The same in a round: the member has arrived, and only polls. */
static void a_reused_descriptor_in_a_round(void **state)
{
    int pair[2], number;
    char byte;

    (void)state;
    log_forget();
    script_start(serve_and_take_back); /* releases no member */
    members_make(1);
    gba_send_arrival(state_of[0]);
    number = client_file();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(dup2(pair[0], number), number);
    close(pair[0]);
    assert_int_equal(write(pair[1], "x", 1), 1);
    assert_int_equal(gba_poll_release(state_of[0]), GBA_INPROGRESS);
    assert_int_equal(gba_client_failure(group[0]->membership), GBA_ERR_DEAD);
    assert_int_equal(recv(number, &byte, 1, MSG_DONTWAIT), 1);
    assert_int_equal(recv(pair[1], &byte, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    members_end(1);
    close(number);
    close(pair[1]);
}

/* The program has closed it, and opened no other file. */
static void a_closed_descriptor(void **state)
{
    (void)state;
    script_start(serve_alone);
    members_make(1);
    close(client_file());
    gba_send_arrival(state_of[0]);
    assert_int_equal(await(0), GBA_ERR_DEAD);
    members_end(1);
}

/* --- Children --- */

static int connections_of_child; /* children that had the connection */

/* Fork, and count the child if it has a socket whose other end has that address. Called in the
 * thread of the switch; the checks of cmocka are for the main thread. */
static void fork_without_peer(const struct sockaddr *address, socklen_t len)
{
    pid_t child = fork();
    int status;

    if (0 == child) {
        for (int file = 0; file < 1024; file++) {
            struct sockaddr_storage peer;
            socklen_t peer_len = sizeof peer;

            if (0 == getpeername(file, (struct sockaddr *)&peer, &peer_len) && len == peer_len &&
                0 == memcmp(&peer, address, len))
                _exit(1);
        }
        _exit(0);
    }
    if (child < 0 || child != waitpid(child, &status, 0))
        abort();
    connections_of_child += 0 != status;
}

/* Another thread forks while the client waits for the welcome. */
static void serve_and_fork(int file)
{
    struct sockaddr_storage address;
    struct gba_switch_message message;
    socklen_t len = sizeof address;

    script_get(file, &message);
    script_get(file, &message);
    if (0 != getsockname(file, (struct sockaddr *)&address, &len))
        abort();
    fork_without_peer((struct sockaddr *)&address, len);
    script_put(file, script_welcome());
}

static void fork_before_welcome(void **state)
{
    (void)state;
    connections_of_child = 0;
    assert_int_equal(open_status(serve_and_fork), GBA_OK);
    assert_int_equal(connections_of_child, 0);
}

/* --- Addresses --- */

static struct addrinfo *addresses; /* of every host, if not NULL */

int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list);
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list);
void __real_freeaddrinfo(struct addrinfo *list);
void __wrap_freeaddrinfo(struct addrinfo *list);

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list)
{
    if (NULL == addresses)
        return __real_getaddrinfo(host, port, hints, list);
    *list = addresses;
    return 0;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
    if (list != addresses)
        __real_freeaddrinfo(list);
}

/* Listen on the loopback interface. */
static int tcp_listen(struct sockaddr_in *address)
{
    int file = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t len = sizeof *address;

    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(file, (struct sockaddr *)address, sizeof *address), 0);
    assert_int_equal(listen(file, 0), 0);
    assert_int_equal(getsockname(file, (struct sockaddr *)address, &len), 0);
    return file;
}

/* A switch that forks, and then welcomes one client by TCP. arg: the listening socket. */
static void *tcp_welcome(void *arg)
{
    int file = accept(*(int *)arg, NULL, NULL);
    struct sockaddr_in address;
    struct gba_switch_message message;
    socklen_t len = sizeof address;

    for (int i = 0; i < 4; i++) /* HELLO, SECRET, NAME, PROCESS */
        if (!script_get(file, &message))
            abort();
    if (0 != getsockname(file, (struct sockaddr *)&address, &len))
        abort();
    fork_without_peer((struct sockaddr *)&address, len);
    script_put(file, script_welcome());
    close(file);
    return NULL;
}

/* The first two addresses of a host do not answer, because the queues of their sockets are full.
 * The third one does. */
static void dead_addresses(void **state)
{
    enum { DEAD = 2, FILLERS = 4 };
    struct sockaddr_in address[DEAD + 1];
    struct addrinfo list[DEAD + 1];
    int listener[DEAD + 1], filler[DEAD][FILLERS];
    struct gba_client client = {.name = "test"};
    const uint8_t key[GBA_KEY_SIZE] = {0};
    const gba_device_attr_t attr = {.key_file = "/nonexistent", .key = key};
    struct gba_dev_path path;
    char text[200], file[80];
    pthread_t thread;

    (void)state;
    for (int i = 0; i <= DEAD; i++) {
        listener[i] = tcp_listen(&address[i]);
        list[i] = (struct addrinfo){.ai_family = AF_INET,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_addr = (struct sockaddr *)&address[i],
                                    .ai_addrlen = sizeof address[i],
                                    .ai_next = i < DEAD ? &list[i + 1] : NULL};
        for (int k = 0; i < DEAD && k < FILLERS; k++) {
            filler[i][k] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
            (void)connect(filler[i][k], (struct sockaddr *)&address[i], sizeof address[i]);
        }
    }
    /* The key of the job takes the place of the file. */
    key_write("0123456789abcdef0123456789abcdef\n", 0644, file, sizeof file);
    assert_false(gba_device_key_file(file));
    assert_int_equal(chmod(file, 0600), 0);
    assert_true(gba_device_key_file(file));
    unlink(file);
    assert_int_equal(gba_dev_path_parse("switch://host:1", &path, text, sizeof text), GBA_OK);
    addresses = list;
    connections_of_child = 0;
    assert_int_equal(pthread_create(&thread, NULL, tcp_welcome, &listener[DEAD]), 0);
    assert_int_equal(gba_client_connect(&client, &path, &attr), GBA_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(connections_of_child, 0);
    addresses = NULL;
    gba_file_close(&client.file);
    for (int i = 0; i <= DEAD; i++) {
        for (int k = 0; i < DEAD && k < FILLERS; k++)
            close(filler[i][k]);
        close(listener[i]);
    }
}

/* A switch that refuses the key of one client by TCP. arg: the listening socket. */
static void *tcp_refuse(void *arg)
{
    const struct gba_switch_message refusal = {.type = GBA_SWITCH_ERROR,
                                               .code = GBA_SWITCH_REFUSED_SECRET};
    int file = accept(*(int *)arg, NULL, NULL);
    struct gba_switch_message message;

    for (int i = 0; i < 4; i++) /* HELLO, SECRET, NAME, PROCESS */
        if (!script_get(file, &message))
            abort();
    script_put(file, refusal);
    close(file);
    return NULL;
}

/* Open a device whose switch refuses the key. */
static void refused_open(const gba_device_attr_t *attr)
{
    struct sockaddr_in address;
    int listener = tcp_listen(&address);
    pthread_t thread;
    char path[64];

    snprintf(path, sizeof path, "switch://127.0.0.1:%u", ntohs(address.sin_port));
    assert_int_equal(pthread_create(&thread, NULL, tcp_refuse, &listener), 0);
    log_forget();
    assert_int_equal(gba_device_init(path, attr, &device), GBA_ERR_PERM);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(listener);
}

/* The message names the source of the key. */
static void wrong_keys(void **state)
{
    const uint8_t key[GBA_KEY_SIZE] = {1};
    gba_device_attr_t attr = {.key = key};
    char file[80], wanted[160];

    (void)state;
    refused_open(&attr);
    assert_logged("wrong key (the job's key, from rank 0)");
    key_write("0123456789abcdef0123456789abcdef\n", 0600, file, sizeof file);
    attr = (gba_device_attr_t){.key_file = file};
    refused_open(&attr);
    snprintf(wanted, sizeof wanted, "wrong key (key file %s)", file);
    assert_logged(wanted);
    setenv("GBA_SWITCH_KEY_FILE", file, 1);
    refused_open(NULL);
    assert_logged(wanted);
    unsetenv("GBA_SWITCH_KEY_FILE");
    unlink(file);
}

/* --- A child of a process with a group --- */

static void child_of_fork(void **state)
{
    gba_group_state_t registers;
    gba_group_handle_t handle;
    int status, connection;
    pid_t child;

    (void)state;
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greetings),
        cmocka_unit_test(no_switch),
        cmocka_unit_test(key_files),
        cmocka_unit_test(wrong_keys),
        cmocka_unit_test(rounds),
        cmocka_unit_test(hostile_messages),
        cmocka_unit_test(a_group_that_is_taken_back),
        cmocka_unit_test(a_reused_descriptor),
        cmocka_unit_test(a_closed_descriptor),
        cmocka_unit_test(dead_addresses),
        cmocka_unit_test(child_of_fork),
        cmocka_unit_test(fork_before_welcome),
        cmocka_unit_test(a_reused_descriptor_in_a_round),
    };

    return cmocka_run_group_tests(tests, setup, script_teardown);
}
