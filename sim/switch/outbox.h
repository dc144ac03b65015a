/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session from inside, and what it has to send. outbox.c is below messages.c, which carries out
 * what a client asks for, and that is below session.c, which has the connection.
 */
#ifndef GBA_SIM_SWITCH_OUTBOX_H
#define GBA_SIM_SWITCH_OUTBOX_H

#include "sim/switch/daemon.h"

struct evbuffer;

/* Connections at most, beyond the number of ports. This number, with the ports, also limits the TCP
 * connections that have not sent the key, which are not among the others: a host without the key
 * cannot keep clients out. The oldest of them is closed for a new one. */
#define GBA_SESSION_WAITING_MAX 64u

/* What the session expects: a greeting; the secret; messages; that its last data is sent. */
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
    GBA_SESSION_DONE,         /* has its status */
    GBA_SESSION_CUT           /* a fault */
};

struct gba_session {
    struct gba_switchd *daemon;
    LIST_ENTRY(gba_session) link;
    TAILQ_ENTRY(gba_session) dirty_link;
    bool dirty;
    bool tcp;
    bool admitted;     /* it may use the switch: it has a Unix socket, or has sent the key */
    bool wants_status; /* the greeting was STATUS */
    bool wants_text;   /* and in which form */
    bool interrupted;  /* its port has events */
    bool paused;       /* it is not read from */
    bool held;         /* neither read from nor written to */
    enum gba_session_state state;
    unsigned end; /* why it ends */
    int fd;
    uint32_t port; /* in the state GBA_SESSION_OPEN */
    struct gba_switch_identity identity;
    struct event *readable, *writable, *greeting;
    struct evbuffer *in, *out;
};

/* The session for the log: "user 1000, process 4711 (unix)". Valid until the next call. */
const char *gba_session_label(const struct gba_session *session);

/* Let the next flush look at the session. */
void gba_session_mark(struct gba_session *session);

/* End the session at the next flush. reason: of GBA_SWITCH_ERROR, or GBA_SESSION_*. The first
 * reason counts; while its status is being sent, a session can still fail. */
void gba_session_end(struct gba_session *session, unsigned reason);

/* Let the session use the switch, or end it if there are too many. Returns whether it may. */
bool gba_session_admit(struct gba_session *session);

/* Queue a message. */
void gba_session_put(struct gba_session *session, const struct gba_switch_message *message);

#endif
