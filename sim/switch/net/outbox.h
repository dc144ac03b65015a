/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internal state of a session, and its output. Layers, lowest first: outbox.c;
 * messages.c, which executes the messages of a client; session.c, which has the connection.
 */
#ifndef GBA_SIM_SWITCH_NET_OUTBOX_H
#define GBA_SIM_SWITCH_NET_OUTBOX_H

#include "sim/switch/net/daemon.h"

struct evbuffer;

/* Bytes of output that a client has not read. Above _PAUSE the daemon does not read its input,
 * above _MAX the client is dropped. _MAX has room for a release and an event of all members and
 * groups. */
#define GBA_SESSION_OUT_PAUSE 65536u
#define GBA_SESSION_OUT_MAX   (2u * GBA_GROUPS * GBA_MEMBERS_MAX * GBA_SWITCH_MESSAGE_BYTES)

/* Connections beyond the number of ports. A new one is refused if there are more, so that the
 * descriptors of the daemon suffice. */
#define GBA_SESSION_WAITING_MAX 64u

/* The session waits for: a greeting; the secret; messages; the end of its
 * output. */
enum gba_session_state {
    GBA_SESSION_GREETING,
    GBA_SESSION_SECRET,
    GBA_SESSION_OPEN,
    GBA_SESSION_LAST
};

/* Values of `end` beside the reasons of GBA_SWITCH_ERROR. */
enum {
    GBA_SESSION_GOES_ON = 0,
    GBA_SESSION_CLOSED = 256, /* by the client */
    GBA_SESSION_LOST,         /* the client's host does not answer, or cannot be reached */
    GBA_SESSION_DONE          /* has its status */
};

struct gba_session {
    struct gba_switchd *daemon;
    LIST_ENTRY(gba_session) link;
    TAILQ_ENTRY(gba_session) dirty_link;
    bool dirty;
    bool tcp;
    bool wants_status; /* the greeting was STATUS */
    bool interrupted;  /* its port has events */
    bool paused;       /* the daemon does not read its input */
    enum gba_session_state state;
    uint16_t wants;   /* GBA_SWITCH_STATUS_*, if wants_status */
    uint32_t late_ms; /* of STATUS */
    unsigned end;     /* the reason of its end */
    int fd;
    uint32_t port; /* in the state GBA_SESSION_OPEN */
    struct gba_switch_identity identity;
    struct {
        struct event *readable, *writable, *greeting;
    } events;
    struct evbuffer *in, *out;
};

/* The session for the log: "user 1000, process 4711 (unix)". Valid until the next call. */
const char *gba_session_label(const struct gba_session *session);

/* Make the next flush process the session. */
void gba_session_mark(struct gba_session *session);

/* End the session at the next flush. reason: of GBA_SWITCH_ERROR, or GBA_SESSION_*. The first
 * reason is kept, but a session whose status is being sent can still fail. */
void gba_session_end(struct gba_session *session, unsigned reason);

/* The viewer of gba_switch_sees: who reads what this session gets. A TCP client has the key, and
 * sees all. */
const struct gba_switch_identity *gba_session_viewer(const struct gba_session *session);

/* Queue a message. */
void gba_session_put(struct gba_session *session, const struct gba_switch_message *message);

#endif
