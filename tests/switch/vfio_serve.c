/* SPDX-License-Identifier: BSD-3-Clause */
/* The vfio-user server of gba-switchd, without the rest of the daemon. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <event2/event.h>

#include "sim/switch/core/switch.h"
#include "sim/switch/vfio/server.h"
#include "tests/switch/vfio_serve.h"

static uint64_t now(void *context)
{
    (void)context;
    return 0;
}

static void wake(void *context, uint64_t due)
{
    (void)context;
    (void)due; /* without a latency nothing is delayed */
    abort();
}

static uint64_t random_number(void *context)
{
    uint64_t number = 0;

    (void)context;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        abort();
    return number;
}

static void on_signal(evutil_socket_t number, short events, void *base)
{
    (void)number;
    (void)events;
    event_base_loopbreak(base);
}

int vfio_serve(const char *directory, unsigned devices, unsigned ports, bool msi, int ready)
{
    struct gba_switch_config core = {.groups = GBA_GROUPS,
                                     .ports = ports,
                                     .uuid = {1, 2},
                                     .now = now,
                                     .wake = wake,
                                     .random = random_number};
    struct gba_vfio_server_config config = {
        .directory = directory, .devices = devices, .msi = msi, .timeout = 10};
    struct gba_vfio_server *server = NULL;
    struct event *stop;

    config.base = event_base_new();
    config.device = gba_switch_create(&core);
    stop = evsignal_new(config.base, SIGTERM, on_signal, config.base);
    event_add(stop, NULL);
    if (gba_vfio_server_create(&config, &server) == 0) {
        if (ready >= 0 && (write(ready, "", 1) != 1 || close(ready) != 0))
            abort();
        event_base_dispatch(config.base);
    }
    gba_vfio_server_destroy(server);
    event_free(stop);
    gba_switch_destroy(config.device);
    event_base_free(config.base);
    libevent_global_shutdown();
    return server == NULL ? 1 : 0;
}
