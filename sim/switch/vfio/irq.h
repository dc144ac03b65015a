/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interrupt vectors of a virtual machine's device. Each vector has an eventfd, which the
 * monitor sets and removes, a mask and a pending bit. While a vector is masked or has no eventfd,
 * its interrupt stays pending: QEMU removes all eventfds and sets them again whenever the guest
 * enables a vector. Not thread-safe on one structure.
 */
#ifndef GBA_SIM_SWITCH_VFIO_IRQ_H
#define GBA_SIM_SWITCH_VFIO_IRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "gba/spec/gba_regs.h"
#include "sim/switch/vfio/wire.h"

struct gba_vfio_irq {
    uint32_t index;           /* VFIO_PCI_MSIX_IRQ_INDEX or VFIO_PCI_MSI_IRQ_INDEX */
    bool allowed;             /* the configuration space allows interrupts [PCI-3] */
    int fd[GBA_PCI_VECTORS];  /* -1: none */
    int error_fd;             /* of VFIO_PCI_ERR_IRQ_INDEX; -1: none */
    uint32_t masked, pending; /* one bit for each vector */
    uint64_t raised;          /* interrupts delivered */
};

_Static_assert(GBA_PCI_VECTORS <= 32, "one bit for each vector");

/* Set a device without eventfds. index: of the vectors. */
void gba_vfio_irq_init(struct gba_vfio_irq *irq, uint32_t index);

/* Close all eventfds, and clear masks and pending interrupts. */
void gba_vfio_irq_clear(struct gba_vfio_irq *irq);

/* Clear masks and pending interrupts, as a reset of the function does. */
void gba_vfio_irq_reset(struct gba_vfio_irq *irq);

/* Number of interrupts that an index has. index: below VFIO_PCI_NUM_IRQS. */
uint32_t gba_vfio_irq_count(const struct gba_vfio_irq *irq, uint32_t index);

/*
 * Execute SET_IRQS. fds: the descriptors of the message; those that the function keeps become -1,
 * and the caller closes the others. Returns 0; EINVAL: no such vector, an action that the index
 * does not have, or a descriptor that is not an eventfd. Then nothing has changed.
 */
int gba_vfio_irq_set(struct gba_vfio_irq *irq, const struct gba_vfio_request *request, int *fds,
                     unsigned count);

/* Set whether the configuration space allows interrupts, after a write to it. */
void gba_vfio_irq_allow(struct gba_vfio_irq *irq, bool allowed);

/* Raise a vector, now or as soon as it can be delivered. vector: below GBA_PCI_VECTORS. */
void gba_vfio_irq_raise(struct gba_vfio_irq *irq, uint32_t vector);

#endif
