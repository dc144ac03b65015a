/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection of a client: its messages in, what its port sends out.
 *
 * Nothing blocks. A client that does not read what is sent to it is not read from any more, so its
 * unread data is bounded. If it takes nothing for the client timeout, or if GBA_SESSION_OUT_MAX
 * bytes wait for it, it is dropped and its port goes down.
 */
#ifndef GBA_SIM_SWITCH_SESSION_H
#define GBA_SIM_SWITCH_SESSION_H

#include "sim/switch/daemon.h"

/* Bytes that wait for a client: above the first number it is not read from, above the second one it
 * is dropped. The second has room for a release and an event of all members and groups. */
#define GBA_SESSION_OUT_PAUSE 65536u
#define GBA_SESSION_OUT_MAX   (2u * GBA_GROUPS * GBA_MEMBERS_MAX * GBA_SWITCH_MESSAGE_BYTES)

/* Seconds within which a connection has to send HELLO, and SECRET if it is needed. */
#define GBA_SESSION_GREETING_S 5

/*
 * Take a connection. fd: non-blocking; closed when the session ends, and at once on failure.
 * identity: of the peer, copied. tcp: it has to send the secret. allowed: false if its user is to
 * be refused.
 */
void gba_session_open(struct gba_switchd *daemon, int fd,
                      const struct gba_switch_identity *identity, bool tcp, bool allowed);

/* Send what waits, and end the sessions that have to end. Call it at the end of each callback that
 * may have called the core. */
void gba_session_flush(struct gba_switchd *daemon);

/* Close the connection that has that port, without a message. Returns false if there is none. */
bool gba_session_cut(struct gba_switchd *daemon, uint32_t port);

/* Let nothing pass the connection that has that port, or let it pass again. Returns false if there
 * is none. */
bool gba_session_hold(struct gba_switchd *daemon, uint32_t port, bool hold);

/* End all sessions, with that reason. */
void gba_session_end_all(struct gba_switchd *daemon, enum gba_switch_refusal reason);

#endif
