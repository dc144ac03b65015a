/* SPDX-License-Identifier: BSD-3-Clause */
/* The listening sockets of gba-switchd, and the identity of each client. */
#define _GNU_SOURCE /* struct ucred, accept flags */
#include "sim/switch/net/listen.h"

#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/listener.h>

#include "sim/switch/net/session.h"
#include "sim/switch/net/socket_file.h"

#define BACKLOG 128

/* Maximum number of connections that are accepted at once. */
#define ACCEPTS 32u

/* --- Identity of clients --- */

static bool has_group(int fd, gid_t wanted)
{
    gid_t groups[1024]; /* supplementary groups; a process has 65536 at most, and rarely 100 */
    socklen_t size = sizeof(groups);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0)
        return false;
    for (size_t i = 0; i < size / sizeof(groups[0]); i++) {
        if (groups[i] == wanted)
            return true;
    }
    return false;
}

/* Identify the process at the other end of a Unix socket. Returns whether it may use the switch. */
static bool identify_unix(int fd, gid_t allowed, struct gba_switch_identity *identity)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    *identity = (struct gba_switch_identity){.kind = "unix", .user = UINT32_MAX, .local = true};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    identity->user = peer.uid;
    identity->process = (uint32_t)peer.pid;
    return peer.uid == geteuid() || peer.uid == 0 || peer.gid == allowed || has_group(fd, allowed);
}

static void identify_tcp(const struct sockaddr *address, int length,
                         struct gba_switch_identity *identity)
{
    *identity = (struct gba_switch_identity){.kind = "tcp", .user = UINT32_MAX};
    if (getnameinfo(address, (socklen_t)length, identity->host, sizeof(identity->host), NULL, 0,
                    NI_NUMERICHOST) != 0)
        identity->host[0] = '\0';
}

/* Send small messages at once. Detect a host that is gone within half a minute. */
static void set_tcp_options(int fd, uint32_t timeout_s)
{
    const int on = 1, idle = 10, interval = 5, probes = 4;
    const unsigned unacknowledged = timeout_s * 1000;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged, sizeof(unacknowledged));
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int length, void *context)
{
    const struct gba_switchd_listener *entry = context;
    struct gba_switchd *daemon = entry->all->daemon;
    static const struct timeval now = {.tv_sec = 0};
    struct gba_switch_identity identity;
    bool allowed = true;

    if (entry->tcp) {
        identify_tcp(address, length, &identity);
        set_tcp_options(fd, daemon->options->client_timeout);
    } else {
        allowed = identify_unix(fd, entry->all->allowed_group, &identity);
    }
    gba_session_open(daemon, fd, &identity, entry->tcp, allowed);
    /* libevent accepts until no connection is left, so a flood of connections would stop the
     * service of connected clients. */
    if (++entry->all->accepted % ACCEPTS == 0) {
        evconnlistener_disable(listener);
        event_add(entry->all->resume, &now);
    }
}

/* The usual cause is a lack of descriptors. Accept again in a second rather than spin. */
static void on_accept_error(struct evconnlistener *listener, void *context)
{
    const struct gba_switchd_listener *entry = context;
    const struct timeval second = {.tv_sec = 1};

    gba_switchd_log(GBA_SWITCHD_ERROR, "cannot accept a connection: %s", strerror(errno));
    evconnlistener_disable(listener);
    event_add(entry->all->resume, &second);
}

static void on_resume(evutil_socket_t fd, short what, void *context)
{
    struct gba_switchd_listeners *listeners = context;

    (void)fd;
    (void)what;
    for (unsigned i = 0; i < listeners->count; i++)
        evconnlistener_enable(listeners->entry[i].listener);
}

/* Accept connections on a bound socket, which is closed on failure. */
static bool add(struct gba_switchd_listeners *listeners, int fd, bool tcp)
{
    struct gba_switchd_listener *entry = &listeners->entry[listeners->count];

    entry->all = listeners;
    entry->tcp = tcp;
    entry->listener =
        evconnlistener_new(listeners->daemon->base, on_accept, entry,
                           LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, BACKLOG, fd);
    if (entry->listener == NULL) {
        gba_switchd_log(GBA_SWITCHD_ERROR, "cannot listen: %s", strerror(errno));
        close(fd);
        return false;
    }
    evconnlistener_set_error_cb(entry->listener, on_accept_error);
    listeners->count++;
    return true;
}

/* --- The Unix socket --- */

/* Lock the directory of the socket, and make it first if it is that of the default socket. Others
 * than root may use the daemon of root. Returns a descriptor, or -1 with errno. */
static int lock_directory(const struct gba_switchd_options *options)
{
    char directory[GBA_SWITCHD_PATH_MAX];
    char *slash;

    snprintf(directory, sizeof(directory), "%s", options->listen);
    slash = strrchr(directory, '/');
    slash[slash == directory] = '\0';
    if (options->make_directory && mkdir(directory, 0700) == 0 && geteuid() == 0)
        chmod(directory, 0755);
    return gba_socket_directory_lock(directory);
}

/* Under the lock of the directory. Returns false (logged) if the path is in use. */
static bool remove_stale(const struct sockaddr_un *address)
{
    int error = gba_socket_file_clear(address);

    if (error == 0)
        return true;
    gba_switchd_log(GBA_SWITCHD_ERROR, "--listen %s: %s", address->sun_path,
                    error == ENOTSOCK     ? "the file exists and is not a socket"
                    : error == EADDRINUSE ? "another process listens there"
                                          : strerror(error));
    return false;
}

/* Bind the socket, and set the mode and the group of its file. At no time does the file have rights
 * for other users. */
static bool bind_unix(struct gba_switchd_listeners *listeners, int fd,
                      const struct sockaddr_un *address)
{
    mode_t mask = umask(0177);
    int failed = bind(fd, (const struct sockaddr *)address, sizeof(*address));
    struct stat status;

    umask(mask);
    if (failed != 0)
        return false;
    listeners->bound = true;
    if (listeners->allowed_group != getegid() &&
        chown(address->sun_path, (uid_t)-1, listeners->allowed_group) != 0)
        return false;
    if (chmod(address->sun_path, 0660) != 0 || lstat(address->sun_path, &status) != 0)
        return false;
    listeners->socket_device = status.st_dev;
    listeners->socket_inode = status.st_ino;
    return true;
}

static bool listen_unix(struct gba_switchd_listeners *listeners)
{
    const char *path = listeners->daemon->options->listen;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int lock = lock_directory(listeners->daemon->options), fd;
    bool good = false;

    if (lock < 0) {
        gba_switchd_log(GBA_SWITCHD_ERROR,
                        "--listen %s: cannot open its directory: %s; make it, or set another path",
                        path, strerror(errno));
        return false;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (!remove_stale(&address))
        goto unlock;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || !bind_unix(listeners, fd, &address)) {
        gba_switchd_log(GBA_SWITCHD_ERROR, "--listen %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        goto unlock;
    }
    good = add(listeners, fd, false);
unlock:
    close(lock);
    return good;
}

static void remove_socket(const struct gba_switchd_listeners *listeners)
{
    const char *path = listeners->daemon->options->listen;
    int lock = lock_directory(listeners->daemon->options);
    struct stat status;

    if (lstat(path, &status) == 0 && status.st_dev == listeners->socket_device &&
        status.st_ino == listeners->socket_inode)
        unlink(path);
    if (lock >= 0)
        close(lock);
}

/* --- TCP --- */

static void append_where(struct gba_switchd_listeners *listeners, const char *prefix,
                         const char *text)
{
    size_t used = strlen(listeners->where);

    snprintf(listeners->where + used, sizeof(listeners->where) - used, " %s%s", prefix, text);
}

/* The address as a client writes it, with the port number that the kernel has chosen. */
static void append_tcp(struct gba_switchd_listeners *listeners, int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof(address);
    char host[64], port[16], text[96];

    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 ||
        getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    snprintf(text, sizeof(text), strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
    append_where(listeners, "switch://", text);
}

static bool listen_tcp_on(struct gba_switchd_listeners *listeners, const struct addrinfo *info)
{
    const int on = 1;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (info->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(fd, info->ai_addr, info->ai_addrlen) != 0) {
        close(fd);
        return false;
    }
    append_tcp(listeners, fd);
    return add(listeners, fd, true);
}

/* Listen on the first address of the host on which it is possible: one socket and one port number.
 */
static bool listen_tcp(struct gba_switchd_listeners *listeners)
{
    const struct gba_switchd_options *options = listeners->daemon->options;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL, *info;
    int error = getaddrinfo(options->tcp_host, options->tcp_port, &hints, &list);

    if (error != 0) {
        gba_switchd_log(GBA_SWITCHD_ERROR, "--tcp %s: %s", options->tcp_host, gai_strerror(error));
        return false;
    }
    for (info = list; info != NULL && !listen_tcp_on(listeners, info); info = info->ai_next)
        continue;
    if (info == NULL)
        gba_switchd_log(GBA_SWITCHD_ERROR, "--tcp %s:%s: %s", options->tcp_host, options->tcp_port,
                        strerror(errno));
    freeaddrinfo(list);
    return info != NULL;
}

/* --- Interface --- */

static bool find_group(const char *name, uint32_t *number)
{
    const struct group *group;

    *number = getegid();
    if (name == NULL)
        return true;
    group = getgrnam(name);
    if (group == NULL) {
        gba_switchd_log(GBA_SWITCHD_ERROR, "--group %s: no such group", name);
        return false;
    }
    *number = group->gr_gid;
    return true;
}

bool gba_switchd_listen(struct gba_switchd *daemon, struct gba_switchd_listeners *listeners)
{
    const struct gba_switchd_options *options = daemon->options;

    *listeners = (struct gba_switchd_listeners){.daemon = daemon};
    listeners->resume = evtimer_new(daemon->base, on_resume, listeners);
    if (listeners->resume == NULL || !find_group(options->group, &listeners->allowed_group))
        return false;
    if (options->listen[0] != '\0') {
        if (!listen_unix(listeners))
            return false;
        append_where(listeners, "switch:", options->listen);
    }
    return options->tcp_host[0] == '\0' || listen_tcp(listeners);
}

void gba_switchd_listen_close(struct gba_switchd_listeners *listeners)
{
    for (unsigned i = 0; i < listeners->count; i++)
        evconnlistener_free(listeners->entry[i].listener);
    if (listeners->bound)
        remove_socket(listeners);
    if (listeners->resume != NULL)
        event_free(listeners->resume);
}
