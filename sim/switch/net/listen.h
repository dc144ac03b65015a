/* SPDX-License-Identifier: BSD-3-Clause */
/* The listening sockets of gba-switchd. */
#ifndef GBA_SIM_SWITCH_NET_LISTEN_H
#define GBA_SIM_SWITCH_NET_LISTEN_H

#include "sim/switch/net/daemon.h"

#define GBA_SWITCHD_LISTENERS 4

struct gba_switchd_listeners {
    struct gba_switchd *daemon;
    struct gba_switchd_listener {
        struct gba_switchd_listeners *all;
        struct evconnlistener *listener;
        bool tcp;
    } entry[GBA_SWITCHD_LISTENERS];
    unsigned count;
    uint32_t accepted;      /* connections; wraps */
    struct event *resume;   /* accepts again after a failure, or after many connections */
    uint32_t allowed_group; /* its members may connect, beside the user of the daemon and root */
    uint64_t socket_device, socket_inode; /* of the file of the Unix socket */
    bool bound;                           /* this daemon has made the file */
    char where[512];                      /* device paths for clients, for the ready line */
};

/*
 * Listen on the sockets of the options. Replaces a socket file without a listening process. A
 * socket file in use is an error. Returns false (logged) if one of the sockets cannot be opened;
 * the caller then also calls gba_switchd_listen_close.
 */
bool gba_switchd_listen(struct gba_switchd *daemon, struct gba_switchd_listeners *listeners);

/* Close the sockets and remove the file. */
void gba_switchd_listen_close(struct gba_switchd_listeners *listeners);

#endif
