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

/* Whether the session has a place on the switch, on the Unix socket, and no port. */
static bool waits(const struct gba_session *session)
{
    return session->admitted && !session->tcp && session->state != GBA_SESSION_OPEN &&
           session->end == GBA_SESSION_GOES_ON;
}

static uint32_t count_waiting(const struct gba_switchd *daemon, uint32_t user)
{
    const struct gba_session *session;
    uint32_t count = 0;

    LIST_FOREACH(session, &daemon->sessions, link)
    {
        count += waits(session) && session->identity.user == user;
    }
    return count;
}

/* The session that gives way to a new one, or the new one itself. */
static struct gba_session *find_excess(struct gba_session *newest)
{
    const struct gba_switchd *daemon = newest->daemon;
    struct gba_session *session, *excess = newest;
    /* The user of another host is not the one of the same number here. */
    uint32_t counted = newest->tcp ? UINT32_MAX : newest->identity.user;
    uint32_t most = newest->tcp ? 0 : count_waiting(daemon, counted);

    LIST_FOREACH(session, &daemon->sessions, link)
    {
        uint32_t user = session->identity.user, count;

        if (!waits(session) || user == counted)
            continue;
        counted = user;
        count = count_waiting(daemon, user);
        if (count > most) {
            most = count;
            excess = session;
        }
    }
    if (excess == newest)
        return newest;
    /* The list has the newest first. */
    LIST_FOREACH(session, &daemon->sessions, link)
    {
        if (waits(session) && session->identity.user == excess->identity.user)
            excess = session;
    }
    return excess;
}

bool gba_session_admit(struct gba_session *session)
{
    struct gba_switchd *daemon = session->daemon;
    struct gba_session *excess;

    session->admitted = true;
    daemon->unadmitted--;
    daemon->connections++;
    if (daemon->connections <= daemon->options->ports + GBA_SESSION_WAITING_MAX)
        return true;
    excess = find_excess(session);
    gba_session_end(excess, excess == session ? GBA_SWITCH_REFUSED_PORTS : GBA_SWITCH_REFUSED_IDLE);
    return excess != session;
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
