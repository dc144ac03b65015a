/* SPDX-License-Identifier: BSD-3-Clause */
/* A member of a unique id. It has one connection to the root, which collects and distributes the
 * data of all members. */
#define _GNU_SOURCE /* explicit_bzero */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/bootstrap/address.h"
#include "gba/bootstrap/backend.h"
#include "gba/bootstrap/settings.h"

/* A member waits this much longer than the root, because only the root's report names the missing
 * ranks. */
#define GRACE_NS 10000000000u

#define LOOK_MS 100 /* between two looks at a stall */

struct member {
    struct gba_boot_backend base;
    struct gba_descriptor socket;
    uint64_t timeout; /* ns; 0: none */
    char root[80];    /* its address, for messages */
};

static uint64_t deadline_of(const struct member *m)
{
    return 0 == m->timeout ? 0 : gba_clock_ns() + m->timeout + GRACE_NS;
}

static gba_status_t connection_failed(const struct member *m, gba_status_t status, char *message)
{
    if (GBA_ERR_TIMEOUT == status)
        snprintf(message, GBA_BOOT_MESSAGE, "the root of the unique id at %s does not answer",
                 m->root);
    else
        snprintf(message, GBA_BOOT_MESSAGE,
                 "the root of the unique id at %s has closed the connection", m->root);
    return status;
}

/* Wait for the first byte of a reply, without reading it. */
static gba_status_t wait_for_reply(const struct member *m, uint64_t deadline)
{
    struct pollfd poller = {.fd = m->socket.number, .events = POLLIN};
    char byte;

    for (;;) {
        int ready = poll(&poller, 1, m->base.look != NULL ? LOOK_MS : gba_boot_poll_ms(deadline));

        if (ready > 0)
            break;
        if (ready < 0 && EINTR != errno)
            return GBA_ERR_OOB;
        if (0 != deadline && gba_clock_ns() >= deadline)
            return GBA_ERR_TIMEOUT;
        if (m->base.look != NULL)
            m->base.look(m->base.look_ctx);
    }
    return 1 == recv(gba_descriptor_number(&m->socket), &byte, 1, MSG_PEEK) ? GBA_OK : GBA_ERR_OOB;
}

/* Read the header of a reply. If the reply is an error, read its text and return its status. */
static gba_status_t read_reply(struct member *m, uint64_t bytes, uint64_t deadline, char *message)
{
    uint8_t packed[GBA_BOOT_REPLY_BYTES];
    struct gba_boot_reply reply;
    gba_status_t status = gba_boot_read(&m->socket, packed, sizeof packed, deadline);

    if (GBA_OK != status)
        return connection_failed(m, status, message);
    if (!gba_boot_reply_unpack(packed, &reply) ||
        (GBA_OK == reply.status ? reply.bytes != bytes : reply.bytes >= GBA_BOOT_MESSAGE)) {
        snprintf(message, GBA_BOOT_MESSAGE, "%s is not the root of a unique id", m->root);
        return GBA_ERR_OOB;
    }
    if (GBA_OK == reply.status)
        return GBA_OK;
    status = gba_boot_read(&m->socket, message, (size_t)reply.bytes, deadline);
    if (GBA_OK != status)
        return connection_failed(m, status, message);
    message[reply.bytes] = '\0';
    return reply.status;
}

/* One call: in has in_bytes, and out receives out_bytes. */
static gba_status_t call(struct member *m, const struct gba_boot_request *request, const void *in,
                         size_t in_bytes, void *out, size_t out_bytes, char *message)
{
    uint8_t packed[GBA_BOOT_REQUEST_BYTES];
    uint64_t deadline = deadline_of(m);
    gba_status_t status;

    gba_boot_request_pack(request, packed);
    status = gba_boot_write(&m->socket, packed, sizeof packed, deadline);
    if (GBA_OK == status)
        status = gba_boot_write(&m->socket, in, in_bytes, deadline);
    if (GBA_OK == status && GBA_ERR_TIMEOUT == wait_for_reply(m, deadline))
        status = GBA_ERR_TIMEOUT;
    if (GBA_ERR_TIMEOUT == status)
        return connection_failed(m, status, message);
    /* If the root has closed the connection, it may have sent the reason before. */
    status = read_reply(m, out_bytes, deadline, message);
    if (GBA_OK != status)
        return status;
    status = gba_boot_read(&m->socket, out, out_bytes, deadline);
    return GBA_OK == status ? GBA_OK : connection_failed(m, status, message);
}

static gba_status_t member_gather(struct gba_boot_backend *self, const void *in, void *out,
                                  size_t bytes, char *message)
{
    const struct gba_boot_request request = {.kind = GBA_BOOT_GATHER, .bytes = bytes};

    return call((struct member *)self, &request, in, bytes, out, bytes * self->size, message);
}

static gba_status_t member_min(struct gba_boot_backend *self, uint64_t *words, uint32_t count,
                               char *message)
{
    const struct gba_boot_request request = {.kind = GBA_BOOT_MIN, .bytes = count * sizeof *words};
    gba_status_t status;

    for (uint32_t i = 0; i < count; i++)
        words[i] = htobe64(words[i]);
    status =
        call((struct member *)self, &request, words, request.bytes, words, request.bytes, message);
    for (uint32_t i = 0; i < count; i++)
        words[i] = be64toh(words[i]);
    return status;
}

static gba_status_t member_bcast(struct gba_boot_backend *self, void *buffer, size_t bytes,
                                 uint32_t root, char *message)
{
    const struct gba_boot_request request = {.kind = GBA_BOOT_BCAST, .root = root, .bytes = bytes};

    return call((struct member *)self, &request, buffer, self->rank == root ? bytes : 0, buffer,
                bytes, message);
}

static void member_close(struct gba_boot_backend *self)
{
    struct member *m = (struct member *)self;

    gba_descriptor_close(&m->socket);
    free(m);
}

/* The address from which this member reaches the root: the members reach the root's host, and so
 * probably each other, in the same network. */
static gba_status_t member_address(const struct gba_boot_backend *self,
                                   struct gba_boot_address *address)
{
    return gba_boot_address_local(address,
                                  gba_descriptor_number(&((const struct member *)self)->socket));
}

static const struct gba_boot_ops member_ops = {.gather = member_gather,
                                               .bcast = member_bcast,
                                               .close = member_close,
                                               .address = member_address,
                                               .min = member_min};

/* Wait for the end of connect. Returns 0 or an errno. */
static int connected(int fd, uint64_t deadline)
{
    struct pollfd poller = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t len = sizeof error;

    while (poll(&poller, 1, gba_boot_poll_ms(deadline)) <= 0)
        if (0 != deadline && gba_clock_ns() >= deadline)
            return ETIMEDOUT;
    return 0 != getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) ? errno : error;
}

static gba_status_t connect_root(struct member *m, const struct gba_boot_address *address,
                                 uint64_t deadline, char *message)
{
    int fd = socket(address->socket.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = 0;

    if (fd < 0 || !gba_descriptor_keep(&m->socket, fd))
        error = errno;
    else if (0 != connect(fd, &address->socket.any, address->len))
        error = EINPROGRESS == errno || EINTR == errno ? connected(fd, deadline) : errno;
    if (0 == error) {
        gba_boot_tune(fd);
        return GBA_OK;
    }
    snprintf(message, GBA_BOOT_MESSAGE, "cannot connect to the root of the unique id at %s: %s%s",
             m->root, strerror(error),
             address->loopback ? "; the id is for one host only. Several hosts need "
                                 "GBA_BOOTSTRAP_IFNAME where it is made"
                               : "");
    return ETIMEDOUT == error ? GBA_ERR_TIMEOUT : GBA_ERR_OOB;
}

/* Send the secret, and wait for the reply that all members have joined. */
static gba_status_t join(struct member *m, const struct gba_boot_address *address,
                         uint64_t deadline, char *message)
{
    struct gba_boot_hello hello = {.rank = m->base.rank, .size = m->base.size};
    uint8_t packed[GBA_BOOT_HELLO_BYTES];
    gba_status_t status;

    memcpy(hello.secret, address->secret, sizeof hello.secret);
    gba_boot_hello_pack(&hello, packed);
    status = gba_boot_write(&m->socket, packed, sizeof packed, deadline);
    explicit_bzero(&hello, sizeof hello);
    explicit_bzero(packed, sizeof packed);
    if (GBA_ERR_TIMEOUT == status)
        return connection_failed(m, status, message);
    /* If the secret is wrong, the root closes the connection without a reply. */
    status = wait_for_reply(m, deadline);
    if (GBA_ERR_OOB == status) {
        snprintf(message, GBA_BOOT_MESSAGE,
                 "%s has closed the connection before all members had joined: the secret of the "
                 "unique id is wrong, or its root has ended",
                 m->root);
        return GBA_ERR_REFUSED;
    }
    return GBA_OK == status ? read_reply(m, 0, deadline, message)
                            : connection_failed(m, status, message);
}

gba_status_t gba_boot_uid_open(const gba_bootstrap_uid_t *uid, uint32_t rank, uint32_t size,
                               struct gba_boot_backend **backend, char *message)
{
    struct member *m = calloc(1, sizeof *m);
    struct gba_boot_address address = {.loopback = false};
    gba_status_t status;
    uint64_t deadline;

    if (m == NULL) {
        snprintf(message, GBA_BOOT_MESSAGE, "out of memory");
        return GBA_ERR_NOMEM;
    }
    m->base = (struct gba_boot_backend){.ops = &member_ops, .rank = rank, .size = size};
    m->socket.number = -1;
    status = gba_boot_address_parse(uid->text, &address);
    if (GBA_OK == status)
        status = gba_boot_env_timeout(&m->timeout, message, GBA_BOOT_MESSAGE);
    gba_boot_address_name(&address, m->root, sizeof m->root);
    deadline = deadline_of(m);
    if (GBA_OK == status)
        status = connect_root(m, &address, deadline, message);
    if (GBA_OK == status)
        status = join(m, &address, deadline, message);
    explicit_bzero(&address, sizeof address);
    if (GBA_OK != status) {
        member_close(&m->base);
        return status;
    }
    *backend = &m->base;
    return GBA_OK;
}
