/* SPDX-License-Identifier: BSD-3-Clause */
/* The listening sockets of gba-switchd. */
#ifndef GBA_SIM_SWITCH_LISTEN_H
#define GBA_SIM_SWITCH_LISTEN_H

#include "sim/switch/daemon.h"

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
    uint32_t allowed_group; /* whose members may connect, beside the user of the daemon and root */
    uint64_t socket_device, socket_inode; /* of the file of the Unix socket */
    bool bound;                           /* the file is there, and is this daemon's */
    char where[512];                      /* what clients connect to, for the ready line */
};

/*
 * Listen on the sockets of the options. A socket file without a listening process is replaced, one
 * in use is not. Returns false (logged) if one of the sockets cannot be had; close is then due,
 * too.
 */
bool gba_switchd_listen(struct gba_switchd *daemon, struct gba_switchd_listeners *listeners);

/* Close the sockets and remove the file. */
void gba_switchd_listen_close(struct gba_switchd_listeners *listeners);

/* Read the key of TCP clients from the key file. Returns false (logged) if there is none that is
 * safe: the file must be readable by its owner alone, who is this user or root. */
bool gba_switchd_read_key(const char *path, uint8_t secret[GBA_SWITCH_SECRET_BYTES]);

#endif
