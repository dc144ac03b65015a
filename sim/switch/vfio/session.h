/* SPDX-License-Identifier: BSD-3-Clause */
/* A virtual machine at a port of the switch: its connection, its device, and its port. For one
 * thread, that of the event loop. */
#ifndef GBA_SIM_SWITCH_VFIO_SESSION_H
#define GBA_SIM_SWITCH_VFIO_SESSION_H

#include "sim/switch/vfio/server.h"

struct gba_vfio_session;

struct gba_vfio_session_config {
    const struct gba_vfio_server_config *server; /* outlives the session, as the name does */
    const char *name;                            /* of the socket, for the log */
    void (*ended)(void *context);                /* the client is gone, and the session is freed */
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
