/* SPDX-License-Identifier: BSD-3-Clause */
/* gba-switchd: starts, reports that it is ready, runs the event loop, and stops. */
#define _GNU_SOURCE /* explicit_bzero */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/base/command_line.h"
#include "sim/switch/command_line.h"
#include "sim/switch/net/trust.h"
#include "sim/switch/net/listen.h"
#include "sim/switch/net/session.h"
#include "sim/switch/vfio/server.h"

/* Exit codes beside 0. */
enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct wakeup {
    struct gba_switchd *daemon;
    struct event *timer;
};

/* --- Callbacks of the core --- */

static uint64_t core_now(void *context)
{
    (void)context;
    return gba_clock_ns();
}

static uint64_t core_random(void *context)
{
    uint64_t number = 0;

    (void)context;
    if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
        gba_switchd_log(GBA_SWITCHD_ERROR, "cannot get random numbers: %s", strerror(errno));
        abort(); /* another user could guess the keys of groups */
    }
    return number;
}

static void core_wake(void *context, uint64_t due)
{
    const struct wakeup *wakeup = context;
    uint64_t now = gba_clock_ns(), delay = due > now ? due - now : 0;
    const struct timeval time = {.tv_sec = (time_t)(delay / 1000000000u),
                                 .tv_usec = (suseconds_t)(delay % 1000000000u / 1000u)};

    event_add(wakeup->timer, &time);
}

static void on_wake(evutil_socket_t fd, short what, void *context)
{
    const struct wakeup *wakeup = context;

    (void)fd;
    (void)what;
    gba_switch_run(wakeup->daemon->device);
    gba_session_flush(wakeup->daemon);
}

/* --- Start and stop --- */

/* Notify systemd if it has started this process. The message is a datagram; a name that begins with
 * '@' is an abstract socket. */
static void notify(const char *state)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = name == NULL ? 0 : strlen(name);
    int fd;

    if (length == 0 || length >= sizeof(address.sun_path))
        return;
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0)
        gba_switchd_log(GBA_SWITCHD_WARNING, "cannot notify %s: %s", name, strerror(errno));
    close(fd);
}

static void on_stop(evutil_socket_t number, short what, void *context)
{
    struct gba_switchd *daemon = context;

    (void)what;
    gba_switchd_log(GBA_SWITCHD_INFO, "stopping: %s", strsignal(number));
    event_base_loopbreak(daemon->base);
}

static bool read_key(const char *path, uint8_t secret[GBA_SWITCH_SECRET_BYTES])
{
    char reason[128];
    bool good = gba_switch_key_read(path, secret, reason, sizeof(reason));

    if (!good)
        gba_switchd_log(GBA_SWITCHD_ERROR, "--key-file %s: %s", path, reason);
    return good;
}

/* Read the key again, for clients that connect from now on. A file that fails changes nothing. */
static void on_reload(evutil_socket_t number, short what, void *context)
{
    struct gba_switchd *daemon = context;
    const char *key_file = daemon->options->key_file;
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];

    (void)number;
    (void)what;
    if (key_file == NULL || !read_key(key_file, secret))
        return;
    memcpy(daemon->secret, secret, sizeof(secret));
    explicit_bzero(secret, sizeof(secret));
    gba_switchd_log(GBA_SWITCHD_INFO, "reloaded: key file %s", key_file);
}

static const struct {
    int number;
    event_callback_fn call;
} signals[] = {{SIGTERM, on_stop}, {SIGINT, on_stop}, {SIGHUP, on_reload}};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

/* Handle the signals, which the parent may have blocked. The caller frees the events that are not
 * NULL, also after a failure. */
static bool await_signals(struct gba_switchd *daemon, struct event *events[SIGNALS])
{
    sigset_t handled;

    sigemptyset(&handled);
    for (size_t i = 0; i < SIGNALS; i++) {
        events[i] = evsignal_new(daemon->base, signals[i].number, signals[i].call, daemon);
        if (events[i] == NULL || event_add(events[i], NULL) != 0)
            return false;
        sigaddset(&handled, signals[i].number);
    }
    return sigprocmask(SIG_UNBLOCK, &handled, NULL) == 0;
}

/* Raise the limit of open files, because each connection has a descriptor. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config == NULL)
        return NULL;
    /* Latencies are microseconds: libevent's usual resolution is a millisecond. */
    if (event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
        base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static struct gba_switch *make_device(const struct gba_switchd_options *options,
                                      struct wakeup *wakeup)
{
    struct gba_switch_config config = {.groups = options->groups,
                                       .ports = options->ports,
                                       .quota = options->quota,
                                       .user_quota = options->user_quota,
                                       .job_quota = options->job_quota,
                                       .user_ports = options->user_ports,
                                       .job_ports = options->job_ports,
                                       .latency = options->latency,
                                       .now = core_now,
                                       .wake = core_wake,
                                       .random = core_random,
                                       .context = wakeup};

    /* A restarted switch is another unit, because it has no group of the earlier one. */
    config.uuid[0] = core_random(NULL);
    config.uuid[1] = core_random(NULL);
    return gba_switch_create(&config);
}

static void print_ready(const struct gba_switchd *daemon,
                        const struct gba_switchd_listeners *listeners)
{
    const char *directory = daemon->options->vfio_directory;

    printf("gba-switchd ready:%s%s%s groups=%" PRIu32 " ports=%" PRIu32 "\n", listeners->where,
           directory == NULL ? "" : " vfio-user:", directory == NULL ? "" : directory,
           daemon->options->groups, daemon->options->ports);
    if (fflush(stdout) != 0)
        gba_switchd_log(GBA_SWITCHD_WARNING, "cannot print the line \"ready\": %s",
                        strerror(errno));
    notify("READY=1\nSTATUS=Switching\n");
}

/* A virtual machine has made accesses, so other sessions can have data to send. */
static void flush_sessions(void *context)
{
    gba_session_flush(context);
}

/* Offer devices to virtual machines, if there is a directory for their sockets. */
static bool offer_devices(struct gba_switchd *daemon, struct gba_vfio_server **server)
{
    const struct gba_switchd_options *options = daemon->options;
    const struct gba_vfio_server_config config = {.base = daemon->base,
                                                  .device = daemon->device,
                                                  .directory = options->vfio_directory,
                                                  .devices = options->vfio_devices,
                                                  .flush = flush_sessions,
                                                  .context = daemon};

    return options->vfio_directory == NULL || gba_vfio_server_create(&config, server) == 0;
}

/* Listen, and run until a signal. */
static bool serve(struct gba_switchd *daemon)
{
    struct gba_switchd_listeners listeners;
    struct gba_vfio_server *devices = NULL;
    struct event *events[SIGNALS] = {NULL};
    bool good = gba_switchd_listen(daemon, &listeners) && await_signals(daemon, events) &&
                offer_devices(daemon, &devices);

    if (good) {
        print_ready(daemon, &listeners);
        good = event_base_dispatch(daemon->base) >= 0;
        notify("STOPPING=1\n");
    }
    gba_switchd_listen_close(&listeners);
    gba_vfio_server_destroy(devices);
    gba_session_end_all(daemon, GBA_SWITCH_REFUSED_SHUTDOWN);
    for (size_t i = 0; i < SIGNALS; i++) {
        if (events[i] != NULL)
            event_free(events[i]);
    }
    return good;
}

static int run(const struct gba_switchd_options *options)
{
    struct gba_switchd daemon = {.options = options, .started = gba_clock_ns()};
    struct wakeup wakeup = {.daemon = &daemon};
    int code = EXIT_FAILED;

    LIST_INIT(&daemon.sessions);
    TAILQ_INIT(&daemon.dirty);
    if (options->key_file != NULL && !read_key(options->key_file, daemon.secret))
        return EXIT_FAILED;
    daemon.base = make_base();
    if (daemon.base == NULL)
        goto fail;
    wakeup.timer = evtimer_new(daemon.base, on_wake, &wakeup);
    if (wakeup.timer == NULL)
        goto free_base;
    daemon.device = make_device(options, &wakeup);
    if (daemon.device == NULL)
        goto free_timer;
    code = serve(&daemon) ? EXIT_SUCCESS : EXIT_FAILED;
    gba_switch_destroy(daemon.device);
    event_free(wakeup.timer);
    event_base_free(daemon.base);
    return code;
free_timer:
    event_free(wakeup.timer);
free_base:
    event_base_free(daemon.base);
fail:
    gba_switchd_log(GBA_SWITCHD_ERROR, "out of memory");
    return code;
}

int main(int argc, char **argv)
{
    static struct gba_switchd_options options;

    gba_output_begin();
    switch (gba_switchd_options_parse(argc, argv, &options)) {
    case GBA_SWITCHD_EXIT_OK:
        return gba_output_end("gba-switchd", EXIT_SUCCESS, EXIT_FAILED);
    case GBA_SWITCHD_EXIT_USAGE:
        return EXIT_USAGE;
    default:
        break;
    }
    gba_switchd_log_level(options.log_level);
    signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    return run(&options);
}
