/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A backend of the device layer: the driver's calls (gba_ioctl.h) as a table. cdev makes them with
 * ioctl and mmap. sim makes them on a model in shared memory.
 *
 * The device layer (device.c, group.c) checks arguments and keeps the life cycle (joined, mapped,
 * armed, left) in order. A backend relies on that, and reports the errors of the device and of the
 * system. The backend function that detects an error logs it, except an error that the caller must
 * expect (no file, no free group, stale, dead). Every function may be called from several threads
 * on one device, and at the same time on different memberships, but never from two threads on one
 * membership.
 */
#ifndef GBA_DEV_DEV_OPS_H
#define GBA_DEV_DEV_OPS_H

#include <string.h>

#include "gba/base/order.h"
#include "gba/dev/device_path.h"
#include "gba/gba.h"
#include "gba/spec/gba_regs.h"

struct gba_dev_ops;

/* An open device, which for a gba-switchd is one connection. A backend's own structure begins with
 * this one. */
struct gba_dev {
    const struct gba_dev_ops *ops;
    bool served_here;            /* see gba_device_served_here; set by ops->open */
    uint8_t uuid[GBA_UUID_SIZE]; /* set by the device layer */
    uint32_t groups;             /* set by the device layer */
    gba_word_t round_trip;       /* ns, see gba_round_trip_measure; 0: not measured; UINT64_MAX: not
                                    known */
};

/*
 * One member of a group, in this process. A backend's own structure begins with this one. The fast
 * path touches only the first line.
 */
struct gba_membership {
    gba_flag_t *flag;       /* the release flag, from map_flag on */
    gba_mmio64_t *doorbell; /* mapped doorbell; NULL: call ops->arrive */
    struct gba_dev *dev;
    uint32_t group, generation, member, members;
};

/* The distance of two flags, in bytes: two cache lines, because CPUs fetch lines in pairs. */
#define GBA_FLAG_STRIDE 128u

/* A handle of a group that a device has allocated. uuid: of the device. */
static inline gba_group_handle_t gba_dev_handle(uint32_t group, uint32_t generation, uint64_t key,
                                                uint32_t members, const uint8_t uuid[GBA_UUID_SIZE])
{
    gba_group_handle_t handle;

    memset(&handle, 0, sizeof handle); /* members send all of its bytes */
    handle.group = group;
    handle.generation = generation;
    handle.key = key;
    handle.members = members;
    memcpy(handle.uuid, uuid, sizeof handle.uuid);
    return handle;
}

struct gba_dev_ops {
    const char *name; /* "cdev", "sim", "switch" */

    /* Polls of a waiting member between two calls of the runtime's progress, for a backend whose
     * poll makes a system call. 0: a poll only reads memory. See gba/team/barrier.c. */
    uint32_t spins;

    /* Open the device. Returns GBA_OK, _NO_DEVICE, _PERM, _NOT_GBA, _VERSION, _NOMEM, _NO_FILES,
     * _BUSY, _AWAY or _IO. */
    gba_status_t (*open)(const struct gba_dev_path *path, const gba_device_attr_t *attr,
                         struct gba_dev **dev);
    void (*close)(struct gba_dev *dev);

    /* The device path of an open file. link: the target of a link in /proc/PID/fd. Returns false if
     * the file is no device of this backend. NULL: no file shows it. */
    bool (*identify)(const char *link, char *path, size_t len);

    /* Set all of info but its path. Returns GBA_OK or _IO. */
    gba_status_t (*query)(struct gba_dev *dev, gba_device_info_t *info);

    /* List the owners of groups, see gba_device_owners. Returns GBA_OK, _DEAD, _NOMEM or _IO. NULL:
     * the device does not report them. GBA_ERR_UNSUPPORTED: its driver is older. */
    gba_status_t (*owners)(struct gba_dev *dev, gba_group_owner_t *list, uint32_t max,
                           uint32_t *count);

    /* Allocate a group, and set all of handle. Returns GBA_OK, _NO_GROUP, _LIMIT, _QUOTA, _DEAD,
     * _NOMEM or _IO. */
    gba_status_t (*alloc)(struct gba_dev *dev, const gba_group_request_t *request,
                          gba_group_handle_t *handle);
    void (*cancel)(struct gba_dev *dev, const gba_group_handle_t *handle);

    /* Join a group. The caller has checked the uuid of the handle. Returns GBA_OK, _STALE, _BUSY,
     * _REFUSED, _PERM, _QUOTA, _NOMEM, _UNSUPPORTED, _DEAD or _IO. */
    gba_status_t (*join)(struct gba_dev *dev, const gba_group_handle_t *handle, uint32_t member,
                         struct gba_membership **membership);

    /* Map the release flag, and set membership->flag. The caller writes the first sequence to the
     * flag before the members agree to arm the group. Returns GBA_OK, _NOMEM, _BUSY, _STALE, _DEAD
     * or _IO. */
    gba_status_t (*map_flag)(struct gba_membership *membership);

    /* Arm the group. Returns GBA_OK, _BUSY, _STALE, _DEAD or _IO. */
    gba_status_t (*configure)(struct gba_membership *membership, uint32_t sequence);

    /* Withdraw the flag, leave the group, unmap what was mapped, and free the membership. Does not
     * fail: a dead device holds nothing. */
    void (*leave)(struct gba_membership *membership);

    /* Read the registers of the group. Returns GBA_OK, _STALE, _DEAD or _IO, or
     * GBA_INPROGRESS: the device has not answered yet, and the caller calls again later. */
    gba_status_t (*inspect)(struct gba_membership *membership, gba_group_state_t *state);

    /* Arrive, for a membership without a mapped doorbell. Releases all earlier stores. */
    void (*arrive)(struct gba_membership *membership, uint64_t value);

    /* Let a simulated device make its delayed release stores, as hardware does by itself.
     * gba_poll_release calls it while the flag has not been seen. NULL for real hardware. */
    void (*poll)(struct gba_membership *membership);

    /* Why the rounds of the member no longer end, from memory that the driver writes: GBA_ERR_DEAD,
     * or GBA_OK: no reason is known. Makes no system call. Acquire. NULL: the memory never shows
     * it. */
    gba_status_t (*failure)(const struct gba_membership *membership);

    /*
     * Sleep until the member is released from round `sequence`, until its rounds no longer end
     * (the device died), or for max_ns. The member has arrived at
     * that round. A release between the caller's last poll and this call ends the sleep, too. May
     * return early, so the caller polls again. Orders nothing. max_ns: 0 to 1,000,000,000.
     * Returns GBA_OK, or without a sleep GBA_ERR_UNSUPPORTED: the device wakes no process. NULL:
     * the same, for every membership.
     */
    gba_status_t (*sleep)(struct gba_membership *membership, uint32_t sequence, uint64_t max_ns);

    /* Whether the driver has reported that a member of the group, or its host, died. May make a
     * system call. NULL: the driver reports no deaths. */
    bool (*died)(struct gba_membership *membership);

    /* Access a register. Returns GBA_OK, _PERM, _PARAM (misaligned), _UNSUPPORTED or _IO. */
    gba_status_t (*reg_read)(struct gba_dev *dev, uint32_t address, unsigned width,
                             uint64_t *value);
    gba_status_t (*reg_write)(struct gba_dev *dev, uint32_t address, unsigned width,
                              uint64_t value);
};

/* The status of a command of the control unit with that GBA_RESULT_*; of an unknown result
 * GBA_ERR_IO. Pure. */
static inline gba_status_t gba_dev_result(uint32_t result)
{
    switch (result) {
    case GBA_RESULT_OK:
        return GBA_OK;
    case GBA_RESULT_PARAM:
        return GBA_ERR_PARAM;
    case GBA_RESULT_STALE:
        return GBA_ERR_STALE;
    case GBA_RESULT_BUSY:
        return GBA_ERR_BUSY;
    case GBA_RESULT_NO_GROUP:
        return GBA_ERR_NO_GROUP;
    case GBA_RESULT_LIMIT: /* of the port */
        return GBA_ERR_QUOTA;
    default:
        return GBA_ERR_IO;
    }
}

extern const struct gba_dev_ops gba_dev_cdev;
extern const struct gba_dev_ops gba_dev_sim;
extern const struct gba_dev_ops gba_dev_switch;

#endif
