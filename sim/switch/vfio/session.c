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
#include "sim/switch/vfio/client.h"
#include "sim/switch/vfio/session.h"

struct gba_vfio_session {
    struct gba_vfio_session_config config;
    struct gba_switch_identity identity;
    int port; /* -1: none, only while the session begins */
    struct event *readable, *writable, *timeout;
    uint64_t refused; /* requests, when the newest refusal was logged */
    struct gba_vfio_device device;
    struct gba_vfio_client client;
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

    return gba_switch_read(session->config.device, (uint32_t)session->port, address, width);
}

static void port_write(void *context, uint32_t address, unsigned width, uint64_t value)
{
    struct gba_vfio_session *session = context;

    if (session->port >= 0)
        gba_switch_write(session->config.device, (uint32_t)session->port, address, width, value);
}

static void port_reset(void *context)
{
    struct gba_vfio_session *session = context;

    gba_switch_reset(session->config.device, (uint32_t)session->port);
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
    if (config.flush != NULL)
        config.flush(config.flush_context);
}

/* The first refusal is a warning. Later refusals are for debugging, because they can follow from
 * the first one, or a hostile client can cause any number of them. */
static void log_refusal(struct gba_vfio_session *session)
{
    const struct gba_vfio_client *client = &session->client;
    uint64_t refused = session->device.counters.refused;

    if (refused == session->refused)
        return;
    gba_switchd_log(0 == session->refused ? GBA_SWITCHD_WARNING : GBA_SWITCHD_DEBUG,
                    "%s: request refused: command %u: %s%s", session->config.name,
                    client->refused_command, strerror(client->refused),
                    GBA_VFIO_DMA_MAP == client->refused_command && EINVAL == client->refused
                        ? "; memory of a guest must be a memfd, or a file on tmpfs or hugetlbfs"
                        : "");
    session->refused = refused;
}

static void on_ready(evutil_socket_t fd, short events, void *context)
{
    struct gba_vfio_session *session = context;
    bool was_sending = session->client.sending;
    int error = gba_vfio_client_progress(&session->client);

    (void)fd;
    (void)events;
    if (0 != error) {
        finish(session, ECONNRESET == error ? "disconnected"
                        : EPROTO == error   ? "protocol error"
                                            : strerror(error));
        return;
    }
    log_refusal(session);
    if (session->config.flush != NULL)
        session->config.flush(session->config.flush_context);
    if (session->client.agreed)
        event_del(session->timeout);
    if (was_sending == session->client.sending)
        return;
    /* The next request waits until the client has read the reply. */
    if (session->client.sending) {
        event_del(session->readable);
        event_add(session->writable, NULL);
    } else {
        event_del(session->writable);
        event_add(session->readable, NULL);
    }
}

static void on_timeout(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    finish(context, "no request in time");
}

static int add_events(struct gba_vfio_session *session)
{
    struct event_base *base = session->config.base;
    struct timeval limit = {.tv_sec = session->config.timeout};

    session->readable =
        event_new(base, session->client.fd, EV_READ | EV_PERSIST, on_ready, session);
    session->writable =
        event_new(base, session->client.fd, EV_WRITE | EV_PERSIST, on_ready, session);
    session->timeout = evtimer_new(base, on_timeout, session);
    if (session->readable == NULL || session->writable == NULL || session->timeout == NULL)
        return ENOMEM;
    if (0 != event_add(session->readable, NULL) ||
        (0 != limit.tv_sec && 0 != event_add(session->timeout, &limit)))
        return ENOMEM;
    return 0;
}

static void free_event(struct event *event)
{
    if (event != NULL)
        event_free(event);
}

/* Detach the port first: no store and no interrupt follows. */
static void release(struct gba_vfio_session *session)
{
    if (session->port >= 0)
        gba_switch_detach(session->config.device, (uint32_t)session->port);
    free_event(session->timeout);
    free_event(session->writable);
    free_event(session->readable);
    gba_vfio_client_end(&session->client);
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
    gba_vfio_device_init(&made->device, &port_ops, made, config->msi);
    gba_vfio_client_init(&made->client, fd, &made->device);
    made->port = gba_switch_attach(config->device, &session_ops, made, &made->identity);
    error = made->port == GBA_SWITCH_PORT_QUOTA ? EDQUOT
            : made->port < 0                    ? EBUSY
                                                : add_events(made);
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
                    " no shared memory, %" PRIu64 " memory gone; %" PRIu64 " interrupts",
                    session->config.name, session->client.requests, counters->refused,
                    counters->stores, counters->dropped_master, counters->dropped_address,
                    counters->dropped_memory, session->device.irq.raised);
}

void gba_vfio_session_end(struct gba_vfio_session *session, const char *reason)
{
    log_end(session, reason);
    release(session);
}
