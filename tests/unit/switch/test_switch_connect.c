/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the client of gba-switchd connects, against a scripted switch: refused greetings and keys,
 * key files, and a child that another thread makes meanwhile.
 * test_switch_client.c has the connected client.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "gba/base/clock.h"
#include "sim/switch/client/client.h"
#include "tests/suite.h"
#include "tests/unit/base/file_limit.h"
#include "tests/unit/switch/switch_members.h"

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

static const struct gba_switch_message *greeting; /* NULL: none */

static void serve_greeting(int file)
{
    struct gba_switch_message message;

    script_get(file, &message);
    script_get(file, &message);
    if (greeting != NULL)
        script_put(file, *greeting);
}

TEST(greetings)
{
    const struct gba_switch_message welcome = script_welcome();
    const struct {
        struct gba_switch_message message; /* type 0: none */
        gba_status_t status;
        const char *line;
    } rows[] = {
#define REFUSED(why) {.type = GBA_SWITCH_ERROR, .code = GBA_SWITCH_REFUSED_##why}
        {{.type = 0}, GBA_ERR_AWAY, "cannot reach gba-switchd at switch:/"},
        {REFUSED(USER), GBA_ERR_PERM, "refused the connection: the user"},
        {REFUSED(VERSION), GBA_ERR_VERSION, ""},
        {REFUSED(PORTS), GBA_ERR_BUSY, "all ports are in use"},
        {REFUSED(SHUTDOWN), GBA_ERR_AWAY, ""},
        {{.type = 99}, GBA_ERR_NOT_GBA, ""},
        {{.type = GBA_SWITCH_EVENT}, GBA_ERR_NOT_GBA, ""},
#undef REFUSED
        {welcome, GBA_ERR_NOT_GBA, ""}, /* changed below */
        {welcome, GBA_ERR_VERSION, ""},
        {welcome, GBA_ERR_VERSION, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gba_switch_message message = rows[i].message;

        message.group = 7 == i ? GBA_GROUPS + 1 : message.group;
        message.generation += 8 == i ? 1u << 16 : 0;
        message.code += 9 == i;
        greeting = 0 == message.type ? NULL : &message;
        assert_int_equal(open_status(serve_greeting), rows[i].status);
        assert_logged(rows[i].line);
    }
}

/* A switch that refuses a connection at once, such as one connection too many. */
static void serve_refusal(int file)
{
    script_put(file, (struct gba_switch_message){.type = GBA_SWITCH_ERROR,
                                                 .code = GBA_SWITCH_REFUSED_PORTS});
}

/* The connection ends before or after the client has sent its greeting. */
TEST(refused_at_once)
{
    for (int i = 0; i < 200; i++) {
        assert_int_equal(open_status(serve_refusal), GBA_ERR_BUSY);
        assert_logged("all ports are in use");
    }
}

TEST(no_switch)
{
    char text[160];

    log_forget();
    assert_int_equal(gba_device_init("switch:/nonexistent/socket", NULL, &device), GBA_ERR_AWAY);
    assert_logged("cannot reach gba-switchd at switch:/nonexistent/socket: No such file");
    gba_device_advice("switch:/nonexistent/socket", GBA_ERR_AWAY, text, sizeof text);
    assert_non_null(strstr(text, "Start gba-switchd"));
    log_forget();
    files_limit(0);
    assert_int_equal(gba_device_init("switch:/nonexistent/socket", NULL, &device),
                     GBA_ERR_NO_FILES);
    files_unlimit();
    assert_logged("cannot reach gba-switchd at switch:/nonexistent/socket: Too many open files");
}

/* --- The listener --- */

static void serve_welcome(int file)
{
    struct gba_switch_message message;

    script_greet(file);
    while (script_get(file, &message))
        continue;
}

/* Open the switch of that path, which user 65533 serves if it is a stranger's. A client that gives
 * up connects all the same, so the thread of the switch ends. */
static gba_status_t listener_status(const char *path, void (*serve)(int file), bool stranger)
{
    gba_status_t status;

    log_forget();
    if (stranger)
        assert_return_code(seteuid(65533), errno);
    assert_return_code(listen(script_listener, 8), errno); /* stores the user for SO_PEERCRED */
    if (stranger)
        assert_return_code(seteuid(0), errno);
    script_start(serve);
    status = gba_device_init(path, NULL, &device);
    if (GBA_OK == status) {
        assert_true(gba_device_served_here(device));
        gba_device_fini(device);
    }
    script_join();
    return status;
}

static void serve_stranger(int file)
{
    struct gba_switch_message message;

    if (script_get(file, &message)) /* the client has sent its greeting */
        abort();
}

/* A socket that another user has made at the path first is refused. */
TEST(listeners)
{
    char path[sizeof script_path + 32];

    if (0 != geteuid())
        skip(); /* only root can listen as somebody else */
    assert_int_equal(listener_status(script_path, serve_welcome, false), GBA_OK);
    assert_int_equal(listener_status(script_path, serve_stranger, true), GBA_ERR_PERM);
    assert_logged("user 65533 listens there, not root, gba-switchd or this user (0)");
    assert_non_null(strstr(log_last, "append ?owner=65533"));
    snprintf(path, sizeof path, "%s?owner=nobody-of-that-name", script_path);
    assert_int_equal(listener_status(path, serve_stranger, true), GBA_ERR_PERM);
    snprintf(path, sizeof path, "%s?owner=65533", script_path);
    assert_int_equal(listener_status(path, serve_welcome, true), GBA_OK);
    assert_int_equal(listener_status(path, serve_welcome, false), GBA_OK); /* root, always */
}

/* A switch that accepts the connection and sends nothing. Without its own limit the call waits for
 * GBA_CLIENT_SILENCE. */
static void serve_until_closed(int file)
{
    struct gba_switch_message message;

    while (script_get(file, &message))
        continue;
}

TEST(limited_open)
{
    const gba_device_attr_t attr = {.timeout_ms = 50};
    const uint64_t began = gba_clock_ns();

    log_forget();
    script_start(serve_until_closed);
    assert_int_equal(gba_device_init(script_path, &attr, &device), GBA_ERR_AWAY);
    script_join();
    assert_logged("Connection timed out");
    assert_true(gba_clock_ns() - began < GBA_CLIENT_SILENCE);
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

TEST(key_files)
{
    static const char key[] = "0123456789abcdef0123456789abcdef\n";
    static const struct {
        const char *text;
        mode_t mode;
        gba_status_t status;
        const char *line;
    } rows[] = {
        /* Nothing listens at port 1, so a good key leads to a refused connection. */
        {key, 0600, GBA_ERR_AWAY, "reach gba-switchd at switch://127.0.0.1:1: Connection refused"},
        {key, 0400, GBA_ERR_AWAY, "Connection refused"},
        {key, 0640, GBA_ERR_PERM, "readable or writable by other users"},
        {key, 0604, GBA_ERR_PERM, "readable or writable by other users"},
        {key + 2, 0600, GBA_ERR_PERM, "32 hexadecimal digits"},
        {"", 0600, GBA_ERR_PERM, "32 hexadecimal digits"},
    };
    gba_device_attr_t attr = {.key_file = "/nonexistent"};
    char file[80];

    unsetenv("GBA_SWITCH_KEY_FILE");
    log_forget();
    assert_int_equal(gba_device_init("switch://127.0.0.1:1", NULL, &device), GBA_ERR_PERM);
    assert_logged("GBA_SWITCH_KEY_FILE");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        key_write(rows[i].text, rows[i].mode, file, sizeof file);
        setenv("GBA_SWITCH_KEY_FILE", file, 1);
        assert_int_equal(gba_device_init("switch://127.0.0.1:1", NULL, &device), rows[i].status);
        assert_logged(rows[i].line);
        assert_null(strstr(log_last, "0123456789abcdef"));
        unlink(file);
    }
    unsetenv("GBA_SWITCH_KEY_FILE");
    files_limit(0);
    assert_int_equal(gba_device_init("switch://127.0.0.1:1", &attr, &device), GBA_ERR_NO_FILES);
    files_unlimit();
    assert_logged("cannot use the key file /nonexistent: Too many open files");
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

TEST(fork_before_welcome)
{
    connections_of_child = 0;
    assert_int_equal(open_status(serve_and_fork), GBA_OK);
    assert_int_equal(connections_of_child, 0);
}

/* --- TCP --- */

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

/* A switch that forks, and then answers one client by TCP. arg: the listening socket. */
static struct gba_switch_message tcp_answer;

static void *tcp_serve(void *arg)
{
    int file = accept(*(int *)arg, NULL, NULL);
    struct sockaddr_in address;
    struct gba_switch_message message;
    socklen_t len = sizeof address;

    for (int i = 0; i < 3; i++) /* HELLO, SECRET, NAME */
        if (!script_get(file, &message))
            abort();
    if (0 != getsockname(file, (struct sockaddr *)&address, &len))
        abort();
    fork_without_peer((struct sockaddr *)&address, len);
    script_put(file, tcp_answer);
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
    tcp_answer =
        (struct gba_switch_message){.type = GBA_SWITCH_ERROR, .code = GBA_SWITCH_REFUSED_SECRET};
    assert_int_equal(pthread_create(&thread, NULL, tcp_serve, &listener), 0);
    assert_int_equal(gba_device_init(path, attr, &device), GBA_ERR_PERM);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(listener);
}

/* The message names the file of the key. */
TEST(wrong_key)
{
    char file[80], wanted[160];
    const gba_device_attr_t attr = {.key_file = file};

    connections_of_child = 0;
    key_write("0123456789abcdef0123456789abcdef\n", 0600, file, sizeof file);
    refused_open(&attr);
    snprintf(wanted, sizeof wanted, "wrong key (key file %s)", file);
    assert_logged(wanted);
    setenv("GBA_SWITCH_KEY_FILE", file, 1);
    refused_open(NULL);
    assert_logged(wanted);
    unsetenv("GBA_SWITCH_KEY_FILE");
    assert_int_equal(connections_of_child, 0);
    unlink(file);
}

int main(void)
{
    return SUITE_RUN(setup, script_teardown);
}
