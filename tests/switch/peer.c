/* SPDX-License-Identifier: BSD-3-Clause */
/* A gba-switchd as a child process, and its clients. */
#define _GNU_SOURCE /* pipe2 */
#include "tests/switch/peer.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS 16

void peer_directory(struct daemon_process *process)
{
    *process = (struct daemon_process){.pid = -1, .out = -1};
    snprintf(process->directory, sizeof(process->directory), "switch-XXXXXX");
    assert_non_null(mkdtemp(process->directory));
    snprintf(process->socket, sizeof(process->socket), "%s/socket", process->directory);
}

void peer_clean(struct daemon_process *process)
{
    DIR *directory = opendir(process->directory);
    const struct dirent *entry;

    if (process->pid > 0)
        peer_stop(process, SIGKILL);
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL)
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    assert_return_code(rmdir(process->directory), errno);
}

int peer_begin(void **state)
{
    peer_directory(*state);
    return 0;
}

int peer_begin_started(void **state)
{
    static const char *const options[] = {"--log-level=error", NULL};

    peer_directory(*state);
    peer_start(*state, options);
    return 0;
}

int peer_end(void **state)
{
    peer_clean(*state);
    return 0;
}

int peer_end_alive(void **state)
{
    if (((struct daemon_process *)*state)->pid > 0)
        assert_int_equal(peer_stop(*state, SIGTERM), 0);
    return peer_end(state);
}

void peer_write_key(struct daemon_process *process, const char *text, unsigned mode)
{
    int fd;

    snprintf(process->key, sizeof(process->key), "%s/key", process->directory);
    unlink(process->key);
    fd = open(process->key, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_return_code(fd, errno);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_return_code(fchmod(fd, mode), errno);
    close(fd);
}

/* In the child: start the daemon. It ends with the test, also if the test is killed. It inherits
 * blocked signals, which it has to handle all the same. */
static void run_daemon(const struct daemon_process *process, const char *const *options, int out,
                       bool quiet)
{
    const char *program = getenv("GBA_TEST_SWITCHD");
    char name[] = "gba-switchd", path[4096], socket_path[4352];
    char *argv[OPTIONS + 4] = {name};
    int count = 1;
    sigset_t blocked;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigfillset(&blocked);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    if (getcwd(path, sizeof(path)) == NULL)
        _exit(127);
    snprintf(socket_path, sizeof(socket_path), "--listen=%s/%s", path, process->socket);
    argv[count++] = socket_path;
    for (; *options != NULL && count < OPTIONS; options++)
        argv[count++] = (char *)(uintptr_t)*options;
    dup2(out, STDOUT_FILENO);
    if (quiet)
        dup2(out, STDERR_FILENO);
    execv(program == NULL ? GBA_TEST_SWITCHD : program, argv);
    _exit(127);
}

/* quiet: hide the messages of a daemon that is expected to fail. */
static void spawn(struct daemon_process *process, const char *const *options, bool quiet)
{
    int ends[2];

    assert_return_code(pipe2(ends, O_CLOEXEC), errno);
    process->pid = fork();
    assert_return_code(process->pid, errno);
    if (process->pid == 0)
        run_daemon(process, options, ends[1], quiet);
    close(ends[1]);
    process->out = ends[0];
}

static void wait_readable(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};

    if (poll(&wanted, 1, (int)PEER_TIMEOUT_MS) != 1)
        fail_msg("nothing to read within %u ms", PEER_TIMEOUT_MS);
}

static int wait_for_end(struct daemon_process *process)
{
    int status;

    assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
    close(process->out);
    process->pid = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void peer_start(struct daemon_process *process, const char *const *options)
{
    char line[1024], *tcp;
    ssize_t count;

    spawn(process, options, false);
    wait_readable(process->out);
    count = read(process->out, line, sizeof(line) - 1); /* one write, and less than a pipe holds */
    assert_true(count > 0);
    line[count] = '\0';
    assert_ptr_equal(strstr(line, "gba-switchd ready: "), line);
    tcp = strstr(line, "switch://127.0.0.1:");
    process->tcp_port = tcp == NULL ? 0 : (uint16_t)atoi(strrchr(tcp, ':') + 1);
}

void peer_start_tcp(struct daemon_process *process, const char *first, const char *second,
                    const char *third)
{
    char key[128];
    const char *const options[] = {"--tcp=:0", key, first, second, third, NULL};

    peer_write_key(process, PEER_KEY "\n", 0600);
    snprintf(key, sizeof(key), "--key-file=%s", process->key);
    peer_start(process, options);
}

int peer_start_fails(struct daemon_process *process, const char *const *options)
{
    char text[4096] = "";
    size_t used = 0;
    ssize_t count;

    spawn(process, options, true);
    do {
        wait_readable(process->out);
        count = read(process->out, text + used, sizeof(text) - 1 - used);
        used += count > 0 ? (size_t)count : 0;
    } while (count > 0);
    assert_null(strstr(text, "gba-switchd ready"));
    assert_non_null(strstr(text, "gba-switchd: ")); /* the line with the cause */
    return wait_for_end(process);
}

int peer_stop(struct daemon_process *process, int signal)
{
    assert_return_code(kill(process->pid, signal), errno);
    return wait_for_end(process);
}

int peer_unix(const struct daemon_process *process)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path, process->socket, sizeof(address.sun_path));
    assert_return_code(connect(fd, (struct sockaddr *)&address, sizeof(address)), errno);
    return fd;
}

int peer_tcp(const struct daemon_process *process)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(process->tcp_port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_not_equal(process->tcp_port, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_return_code(connect(fd, (struct sockaddr *)&address, sizeof(address)), errno);
    return fd;
}

void peer_send(int fd, const struct gba_switch_message *message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    gba_switch_encode(message, bytes);
    assert_int_equal(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
}

/* Returns false at the end of the data. */
static bool receive_bytes(int fd, void *buffer, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t count;

        wait_readable(fd);
        count = recv(fd, (char *)buffer + done, bytes - done, 0);
        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

bool peer_receive(int fd, struct gba_switch_message *message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    if (!receive_bytes(fd, bytes, sizeof(bytes)))
        return false;
    if (!gba_switch_decode(bytes, GBA_SWITCH_SERVER, message))
        fail_msg("the daemon sent an invalid message of type %d", bytes[0]);
    return true;
}

struct gba_switch_message peer_expect(int fd, uint8_t type)
{
    struct gba_switch_message message = {.type = 0};

    if (!peer_receive(fd, &message))
        fail_msg("the daemon closed the connection before a message of type %d", type);
    if (message.type == GBA_SWITCH_ERROR && type != GBA_SWITCH_ERROR)
        fail_msg("refused: %s", gba_switch_refusal_text(message.code));
    assert_int_equal(message.type, type);
    return message;
}

void peer_expect_refusal(int fd, unsigned refusal)
{
    struct gba_switch_message message = peer_expect(fd, GBA_SWITCH_ERROR);

    assert_int_equal(message.code, refusal);
    assert_false(peer_receive(fd, &message));
}

void peer_hello(int fd)
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_HELLO,
                                               .code = GBA_SWITCH_PROTOCOL,
                                               .group = GBA_SWITCH_MAGIC,
                                               .generation = getuid(),
                                               .member = (uint32_t)getpid()};

    peer_send(fd, &message);
}

int peer_client(const struct daemon_process *process, uint32_t *port)
{
    int fd = peer_unix(process);

    peer_hello(fd);
    *port = peer_expect(fd, GBA_SWITCH_WELCOME).tag;
    return fd;
}

int peer_tcp_client(const struct daemon_process *process, const char *key, uint32_t *port)
{
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];
    struct gba_switch_message message;
    int fd = peer_tcp(process);

    peer_hello(fd);
    assert_true(gba_switch_secret_parse(key, secret));
    gba_switch_secret_set(&message, secret);
    peer_send(fd, &message);
    *port = peer_expect(fd, GBA_SWITCH_WELCOME).tag;
    return fd;
}

uint32_t peer_command(int fd, uint32_t command, struct gba_switch_message *mailbox)
{
    mailbox->type = GBA_SWITCH_COMMAND;
    mailbox->code = (uint8_t)command;
    mailbox->tag = 0x1234;
    peer_send(fd, mailbox);
    *mailbox = peer_expect(fd, GBA_SWITCH_RESULT);
    assert_int_equal(mailbox->tag, 0x1234);
    return mailbox->code;
}

uint64_t peer_read(int fd, uint32_t address, uint8_t width)
{
    const struct gba_switch_message message = {
        .type = GBA_SWITCH_READ, .code = width, .tag = 77, .key = address};
    struct gba_switch_message answer;

    peer_send(fd, &message);
    answer = peer_expect(fd, GBA_SWITCH_VALUE);
    assert_int_equal(answer.tag, 77);
    assert_int_equal(answer.key, address);
    return answer.value;
}

void peer_write(int fd, uint32_t address, uint8_t width, uint64_t value)
{
    const struct gba_switch_message message = {
        .type = GBA_SWITCH_WRITE, .code = width, .key = address, .value = value};

    peer_send(fd, &message);
}

void peer_arrive(int fd, const struct gba_switch_message *group, uint32_t member, uint32_t sequence)
{
    const struct gba_switch_message message = {
        .type = GBA_SWITCH_ARRIVE,
        .group = group->group,
        .value = GBA_ARRIVAL(sequence, group->generation, member)};

    peer_send(fd, &message);
}

struct gba_switch_message peer_group(const int *client, uint32_t members)
{
    struct gba_switch_message group = {.group = GBA_GROUP_ANY, .value = members}, next;

    assert_int_equal(peer_command(client[0], GBA_CMD_ALLOC, &group), GBA_RESULT_OK);
    for (uint32_t member = 0; member < members; member++) {
        uint32_t entry = GBA_TABLE_ENTRY(group.group, member);

        next = group;
        next.member = member;
        assert_int_equal(peer_command(client[member], GBA_CMD_JOIN, &next), GBA_RESULT_OK);
        peer_write(client[member], entry, 8, 0x1000 + 8 * member);
        assert_int_equal(peer_read(client[member], entry, 8), 0x1000 + 8 * member);
    }
    next = group;
    next.value = 0;
    assert_int_equal(peer_command(client[0], GBA_CMD_ARM, &next), GBA_RESULT_OK);
    return group;
}

void peer_clients(const struct daemon_process *process, int *client, unsigned n)
{
    uint32_t port;

    for (unsigned i = 0; i < n; i++)
        client[i] = peer_client(process, &port);
}

void peer_close(const int *client, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        close(client[i]);
}

void peer_settle(int fd)
{
    (void)peer_read(fd, GBA_DEVICE_BASE + GBA_DEV_GROUPS, 4);
}

char *peer_status(int fd, uint16_t form, uint32_t *absent)
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_STATUS,
                                               .code = GBA_SWITCH_PROTOCOL,
                                               .tag = form,
                                               .group = GBA_SWITCH_MAGIC};
    struct gba_switch_message answer;
    char *text, byte;

    peer_send(fd, &message);
    answer = peer_expect(fd, GBA_SWITCH_TEXT);
    text = calloc(1, answer.value + 1);
    assert_non_null(text);
    *absent = answer.member;
    assert_true(receive_bytes(fd, text, answer.value));
    assert_false(receive_bytes(fd, &byte, 1));
    return text;
}

unsigned peer_memory(const struct daemon_process *process)
{
    char path[64];
    unsigned pages = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/statm", (int)process->pid);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %u", &pages), 1);
    fclose(file);
    return pages * (unsigned)(sysconf(_SC_PAGESIZE) / 1024);
}

void peer_expect_memory(const struct daemon_process *process, unsigned before, unsigned limit)
{
    unsigned now = peer_memory(process);

    print_message("memory of the daemon: %u KiB, then %u KiB\n", before, now);
#ifdef __SANITIZE_ADDRESS__ /* of the test, which is built like the daemon */
    print_message("not compared with the limit of %u KiB: AddressSanitizer keeps freed memory\n",
                  limit);
#else
    assert_true(now <= before + limit);
#endif
}

unsigned peer_descriptors(const struct daemon_process *process)
{
    char path[64];
    unsigned count = 0;
    DIR *directory;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)process->pid);
    directory = opendir(path);
    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}
