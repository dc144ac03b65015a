/* SPDX-License-Identifier: BSD-3-Clause */
/* A virtual machine at a port of the switch: its connection, its device, and its port. For one
 * thread, that of the event loop. */
#ifndef GBA_SIM_SWITCH_VFIO_SESSION_H
#define GBA_SIM_SWITCH_VFIO_SESSION_H

#include <stdbool.h>

struct event_base;
struct gba_switch;
struct gba_vfio_session;

struct gba_vfio_session_config {
    struct event_base *base;
    struct gba_switch *device;
    bool msi;                     /* MSI instead of MSI-X */
    unsigned timeout;             /* s, from the connection to its first request; 0: no limit */
    const char *name;             /* of the socket, for the log; outlives the session */
    void (*flush)(void *context); /* gba_vfio_server_config.flush */
    void *flush_context;
    void (*ended)(void *context); /* the client is gone, and the session is freed */
    void *context;
};

/*
 * Attach a connected socket to a port, and serve it. config is copied. The session owns the socket,
 * also on an error. Returns 0, or an errno value after it has logged the reason; `ended` is not
 * called then. EBUSY: all ports of the switch are in use.
 */
int gba_vfio_session_begin(const struct gba_vfio_session_config *config, int fd,
                           struct gba_vfio_session **session);

/* End the session: its link goes down. reason: for the log. Does not call `ended`. */
void gba_vfio_session_end(struct gba_vfio_session *session, const char *reason);

#endif
