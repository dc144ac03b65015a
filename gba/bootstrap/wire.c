/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* MSG_NOSIGNAL */
#include "gba/bootstrap/wire.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "gba/base/clock.h"

#define MAGIC_HELLO 0x67626169u /* "gbai"; a new version of the protocol gets a new value */
#define MAGIC_REPLY 0x67626172u

static void put32(uint8_t *at, uint32_t value)
{
    value = htobe32(value);
    memcpy(at, &value, sizeof value);
}

static void put64(uint8_t *at, uint64_t value)
{
    value = htobe64(value);
    memcpy(at, &value, sizeof value);
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return be32toh(value);
}

static uint64_t get64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return be64toh(value);
}

void gba_boot_hello_pack(const struct gba_boot_hello *hello, uint8_t bytes[GBA_BOOT_HELLO_BYTES])
{
    memset(bytes, 0, GBA_BOOT_HELLO_BYTES);
    put32(bytes, MAGIC_HELLO);
    memcpy(bytes + 4, hello->secret, GBA_BOOT_SECRET);
    put32(bytes + 20, hello->rank);
    put32(bytes + 24, hello->size);
}

bool gba_boot_hello_unpack(const uint8_t bytes[GBA_BOOT_HELLO_BYTES], struct gba_boot_hello *hello)
{
    memcpy(hello->secret, bytes + 4, GBA_BOOT_SECRET);
    hello->rank = get32(bytes + 20);
    hello->size = get32(bytes + 24);
    return MAGIC_HELLO == get32(bytes);
}

void gba_boot_request_pack(const struct gba_boot_request *request,
                           uint8_t bytes[GBA_BOOT_REQUEST_BYTES])
{
    put32(bytes, request->kind);
    put32(bytes + 4, request->root);
    put64(bytes + 8, request->bytes);
}

void gba_boot_request_unpack(const uint8_t bytes[GBA_BOOT_REQUEST_BYTES],
                             struct gba_boot_request *request)
{
    request->kind = get32(bytes);
    request->root = get32(bytes + 4);
    request->bytes = get64(bytes + 8);
}

void gba_boot_reply_pack(const struct gba_boot_reply *reply, uint8_t bytes[GBA_BOOT_REPLY_BYTES])
{
    put32(bytes, MAGIC_REPLY);
    put32(bytes + 4, (uint32_t)-reply->status);
    put64(bytes + 8, reply->bytes);
}

bool gba_boot_reply_unpack(const uint8_t bytes[GBA_BOOT_REPLY_BYTES], struct gba_boot_reply *reply)
{
    uint32_t status = get32(bytes + 4);

    if (MAGIC_REPLY != get32(bytes) || status > (uint32_t)-GBA_STATUS_LAST)
        return false;
    reply->status = (gba_status_t) - (int)status;
    reply->bytes = get64(bytes + 8);
    return true;
}

void gba_boot_signal_pack(const struct gba_boot_signal *signal,
                          uint8_t bytes[GBA_BOOT_SIGNAL_BYTES])
{
    put32(bytes, signal->channel);
    put32(bytes + 4, signal->slot);
    put32(bytes + 8, signal->sequence);
    put64(bytes + 12, signal->epoch);
}

void gba_boot_signal_unpack(const uint8_t bytes[GBA_BOOT_SIGNAL_BYTES],
                            struct gba_boot_signal *signal)
{
    signal->channel = get32(bytes);
    signal->slot = get32(bytes + 4);
    signal->sequence = get32(bytes + 8);
    signal->epoch = get64(bytes + 12);
}

bool gba_boot_secret_equal(const uint8_t a[GBA_BOOT_SECRET], const uint8_t b[GBA_BOOT_SECRET])
{
    unsigned differ = 0;

    for (unsigned i = 0; i < GBA_BOOT_SECRET; i++)
        differ |= (unsigned)(a[i] ^ b[i]);
    return 0 == differ;
}

int gba_boot_poll_ms(uint64_t deadline)
{
    uint64_t now;

    if (0 == deadline)
        return -1;
    now = gba_clock_ns();
    if (now >= deadline)
        return 0;
    deadline = (deadline - now) / 1000000u + 1;
    return deadline > 60000u ? 60000 : (int)deadline;
}

/* Wait until the socket is ready, or has failed. */
static gba_status_t wait_for(const struct gba_descriptor *socket, short events, uint64_t deadline)
{
    struct pollfd poller = {.fd = socket->number, .events = events};

    for (;;) {
        int ready = poll(&poller, 1, gba_boot_poll_ms(deadline));

        if (ready > 0)
            return GBA_OK;
        if (ready < 0 && EINTR != errno)
            return GBA_ERR_OOB;
        if (0 != deadline && gba_clock_ns() >= deadline)
            return GBA_ERR_TIMEOUT;
    }
}

bool gba_boot_try_again(void)
{
    return EAGAIN == errno || EWOULDBLOCK == errno || EINTR == errno;
}

gba_status_t gba_boot_read(const struct gba_descriptor *socket, void *buffer, size_t bytes,
                           uint64_t deadline)
{
    uint8_t *at = buffer;

    while (bytes > 0) {
        ssize_t got = recv(gba_descriptor_number(socket), at, bytes, 0);

        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
        } else if (0 == got || !gba_boot_try_again()) {
            return GBA_ERR_OOB;
        } else {
            gba_status_t status = wait_for(socket, POLLIN, deadline);

            if (GBA_OK != status)
                return status;
        }
    }
    return GBA_OK;
}

gba_status_t gba_boot_write(const struct gba_descriptor *socket, const void *buffer, size_t bytes,
                            uint64_t deadline)
{
    const uint8_t *at = buffer;

    while (bytes > 0) {
        ssize_t sent = send(gba_descriptor_number(socket), at, bytes, MSG_NOSIGNAL);

        if (sent >= 0) {
            at += sent;
            bytes -= (size_t)sent;
        } else if (!gba_boot_try_again()) {
            return GBA_ERR_OOB;
        } else {
            gba_status_t status = wait_for(socket, POLLOUT, deadline);

            if (GBA_OK != status)
                return status;
        }
    }
    return GBA_OK;
}

void gba_boot_tune(int fd)
{
    int on = 1, idle = 30, interval = 10, probes = 6;

    /* Errors are ignored: without these options the exchange is only slower, or detects a failed
     * host later. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}
