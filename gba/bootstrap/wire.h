/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages over TCP. Between a member and the root of a unique id:
 * - member to root, once: hello;
 * - root to member: a reply, when all have joined;
 * - then in each call each member sends a request, followed by its part of the data, and the root
 *   answers all with a reply, followed by all the data, or by the text of an error.
 * And between two members, over a connection of their own (mesh.h): each sends a hello with the
 * secret and the size of the receiver and its own rank, then signals.
 * Numbers are big-endian.
 */
#ifndef GBA_BOOTSTRAP_WIRE_H
#define GBA_BOOTSTRAP_WIRE_H

#include "gba/base/descriptor.h"
#include "gba/types.h"

#define GBA_BOOT_SECRET 16u

struct gba_boot_hello {
    uint8_t secret[GBA_BOOT_SECRET];
    uint32_t rank, size;
};

/* MIN: the data are 64-bit big-endian words, and the reply has the least of each. */
enum gba_boot_kind { GBA_BOOT_GATHER = 1, GBA_BOOT_BCAST = 2, GBA_BOOT_MIN = 3 };

struct gba_boot_request {
    uint32_t kind; /* gba_boot_kind */
    uint32_t root; /* of GBA_BOOT_BCAST, else 0 */
    uint64_t bytes;
};

struct gba_boot_reply {
    gba_status_t status;
    uint64_t bytes; /* that follow */
};

struct gba_boot_signal {
    uint32_t channel, slot, sequence;
    uint64_t epoch; /* see gba_remote_group_t */
};

#define GBA_BOOT_SIGNAL_BYTES  20u
#define GBA_BOOT_HELLO_BYTES   32u
#define GBA_BOOT_REQUEST_BYTES 16u
#define GBA_BOOT_REPLY_BYTES   16u

void gba_boot_hello_pack(const struct gba_boot_hello *hello, uint8_t bytes[GBA_BOOT_HELLO_BYTES]);
/* false: not a hello of this version of the protocol */
bool gba_boot_hello_unpack(const uint8_t bytes[GBA_BOOT_HELLO_BYTES], struct gba_boot_hello *hello);
void gba_boot_request_pack(const struct gba_boot_request *request,
                           uint8_t bytes[GBA_BOOT_REQUEST_BYTES]);
void gba_boot_request_unpack(const uint8_t bytes[GBA_BOOT_REQUEST_BYTES],
                             struct gba_boot_request *request);
void gba_boot_reply_pack(const struct gba_boot_reply *reply, uint8_t bytes[GBA_BOOT_REPLY_BYTES]);
/* false: not a reply */
bool gba_boot_reply_unpack(const uint8_t bytes[GBA_BOOT_REPLY_BYTES], struct gba_boot_reply *reply);

void gba_boot_signal_pack(const struct gba_boot_signal *signal,
                          uint8_t bytes[GBA_BOOT_SIGNAL_BYTES]);
void gba_boot_signal_unpack(const uint8_t bytes[GBA_BOOT_SIGNAL_BYTES],
                            struct gba_boot_signal *signal);

/* Whether two secrets are equal. Takes the same time wherever they differ. */
bool gba_boot_secret_equal(const uint8_t a[GBA_BOOT_SECRET], const uint8_t b[GBA_BOOT_SECRET]);

/*
 * Read or write all bytes, on a socket that does not block. deadline: of gba_clock_ns; 0: none.
 * Return GBA_OK, GBA_ERR_TIMEOUT, or GBA_ERR_OOB: the connection is closed or broken, or the
 * program has closed its descriptor. Raise no signal.
 */
gba_status_t gba_boot_read(const struct gba_descriptor *socket, void *buffer, size_t bytes,
                           uint64_t deadline);
gba_status_t gba_boot_write(const struct gba_descriptor *socket, const void *buffer, size_t bytes,
                            uint64_t deadline);

/* The time until a deadline in ms for poll: at least 0, at most a minute; -1 if there is none. */
int gba_boot_poll_ms(uint64_t deadline);

/* Whether errno, of a call on a socket that does not block, is no error of the connection. */
bool gba_boot_try_again(void);

/* Set what all connections have: no delay of small messages, and probes of a silent peer. */
void gba_boot_tune(int fd);

#endif
