/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backend for gba-switchd: device paths "switch:/path" and "switch://host:port". A process has
 * one connection, which is one port of the switch (protocol.h). No thread: the members poll.
 *
 *   device.c    the ops table: device and memberships
 *   bus.c       arrivals, polls, sleeps, and accesses to registers
 *   member.c    releases and events for the memberships
 *   link.c      the stream: output, input, and the answers that are awaited
 *   socket.c    connects the socket
 *   connect.c   connects, and sends the secret
 *   key.c       trust: the secret, and the user of a Unix socket
 *   file.c      the descriptor of the connection: closed by the program; children of fork
 *
 * Each process has its own connection because the kernel closes it when the process dies. The
 * switch then takes back the groups and memberships of that process, and no other process of the
 * host is affected. A shared connection would need a lock in shared memory and a process that
 * outlives the others.
 *
 * Guarantees. The stream keeps the order of messages in both directions. So a read of a register
 * follows every arrival that was sent before, and an answer follows every release that the switch
 * made before it. A lost connection is not restored: from then on the device is dead for this
 * process.
 *
 * NOTIFY is not used, because a release is a message of the connection and wakes a sleeping member.
 */
#ifndef GBA_SIM_SWITCH_CLIENT_CLIENT_H
#define GBA_SIM_SWITCH_CLIENT_CLIENT_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

#include "gba/base/descriptor.h"
#include "gba/dev/dev_ops.h"
#include "gba/spec/gba_regs.h"
#include "sim/switch/core/protocol.h"

/* Time in ns in which the switch must answer a request. A switch that does not is dead. The time
 * covers a busy switch and a short interruption of the network. */
#define GBA_CLIENT_SILENCE UINT64_C(10000000000)

/* Bytes of input that are received at once. */
#define GBA_CLIENT_INPUT (512u * GBA_SWITCH_MESSAGE_BYTES)

/*
 * Requests that are sent together, so that no other request of the process comes between them. An
 * answer replaces its request. The caller of gba_batch_new owns the batch until it abandons it;
 * then the link frees it.
 */
struct gba_client_batch {
    struct gba_client_batch *next;
    gba_status_t status; /* GBA_INPROGRESS, GBA_OK or GBA_ERR_DEAD */
    bool abandoned;      /* the link frees it */
    uint64_t sent;       /* gba_clock_ns */
    uint32_t count, next_answer;
    struct gba_switch_message message[];
};

struct gba_client_membership {
    struct gba_membership membership;
    struct gba_client *client;
    uint64_t address;                    /* in the release table; no other membership has it */
    gba_word_t died;                     /* 1: a member of another port, or its host, died */
    struct gba_client_batch *inspection; /* reads of the registers, without all answers so far */
};

/* Messages that are not sent yet. */
struct gba_client_output {
    uint8_t *bytes;
    size_t size, begin, end; /* bytes[begin] to bytes[end - 1] */
};

/* What was received, up to a message that is not complete. */
struct gba_client_input {
    uint32_t used;
    uint8_t bytes[GBA_CLIENT_INPUT];
};

/* A socket that each child of fork closes. */
struct gba_client_file {
    struct gba_descriptor socket; /* -1: also closed by the program, or in a child of fork */
    struct gba_client_file *next; /* in the list of file.c */
};

struct gba_client {
    struct gba_dev dev;
    char name[300];              /* the device path, for messages */
    pid_t owner;                 /* a child of fork must not touch the connection */
    struct gba_client_file file; /* the connection */
    uint32_t groups, version;
    uint8_t uuid[GBA_UUID_SIZE];
    uint64_t job;
    gba_word_t dead;            /* 1: the connection is lost; never reset */
    pthread_mutex_t alloc_lock; /* counting groups and allocating one are one step */
    pthread_mutex_t lock;       /* of all fields below; held for system calls that do not block */
    pthread_cond_t moved;       /* the thread that waits at the connection has dispatched input */
    bool receiving;             /* a thread waits at the connection; no other one receives */
    bool says;                  /* why the connection is lost */
    char why[96];
    uint64_t address; /* of the newest membership */
    uint16_t tag;     /* of the newest request */
    struct gba_client_output output;
    struct gba_client_input input;
    struct gba_client_batch *first, **last; /* batches without all answers, in the order sent */
    /* Memberships by group and member. An array of a group is made for its first membership. */
    struct gba_client_membership **member[GBA_GROUPS];
};

/* --- socket.c --- */

/* Connect the socket of a client, by Unix socket or TCP. Returns as gba_client_connect. Blocks
 * until `due` at most, and as long as the resolver does. */
gba_status_t gba_socket_open(struct gba_client *client, const struct gba_dev_path *path,
                             uint64_t due);

/* Wait until the socket is ready for the events, until `due` at most. Returns 0 or an errno. */
int gba_socket_ready(int file, short events, uint64_t due);

/* Log the errno for which the connection failed. Returns the status for it. */
gba_status_t gba_socket_failed(const struct gba_client *client, int error);

/* Whether both ends of the TCP connection have the same address. */
bool gba_socket_is_local(int file);

/* --- connect.c --- */

/*
 * Connect to the switch: set file, groups, version and uuid of a client whose name and job are set.
 * attr: has the key file for TCP; may be NULL. Returns GBA_OK, or (logged)
 * GBA_ERR_PERM, _NOT_GBA, _VERSION, _BUSY, _NOMEM, _NO_FILES, _AWAY or _IO. Blocks for its
 * timeout_ms at most, and as long as the resolver does.
 */
gba_status_t gba_client_connect(struct gba_client *client, const struct gba_dev_path *path,
                                const gba_device_attr_t *attr);

/* Operations of the backend. */
gba_status_t gba_client_open(const struct gba_dev_path *path, const gba_device_attr_t *attr,
                             struct gba_dev **dev);
void gba_client_close(struct gba_dev *dev);

/* --- key.c --- */

/* Make the SECRET that follows HELLO over TCP: the key of the key file; attr may be NULL. Returns
 * GBA_OK, or (logged) GBA_ERR_PERM, _NO_FILES or _NOMEM. Thread-safe. */
gba_status_t gba_client_prove(const gba_device_attr_t *attr, struct gba_switch_message *proof);

/* Check who listens on the connected Unix socket, see gba_switch_listener_trusted. Returns GBA_OK,
 * or (logged) GBA_ERR_PERM. Thread-safe. */
gba_status_t gba_client_listener_check(const struct gba_client *client, const char *owner);

/* --- link.c --- */

/* Initialise the locks, and the fields that they guard. The memory is 0. Returns GBA_OK or
 * GBA_ERR_NOMEM. */
gba_status_t gba_link_init(struct gba_client *client);
void gba_link_fini(struct gba_client *client);

/* Whether the connection is lost. Thread-safe. Orders nothing. */
static inline bool gba_link_dead(const struct gba_client *client)
{
    return 0 != gba_word_load_relaxed(&client->dead);
}

/* Mark the connection as lost, for a reason that gba_link_unlock logs. All batches end with
 * GBA_ERR_DEAD. The caller holds the lock. */
void gba_link_die(struct gba_client *client, const char *why);

/* Return the lock, and then log why the connection is lost, if it is since it was taken. */
void gba_link_unlock(struct gba_client *client);

/* Queue one message without an answer, and send as much as the connection takes. Never blocks. The
 * caller holds the lock. */
void gba_link_post(struct gba_client *client, const struct gba_switch_message *message);

/* Send the queued messages, and receive and dispatch the available input. Never blocks. The caller
 * holds the lock. */
void gba_link_move(struct gba_client *client);

/* Wait for input, for `timeout` ns at most, and dispatch it. May return early. The caller holds the
 * lock; other threads can take it during the wait. */
void gba_link_wait(struct gba_client *client, uint64_t timeout);

/* Send a batch, in which one message at least has an answer. Sets the tags. Never blocks.
 * Thread-safe. */
void gba_batch_send(struct gba_client *client, struct gba_client_batch *batch);

/* Wait for the answers, for `timeout` ns at most. Returns the status of the batch. Thread-safe. */
gba_status_t gba_batch_wait(struct gba_client *client, struct gba_client_batch *batch,
                            uint64_t timeout);

/* Abandon a batch, with or without all answers. NULL is allowed. Thread-safe. */
void gba_batch_abandon(struct gba_client *client, struct gba_client_batch *batch);

/* --- file.c --- */

/* Make a socket that does not block. No child of a later fork has it, nor a program that a process
 * executes. The caller closes it with gba_file_close. Returns 0, or an errno with no socket.
 * Thread-safe. */
int gba_file_open(struct gba_client_file *file, int family, int type, int protocol);

/* Close the socket, unless the program has closed it. Thread-safe. */
void gba_file_close(struct gba_client_file *file);

/* Whether `file` is still that socket. A program that closes all descriptors closes it, too, and
 * may then open another file with the same number. Makes a system call. Safe in a signal handler.
 * The caller is the only thread that uses the file, such as by holding the lock of the client. */
bool gba_file_is_ours(const struct gba_client_file *file);

/* Whether this process is a child of fork, which must not touch the link. Thread-safe. */
bool gba_file_is_child(const struct gba_client *client);

/* --- member.c --- */

/* Take a RELEASE or an EVENT for the memberships of this process. The caller holds the lock. */
void gba_client_release(struct gba_client *client, const struct gba_switch_message *message);
void gba_client_event(struct gba_client *client, const struct gba_switch_message *message);

/* --- bus.c --- */

/* Allocate a batch of `count` messages, which the caller sets. Returns NULL: out of memory
 * (logged). */
struct gba_client_batch *gba_batch_new(uint32_t count);

/* Make the request of a batch that reads or writes a register. */
struct gba_switch_message gba_client_read(uint32_t address, unsigned width);
struct gba_switch_message gba_client_write(uint32_t address, unsigned width, uint64_t value);

/* Send one request, and wait for the answer, which replaces it. Returns GBA_OK, GBA_ERR_DEAD or
 * GBA_ERR_NOMEM. Thread-safe. */
gba_status_t gba_client_request(struct gba_client *client, struct gba_switch_message *message);

/* Send one request, and ignore its answer. Never blocks. Thread-safe. */
void gba_client_send(struct gba_client *client, const struct gba_switch_message *message);

/* Send one command, and wait for its result. *mailbox: a COMMAND; becomes the RESULT. Returns the
 * status of the result, or GBA_ERR_DEAD or GBA_ERR_NOMEM. Thread-safe. */
gba_status_t gba_client_command(struct gba_client *client, struct gba_switch_message *mailbox);

void gba_client_arrive(struct gba_membership *membership, uint64_t value);
void gba_client_poll(struct gba_membership *membership);
gba_status_t gba_client_failure(const struct gba_membership *membership);
bool gba_client_died(struct gba_membership *membership);
gba_status_t gba_client_sleep(struct gba_membership *membership, uint32_t sequence,
                              uint64_t max_ns);
gba_status_t gba_client_inspect(struct gba_membership *membership, gba_group_state_t *state);
gba_status_t gba_client_reg_read(struct gba_dev *dev, uint32_t address, unsigned width,
                                 uint64_t *value);
gba_status_t gba_client_reg_write(struct gba_dev *dev, uint32_t address, unsigned width,
                                  uint64_t value);

#endif
