/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCI devices for virtual machines. gba-switchd listens on a Unix socket for each device. A virtual
 * machine monitor connects to it with the vfio-user protocol (QEMU: the device vfio-user-pci). A
 * device has a port of the switch while a monitor is connected. For one thread, that of the event
 * loop.
 *
 * When a monitor exits or is killed, the link of its port goes down: its members are
 * withdrawn, and other ports get events [PORT-4]. The next monitor that connects to the same socket
 * gets a device as after power-on. The vfio-user protocol suggests that a device keeps its state
 * for a client that reconnects. A host that has lost its power cannot continue its barrier, so only
 * the state of the switch is kept: the counters, the generations, and the groups of other ports.
 *
 * A guest and its monitor are trusted as a process of the user who runs the daemon. The lengths in
 * their messages are checked all the same.
 */
#ifndef GBA_SIM_SWITCH_VFIO_SERVER_H
#define GBA_SIM_SWITCH_VFIO_SERVER_H

struct event_base;
struct gba_switch;
struct gba_vfio_server;

struct gba_vfio_server_config {
    struct event_base *base;
    struct gba_switch *device;
    const char *directory; /* of the sockets, 0, 1 and so on; exists */
    unsigned devices;      /* 1 to GBA_PORTS_MAX: each has a port */
    /* Called after a client has made accesses or is gone, because other sessions can then have data
     * to send. */
    void (*flush)(void *context);
    void *context;
};

/*
 * Listen. base and device must outlive the server. Replaces the sockets of a daemon that was
 * killed. Returns 0, or an errno value after it has logged the reason; EADDRINUSE: another process
 * listens there.
 */
int gba_vfio_server_create(const struct gba_vfio_server_config *config,
                           struct gba_vfio_server **server);

/* Disconnect all clients and remove the sockets. NULL: no effect. */
void gba_vfio_server_destroy(struct gba_vfio_server *server);

#endif
