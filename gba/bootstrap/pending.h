/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accepted connections that have not shown the secret yet. They cannot harm the members: their
 * number is limited, each has a limited time for its hello, and a new one replaces the oldest.
 */
#ifndef GBA_BOOTSTRAP_PENDING_H
#define GBA_BOOTSTRAP_PENDING_H

#include "gba/bootstrap/wire.h"

#define GBA_BOOT_PENDING_MAX 256u

struct gba_boot_connection {
    struct gba_descriptor socket;
    uint64_t since;
    size_t got;
    uint8_t hello[GBA_BOOT_HELLO_BYTES];
};

/* All zero: none. */
struct gba_boot_pending {
    uint32_t count;
    struct gba_boot_connection connections[GBA_BOOT_PENDING_MAX]; /* oldest first */
};

/* Accept connections, a limited number in a row. listener: does not block. Returns false if no
 * descriptor is free; the oldest connection is then closed, because it may hold the descriptor that
 * a member needs. */
bool gba_boot_pending_accept(struct gba_boot_pending *pending,
                             const struct gba_descriptor *listener);

/*
 * Read the hello of a connection, as far as it has come. index: 0 to count - 1; it is removed if
 * its hello is complete or wrong. secret: that the connection must show. hello, socket: set if it
 * has; the connection then belongs to the caller. Returns false: incomplete, or refused and closed.
 */
bool gba_boot_pending_read(struct gba_boot_pending *pending, uint32_t index,
                           const uint8_t secret[GBA_BOOT_SECRET], struct gba_boot_hello *hello,
                           struct gba_descriptor *socket);

/* Close the connections whose time is over. */
void gba_boot_pending_expire(struct gba_boot_pending *pending);

/* Close all connections, and clear what they sent. */
void gba_boot_pending_close(struct gba_boot_pending *pending);

#endif
