/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection of a virtual machine monitor: it receives requests with their descriptors, gives
 * them to a device, and sends the replies. No event loop: the caller waits for the socket. Not
 * thread-safe on one client.
 *
 * The memory of a connection is one request and one reply. A monitor reads its replies: one that
 * leaves so many unread that the socket is full loses the connection.
 */
#ifndef GBA_SIM_SWITCH_VFIO_CONNECTION_H
#define GBA_SIM_SWITCH_VFIO_CONNECTION_H

#include <stdbool.h>

#include "sim/switch/vfio/device.h"

struct gba_vfio_connection {
    int fd; /* the socket */
    struct gba_vfio_device *device;
    bool agreed; /* VERSION was executed */
    struct gba_vfio_header header;
    size_t received; /* bytes of the request, with its header */
    unsigned fds;    /* descriptors of the request */
    int fd_of[GBA_VFIO_FDS_MAX];
    uint64_t requests; /* executed or refused */
    int refused;       /* the error of the newest request that was refused; 0: none was */
    uint16_t refused_command;
    uint8_t request[GBA_VFIO_HEADER_SIZE + GBA_VFIO_BODY_MAX];
    uint8_t reply[GBA_VFIO_HEADER_SIZE + GBA_VFIO_BODY_MAX];
};

/* Begin with a connected stream socket of the Unix domain, which the client owns from now on. It is
 * set to non-blocking. device: after gba_vfio_device_init. */
void gba_vfio_connection_init(struct gba_vfio_connection *connection, int fd,
                              struct gba_vfio_device *device);

/*
 * Receive, execute and send until the socket would block, or until a fixed number of requests was
 * executed, because other clients wait. Returns 0: call again when the socket can be read.
 * ECONNRESET: the monitor is gone; EPROTO: it broke the protocol; ENOBUFS: it does not read its
 * replies; or an error of the socket. The caller then ends the connection.
 */
int gba_vfio_connection_progress(struct gba_vfio_connection *connection);

/* Close the socket and the descriptors of an incomplete request. The device is not touched. */
void gba_vfio_connection_end(struct gba_vfio_connection *connection);

#endif
