/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution of the messages of a client. */
#ifndef GBA_SIM_SWITCH_NET_MESSAGES_H
#define GBA_SIM_SWITCH_NET_MESSAGES_H

#include "sim/switch/net/outbox.h"

/* Execute a message. It can end the session (session->end). */
void gba_session_take(struct gba_session *session, const uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES]);

/* Acknowledge the events of the port, then send them. The session is open. */
void gba_session_send_events(struct gba_session *session);

#endif
