/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/switch/diag/diag.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/base/json.h"
#include "sim/switch/net/trust.h"

static bool keeps;
static char kept[512];

int gba_diag_complain(const char *format, ...)
{
    char text[sizeof(kept)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!keeps)
        fprintf(stderr, "gba_diag: %s\n", text);
    else if (kept[0] == '\0')
        memcpy(kept, text, sizeof(kept));
    return -1;
}

void gba_diag_keep(void)
{
    keeps = true;
}

void gba_diag_print_kept(int code)
{
    struct gba_json json = {.out = stdout};

    if (kept[0] == '\0')
        return;
    gba_json_begin(&json, NULL, '{');
    gba_json_string(&json, "error", kept);
    gba_json_value(&json, "status", "%d", code);
    gba_json_end(&json);
}

/* Let connect, send and receive fail after that time. Returns false for a time in the past. */
static bool limit_time(int fd, uint64_t due)
{
    uint64_t now = gba_clock_ns(), left = due > now ? due - now : 0;
    const struct timeval time = {.tv_sec = (time_t)(left / 1000000000u),
                                 .tv_usec = (suseconds_t)(left % 1000000000u / 1000u)};

    if (time.tv_sec == 0 && time.tv_usec == 0)
        return false; /* 0 would be no limit */
    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0;
}

/* connect, with a limit. Returns 0 or an error number. */
static int connect_until(int fd, const struct sockaddr *address, socklen_t length, uint64_t due)
{
    if (!limit_time(fd, due))
        return ETIMEDOUT;
    if (connect(fd, address, length) == 0)
        return 0;
    /* The kernel's errors when the time of SO_SNDTIMEO is over. */
    return errno == EINPROGRESS || errno == EAGAIN ? ETIMEDOUT : errno;
}

/* Report why there is no connection, and what to do. */
static int unreachable(const struct diag *diag, const char *reason)
{
    char advice[160];

    gba_device_advice(diag->path, GBA_ERR_IO, advice, sizeof(advice));
    return gba_diag_complain("cannot reach gba-switchd at %s: %s. %s", diag->path, reason, advice);
}

static int connect_unix(const struct diag *diag, uint64_t due)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char reason[256];
    int fd, error;

    strcpy(address.sun_path, diag->device.file);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    error =
        fd < 0 ? errno : connect_until(fd, (const struct sockaddr *)&address, sizeof(address), due);
    if (error != 0)
        unreachable(diag, strerror(error));
    else if (gba_switch_listener_trusted(fd, diag->device.owner, reason, sizeof(reason)))
        return fd;
    else
        gba_diag_complain("%s: %s", diag->path, reason);
    if (fd >= 0)
        close(fd);
    return -1;
}

static int connect_tcp(const struct diag *diag, uint64_t due)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const uint32_t number = diag->device.port;
    const int on = 1;
    struct addrinfo *list = NULL;
    int fd = -1, error;
    char port[16];

    snprintf(port, sizeof(port), "%u", number == 0 ? GBA_SWITCH_TCP_PORT : number);
    error = getaddrinfo(diag->device.host, port, &hints, &list);
    if (error != 0)
        return unreachable(diag, gai_strerror(error));
    for (const struct addrinfo *info = list; info != NULL && fd < 0; info = info->ai_next) {
        fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        error = fd < 0 ? errno : connect_until(fd, info->ai_addr, info->ai_addrlen, due);
        if (error != 0 && fd >= 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    if (fd < 0)
        return unreachable(diag, strerror(error));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

bool gba_diag_send(int fd, const struct gba_switch_message *message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    gba_switch_encode(message, bytes);
    return send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) == sizeof(bytes);
}

bool gba_diag_receive_bytes(int fd, void *buffer, size_t bytes)
{
    return recv(fd, buffer, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

bool gba_diag_receive(int fd, uint8_t type, struct gba_switch_message *message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    if (!gba_diag_receive_bytes(fd, bytes, sizeof(bytes))) {
        gba_diag_complain("the switch does not answer: connection closed, or no answer in time");
        return false;
    }
    if (gba_switch_decode(bytes, GBA_SWITCH_SERVER, message) && message->type == type)
        return true;
    gba_diag_complain("refused by the switch: %s", message->type == GBA_SWITCH_ERROR
                                                       ? gba_switch_refusal_text(message->code)
                                                       : "unexpected message");
    return false;
}

static bool send_key(int fd, const char *path)
{
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];
    struct gba_switch_message message;
    char reason[128];

    if (!gba_switch_key_read(path, secret, reason, sizeof(reason))) {
        gba_diag_complain("%s: %s", path, reason);
        return false;
    }
    gba_switch_secret_set(&message, secret);
    return gba_diag_send(fd, &message);
}

int gba_diag_connect(const struct diag *diag, const struct gba_switch_message *greeting)
{
    const uint64_t timeout = diag->timeout * UINT64_C(1000000000);
    const char *key_file = gba_switch_key_file(diag->key_file);
    const bool tcp = diag->device.host[0] != '\0';
    int fd;

    if (tcp && key_file == NULL)
        return gba_diag_complain("%s: TCP needs --key-file, or " GBA_SWITCH_KEY_VARIABLE
                                 " in the environment",
                                 diag->path);
    fd = (tcp ? connect_tcp : connect_unix)(diag, gba_clock_ns() + timeout);
    if (fd < 0)
        return -1;
    if (limit_time(fd, gba_clock_ns() + timeout) && gba_diag_send(fd, greeting) &&
        (!tcp || send_key(fd, key_file)))
        return fd;
    close(fd);
    return -1;
}
