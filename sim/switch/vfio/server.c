/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets of the PCI devices for virtual machines. */
#define _GNU_SOURCE /* accept4 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <event2/event.h>

#include "sim/switch/core/log.h"
#include "sim/switch/net/socket_file.h"
#include "sim/switch/vfio/server.h"
#include "sim/switch/vfio/session.h"

/* One socket and its client. */
struct endpoint {
    const struct gba_vfio_server_config *config;
    struct sockaddr_un address;
    int fd; /* of the listening socket; -1: none */
    bool bound;
    struct event *acceptable; /* enabled while there is no client */
    struct event *retry;      /* enables it again after an error */
    struct gba_vfio_session *session;
};

struct gba_vfio_server {
    struct gba_vfio_server_config config;
    unsigned open; /* endpoints to close */
    struct endpoint endpoint[];
};

/* Under the lock of the directory. The user and the group of the daemon can connect. The directory
 * can be stricter. */
static int listen_at(struct endpoint *endpoint)
{
    int error = gba_socket_file_clear(&endpoint->address);

    if (0 != error)
        return error;
    endpoint->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (endpoint->fd < 0 || 0 != fchmod(endpoint->fd, S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) ||
        0 != bind(endpoint->fd, (struct sockaddr *)&endpoint->address, sizeof endpoint->address))
        return errno;
    endpoint->bound = true;
    if (0 != chmod(endpoint->address.sun_path, S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP))
        return errno;
    return 0 == listen(endpoint->fd, 1) ? 0 : errno;
}

static void on_ended(void *context)
{
    struct endpoint *endpoint = context;

    endpoint->session = NULL;
    event_add(endpoint->acceptable, NULL);
}

static void on_retry(evutil_socket_t fd, short events, void *context)
{
    struct endpoint *endpoint = context;

    (void)fd;
    (void)events;
    event_add(endpoint->acceptable, NULL);
}

static int accept_client(struct endpoint *endpoint)
{
    struct gba_vfio_session_config config = {.server = endpoint->config,
                                             .name = endpoint->address.sun_path,
                                             .ended = on_ended,
                                             .context = endpoint};
    int fd = accept4(endpoint->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int error = errno;

    if (fd >= 0)
        return gba_vfio_session_begin(&config, fd, &endpoint->session);
    if (EAGAIN == error || EINTR == error || ECONNABORTED == error)
        return EAGAIN;
    gba_switchd_log(GBA_SWITCHD_ERROR, "%s: cannot accept a client: %s", config.name,
                    strerror(error));
    return error;
}

/* A second client waits in the queue of the socket until the first is gone. After an error, such as
 * a lack of memory, descriptors or ports, the next client is accepted a second later. */
static void on_acceptable(evutil_socket_t fd, short events, void *context)
{
    static const struct timeval pause = {.tv_sec = 1};
    struct endpoint *endpoint = context;
    int error = accept_client(endpoint);

    (void)fd;
    (void)events;
    if (EAGAIN == error)
        return;
    event_del(endpoint->acceptable);
    if (0 != error)
        event_add(endpoint->retry, &pause);
}

static int add_events(struct endpoint *endpoint)
{
    struct event_base *base = endpoint->config->base;

    endpoint->acceptable =
        event_new(base, endpoint->fd, EV_READ | EV_PERSIST, on_acceptable, endpoint);
    endpoint->retry = evtimer_new(base, on_retry, endpoint);
    if (endpoint->acceptable == NULL || endpoint->retry == NULL ||
        0 != event_add(endpoint->acceptable, NULL))
        return ENOMEM;
    return 0;
}

static int endpoint_open(struct endpoint *endpoint, const struct gba_vfio_server_config *config,
                         unsigned number)
{
    int error = ENAMETOOLONG, length;

    *endpoint = (struct endpoint){.config = config, .fd = -1};
    endpoint->address.sun_family = AF_UNIX;
    length = snprintf(endpoint->address.sun_path, sizeof endpoint->address.sun_path, "%s/%u",
                      config->directory, number);
    if (length >= 0 && (size_t)length < sizeof endpoint->address.sun_path)
        error = listen_at(endpoint);
    if (0 == error)
        error = add_events(endpoint);
    if (0 != error)
        gba_switchd_log(GBA_SWITCHD_ERROR, "cannot listen on %s: %s", endpoint->address.sun_path,
                        strerror(error));
    return error;
}

static void endpoint_close(struct endpoint *endpoint)
{
    if (endpoint->session != NULL)
        gba_vfio_session_end(endpoint->session, "the switch stops");
    if (endpoint->retry != NULL)
        event_free(endpoint->retry);
    if (endpoint->acceptable != NULL)
        event_free(endpoint->acceptable);
    if (endpoint->bound)
        (void)unlink(endpoint->address.sun_path);
    if (endpoint->fd >= 0)
        (void)close(endpoint->fd);
}

int gba_vfio_server_create(const struct gba_vfio_server_config *config,
                           struct gba_vfio_server **server)
{
    struct gba_vfio_server *made =
        calloc(1, sizeof *made + config->devices * sizeof made->endpoint[0]);
    int error = 0, lock;

    if (made == NULL)
        return ENOMEM;
    made->config = *config;
    lock = gba_socket_directory_lock(config->directory);
    if (lock < 0) {
        error = errno;
        gba_switchd_log(GBA_SWITCHD_ERROR, "cannot open %s: %s", config->directory,
                        strerror(error));
    }
    while (0 == error && made->open < config->devices) {
        error = endpoint_open(&made->endpoint[made->open], &made->config, made->open);
        made->open++;
    }
    if (lock >= 0)
        (void)close(lock);
    if (0 != error) {
        gba_vfio_server_destroy(made);
        return error;
    }
    *server = made;
    return 0;
}

void gba_vfio_server_destroy(struct gba_vfio_server *server)
{
    if (server == NULL)
        return;
    while (server->open > 0)
        endpoint_close(&server->endpoint[--server->open]);
    free(server);
}
