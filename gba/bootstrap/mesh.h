/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP connections between the members of one team, for the signals of its software barriers.
 *
 * Two members have one connection, made by the member of the higher rank when its first barrier
 * that needs it begins. The other member accepts it while it waits in that barrier. Each member has
 * a secret of its own, which the others have from the exchange of the bootstrap. The first data of
 * a connection, in both directions, are a hello with the secret of the receiver. The accepting
 * member sends its hello with its first signal, so everything that it ever has to send is a signal.
 *
 * The signals of a connection are kept in order until the barrier that awaits them takes them
 * (gba/transport/transport.h, 5), also if this member has not opened a transport yet.
 *
 * Signals of one path at a time are kept. Members change the path of their signals in a collective
 * call (gba_remote_t), so this member has left the barriers of the former path when a signal of
 * another one comes, or when it awaits one. What is kept of the former path then belongs to a
 * barrier that members have left in the middle, and is dropped.
 *
 * A member may close the connection, and exit, as soon as it has left its last barrier. It has then
 * received all signals sent to it, and its own signals are in its kernel, which delivers them. So a
 * closed connection is an error only where a signal is missing or has to be sent.
 *
 * No function blocks, except gba_boot_mesh_create, which may wait for the system's random numbers.
 * One thread at a time on a mesh.
 */
#ifndef GBA_BOOTSTRAP_MESH_H
#define GBA_BOOTSTRAP_MESH_H

#include "gba/bootstrap/address.h"
#include "gba/bootstrap/backend.h"
#include "gba/bootstrap/pending.h"

#define GBA_BOOT_CHANNELS 2u /* gba_remote_group_t.channel */
/* Signals of a channel that a member keeps. At most two for each slot are under way, of which each
 * algorithm has one between two members. */
#define GBA_BOOT_KEPT 8u

enum gba_boot_link_state { GBA_BOOT_LINK_NONE, GBA_BOOT_LINK_OPEN, GBA_BOOT_LINK_CLOSED };

/* One connection. */
struct gba_boot_link {
    struct gba_descriptor socket;   /* valid if open */
    enum gba_boot_link_state state; /* open: also while connect is in progress */
    bool trusted;                   /* the peer has shown this member's secret */
    bool greeted;                   /* this member has sent or queued a signal, after its hello */
    bool signals;                   /* `out` contains a signal */
    int error;                      /* the errno with which it was closed; 0: by the peer */
    uint32_t peer, out_len, in_len;
    uint8_t out[256];
    uint8_t in[256];
    uint32_t kept[GBA_BOOT_CHANNELS];
    struct gba_boot_signal signal[GBA_BOOT_CHANNELS][GBA_BOOT_KEPT]; /* oldest first */
};

struct gba_boot_mesh {
    uint32_t rank, size;
    struct gba_descriptor listener;
    bool failed;                        /* permanently */
    struct gba_boot_address *addresses; /* [size], with the secret of each member */
    struct gba_boot_link **links;       /* [size]; NULL: not needed so far */
    struct gba_boot_pending pending;
    char *cause; /* of the failure, GBA_BOOT_MESSAGE bytes of the creator */
};

/*
 * Listen, with a new secret. mine: the address to listen on; its port and its secret are set on
 * GBA_OK. cause: GBA_BOOT_MESSAGE bytes that live longer, for the cause of a later failure.
 * message, len: set on error. Returns GBA_OK, GBA_ERR_NOMEM or GBA_ERR_IO.
 */
gba_status_t gba_boot_mesh_create(uint32_t rank, uint32_t size, struct gba_boot_address *mine,
                                  char *cause, struct gba_boot_mesh **mesh, char *message,
                                  size_t len);

/* Close all connections, and free the mesh. mesh: may be NULL. */
void gba_boot_mesh_destroy(struct gba_boot_mesh *mesh);

/* Get the connection of a member, which may not be made yet. Returns NULL if out of memory. */
struct gba_boot_link *gba_boot_mesh_link(struct gba_boot_mesh *mesh, uint32_t peer);

/* Make a connection, if this member is the one that does. Returns GBA_OK or GBA_ERR_IO. */
gba_status_t gba_boot_mesh_connect(struct gba_boot_mesh *mesh, struct gba_boot_link *link);

/* Accept connections from members. */
void gba_boot_mesh_accept(struct gba_boot_mesh *mesh);

/* Queue a signal, and send what the connection takes. Returns GBA_OK or GBA_ERR_IO. */
gba_status_t gba_boot_mesh_send(struct gba_boot_mesh *mesh, struct gba_boot_link *link,
                                const struct gba_boot_signal *signal);

/* Send what is queued. Returns GBA_OK: all is sent; GBA_INPROGRESS; or GBA_ERR_IO. */
gba_status_t gba_boot_mesh_flush(struct gba_boot_mesh *mesh, struct gba_boot_link *link);

/* Receive what has come. Returns GBA_OK or GBA_ERR_IO: something that is no signal. */
gba_status_t gba_boot_mesh_receive(struct gba_boot_mesh *mesh, struct gba_boot_link *link);

/* Take the oldest kept signal of a slot, and drop those of another path. Returns GBA_OK;
 * GBA_INPROGRESS: there is none; GBA_ERR_IO: there is none, and the connection is closed, or it is
 * of another sequence. */
gba_status_t gba_boot_mesh_take(struct gba_boot_mesh *mesh, struct gba_boot_link *link,
                                const struct gba_boot_signal *expected);

#endif
