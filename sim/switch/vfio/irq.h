/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MSI-X vector of a virtual machine's device. It has an eventfd, which the monitor sets and
 * removes, a mask and a pending bit. While the vector is masked or has no eventfd, its interrupt
 * stays pending: QEMU removes the eventfd and sets it again whenever the guest enables the vector.
 * Not thread-safe on one structure.
 */
#ifndef GBA_SIM_SWITCH_VFIO_IRQ_H
#define GBA_SIM_SWITCH_VFIO_IRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "gba/spec/gba_regs.h"
#include "sim/switch/vfio/wire.h"

struct gba_vfio_irq {
    bool allowed; /* the configuration space allows interrupts [PCI-3] */
    bool masked, pending;
    int fd;          /* -1: none */
    uint64_t raised; /* interrupts delivered */
};

_Static_assert(GBA_PCI_VECTORS == 1, "one vector");

/* Set a device without an eventfd. */
void gba_vfio_irq_init(struct gba_vfio_irq *irq);

/* Close the eventfd, and clear the mask and a pending interrupt. */
void gba_vfio_irq_clear(struct gba_vfio_irq *irq);

/* Clear the mask and a pending interrupt, as a reset of the function does. */
void gba_vfio_irq_reset(struct gba_vfio_irq *irq);

/* Number of interrupts that an index has. index: below VFIO_PCI_NUM_IRQS. */
uint32_t gba_vfio_irq_count(uint32_t index);

/*
 * Execute SET_IRQS. fds: the descriptors of the message; one that the function keeps becomes -1,
 * and the caller closes the others. Returns 0; EINVAL: no such vector, or an action that the index
 * does not have. Then nothing has changed.
 */
int gba_vfio_irq_set(struct gba_vfio_irq *irq, const struct gba_vfio_request *request, int *fds,
                     unsigned count);

/* Set whether the configuration space allows interrupts, after a write to it. */
void gba_vfio_irq_allow(struct gba_vfio_irq *irq, bool allowed);

/* Raise the vector, now or as soon as it can be delivered. */
void gba_vfio_irq_raise(struct gba_vfio_irq *irq);

#endif
