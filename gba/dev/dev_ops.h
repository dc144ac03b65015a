/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a backend is to the engine: the driver's calls (gba_ioctl.h) as a table. cdev makes them
 * with ioctl and mmap, sim on a model in shared memory.
 *
 * The engine checks arguments and keeps the life cycle (joined, mapped, armed, left) in order; a
 * backend trusts it, and reports what the device or the system says. A backend logs an error where
 * it first knows it, but for what the caller can expect (no file, no free group, stale, dead).
 * Every function may be called from several threads on one device, and on different seats at once;
 * never from two threads on one seat.
 */
#ifndef GBA_DEV_DEV_OPS_H
#define GBA_DEV_DEV_OPS_H

#include "gba/base/order.h"
#include "gba/dev/path.h"
#include "gba/gba.h"

struct gba_dev_ops;

/* A device as its backend has it; a backend's own structure begins with this one. */
struct gba_dev {
    const struct gba_dev_ops *ops;
};

/*
 * One member of a group, in this process; a backend's own structure begins with this one. The first
 * line is all that the fast path touches.
 */
struct gba_seat {
    gba_word_t *flag;       /* the release flag, from map_flag on */
    gba_mmio64_t *doorbell; /* mapped doorbell, or NULL: then ops->arrive */
    struct gba_dev *dev;
    uint32_t group, generation, member, members;
};

/* Flags stand this far apart: two lines, since CPUs fetch lines in pairs. */
#define GBA_FLAG_STRIDE 128u

struct gba_dev_ops {
    const char *name; /* "cdev", "sim" */

    /* GBA_OK, _NO_DEVICE, _PERM, _NOT_GBA, _VERSION, _NOMEM, _BUSY, _IO */
    gba_status_t (*open)(const struct gba_dev_path *path, const gba_device_attr_t *attr,
                         struct gba_dev **dev);
    void (*close)(struct gba_dev *dev);

    /* All of info but path. GBA_OK, _IO */
    gba_status_t (*query)(struct gba_dev *dev, gba_device_info_t *info);

    /* All of ticket. GBA_OK, _NO_GROUP, _LIMIT, _DEAD, _NOMEM, _IO */
    gba_status_t (*alloc)(struct gba_dev *dev, const gba_group_request_t *request,
                          gba_ticket_t *ticket);
    void (*cancel)(struct gba_dev *dev, const gba_ticket_t *ticket);

    /* The uuid of the ticket is the engine's to check. GBA_OK, _STALE, _BUSY, _REFUSED, _NOMEM,
     * _UNSUPPORTED, _DEAD, _IO */
    gba_status_t (*join)(struct gba_dev *dev, const gba_ticket_t *ticket, uint32_t member,
                         struct gba_seat **seat);

    /* Sets seat->flag. The engine writes the first sequence to it before the members agree that the
     * group may be armed. GBA_OK, _NOMEM, _BUSY, _STALE, _DEAD, _IO */
    gba_status_t (*map_flag)(struct gba_seat *seat);

    /* GBA_OK, _BUSY, _STALE, _DEAD, _IO */
    gba_status_t (*configure)(struct gba_seat *seat, uint32_t sequence);

    /* Withdraws the flag, leaves, frees the seat. Cannot fail: what a dead device held is gone. */
    void (*leave)(struct gba_seat *seat);

    /* GBA_OK, _STALE, _RECLAIMED, _DEAD, _IO */
    gba_status_t (*inspect)(struct gba_seat *seat, gba_group_state_t *state);

    /* An arrival, for seats without a mapped doorbell: a release of all earlier stores. Lost if the
     * group was taken back. */
    void (*arrive)(struct gba_seat *seat, uint64_t value);

    /* NULL for real hardware. Called by gba_poll_release while the flag has not been seen: lets a
     * simulated device do what hardware does by itself (delayed release stores). */
    void (*poll)(struct gba_seat *seat);

    /* GBA_OK, _PERM, _UNSUPPORTED, _IO */
    gba_status_t (*reg_read)(struct gba_dev *dev, uint32_t address, unsigned width,
                             uint64_t *value);
    gba_status_t (*reg_write)(struct gba_dev *dev, uint32_t address, unsigned width,
                              uint64_t value);
};

extern const struct gba_dev_ops gba_dev_cdev;
extern const struct gba_dev_ops gba_dev_sim;

#endif
