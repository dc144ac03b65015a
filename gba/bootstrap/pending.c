/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* accept4, explicit_bzero */
#include "gba/bootstrap/pending.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/base/clock.h"

#define HELLO_NS 10000000000u /* time for a hello */
#define ACCEPTS  64u /* in a row; then earlier connections are read, which may be members */

/* Remove a connection. Its descriptor stays open and belongs to the caller. */
static void connection_remove(struct gba_boot_pending *pending, uint32_t index)
{
    pending->count--;
    memmove(&pending->connections[index], &pending->connections[index + 1],
            (pending->count - index) * sizeof pending->connections[0]);
}

static void connection_close(struct gba_boot_pending *pending, uint32_t index)
{
    gba_descriptor_close(&pending->connections[index].socket);
    connection_remove(pending, index);
}

bool gba_boot_pending_accept(struct gba_boot_pending *pending,
                             const struct gba_descriptor *listener)
{
    for (unsigned i = 0; i < ACCEPTS; i++) {
        struct gba_descriptor socket;
        int fd = accept4(gba_descriptor_number(listener), NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0 && (EMFILE == errno || ENFILE == errno || ENOBUFS == errno || ENOMEM == errno)) {
            if (pending->count > 0)
                connection_close(pending, 0);
            return false;
        }
        if (fd < 0)
            return true;
        if (!gba_descriptor_keep(&socket, fd)) {
            close(fd);
            continue;
        }
        if (GBA_BOOT_PENDING_MAX == pending->count)
            connection_close(pending, 0);
        gba_boot_tune(fd);
        pending->connections[pending->count++] =
            (struct gba_boot_connection){.socket = socket, .since = gba_clock_ns()};
    }
    return true;
}

bool gba_boot_pending_read(struct gba_boot_pending *pending, uint32_t index,
                           const uint8_t secret[GBA_BOOT_SECRET], struct gba_boot_hello *hello,
                           struct gba_descriptor *socket)
{
    struct gba_boot_connection *connection = &pending->connections[index];
    ssize_t got =
        recv(gba_descriptor_number(&connection->socket), connection->hello + connection->got,
             sizeof connection->hello - connection->got, 0);

    if (got < 0 && gba_boot_try_again())
        return false;
    if (got <= 0) {
        connection_close(pending, index);
        return false;
    }
    connection->got += (size_t)got;
    if (connection->got < sizeof connection->hello)
        return false;
    if (!gba_boot_hello_unpack(connection->hello, hello) ||
        !gba_boot_secret_equal(hello->secret, secret)) {
        connection_close(pending, index);
        return false;
    }
    *socket = connection->socket;
    connection_remove(pending, index);
    return true;
}

void gba_boot_pending_expire(struct gba_boot_pending *pending)
{
    while (pending->count > 0 && gba_clock_ns() - pending->connections[0].since > HELLO_NS)
        connection_close(pending, 0);
}

void gba_boot_pending_close(struct gba_boot_pending *pending)
{
    while (pending->count > 0)
        connection_close(pending, 0);
    explicit_bzero(pending, sizeof *pending);
}
