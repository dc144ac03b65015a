/* SPDX-License-Identifier: BSD-3-Clause */
/* The connections of clients: input, output, time limits, and the end of a session. */
#include "sim/switch/net/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>

#include "sim/switch/net/messages.h"

/* Bytes that are read at once. */
#define READ_BYTES 65536

/* Execute the messages that have been read, until the client has too much output to read. */
static void take_all(struct gba_session *session)
{
    uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES];

    while (session->end == GBA_SESSION_GOES_ON &&
           evbuffer_get_length(session->in) >= sizeof(bytes) &&
           evbuffer_get_length(session->out) < GBA_SESSION_OUT_PAUSE) {
        evbuffer_remove(session->in, bytes, sizeof(bytes));
        gba_session_take(session, bytes);
    }
}

/* --- The connection --- */

/* End the session because of an errno of its socket. A reset is the end of a process, too: it had
 * messages that it did not read. */
static void fail(struct gba_session *session, int error)
{
    bool lost = error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH ||
                error == EHOSTDOWN || error == ENETDOWN;

    gba_session_end(session, lost ? GBA_SESSION_LOST : GBA_SESSION_CLOSED);
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
    struct gba_session *session = context;
    int count = evbuffer_read(session->in, fd, READ_BYTES);

    (void)what;
    if (count > 0)
        take_all(session);
    else if (count == 0)
        gba_session_end(session, GBA_SESSION_CLOSED);
    else if (errno != EAGAIN && errno != EINTR)
        fail(session, errno);
    gba_session_flush(session->daemon);
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
    struct gba_session *session = context;

    (void)fd;
    if ((what & EV_TIMEOUT) != 0)
        gba_session_end(session, GBA_SWITCH_REFUSED_SLOW);
    gba_session_mark(session);
    gba_session_flush(session->daemon);
}

/* The time for the greeting is over. */
static void on_greeting_timeout(evutil_socket_t fd, short what, void *context)
{
    struct gba_session *session = context;

    (void)fd;
    (void)what;
    gba_session_end(session, GBA_SWITCH_REFUSED_IDLE);
    gba_session_flush(session->daemon);
}

static void log_end(const struct gba_session *session)
{
    bool wanted = (session->end >= GBA_SESSION_CLOSED && session->end != GBA_SESSION_LOST) ||
                  session->end == GBA_SWITCH_REFUSED_SHUTDOWN;
    enum gba_switchd_level level = wanted ? GBA_SWITCHD_INFO : GBA_SWITCHD_WARNING;
    const char *reason = gba_switch_refusal_text(session->end);

    if (session->end == GBA_SESSION_LOST)
        reason = "the link to its host is lost";
    else if (session->end >= GBA_SESSION_CLOSED)
        reason = "the client closed the connection";
    if (session->state == GBA_SESSION_OPEN)
        gba_switchd_log(level, "port %" PRIu32 ": down: %s: %s", session->port, reason,
                        gba_session_label(session));
    else if (session->end < GBA_SESSION_CLOSED || session->end == GBA_SESSION_LOST)
        gba_switchd_log(level, "connection refused: %s: %s", reason, gba_session_label(session));
}

/* Read and discard the input: TCP resets a connection that is closed with unread input, and the
 * client could lose the last message. */
static void discard(int fd)
{
    char waste[4096];

    for (int i = 0; i < 64 && recv(fd, waste, sizeof(waste), MSG_DONTWAIT) > 0; i++)
        continue;
}

/* Free the memory of a session, of which parts may be missing. */
static void release(struct gba_session *session)
{
    struct event *const events[] = {session->events.readable, session->events.writable,
                                    session->events.greeting};

    for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        if (events[i] != NULL)
            event_free(events[i]);
    if (session->out != NULL)
        evbuffer_free(session->out);
    if (session->in != NULL)
        evbuffer_free(session->in);
    free(session);
}

/* Send the last message if the client takes it, take the port down, and free the session. */
static void destroy(struct gba_session *session)
{
    struct gba_switchd *daemon = session->daemon;
    const int fd = session->fd;

    log_end(session);
    if (session->state == GBA_SESSION_OPEN) {
        daemon->dropped += session->end < GBA_SESSION_CLOSED;
        if (session->end == GBA_SESSION_LOST)
            gba_switch_lose(daemon->device, session->port);
        gba_switch_detach(daemon->device, session->port);
    } else {
        daemon->refused += session->end < GBA_SESSION_CLOSED;
    }
    if (session->end < GBA_SESSION_CLOSED) {
        struct gba_switch_message message = {.type = GBA_SWITCH_ERROR,
                                             .code = (uint8_t)session->end};

        gba_session_put(session, &message);
        evbuffer_write(session->out, session->fd);
    }
    if (session->dirty)
        TAILQ_REMOVE(&daemon->dirty, session, dirty_link);
    LIST_REMOVE(session, link);
    daemon->connections--;
    release(session);
    discard(fd);
    close(fd);
}

/* Stop reading the input while the client has too much output to read. */
static void pause_or_resume(struct gba_session *session)
{
    bool pause = evbuffer_get_length(session->out) >= GBA_SESSION_OUT_PAUSE;

    if (session->state == GBA_SESSION_LAST)
        return;
    if (pause && !session->paused)
        event_del(session->events.readable);
    if (!pause && session->paused)
        event_add(session->events.readable, NULL);
    session->paused = pause;
    take_all(session); /* the input that was read before the pause */
}

/* Write as much output as the client takes now. */
static void send_out(struct gba_session *session)
{
    const struct timeval timeout = {.tv_sec = session->daemon->options->client_timeout};
    size_t before = evbuffer_get_length(session->out), length;

    if (before != 0 && evbuffer_write(session->out, session->fd) < 0 && errno != EAGAIN &&
        errno != EINTR) {
        fail(session, errno);
        return;
    }
    length = evbuffer_get_length(session->out);
    if (length == 0)
        event_del(session->events.writable);
    else if (length < before || !event_pending(session->events.writable, EV_WRITE, NULL))
        event_add(session->events.writable, &timeout); /* counted from the last progress */
    if (length > GBA_SESSION_OUT_MAX && session->state == GBA_SESSION_OPEN)
        gba_session_end(session, GBA_SWITCH_REFUSED_SLOW);
    else
        pause_or_resume(session);
}

static void flush(struct gba_session *session)
{
    if (session->interrupted && session->state == GBA_SESSION_OPEN &&
        session->end == GBA_SESSION_GOES_ON)
        gba_session_send_events(session);
    if (session->end == GBA_SESSION_GOES_ON || session->end == GBA_SESSION_DONE)
        send_out(session);
    if (session->end != GBA_SESSION_GOES_ON &&
        (session->end != GBA_SESSION_DONE || evbuffer_get_length(session->out) == 0))
        destroy(session);
}

void gba_session_flush(struct gba_switchd *daemon)
{
    struct gba_session *session;

    while ((session = TAILQ_FIRST(&daemon->dirty)) != NULL) {
        TAILQ_REMOVE(&daemon->dirty, session, dirty_link);
        session->dirty = false;
        flush(session);
    }
}

/* --- All sessions --- */

void gba_session_end_all(struct gba_switchd *daemon, enum gba_switch_refusal reason)
{
    struct gba_session *session;

    LIST_FOREACH(session, &daemon->sessions, link)
    {
        gba_session_end(session, reason);
    }
    gba_session_flush(daemon);
}

/* Allocate the buffers and events of a session. Returns false: out of memory. */
static bool allocate(struct gba_session *session)
{
    struct event_base *base = session->daemon->base;

    session->in = evbuffer_new();
    session->out = evbuffer_new();
    session->events.readable =
        event_new(base, session->fd, EV_READ | EV_PERSIST, on_readable, session);
    session->events.writable = event_new(base, session->fd, EV_WRITE, on_writable, session);
    session->events.greeting = evtimer_new(base, on_greeting_timeout, session);
    return session->in != NULL && session->out != NULL && session->events.readable != NULL &&
           session->events.writable != NULL && session->events.greeting != NULL;
}

void gba_session_open(struct gba_switchd *daemon, int fd,
                      const struct gba_switch_identity *identity, bool tcp, bool allowed)
{
    const struct timeval greeting = {.tv_sec = GBA_SESSION_GREETING_S};
    struct gba_session *session = calloc(1, sizeof(*session));

    if (session == NULL)
        goto close_fd;
    session->daemon = daemon;
    session->fd = fd;
    session->tcp = tcp;
    session->identity = *identity;
    if (!allocate(session))
        goto free_session;
    daemon->connections++;
    daemon->accepted++;
    LIST_INSERT_HEAD(&daemon->sessions, session, link);
    event_add(session->events.readable, NULL);
    event_add(session->events.greeting, &greeting);
    if (!allowed)
        gba_session_end(session, GBA_SWITCH_REFUSED_USER);
    else if (daemon->connections > daemon->options->ports + GBA_SESSION_WAITING_MAX)
        gba_session_end(session, GBA_SWITCH_REFUSED_PORTS);
    gba_session_flush(daemon);
    return;
free_session:
    release(session);
close_fd:
    close(fd);
    gba_switchd_log(GBA_SWITCHD_ERROR, "connection refused: out of memory");
}
