/* SPDX-License-Identifier: BSD-3-Clause */
/* What the messages of a client do. */
#ifndef GBA_SIM_SWITCH_MESSAGES_H
#define GBA_SIM_SWITCH_MESSAGES_H

#include "sim/switch/outbox.h"

/* Carry out a message. The session may be over after it (session->end). */
void gba_session_take(struct gba_session *session, const uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES]);

/* Acknowledge the events of the port, then send them. The session is open. */
void gba_session_send_events(struct gba_session *session);

#endif
