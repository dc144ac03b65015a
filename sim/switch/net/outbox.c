/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a session, and its end. */
#include "sim/switch/net/outbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <event2/buffer.h>

const char *gba_session_label(const struct gba_session *session)
{
    const struct gba_switch_identity *identity = &session->identity;
    static char text[200];

    snprintf(text, sizeof(text), "%s%suser %" PRIu32 ", process %" PRIu32 " (%s)%s%s",
             identity->host, identity->host[0] == '\0' ? "" : ", ", identity->user,
             identity->process, identity->kind, identity->batch_job[0] == '\0' ? "" : ", job ",
             identity->batch_job);
    return text;
}

const struct gba_switch_identity *gba_session_viewer(const struct gba_session *session)
{
    const struct gba_switch_identity *identity = &session->identity;

    return session->tcp || identity->user == 0 || identity->user == geteuid() ? NULL : identity;
}

void gba_session_mark(struct gba_session *session)
{
    if (session->dirty)
        return;
    session->dirty = true;
    TAILQ_INSERT_TAIL(&session->daemon->dirty, session, dirty_link);
}

void gba_session_end(struct gba_session *session, unsigned reason)
{
    if (session->end == GBA_SESSION_GOES_ON || session->end == GBA_SESSION_DONE)
        session->end = reason;
    gba_session_mark(session);
}

void gba_session_put(struct gba_session *session, const struct gba_switch_message *message)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    gba_switch_encode(message, bytes);
    if (evbuffer_add(session->out, bytes, sizeof(bytes)) != 0)
        gba_session_end(session, GBA_SWITCH_REFUSED_SLOW); /* out of memory */
    else
        gba_session_mark(session);
}
