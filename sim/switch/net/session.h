/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection of a client: the messages of the client, and the output of its port.
 *
 * Nothing blocks. The daemon stops reading the input of a client that does not read its output, so
 * that the output is bounded. A client that reads nothing for the client timeout, or has
 * GBA_SESSION_OUT_MAX bytes of output to read, is dropped, and its port goes down.
 */
#ifndef GBA_SIM_SWITCH_NET_SESSION_H
#define GBA_SIM_SWITCH_NET_SESSION_H

#include "sim/switch/net/daemon.h"

/* Seconds in which a client must send HELLO, and SECRET over TCP. */
#define GBA_SESSION_GREETING_S 5

/*
 * Open a session on a connection. fd: non-blocking; closed when the session ends, and at once on
 * failure. identity: of the client, copied. tcp: the client must send the secret. allowed: false:
 * refuse the client because of its user.
 */
void gba_session_open(struct gba_switchd *daemon, int fd,
                      const struct gba_switch_identity *identity, bool tcp, bool allowed);

/* Send the output of all sessions, and free the sessions that have ended. Call it at the end of
 * each callback that may have called the core. */
void gba_session_flush(struct gba_switchd *daemon);

/* End all sessions, with that reason. */
void gba_session_end_all(struct gba_switchd *daemon, enum gba_switch_refusal reason);

#endif
