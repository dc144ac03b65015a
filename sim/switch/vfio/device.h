/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PCI device that one virtual machine sees: configuration space, memory map, interrupts, and
 * the BAR of gba/spec/device.md, whose accesses go to a port of the switch. It executes the
 * requests of the vfio-user protocol. No sockets and no event loop. Not thread-safe on one device.
 *
 * A DMA_UNMAP, a reset, or the end of the client is complete when the function returns: no store
 * and no interrupt follows.
 */
#ifndef GBA_SIM_SWITCH_VFIO_DEVICE_H
#define GBA_SIM_SWITCH_VFIO_DEVICE_H

#include <stddef.h>

#include "sim/switch/vfio/config.h"
#include "sim/switch/vfio/dma.h"
#include "sim/switch/vfio/irq.h"
#include "sim/switch/vfio/wire.h"

/* The port behind the device. */
struct gba_vfio_port_ops {
    /* Make an access through the port. address: below GBA_BAR_SIZE. width: 1, 2, 4 or 8. */
    uint64_t (*read)(void *port, uint32_t address, unsigned width);
    void (*write)(void *port, uint32_t address, unsigned width, uint64_t value);
    /* Take the link down and up again. [PCI-4] */
    void (*reset)(void *port);
};

/* Counters of the device, for the log and the tests. */
struct gba_vfio_counters {
    uint64_t stores;          /* release stores made */
    uint64_t dropped_master;  /* dropped: the host has bus mastering off */
    uint64_t dropped_address; /* dropped: no shared memory at that address */
    uint64_t refused;         /* requests answered with an error */
    uint64_t resets;          /* FLR and RESET */
};

struct gba_vfio_device {
    const struct gba_vfio_port_ops *ops;
    void *port;
    struct gba_vfio_config config;
    struct gba_vfio_dma dma;
    struct gba_vfio_irq irq;
    uint8_t table[GBA_VFIO_MSIX_PBA]; /* of MSI-X; QEMU uses a table of its own */
    struct gba_vfio_counters counters;
};

/* Set the state after power-on. ops: stays valid as long as the device. port: passed to ops. */
void gba_vfio_device_init(struct gba_vfio_device *device, const struct gba_vfio_port_ops *ops,
                          void *port);

/* Release the memory and the eventfds of the client, and set the state after power-on. The counters
 * stay. The port is not touched. */
void gba_vfio_device_clear(struct gba_vfio_device *device);

/*
 * Execute a request that gba_vfio_decode has accepted. fds: the descriptors of its message; those
 * that the device keeps become -1, and the caller closes the others. body: GBA_VFIO_BODY_MAX bytes
 * for the body of the reply, not those of the request; *length is set to its size. Returns 0, or
 * the errno value of the reply; *length is 0 then.
 */
int gba_vfio_device_execute(struct gba_vfio_device *device, const struct gba_vfio_request *request,
                            int *fds, unsigned count, uint8_t *body, size_t *length);

/* Make a release store to the memory of the virtual machine. [PCI-2] */
void gba_vfio_device_release(struct gba_vfio_device *device, uint64_t address, uint32_t sequence);

/* Interrupt the virtual machine. [PCI-3] */
void gba_vfio_device_interrupt(struct gba_vfio_device *device);

#endif
