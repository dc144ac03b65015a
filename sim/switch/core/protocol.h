/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages between gba-switchd and its clients, on a Unix or TCP stream. Pure: encoding and
 * decoding only. The daemon and the client inside libgba share this file.
 *
 * Every message has GBA_SWITCH_MESSAGE_BYTES bytes, little endian. A connection is one port of the
 * device (gba/spec/device.md, chapter "Ports"). Messages of one connection are processed in the
 * order in which they were sent, in both directions. Any number may be written at once.
 *
 * A session:
 *   client HELLO, over TCP also SECRET; the switch answers WELCOME, and the port is up.
 *   client NAME, at any time after HELLO, once of each kind: the name of the client's host, and of
 *   its job in a batch system. For reports.
 *   client ARRIVE, WRITE: posted, without an answer.
 *   client COMMAND: the switch answers RESULT. client READ: the switch answers VALUE. client OWNER:
 *   the switch answers OWNED. The type of an answer is that of the request plus 1.
 *   switch RELEASE: a release store. switch EVENT: events of a group at this port.
 *   The switch sends ERROR before it closes a connection that it refuses or drops, if the client
 *   still takes data. The port goes down with the connection.
 * A connection that begins with STATUS uses no port: the switch answers TEXT, followed by that many
 * bytes of text, and closes the connection.
 *
 * Answers come in the order of the requests, so a client may send several requests before it reads.
 * Order gives the guarantees of a bus: VALUE and RESULT follow every RELEASE that the device made
 * before it executed the READ or COMMAND [HOST-6], and a READ follows every ARRIVE and WRITE that
 * was sent before.
 */
#ifndef GBA_SIM_SWITCH_CORE_PROTOCOL_H
#define GBA_SIM_SWITCH_CORE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "GBAs", little endian: the group field of HELLO and STATUS. */
#define GBA_SWITCH_MAGIC 0x73414247u
/* Incremented with every change of the messages. A switch refuses another version. */
#define GBA_SWITCH_PROTOCOL      9u
#define GBA_SWITCH_MESSAGE_BYTES 32u
#define GBA_SWITCH_NAME_BYTES    28u /* of the text of NAME; shorter texts end with a 0 */
#define GBA_SWITCH_SECRET_BYTES  16u
/* The default port number of TCP. */
#define GBA_SWITCH_TCP_PORT 7114u

/*
 * Types of messages, with the fields that they use. All other fields are 0; the decoder refuses any
 * other message. "tag": any number, which the answer repeats.
 */
enum gba_switch_type {
    /* code: GBA_SWITCH_PROTOCOL; group: GBA_SWITCH_MAGIC; member: process id; generation: user id;
     * value: number of the job, for its quota; 0: none. On a Unix socket the switch takes user and
     * process from the kernel instead. */
    GBA_SWITCH_HELLO = 1,
    /* value, key: the secret of the key file, see gba_switch_secret_set. After HELLO, over TCP
     * only.
     */
    GBA_SWITCH_SECRET = 2,
    /* code: gba_switch_name. The text of the name is in bytes 4 to 31, see gba_switch_name_set. */
    GBA_SWITCH_NAME = 3,
    /* code: GBA_SWITCH_PROTOCOL; tag: number of the port; group: GBA_DEV_GROUPS; generation:
     * GBA_DEV_VERSION; member: GBA_DEV_PORTS; value, key: GBA_DEV_UUID. */
    GBA_SWITCH_WELCOME = 4,
    /* group, value: an arrival at the group's doorbell [ARR-1]. */
    GBA_SWITCH_ARRIVE = 5,
    /* group, member, value: sequence (32 bits); key: the address in the release table. Only the
     * client uses the address: any multiple of 8 other than 0. An address that no other membership
     * of the connection has used distinguishes the releases of an earlier team. */
    GBA_SWITCH_RELEASE = 6,
    /* code: GBA_CMD_*; tag; group, generation, member, value (32 bits), key: the mailbox. All of
     * it is written, then the command is executed, in one step. */
    GBA_SWITCH_COMMAND = 7,
    /* code: GBA_RESULT_*; tag; group, generation, member, value, key: the mailbox after it. */
    GBA_SWITCH_RESULT = 8,
    /* code: width in bytes; tag; key: address in the BAR (32 bits). */
    GBA_SWITCH_READ = 9,
    /* code, tag, key: as in READ; value: of the register. */
    GBA_SWITCH_VALUE = 10,
    /* code: width in bytes; key: address in the BAR (32 bits); value. */
    GBA_SWITCH_WRITE = 11,
    /* group; generation: of the group's newest allocation; value: GBA_IRQ_* of the group at this
     * port. The switch has acknowledged them before it sends this message, so the client does not
     * acknowledge: its next message follows the acknowledgement [IRQ-3]. Events of an earlier
     * allocation come before the RESULT of a JOIN. */
    GBA_SWITCH_EVENT = 12,
    /* group: GBA_SWITCH_MAGIC; code: GBA_SWITCH_PROTOCOL; tag: GBA_SWITCH_STATUS_*; value: ms after
     * which a member that is late counts as absent; 0: never. In place of HELLO: over TCP, SECRET
     * with the secret of the key file follows, and no other message. */
    GBA_SWITCH_STATUS = 13,
    /* value: bytes that follow; member: members that are absent. */
    GBA_SWITCH_TEXT = 14,
    /* code: GBA_SWITCH_REFUSED_*. */
    GBA_SWITCH_ERROR = 15,
    /* tag; group: of the device, or a higher number; code: 0, 1 for the name of the job, or 2 for a
     * port whose link to its host is lost. The switch answers OWNED. */
    GBA_SWITCH_OWNER = 16,
    /* code: gba_switch_owned; tag; group: of the OWNER; of the process that allocated the group:
     * generation: user id, UINT32_MAX: not known; member: process id, 0: not known; value: number
     * of the job, 0: none; key: members of the group, and in bits 32 to 63 those that have joined.
     * 0 for a free group, one that does not exist, and one that GBA_SWITCH_OWNED_HIDDEN hides.
     * For an OWNER with code 1 bytes 4 to 31 are the owner's NAME of GBA_SWITCH_NAME_JOB instead;
     * with code 2 the text "PORT:HOST" of the first such port; empty: none. [DRV-20] */
    GBA_SWITCH_OWNED = 17
};

/* The host of the client; its job in a batch system, "slurm:12". */
enum gba_switch_name { GBA_SWITCH_NAME_HOST, GBA_SWITCH_NAME_JOB };

/* The group is free; its owner is on another host than the switch, or on the same; its owner is
 * hidden from the client, because it is of another user. */
enum gba_switch_owned {
    GBA_SWITCH_OWNED_NOT,
    GBA_SWITCH_OWNED_AWAY,
    GBA_SWITCH_OWNED_HERE,
    GBA_SWITCH_OWNED_HIDDEN
};

/* Kinds of a status: a report as JSON or as text. */
enum { GBA_SWITCH_STATUS_JSON = 0, GBA_SWITCH_STATUS_TEXT = 1 };

/* Reasons of an ERROR. */
enum gba_switch_refusal {
    GBA_SWITCH_REFUSED_MESSAGE = 1,  /* not a message of this protocol, or unexpected */
    GBA_SWITCH_REFUSED_VERSION = 2,  /* another version of the protocol */
    GBA_SWITCH_REFUSED_USER = 3,     /* the user or group of the process may not use the switch */
    GBA_SWITCH_REFUSED_SECRET = 4,   /* wrong secret */
    GBA_SWITCH_REFUSED_PORTS = 5,    /* all ports are in use */
    GBA_SWITCH_REFUSED_SLOW = 6,     /* the client does not read what the switch sends */
    GBA_SWITCH_REFUSED_SHUTDOWN = 7, /* the switch stops */
    GBA_SWITCH_REFUSED_IDLE = 8,     /* no HELLO or SECRET in time */
    GBA_SWITCH_REFUSED_QUOTA = 9     /* the user or the job uses as many ports as it may */
};

struct gba_switch_message {
    uint8_t type; /* gba_switch_type */
    uint8_t code;
    uint16_t tag;
    uint32_t group;
    uint32_t generation;
    uint32_t member;
    uint64_t value;
    uint64_t key;
};

/* The sender of a message. */
enum gba_switch_sender { GBA_SWITCH_CLIENT, GBA_SWITCH_SERVER };

/* Encode a message. Pure, thread-safe. */
void gba_switch_encode(const struct gba_switch_message *message,
                       uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES]);

/*
 * Decode a message from that sender. Returns false, with *message unspecified, if the sender has no
 * message of that type, a field that the type does not use is not 0, or a field that the type
 * limits to 32 bits has more. Does not check the magic, the version or the meaning of a field.
 * Pure, thread-safe.
 */
bool gba_switch_decode(const uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES], enum gba_switch_sender sender,
                       struct gba_switch_message *message);

/* Set and get the secret of a SECRET. Pure, thread-safe. */
void gba_switch_secret_set(struct gba_switch_message *message,
                           const uint8_t secret[GBA_SWITCH_SECRET_BYTES]);
void gba_switch_secret_get(const struct gba_switch_message *message,
                           uint8_t secret[GBA_SWITCH_SECRET_BYTES]);

/* Whether two secrets are equal, in a time that does not depend on their bytes. Thread-safe. */
bool gba_switch_secret_equal(const uint8_t a[GBA_SWITCH_SECRET_BYTES],
                             const uint8_t b[GBA_SWITCH_SECRET_BYTES]);

/*
 * Parse a secret: 32 hexadecimal digits, then the end of the text or a newline. Returns false,
 * with *secret unspecified, for any other text. Files with a key have only this format.
 * Thread-safe.
 */
bool gba_switch_secret_parse(const char *text, uint8_t secret[GBA_SWITCH_SECRET_BYTES]);

/* Make *message a NAME of that kind with the first GBA_SWITCH_NAME_BYTES bytes of the text.
 * Thread-safe. */
void gba_switch_name_set(struct gba_switch_message *message, enum gba_switch_name kind,
                         const char *name);
/* Get the text of a NAME, or an OWNED; every byte that is not a printable ASCII character becomes
 * '?'. Thread-safe. */
void gba_switch_name_get(const struct gba_switch_message *message,
                         char name[GBA_SWITCH_NAME_BYTES + 1]);

/* The text of a refusal, for a log: "wrong key". Never NULL. Thread-safe. */
const char *gba_switch_refusal_text(unsigned refusal);

#endif
