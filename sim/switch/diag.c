/* SPDX-License-Identifier: BSD-3-Clause */
/* gba_diag: shows the state of a gba-switchd, and measures barriers of one member through it. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/spec/gba_regs.h"
#include "gba/types.h"
#include "sim/switch/protocol.h"

/* Exit codes, for scripts and monitoring. */
enum { EXIT_ABSENT = 1, EXIT_USAGE = 2, EXIT_NO_SWITCH = 3 };

#define PING_ROUNDS 100u
#define TIMEOUT_S   10

static const char help[] =
    "Usage: gba_diag [OPTION]... [PATH]\n"
    "Show the groups of a running gba-switchd, and which members they wait for.\n"
    "PATH: switch:SOCKET or switch://HOST[:PORT], as the daemon prints when it is ready. Default:\n"
    "the daemon's default socket.\n"
    "\n"
    "  --json            print all that the switch reports, as JSON\n"
    "  --watch[=SECONDS] repeat, by default every second\n"
    "  --ping            measure barriers of one member: takes a free group for a moment\n"
    "  --key-file FILE   file with the key of the switch, for TCP\n"
    "  --help            print this help\n"
    "  --version         print the version\n"
    "\n"
    "Exit status: 0: no member is absent; 1: some are; 2: invalid usage; 3: no answer or output.\n";

struct diag {
    const char *path;
    const char *key_file;
    bool json, ping;
    unsigned watch; /* seconds; 0: once */
};

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "gba_diag: %s: %s\n", what, why);
    return -1;
}

/* --- The connection --- */

static int connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof(address.sun_path))
        return complain(path, "the path is too long");
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    complain(path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* text: HOST or HOST:PORT; an IPv6 address in brackets. */
static int connect_tcp(const char *text)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const int on = 1;
    char host[256], port[16] = "";
    struct addrinfo *list = NULL;
    int fd = -1, error;

    if (sscanf(text, "[%255[^]]]:%15s", host, port) < 1 &&
        sscanf(text, "%255[^:]:%15s", host, port) < 1)
        return complain(text, "not HOST or HOST:PORT");
    if (port[0] == '\0')
        snprintf(port, sizeof(port), "%u", GBA_SWITCH_TCP_PORT);
    error = getaddrinfo(host, port, &hints, &list);
    if (error != 0)
        return complain(text, gai_strerror(error));
    for (const struct addrinfo *info = list; info != NULL && fd < 0; info = info->ai_next) {
        fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, info->ai_addr, info->ai_addrlen) != 0) {
            error = errno;
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    if (fd < 0)
        return complain(text, strerror(error));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

static bool send_message(int fd, const struct gba_switch_message *message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    gba_switch_encode(message, bytes);
    return send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) == sizeof(bytes);
}

static bool receive_bytes(int fd, void *buffer, size_t bytes)
{
    return recv(fd, buffer, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

/* Receive a message of that type. Returns false (printed) for another message, or none. */
static bool receive(int fd, uint8_t type, struct gba_switch_message *message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    if (!receive_bytes(fd, bytes, sizeof(bytes))) {
        complain("the switch does not answer", "connection closed, or no answer in time");
        return false;
    }
    if (gba_switch_decode(bytes, GBA_SWITCH_SERVER, message) && message->type == type)
        return true;
    complain("refused by the switch", message->type == GBA_SWITCH_ERROR
                                          ? gba_switch_refusal_text(message->code)
                                          : "unexpected message");
    return false;
}

static bool send_key(int fd, const char *path)
{
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];
    struct gba_switch_message message;
    char text[2 * GBA_SWITCH_SECRET_BYTES + 3] = "";
    FILE *file = fopen(path, "re");
    bool good;

    if (file == NULL) {
        complain(path, strerror(errno));
        return false;
    }
    good = fgets(text, sizeof(text), file) != NULL && gba_switch_secret_parse(text, secret);
    fclose(file);
    if (!good) {
        complain(path, "not 32 hexadecimal digits");
        return false;
    }
    gba_switch_secret_set(&message, secret);
    return send_message(fd, &message);
}

/* Connect and send the greeting. Returns a descriptor, or -1 (printed). */
static int greet(const struct diag *diag, const struct gba_switch_message *greeting)
{
    const struct timeval timeout = {.tv_sec = TIMEOUT_S};
    const char *rest = diag->path + strlen("switch:");
    bool tcp = strncmp(rest, "//", 2) == 0;
    int fd;

    if (tcp && diag->key_file == NULL)
        return complain(diag->path, "TCP needs --key-file");
    fd = tcp ? connect_tcp(rest + 2) : connect_unix(rest);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    if (send_message(fd, greeting) && (!tcp || send_key(fd, diag->key_file)))
        return fd;
    close(fd);
    return -1;
}

/* --- Status --- */

static int show_status(const struct diag *diag)
{
    const struct gba_switch_message greeting = {.type = GBA_SWITCH_STATUS,
                                                .code = GBA_SWITCH_PROTOCOL,
                                                .tag = diag->json ? GBA_SWITCH_STATUS_JSON
                                                                  : GBA_SWITCH_STATUS_TEXT,
                                                .group = GBA_SWITCH_MAGIC};
    struct gba_switch_message answer = {.type = 0};
    int code = EXIT_NO_SWITCH, fd = greet(diag, &greeting);
    char text[4096];

    if (fd < 0)
        return EXIT_NO_SWITCH;
    if (!receive(fd, GBA_SWITCH_TEXT, &answer))
        goto close_fd;
    while (answer.value > 0) {
        size_t part = answer.value < sizeof(text) ? answer.value : sizeof(text);

        if (!receive_bytes(fd, text, part)) {
            complain("the switch does not answer", "connection closed");
            goto close_fd;
        }
        fwrite(text, 1, part, stdout);
        answer.value -= part;
    }
    code = answer.member == 0 ? EXIT_SUCCESS : EXIT_ABSENT;
close_fd:
    close(fd);
    return code;
}

/* --- Ping --- */

static bool command(int fd, uint8_t number, struct gba_switch_message *mailbox)
{
    static const char *const reasons[] = {"",     "invalid argument", "stale handle",
                                          "busy", "no free group",    "the quota is reached"};

    mailbox->type = GBA_SWITCH_COMMAND;
    mailbox->code = number;
    if (!send_message(fd, mailbox) || !receive(fd, GBA_SWITCH_RESULT, mailbox))
        return false;
    if (mailbox->code == GBA_RESULT_OK)
        return true;
    complain("ping", mailbox->code < sizeof(reasons) / sizeof(reasons[0]) ? reasons[mailbox->code]
                                                                          : "unknown result");
    return false;
}

static bool round_trip(int fd, const struct gba_switch_message *group, uint32_t sequence,
                       uint64_t *ns)
{
    const struct gba_switch_message arrival = {.type = GBA_SWITCH_ARRIVE,
                                               .group = group->group,
                                               .generation = group->generation,
                                               .value = sequence};
    struct gba_switch_message release;
    uint64_t begin = gba_clock_ns();

    if (!send_message(fd, &arrival) || !receive(fd, GBA_SWITCH_RELEASE, &release))
        return false;
    *ns = gba_clock_ns() - begin;
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* On an open session. The group is free again when the connection ends. */
static bool measure(int fd)
{
    struct gba_switch_message group = {.group = GBA_GROUP_ANY, .value = 1}, flag;
    uint64_t ns[PING_ROUNDS], begin = gba_clock_ns(), agreed, median;

    if (!command(fd, GBA_CMD_ALLOC, &group))
        return false;
    group.member = 0;
    group.value = 0;
    if (!command(fd, GBA_CMD_JOIN, &group))
        return false;
    flag = (struct gba_switch_message){
        .type = GBA_SWITCH_WRITE, .code = 8, .value = 8, .key = GBA_TABLE_ENTRY(group.group, 0)};
    group.value = 0;
    if (!send_message(fd, &flag) || !command(fd, GBA_CMD_ARM, &group))
        return false;
    agreed = gba_clock_ns() - begin;
    for (uint32_t i = 0; i < PING_ROUNDS; i++) {
        if (!round_trip(fd, &group, i + 1, &ns[i]))
            return false;
    }
    qsort(ns, PING_ROUNDS, sizeof(ns[0]), compare);
    median = ns[PING_ROUNDS / 2];
    printf("ping: group %" PRIu32 ": allocate, join and arm %.1f us; %u barriers: min %.1f us, "
           "median %.1f us, max %.1f us\n",
           group.group, (double)agreed / 1e3, PING_ROUNDS, (double)ns[0] / 1e3,
           (double)median / 1e3, (double)ns[PING_ROUNDS - 1] / 1e3);
    return true;
}

static int ping(const struct diag *diag)
{
    const struct gba_switch_message hello = {.type = GBA_SWITCH_HELLO,
                                             .code = GBA_SWITCH_PROTOCOL,
                                             .group = GBA_SWITCH_MAGIC,
                                             .generation = getuid(),
                                             .member = (uint32_t)getpid()};
    struct gba_switch_message welcome;
    int fd = greet(diag, &hello);
    bool good;

    if (fd < 0)
        return EXIT_NO_SWITCH;
    good = receive(fd, GBA_SWITCH_WELCOME, &welcome) && measure(fd);
    close(fd);
    return good ? EXIT_SUCCESS : EXIT_NO_SWITCH;
}

/* --- The command line --- */

static bool parse(int argc, char **argv, struct diag *diag)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"watch", optional_argument, NULL, 'w'},
                                            {"ping", no_argument, NULL, 'p'},
                                            {"key-file", required_argument, NULL, 'k'},
                                            {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'j':
            diag->json = true;
            break;
        case 'w':
            diag->watch = optarg == NULL ? 1 : (unsigned)strtoul(optarg, NULL, 10);
            if (diag->watch == 0 || diag->watch > 86400)
                return complain("--watch", "allowed: 1 to 86400 seconds") == 0;
            break;
        case 'p':
            diag->ping = true;
            break;
        case 'k':
            diag->key_file = optarg;
            break;
        default:
            return false;
        }
    }
    if (optind < argc)
        diag->path = argv[optind++];
    if (optind < argc || strncmp(diag->path, "switch:", strlen("switch:")) != 0)
        return complain(argv[optind < argc ? optind : optind - 1],
                        "one argument is allowed: switch:SOCKET or switch://HOST[:PORT]") == 0;
    return true;
}

int main(int argc, char **argv)
{
    char path[4200];
    struct diag diag = {.path = path};
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int code;

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(help, stdout) < 0;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("gba_diag %d.%d.%d\n", GBA_VERSION_MAJOR, GBA_VERSION_MINOR,
                      GBA_VERSION_PATCH) < 0;
    if (runtime == NULL || runtime[0] != '/' || geteuid() == 0)
        snprintf(path, sizeof(path), "switch:/run/gba/switch.sock");
    else
        snprintf(path, sizeof(path), "switch:%.4000s/gba-switchd.sock", runtime);
    if (!parse(argc, argv, &diag))
        return EXIT_USAGE;
    do {
        code = diag.ping ? ping(&diag) : show_status(&diag);
        if (fflush(stdout) != 0 || ferror(stdout) != 0) {
            complain("cannot print", strerror(errno));
            return EXIT_NO_SWITCH;
        }
    } while (diag.watch != 0 && sleep(diag.watch) == 0);
    return code;
}
