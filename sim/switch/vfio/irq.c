/* SPDX-License-Identifier: BSD-3-Clause */
/* The interrupt vectors of a virtual machine's device. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/vfio.h>

#include "sim/switch/vfio/guard.h"
#include "sim/switch/vfio/irq.h"

static void replace(int *place, int fd)
{
    if (*place >= 0)
        (void)close(*place);
    *place = fd;
}

void gba_vfio_irq_init(struct gba_vfio_irq *irq, uint32_t index)
{
    *irq = (struct gba_vfio_irq){.index = index, .error_fd = -1};
    for (uint32_t i = 0; i < GBA_PCI_VECTORS; i++)
        irq->fd[i] = -1;
}

void gba_vfio_irq_clear(struct gba_vfio_irq *irq)
{
    for (uint32_t i = 0; i < GBA_PCI_VECTORS; i++)
        replace(&irq->fd[i], -1);
    replace(&irq->error_fd, -1);
    gba_vfio_irq_reset(irq);
}

void gba_vfio_irq_reset(struct gba_vfio_irq *irq)
{
    irq->masked = irq->pending = 0;
    irq->allowed = false;
}

/* The error index has one interrupt, because QEMU prints a warning for devices without it. The
 * device never raises it. */
uint32_t gba_vfio_irq_count(const struct gba_vfio_irq *irq, uint32_t index)
{
    if (index == irq->index)
        return GBA_PCI_VECTORS;
    return VFIO_PCI_ERR_IRQ_INDEX == index ? 1 : 0;
}

/* Whether the descriptor is an eventfd. A write to any other file, such as a pipe or a network
 * file, could block the daemon. A write to an eventfd does not, see gba_vfio_guard_signal. */
static bool is_eventfd(int fd)
{
    static const char expected[] = "anon_inode:[eventfd]";
    char name[32], target[sizeof expected];
    int flags = fcntl(fd, F_GETFL);
    ssize_t length;

    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    length = readlink(name, target, sizeof target);
    if (length != (ssize_t)sizeof expected - 1 ||
        0 != memcmp(target, expected, sizeof expected - 1))
        return false;
    return flags >= 0 && 0 == fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Deliver a pending vector, if that is possible now. */
static void deliver(struct gba_vfio_irq *irq, uint32_t vector)
{
    uint32_t bit = 1u << vector;

    if (0 == (irq->pending & bit) || 0 != (irq->masked & bit) || !irq->allowed ||
        irq->fd[vector] < 0)
        return;
    switch (gba_vfio_guard_signal(irq->fd[vector])) {
    case 0:
        irq->raised++;
        break;
    case EAGAIN: /* the count is full: the guest has not handled earlier signals */
        break;
    default: /* the client tries to block the daemon */
        replace(&irq->fd[vector], -1);
        return;
    }
    irq->pending &= ~bit;
}

static void deliver_all(struct gba_vfio_irq *irq)
{
    for (uint32_t i = 0; i < GBA_PCI_VECTORS; i++)
        deliver(irq, i);
}

void gba_vfio_irq_allow(struct gba_vfio_irq *irq, bool allowed)
{
    irq->allowed = allowed;
    deliver_all(irq);
}

void gba_vfio_irq_raise(struct gba_vfio_irq *irq, uint32_t vector)
{
    irq->pending |= 1u << vector;
    deliver(irq, vector);
}

/* DATA_EVENTFD: an eventfd for each vector of the range, or none. */
static int set_eventfds(struct gba_vfio_irq *irq, const struct gba_vfio_request *request, int *fds,
                        unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!is_eventfd(fds[i]))
            return EINVAL;
    for (uint32_t i = 0; i < request->u.irqs.count; i++) {
        int *place = request->u.irqs.index == irq->index ? &irq->fd[request->u.irqs.start + i]
                                                         : &irq->error_fd;

        replace(place, i < count ? fds[i] : -1);
        if (i < count)
            fds[i] = -1;
    }
    deliver_all(irq);
    return 0;
}

/* DATA_NONE or DATA_BOOL: mask, unmask or raise vectors of the range. */
static void act(struct gba_vfio_irq *irq, const struct gba_vfio_request *request)
{
    for (uint32_t i = 0; i < request->u.irqs.count; i++) {
        uint32_t bit = 1u << (request->u.irqs.start + i);

        if (request->u.irqs.data != NULL && 0 == request->u.irqs.data[i])
            continue;
        if (0 != (request->u.irqs.flags & VFIO_IRQ_SET_ACTION_MASK))
            irq->masked |= bit;
        else if (0 != (request->u.irqs.flags & VFIO_IRQ_SET_ACTION_UNMASK))
            irq->masked &= ~bit;
        else
            irq->pending |= bit;
    }
    deliver_all(irq);
}

/* DATA_NONE with a count of 0: remove all eventfds of the index. */
static void disable(struct gba_vfio_irq *irq, uint32_t index)
{
    if (VFIO_PCI_ERR_IRQ_INDEX == index)
        replace(&irq->error_fd, -1);
    for (uint32_t i = 0; index == irq->index && i < GBA_PCI_VECTORS; i++)
        replace(&irq->fd[i], -1);
}

int gba_vfio_irq_set(struct gba_vfio_irq *irq, const struct gba_vfio_request *request, int *fds,
                     unsigned count)
{
    uint32_t flags = request->u.irqs.flags, index = request->u.irqs.index;
    uint32_t limit = gba_vfio_irq_count(irq, index);
    bool trigger = 0 != (flags & VFIO_IRQ_SET_ACTION_TRIGGER);

    if (request->u.irqs.start + request->u.irqs.count > limit)
        return EINVAL;
    if (0 == request->u.irqs.count) {
        if (!trigger || 0 == (flags & VFIO_IRQ_SET_DATA_NONE))
            return EINVAL;
        disable(irq, index);
        return 0;
    }
    if (0 != (flags & VFIO_IRQ_SET_DATA_EVENTFD))
        return trigger ? set_eventfds(irq, request, fds, count) : EINVAL;
    if (index != irq->index)
        return EINVAL;
    act(irq, request);
    return 0;
}
