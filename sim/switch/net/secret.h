/* SPDX-License-Identifier: BSD-3-Clause */
/* The key with which a session greets, and the key that it requests for its job (job_keys.h). */
#ifndef GBA_SIM_SWITCH_NET_SECRET_H
#define GBA_SIM_SWITCH_NET_SECRET_H

#include "sim/switch/net/outbox.h"

/*
 * Check the secret of a session that has sent its greeting, and note whether it is that of the key
 * file. A client with the key of a job must have that user and job, so that their limits bind. It
 * gets no status, because a status shows all jobs. Returns a reason of GBA_SWITCH_ERROR, or
 * GBA_SESSION_GOES_ON.
 */
unsigned gba_session_check_secret(struct gba_session *session,
                                  const uint8_t secret[GBA_SWITCH_SECRET_BYTES]);

/* Execute a JOB_KEY of an open session. It can end the session. */
void gba_session_take_job_key(struct gba_session *session,
                              const struct gba_switch_message *message);

#endif
