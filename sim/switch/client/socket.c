/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket to a gba-switchd: connects by a Unix socket or by TCP. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/base/system_status.h"
#include "sim/switch/client/client.h"

/* Time between two attempts while the queue of a Unix socket is full, in ms. */
#define AGAIN_MS 10

gba_status_t gba_socket_failed(const struct gba_client *client, int error)
{
    gba_status_t status;

    gba_log(GBA_LOG_ERROR, "cannot reach gba-switchd at %s: %s", client->name, strerror(error));
    status = gba_system_status(error);
    return GBA_ERR_IO == status ? GBA_ERR_AWAY : status;
}

/* Milliseconds until `due`, for poll. */
static int remaining_ms(uint64_t due)
{
    uint64_t now = gba_clock_ns();

    return now >= due ? 0 : (int)((due - now) / 1000000u + 1);
}

int gba_socket_ready(int file, short events, uint64_t due)
{
    struct pollfd wait = {.fd = file, .events = events};
    int count;

    do
        count = poll(&wait, 1, remaining_ms(due));
    while (count < 0 && EINTR == errno);
    if (count < 0)
        return errno;
    return 0 == count ? ETIMEDOUT : 0;
}

/* Connect a socket that does not block. Returns 0 or an errno. */
static int socket_connect(int file, const struct sockaddr *address, socklen_t size, uint64_t due)
{
    socklen_t len = sizeof(int);
    int error;

    while (0 != connect(file, address, size)) {
        if (EINPROGRESS == errno || EINTR == errno) {
            error = gba_socket_ready(file, POLLOUT, due);
            if (0 == error && 0 != getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &len))
                error = errno;
            return error;
        }
        if (EAGAIN != errno)
            return errno;
        if (0 == remaining_ms(due))
            return ETIMEDOUT;
        (void)poll(NULL, 0, AGAIN_MS);
    }
    return 0;
}

static gba_status_t connect_unix(struct gba_client *client, const struct gba_dev_path *path,
                                 uint64_t due)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int error;

    /* The parser has checked the length. */
    snprintf(address.sun_path, sizeof address.sun_path, "%.*s", (int)sizeof address.sun_path - 1,
             path->file);
    error = gba_file_open(&client->file, AF_UNIX, SOCK_STREAM, 0);
    if (0 == error)
        error = socket_connect(client->file.socket.number, (const struct sockaddr *)&address,
                               sizeof address, due);
    return 0 == error ? gba_client_listener_check(client, path->owner)
                      : gba_socket_failed(client, error);
}

/* Set the options of the connection. An arrival must not wait for the answer to an earlier message.
 * A connection that takes no data for too long is lost. */
static void tcp_options(int file)
{
    const unsigned silence_ms = (unsigned)(GBA_CLIENT_SILENCE / 1000000u);
    const int on = 1;

    (void)setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(file, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
}

/* Connect to the first address that answers. Each has half of the time that is left, and the last
 * one all of it. Returns 0 or an errno. */
static int tcp_connect(const struct addrinfo *list, uint64_t due, struct gba_client_file *file)
{
    int error = EHOSTUNREACH;

    for (; list != NULL; list = list->ai_next) {
        const uint64_t now = gba_clock_ns(), left = now < due ? due - now : 0;

        error = gba_file_open(file, list->ai_family, SOCK_STREAM, IPPROTO_TCP);
        if (0 != error)
            continue;
        tcp_options(file->socket.number);
        error = socket_connect(file->socket.number, list->ai_addr, list->ai_addrlen,
                               now + (list->ai_next != NULL ? left / 2 : left));
        if (0 == error)
            break;
        gba_file_close(file);
    }
    return error;
}

static gba_status_t connect_tcp(struct gba_client *client, const struct gba_dev_path *path,
                                uint64_t due)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    char port[12];
    int error;

    snprintf(port, sizeof port, "%u", 0 == path->port ? GBA_SWITCH_TCP_PORT : path->port);
    error = getaddrinfo(path->host, port, &hints, &list);
    if (0 != error) {
        gba_log(GBA_LOG_ERROR, "cannot reach gba-switchd at %s: %s", client->name,
                EAI_SYSTEM == error ? strerror(errno) : gai_strerror(error));
        return GBA_ERR_IO;
    }
    error = tcp_connect(list, due, &client->file);
    freeaddrinfo(list);
    return 0 == error ? GBA_OK : gba_socket_failed(client, error);
}

bool gba_socket_is_local(int file)
{
    union {
        struct sockaddr any;
        struct sockaddr_in ip;
        struct sockaddr_in6 ipv6;
    } here, there;
    socklen_t here_len = sizeof here, there_len = sizeof there;

    memset(&here, 0, sizeof here);
    memset(&there, 0, sizeof there);
    if (0 != getsockname(file, &here.any, &here_len) ||
        0 != getpeername(file, &there.any, &there_len))
        return false;
    if (here.any.sa_family != there.any.sa_family)
        return false;
    return AF_INET == here.any.sa_family ? here.ip.sin_addr.s_addr == there.ip.sin_addr.s_addr
                                         : 0 == memcmp(&here.ipv6.sin6_addr, &there.ipv6.sin6_addr,
                                                       sizeof here.ipv6.sin6_addr);
}

gba_status_t gba_socket_open(struct gba_client *client, const struct gba_dev_path *path,
                             uint64_t due)
{
    return '\0' != path->host[0] ? connect_tcp(client, path, due) : connect_unix(client, path, due);
}
