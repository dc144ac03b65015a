/* SPDX-License-Identifier: BSD-3-Clause */
/* A virtual machine at a port of the switch. */
#define _GNU_SOURCE /* struct ucred */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <event2/event.h>

#include "sim/switch/core/log.h"
#include "sim/switch/core/switch.h"
#include "sim/switch/vfio/connection.h"
#include "sim/switch/vfio/session.h"

struct gba_vfio_session {
    struct gba_vfio_session_config config;
    struct gba_switch_identity identity;
    int port; /* -1: none, only while the session begins */
    struct event *readable;
    uint64_t refused; /* requests, when the newest refusal was logged */
    struct gba_vfio_device device;
    struct gba_vfio_connection connection;
};

/* Operations of the port: releases and interrupts for the virtual machine. */
static void on_release(void *context, uint64_t address, uint32_t group, uint32_t member,
                       uint32_t sequence)
{
    struct gba_vfio_session *session = context;

    (void)group;
    (void)member;
    gba_vfio_device_release(&session->device, address, sequence);
}

static void on_interrupt(void *context)
{
    struct gba_vfio_session *session = context;

    gba_vfio_device_interrupt(&session->device);
}

static const struct gba_switch_session_ops session_ops = {on_release, on_interrupt};

/* Operations of the device: accesses of the virtual machine to the port. */
static uint64_t port_read(void *context, uint32_t address, unsigned width)
{
    struct gba_vfio_session *session = context;

    return gba_switch_read(session->config.server->device, (uint32_t)session->port, address, width);
}

static void port_write(void *context, uint32_t address, unsigned width, uint64_t value)
{
    struct gba_vfio_session *session = context;

    if (session->port >= 0)
        gba_switch_write(session->config.server->device, (uint32_t)session->port, address, width,
                         value);
}

static void port_reset(void *context)
{
    struct gba_vfio_session *session = context;

    gba_switch_reset(session->config.server->device, (uint32_t)session->port);
    gba_switchd_log(GBA_SWITCHD_DEBUG, "%s: reset; port %d", session->config.name, session->port);
}

static const struct gba_vfio_port_ops port_ops = {port_read, port_write, port_reset};

static void identify(struct gba_vfio_session *session, int fd)
{
    struct ucred peer;
    socklen_t length = sizeof peer;

    session->identity =
        (struct gba_switch_identity){.kind = "vfio-user", .user = UINT32_MAX, .local = true};
    if (0 == getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length)) {
        session->identity.user = peer.uid;
        session->identity.process = (uint32_t)peer.pid;
    }
}

/* End a session whose client is gone. */
static void finish(struct gba_vfio_session *session, const char *reason)
{
    struct gba_vfio_session_config config = session->config;

    gba_vfio_session_end(session, reason);
    config.ended(config.context);
    config.server->flush(config.server->context);
}

/* The first refusal is a warning. Later refusals are for debugging, because they can follow from
 * the first one. */
static void log_refusal(struct gba_vfio_session *session)
{
    const struct gba_vfio_connection *connection = &session->connection;
    uint64_t refused = session->device.counters.refused;

    if (refused == session->refused)
        return;
    gba_switchd_log(0 == session->refused ? GBA_SWITCHD_WARNING : GBA_SWITCHD_DEBUG,
                    "%s: request refused: command %u: %s", session->config.name,
                    connection->refused_command, strerror(connection->refused));
    session->refused = refused;
}

static void on_ready(evutil_socket_t fd, short events, void *context)
{
    struct gba_vfio_session *session = context;
    int error = gba_vfio_connection_progress(&session->connection);

    (void)fd;
    (void)events;
    if (0 != error) {
        finish(session, ECONNRESET == error ? "disconnected"
                        : EPROTO == error   ? "protocol error"
                        : ENOBUFS == error  ? "it does not read its replies"
                                            : strerror(error));
        return;
    }
    log_refusal(session);
    session->config.server->flush(session->config.server->context);
}

static int add_event(struct gba_vfio_session *session)
{
    session->readable = event_new(session->config.server->base, session->connection.fd,
                                  EV_READ | EV_PERSIST, on_ready, session);
    return session->readable != NULL && 0 == event_add(session->readable, NULL) ? 0 : ENOMEM;
}

/* Detach the port first: no store and no interrupt follows. */
static void release(struct gba_vfio_session *session)
{
    if (session->port >= 0)
        gba_switch_detach(session->config.server->device, (uint32_t)session->port);
    if (session->readable != NULL)
        event_free(session->readable);
    gba_vfio_connection_end(&session->connection);
    gba_vfio_device_clear(&session->device);
    free(session);
}

int gba_vfio_session_begin(const struct gba_vfio_session_config *config, int fd,
                           struct gba_vfio_session **session)
{
    struct gba_vfio_session *made = calloc(1, sizeof *made);
    int error = ENOMEM;

    if (made == NULL) {
        (void)close(fd);
        goto log;
    }
    made->config = *config;
    identify(made, fd);
    gba_vfio_device_init(&made->device, &port_ops, made);
    gba_vfio_connection_init(&made->connection, fd, &made->device);
    made->port = gba_switch_attach(config->server->device, &session_ops, made, &made->identity);
    error = made->port == GBA_SWITCH_PORT_QUOTA ? EDQUOT : made->port < 0 ? EBUSY : add_event(made);
    if (0 != error) {
        release(made);
        goto log;
    }
    gba_switchd_log(GBA_SWITCHD_INFO, "%s: process %u of user %u is connected; port %d",
                    config->name, made->identity.process, made->identity.user, made->port);
    *session = made;
    return 0;
log:
    gba_switchd_log(GBA_SWITCHD_ERROR, "%s: client refused: %s", config->name,
                    EBUSY == error    ? "all ports of the switch are in use"
                    : EDQUOT == error ? "the user uses as many ports as it may"
                                      : strerror(error));
    return error;
}

static void log_end(const struct gba_vfio_session *session, const char *reason)
{
    const struct gba_vfio_counters *counters = &session->device.counters;

    gba_switchd_log(GBA_SWITCHD_INFO, "%s: %s; port %d is down", session->config.name, reason,
                    session->port);
    gba_switchd_log(GBA_SWITCHD_INFO,
                    "%s: %" PRIu64 " requests, %" PRIu64 " refused; %" PRIu64
                    " release stores; dropped: %" PRIu64 " bus mastering off, %" PRIu64
                    " no shared memory; %" PRIu64 " interrupts",
                    session->config.name, session->connection.requests, counters->refused,
                    counters->stores, counters->dropped_master, counters->dropped_address,
                    session->device.irq.raised);
}

void gba_vfio_session_end(struct gba_vfio_session *session, const char *reason)
{
    log_end(session, reason);
    release(session);
}
