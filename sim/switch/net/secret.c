/* SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include "sim/switch/net/secret.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/clock.h"
#include "sim/switch/net/trust.h"

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

/* Time in ns in which no credential is checked after munged did not answer: each attempt stops the
 * event loop for up to seconds, and all barriers with it. */
#define MUNGE_PAUSE UINT64_C(5000000000)

static unsigned check_credential(struct gba_session *session)
{
    struct gba_switchd *daemon = session->daemon;
    struct gba_switch_identity *identity = &session->identity;
    uint64_t now = gba_clock_ns();
    char reason[128];
    bool down;

    if (daemon->munge_down != 0 && now - daemon->munge_down < MUNGE_PAUSE)
        return GBA_SWITCH_REFUSED_CREDENTIAL;
    identity->verified =
        gba_switch_credential_check(daemon->options->auth, session->credential.bytes,
                                    &identity->user, &down, reason, sizeof(reason));
    daemon->munge_down = down ? now : 0;
    if (identity->verified) {
        snprintf(identity->kind, sizeof(identity->kind), "munge");
        return GBA_SESSION_GOES_ON;
    }
    gba_switchd_log(down ? GBA_SWITCHD_ERROR : GBA_SWITCHD_DEBUG, "credential refused: %s: %s",
                    reason, gba_session_label(session));
    return GBA_SWITCH_REFUSED_CREDENTIAL;
}

unsigned gba_session_take_credential(struct gba_session *session,
                                     const struct gba_switch_message *message, bool *complete)
{
    size_t used = session->credential.used;

    *complete = false;
    if (session->credential.bytes == NULL) /* the first message has the length */
        session->credential.bytes = calloc(1, GBA_SWITCH_CREDENTIAL_MAX + 1);
    if (session->credential.bytes == NULL || message->tag == 0 ||
        used + message->tag > GBA_SWITCH_CREDENTIAL_MAX)
        return GBA_SWITCH_REFUSED_MESSAGE;
    session->credential.used +=
        gba_switch_credential_get(message, session->credential.bytes + used);
    if (message->tag > GBA_SWITCH_NAME_BYTES)
        return GBA_SESSION_GOES_ON;
    *complete = true;
    return check_credential(session);
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
