/* SPDX-License-Identifier: BSD-3-Clause */
/* The MSI-X vector of a virtual machine's device. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <linux/vfio.h>

#include "sim/switch/vfio/irq.h"

static void replace(struct gba_vfio_irq *irq, int fd)
{
    if (irq->fd >= 0)
        (void)close(irq->fd);
    irq->fd = fd;
}

void gba_vfio_irq_init(struct gba_vfio_irq *irq)
{
    *irq = (struct gba_vfio_irq){.fd = -1};
}

void gba_vfio_irq_clear(struct gba_vfio_irq *irq)
{
    replace(irq, -1);
    gba_vfio_irq_reset(irq);
}

void gba_vfio_irq_reset(struct gba_vfio_irq *irq)
{
    irq->allowed = irq->masked = irq->pending = false;
}

/* The error index has one interrupt, because QEMU prints a warning for devices without it. The
 * device never raises it. */
uint32_t gba_vfio_irq_count(uint32_t index)
{
    if (VFIO_PCI_MSIX_IRQ_INDEX == index)
        return GBA_PCI_VECTORS;
    return VFIO_PCI_ERR_IRQ_INDEX == index ? 1 : 0;
}

/* Deliver a pending interrupt, if that is possible now. A write to a full eventfd fails, and the
 * guest has not handled earlier signals then. */
static void deliver(struct gba_vfio_irq *irq)
{
    const uint64_t one = 1;

    if (!irq->pending || irq->masked || !irq->allowed || irq->fd < 0)
        return;
    if (sizeof one == write(irq->fd, &one, sizeof one))
        irq->raised++;
    irq->pending = false;
}

void gba_vfio_irq_allow(struct gba_vfio_irq *irq, bool allowed)
{
    irq->allowed = allowed;
    deliver(irq);
}

void gba_vfio_irq_raise(struct gba_vfio_irq *irq)
{
    irq->pending = true;
    deliver(irq);
}

/* DATA_EVENTFD: the eventfd of the vector; NULL: none. A full one must not block the daemon. */
static void set_eventfd(struct gba_vfio_irq *irq, int *fd)
{
    if (fd != NULL)
        (void)fcntl(*fd, F_SETFL, O_NONBLOCK);
    replace(irq, fd == NULL ? -1 : *fd);
    if (fd != NULL)
        *fd = -1;
    deliver(irq);
}

/* DATA_NONE or DATA_BOOL: mask, unmask or raise the vector. */
static void act(struct gba_vfio_irq *irq, const struct gba_vfio_request *request)
{
    if (request->u.irqs.data != NULL && 0 == request->u.irqs.data[0])
        return;
    if (0 != (request->u.irqs.flags & VFIO_IRQ_SET_ACTION_MASK))
        irq->masked = true;
    else if (0 != (request->u.irqs.flags & VFIO_IRQ_SET_ACTION_UNMASK))
        irq->masked = false;
    else
        irq->pending = true;
    deliver(irq);
}

int gba_vfio_irq_set(struct gba_vfio_irq *irq, const struct gba_vfio_request *request, int *fds,
                     unsigned count)
{
    uint32_t flags = request->u.irqs.flags, index = request->u.irqs.index;
    bool trigger = 0 != (flags & VFIO_IRQ_SET_ACTION_TRIGGER);
    bool remove = 0 == request->u.irqs.count; /* with DATA_NONE, the eventfd of the index */

    if (request->u.irqs.start + request->u.irqs.count > gba_vfio_irq_count(index))
        return EINVAL;
    if (remove && (!trigger || 0 == (flags & VFIO_IRQ_SET_DATA_NONE)))
        return EINVAL;
    if (remove || 0 != (flags & VFIO_IRQ_SET_DATA_EVENTFD)) {
        if (!trigger)
            return EINVAL;
        if (VFIO_PCI_MSIX_IRQ_INDEX == index)
            set_eventfd(irq, count > 0 ? fds : NULL);
        return 0;
    }
    if (VFIO_PCI_MSIX_IRQ_INDEX != index)
        return EINVAL;
    act(irq, request);
    return 0;
}
