/* SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include "sim/switch/net/secret.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/clock.h"

unsigned gba_session_check_secret(struct gba_session *session,
                                  const uint8_t secret[GBA_SWITCH_SECRET_BYTES])
{
    const struct gba_switchd *daemon = session->daemon;
    const struct gba_job_key *key = gba_job_key_find(&daemon->job_keys, secret, gba_clock_ns());

    session->key_of_file = gba_switch_secret_equal(secret, daemon->secret);
    if (session->key_of_file)
        return GBA_SESSION_GOES_ON;
    if (key == NULL || session->wants_status)
        return GBA_SWITCH_REFUSED_SECRET;
    return key->user == session->identity.user && key->job == session->identity.job
               ? GBA_SESSION_GOES_ON
               : GBA_SWITCH_REFUSED_JOB;
}

/* Make the key of the client's job, once. Returns a reason, or GBA_SESSION_GOES_ON. */
static unsigned make_job_key(struct gba_session *session, const struct gba_switch_message *message)
{
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];
    const bool earlier = message->value != 0 || message->key != 0;
    const struct gba_switch_identity *identity = &session->identity;
    int index;

    if (!session->key_of_file)
        return GBA_SWITCH_REFUSED_SECRET;
    if (session->job_key.made)
        return GBA_SESSION_GOES_ON;
    gba_switch_secret_get(message, secret);
    index = gba_job_key_make(&session->daemon->job_keys, identity->user, identity->job,
                             gba_clock_ns(), earlier ? secret : NULL);
    explicit_bzero(secret, sizeof(secret));
    if (index < 0) {
        gba_switchd_log(GBA_SWITCHD_WARNING, "port %" PRIu32 ": no key for its job: %s: %s",
                        session->port,
                        index == GBA_JOB_KEYS_FULL ? "too many jobs have a key"
                                                   : "the system has no random numbers",
                        gba_session_label(session));
        return GBA_SWITCH_REFUSED_KEYS;
    }
    session->job_key.number = index;
    session->job_key.made = true;
    gba_switchd_log(GBA_SWITCHD_INFO, "port %" PRIu32 ": has made a key for its job: %s",
                    session->port, gba_session_label(session));
    return GBA_SESSION_GOES_ON;
}

void gba_session_take_job_key(struct gba_session *session, const struct gba_switch_message *message)
{
    struct gba_switch_message answer = {.type = GBA_SWITCH_KEY};
    unsigned refusal;

    if (!session->tcp) {
        gba_session_end(session, GBA_SWITCH_REFUSED_MESSAGE);
        return;
    }
    refusal = make_job_key(session, message);
    if (refusal == GBA_SESSION_GOES_ON)
        gba_switch_secret_set(&answer,
                              session->daemon->job_keys.key[session->job_key.number].secret);
    answer.type = GBA_SWITCH_KEY;
    answer.code = (uint8_t)refusal;
    answer.tag = message->tag;
    gba_session_put(session, &answer);
}
