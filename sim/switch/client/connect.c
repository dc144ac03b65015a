/* SPDX-License-Identifier: BSD-3-Clause */
/* Connect to gba-switchd: the socket, and the greeting. */
#define _GNU_SOURCE /* explicit_bzero */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gba/base/batch_job.h"
#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "sim/switch/client/client.h"

/* Time between two attempts while the queue of a Unix socket is full, in ms. */
#define AGAIN_MS 10

/* Addresses of a host that are tried, and the time between two of them in ms. */
#define ADDRESSES  8
#define STAGGER_MS 250

/* Log the errno for which the connection failed, and return the status for it. */
static gba_status_t unreachable(const struct gba_client *client, int error)
{
    gba_log(GBA_LOG_ERROR, "cannot reach gba-switchd at %s: %s", client->name, strerror(error));
    return EACCES == error || EPERM == error ? GBA_ERR_PERM : GBA_ERR_IO;
}

/* Milliseconds until `due`, for poll. */
static int remaining_ms(uint64_t due)
{
    uint64_t now = gba_clock_ns();

    return now >= due ? 0 : (int)((due - now) / 1000000u + 1);
}

/* Wait until the file is ready for the events. Returns 0 or an errno. */
static int ready(int file, short events, uint64_t due)
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
            error = ready(file, POLLOUT, due);
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
    gba_status_t status;
    int error;

    /* The parser has checked the length. */
    snprintf(address.sun_path, sizeof address.sun_path, "%.*s", (int)sizeof address.sun_path - 1,
             path->file);
    error = gba_file_open(&client->file, AF_UNIX, SOCK_STREAM, 0);
    if (0 != error)
        return unreachable(client, error);
    error = socket_connect(client->file.socket.number, (const struct sockaddr *)&address,
                           sizeof address, due);
    status =
        0 == error ? gba_client_listener_check(client, path->owner) : unreachable(client, error);
    if (GBA_OK != status)
        gba_file_close(&client->file);
    return status;
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

/* Start to connect to one address. Returns 0: connected; EINPROGRESS; or another errno, with no
 * socket. */
static int tcp_start(const struct addrinfo *address, struct gba_client_file *file)
{
    int error = gba_file_open(file, address->ai_family, address->ai_socktype, address->ai_protocol);

    if (0 != error)
        return error;
    tcp_options(file->socket.number);
    if (0 == connect(file->socket.number, address->ai_addr, address->ai_addrlen))
        return 0;
    error = EINTR == errno ? EINPROGRESS : errno;
    if (EINPROGRESS != error)
        gba_file_close(file);
    return error;
}

/* Wait until one of the sockets is connected, or all have failed, for at most `ms`. Closes those
 * that have failed. Returns its index, or -1 with *error, if that is known. */
static int tcp_await(struct gba_client_file *file, int count, int ms, int *error)
{
    struct pollfd wait[ADDRESSES];
    socklen_t len = sizeof *error;

    for (int i = 0; i < count; i++) /* poll ignores -1 */
        wait[i] = (struct pollfd){.fd = file[i].socket.number, .events = POLLOUT};

    if (poll(wait, (nfds_t)count, ms) < 0 && EINTR != errno)
        *error = errno;
    for (int i = 0; i < count; i++) {
        if (wait[i].fd < 0 || 0 == wait[i].revents)
            continue;
        if (0 == getsockopt(wait[i].fd, SOL_SOCKET, SO_ERROR, error, &len) && 0 == *error)
            return i;
        gba_file_close(&file[i]);
    }
    return -1;
}

static int tcp_pending(const struct gba_client_file *file, int count)
{
    int pending = 0;

    for (int i = 0; i < count; i++)
        pending += file[i].socket.number >= 0;
    return pending;
}

/* Connect to the first address that answers. An address that does not answer delays the others by
 * STAGGER_MS only. Returns 0 or an errno. */
static int tcp_connect(const struct addrinfo *list, uint64_t due, struct gba_client_file *file)
{
    struct gba_client_file started[ADDRESSES];
    int count = 0, chosen = -1, error = EHOSTUNREACH;

    while (chosen < 0 && (list != NULL || 0 != tcp_pending(started, count))) {
        const int remaining = remaining_ms(due);
        int ms = list != NULL && STAGGER_MS < remaining ? STAGGER_MS : remaining;

        if (list != NULL) {
            error = tcp_start(list, &started[count]);
            list = count + 1 < ADDRESSES ? list->ai_next : NULL;
            if (0 != error && EINPROGRESS != error)
                continue;
            count++;
            ms = list == NULL ? remaining : ms;
        }
        chosen = tcp_await(started, count, ms, &error);
        if (chosen < 0 && 0 == remaining_ms(due)) {
            error = ETIMEDOUT;
            break;
        }
    }
    if (chosen >= 0)
        gba_file_move(file, &started[chosen]);
    for (int i = 0; i < count; i++)
        gba_file_close(&started[i]);
    return chosen < 0 ? error : 0;
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
    return 0 == error ? GBA_OK : unreachable(client, error);
}

/* Whether both ends of the TCP connection have the same address. */
static bool is_own_host(int file)
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

/* --- The greeting --- */

/* Send the greeting with that proof; of no message on a Unix socket. */
static gba_status_t hello_send(const struct gba_client *client,
                               const struct gba_client_proof *proof)
{
    const struct gba_switch_message hello = {.type = GBA_SWITCH_HELLO,
                                             .code = GBA_SWITCH_PROTOCOL,
                                             .group = GBA_SWITCH_MAGIC,
                                             .member = (uint32_t)getpid(),
                                             .generation = (uint32_t)geteuid(),
                                             .value = client->job};
    uint8_t bytes[(4 + GBA_CLIENT_PROOF) * GBA_SWITCH_MESSAGE_BYTES];
    struct gba_switch_message message;
    char host[GBA_SWITCH_NAME_BYTES + 1] = "", job[GBA_BATCH_JOB];
    size_t len = 0;
    ssize_t sent;

    gba_switch_encode(&hello, bytes);
    len += GBA_SWITCH_MESSAGE_BYTES;
    for (uint32_t i = 0; i < proof->count; i++, len += GBA_SWITCH_MESSAGE_BYTES)
        gba_switch_encode(&proof->message[i], bytes + len);
    (void)gethostname(host, sizeof host - 1);
    gba_switch_name_set(&message, GBA_SWITCH_NAME_HOST, host);
    gba_switch_encode(&message, bytes + len);
    len += GBA_SWITCH_MESSAGE_BYTES;
    gba_batch_job(0, job);
    if ('\0' != job[0]) {
        gba_switch_name_set(&message, GBA_SWITCH_NAME_JOB, job);
        gba_switch_encode(&message, bytes + len);
        len += GBA_SWITCH_MESSAGE_BYTES;
    }
    if (0 < proof->count && gba_client_identify(&message)) { /* else the switch sees it itself */
        gba_switch_encode(&message, bytes + len);
        len += GBA_SWITCH_MESSAGE_BYTES;
    }
    /* The send buffer of a new connection has room for the greeting. */
    sent = send(client->file.socket.number, bytes, len, MSG_NOSIGNAL);
    explicit_bzero(bytes, sizeof bytes);
    return (ssize_t)len == sent ? GBA_OK : unreachable(client, sent < 0 ? errno : EIO);
}

/* Receive one message, and no byte more. */
static gba_status_t message_receive(const struct gba_client *client, uint64_t due,
                                    struct gba_switch_message *message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];
    size_t len = 0;

    while (len < sizeof bytes) {
        int error = ready(client->file.socket.number, POLLIN, due);
        ssize_t got;

        if (0 != error)
            return unreachable(client, error);
        got = recv(client->file.socket.number, bytes + len, sizeof bytes - len, 0);
        if (0 == got)
            return unreachable(client, ECONNRESET);
        if (got < 0 && EINTR != errno && EAGAIN != errno)
            return unreachable(client, errno);
        len += got > 0 ? (size_t)got : 0;
    }
    if (gba_switch_decode(bytes, GBA_SWITCH_SERVER, message))
        return GBA_OK;
    gba_log(GBA_LOG_ERROR, "%s is not a gba-switchd: invalid greeting", client->name);
    return GBA_ERR_NOT_GBA;
}

static gba_status_t refusal_status(unsigned refusal)
{
    switch (refusal) {
    case GBA_SWITCH_REFUSED_VERSION:
        return GBA_ERR_VERSION;
    case GBA_SWITCH_REFUSED_USER:
    case GBA_SWITCH_REFUSED_SECRET:
    case GBA_SWITCH_REFUSED_CREDENTIAL:
    case GBA_SWITCH_REFUSED_JOB:
        return GBA_ERR_PERM;
    case GBA_SWITCH_REFUSED_PORTS:
    case GBA_SWITCH_REFUSED_QUOTA:
        return GBA_ERR_BUSY;
    default:
        return GBA_ERR_IO;
    }
}

static gba_status_t welcome_check(struct gba_client *client, const gba_device_attr_t *attr,
                                  const struct gba_switch_message *message)
{
    char advice[256];
    uint64_t uuid[2];

    if (GBA_SWITCH_ERROR == message->type) {
        gba_client_key_advice(attr, message->code, advice, sizeof advice);
        gba_log(GBA_LOG_ERROR, "gba-switchd at %s refused the connection: %s%s", client->name,
                gba_switch_refusal_text(message->code), advice);
        return refusal_status(message->code);
    }
    if (GBA_SWITCH_WELCOME != message->type || 0 == message->group || message->group > GBA_GROUPS) {
        gba_log(GBA_LOG_ERROR, "%s is not a gba-switchd: invalid greeting", client->name);
        return GBA_ERR_NOT_GBA;
    }
    if (GBA_SWITCH_PROTOCOL != message->code || GBA_REGS_MAJOR != message->generation >> 16) {
        gba_log(GBA_LOG_ERROR,
                "gba-switchd at %s has protocol %u and registers of version %" PRIu32 ".%" PRIu32
                ", not %u and %u.x",
                client->name, message->code, message->generation >> 16,
                message->generation & 0xFFFFu, GBA_SWITCH_PROTOCOL, GBA_REGS_MAJOR);
        return GBA_ERR_VERSION;
    }
    client->groups = message->group;
    client->version = message->generation;
    uuid[0] = htole64(message->value); /* as gba_model_uuid: hosts of any byte order compare it */
    uuid[1] = htole64(message->key);
    memcpy(client->uuid, uuid, sizeof client->uuid);
    return GBA_OK;
}

/* Time in ns in which the switch must answer the greeting. */
static uint64_t open_timeout(const gba_device_attr_t *attr)
{
    uint64_t ns = attr == NULL ? 0 : attr->timeout_ms * UINT64_C(1000000);

    return 0 == ns || ns > GBA_CLIENT_SILENCE ? GBA_CLIENT_SILENCE : ns;
}

gba_status_t gba_client_connect(struct gba_client *client, const struct gba_dev_path *path,
                                const gba_device_attr_t *attr)
{
    const uint64_t due = gba_clock_ns() + open_timeout(attr);
    const bool tcp = '\0' != path->host[0];
    struct gba_client_proof proof = {.count = 0};
    struct gba_switch_message message;
    gba_status_t status = tcp ? gba_client_prove(client, path, attr, &proof) : GBA_OK;

    if (GBA_OK != status)
        return status;
    status = tcp ? connect_tcp(client, path, due) : connect_unix(client, path, due);
    if (GBA_OK != status)
        goto clear_proof;
    status = hello_send(client, &proof);
    if (GBA_OK == status)
        status = message_receive(client, due, &message);
    if (GBA_OK == status)
        status = welcome_check(client, attr, &message);
    client->dev.served_here = !tcp || is_own_host(client->file.socket.number);
    if (GBA_OK != status)
        gba_file_close(&client->file);
clear_proof:
    explicit_bzero(&proof, sizeof proof);
    return status;
}
