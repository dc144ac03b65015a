/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * /dev/gbaN: the interface between the Linux driver and user space, version 3.
 *
 * An open file belongs to the process that opened it. Calls from another process fail with EPERM,
 * except QUERY: a child of fork and the receiver of a passed descriptor cannot act for the owner.
 * Its memberships and allocations end when the owner closes a descriptor of the file, or ends.
 *
 * Structures. Each is the same for 32-bit and 64-bit processes: fixed-width fields, 64-bit fields
 * on 8-byte boundaries, no pointer, no padding. Each begins with `size`, the caller's size of the
 * structure in bytes, and `flags`. A later version only appends fields, and 0 in an appended field
 * means the earlier behaviour of the call. So the numbers of the calls do not contain a size.
 *   - A size below that of version 3 is EINVAL; above 4096 bytes, or with a byte that is not 0
 *     behind the driver's own structure, E2BIG.
 *   - An unknown flag, and a reserved field that is not 0, is EINVAL.
 *   - The driver writes back only bytes that both sides have.
 * Optional abilities are bits of gba_ioc_query.features. abi_version changes only when old callers
 * would fail.
 *
 * Every call may also fail with EFAULT (the structure is not accessible), EPERM (another process)
 * and EINTR (a signal). A call that fails has changed nothing.
 *
 * The rules in brackets are those of device.md, chapter "Driver".
 */
#ifndef GBA_IOCTL_H
#define GBA_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include "gba_regs.h"

#define GBA_ABI_VERSION 3u /* 3: the driver allocates release flags, and revokes doorbells */

/* Groups and members are numbered from 0. This number stands for "no member". */
#define GBA_MEMBER_NONE 0xFFFFFFFFu

/*
 * QUERY: report the driver and the device. Every version begins with these fields, because they
 * contain the version. Any process may call it. `uuid` has the bytes of GBA_DEV_UUID, little endian
 * on every host. [DRV-1]
 */
struct gba_ioc_query {
    __u32 size;            /* in */
    __u32 flags;           /* in: GBA_QUERY_* */
    __u32 abi_version;     /* out: GBA_ABI_VERSION of the driver */
    __u32 regs_version;    /* out: GBA_DEV_VERSION */
    __u64 features;        /* out: GBA_FEATURE_* */
    __u32 groups;          /* out: groups of the device, 1 to 32 */
    __u32 groups_free;     /* out: groups that are not allocated now */
    __u32 members_max;     /* out: 708 */
    __u32 state;           /* out: GBA_DEV_STATE_* */
    __u32 port;            /* out: the port of this host */
    __u32 ports;           /* out: ports of the device */
    __u8 uuid[16];         /* out: equal for two hosts if and only if one switch unit serves both */
    __u32 user_groups;     /* out: groups that the caller's user holds on this host */
    __u32 user_groups_max; /* out: groups that this user may hold at most; 0: no limit */
    __u64 bad_access;      /* out: GBA_DEV_BAD_ACCESS */
    __u64 counters[GBA_COUNTERS]; /* out: sums over all groups since power-on, or 0 */
};
#define GBA_QUERY_COUNTERS 0x1u /* read the counters of all groups, too: some 100 microseconds */

#define GBA_FEATURE_WAIT   0x1ull /* WAIT and NOTIFY: the device has interrupts */
#define GBA_FEATURE_EVENTS 0x2ull /* read and poll */
#define GBA_FEATURE_OWNER  0x4ull /* OWNER */

#define GBA_DEV_STATE_UP   0u
#define GBA_DEV_STATE_DEAD 1u /* the device no longer answers; only QUERY, FREE and LEAVE work */

/*
 * ALLOC: allocate a free group for `members` members. The caller is its allocator. [DRV-2, DRV-11]
 * The driver does not verify job and groups_max. They limit only the groups that a job takes from
 * other jobs of the same user. The administrator limits users.
 * Errors: ENOSPC no group is free; EDQUOT the job has groups_max groups; EUSERS the user or the
 * host has as many groups as its administrator allows; EINVAL members is not 1 to 708; ENOMEM;
 * ENODEV the device is dead.
 */
struct gba_ioc_alloc {
    __u32 size;       /* in */
    __u32 flags;      /* in: 0 */
    __u32 members;    /* in: 1 to 708 */
    __u32 groups_max; /* in: most groups that the job may hold, with this one; 0: no limit */
    __u32 unused;     /* not read */
    __u32 group;      /* out */
    __u32 generation; /* out: differs in each allocation of this group */
    __u32 reserved;   /* 0 */
    __u64 key;        /* out: random; JOIN requires it */
    __u64 job;        /* in: number of the job, among those of its user */
};

/*
 * FREE: free an allocation without any JOIN. [DRV-6]
 * Errors: ESTALE this file did not allocate the group with that generation, or gave it up; EBUSY a
 * member has joined. Works on a dead device.
 */
struct gba_ioc_free {
    __u32 size;       /* in */
    __u32 flags;      /* in: 0 */
    __u32 group;      /* in */
    __u32 generation; /* in */
};

/*
 * JOIN: become member `member` of an allocated group. The driver allocates the member's release
 * flag and gives it to the device. [DRV-3, DRV-4]
 *
 * Two pages of this file can then be mapped, each with MAP_SHARED and map_size bytes:
 *   - the doorbell page, with PROT_WRITE alone, at doorbell_offset: GBA_BELL_ARRIVAL and
 *     GBA_BELL_NOTIFY are in its first bytes. [DRV-9]
 *   - the page with the flag, with PROT_READ | PROT_WRITE, at flag_offset. Memberships of one file
 *     share flag pages: two JOINs may return the same flag_offset. The member's struct
 *     gba_flag_slot is at flag_position in the page, and all 0. The caller stores its first
 *     sequence to the flag before the group is armed.
 * Offsets are opaque, and are not used again while the file is open. They fit in 44 bits. Mappings
 * are not inherited by children of fork, and cannot grow.
 *
 * Errors: ESTALE group, generation and key do not match an allocation; EBUSY the membership is
 * taken; EINVAL the member is not below the number of members; EDQUOT the file has too many
 * memberships, with those that ended when its owner closed a copy of the descriptor; ENOMEM;
 * ENODEV.
 */
struct gba_ioc_join {
    __u32 size;            /* in */
    __u32 flags;           /* in: 0 */
    __u32 group;           /* in */
    __u32 generation;      /* in */
    __u64 key;             /* in */
    __u32 member;          /* in */
    __u32 reserved;        /* 0 */
    __u64 doorbell_offset; /* out: for mmap, a multiple of the page size, not 0 */
    __u64 flag_offset;     /* out: for mmap, a multiple of the page size, not 0 */
    __u32 flag_position;   /* out: bytes from the start of the flag's page, a multiple of 128 */
    __u32 map_size;        /* out: bytes of either mapping: the page size */
};

/*
 * A member's part of a flag page. The device stores the release, the driver the rest. A page stays
 * readable as long as it is mapped, also after LEAVE and after the device has died.
 *
 * When the driver revokes the doorbell without a call of LEAVE, stores to the doorbell have no
 * effect from then on. The driver waits until no release can be stored any more. Then it stores the
 * reason to `revoked`, and after that sets GBA_FLAG_REVOKED in `release`, whatever the reason.
 * The low half of `release` keeps the last completed round. [DRV-17]
 */
struct gba_flag_slot {
    __le64 release; /* the release flag [REL-3] */
    __le32 revoked; /* GBA_REVOKED_* */
    __u32 reserved; /* 0 */
};
#define GBA_FLAG_SLOT_STRIDE 128u /* bytes between two slots of a page: two cache lines */

#define GBA_REVOKED_NO    0u /* 1 is not used */
#define GBA_REVOKED_DEAD  2u /* the device died, was reset, or was removed */
#define GBA_REVOKED_ENDED 3u /* the owner closed the file */

/*
 * CONFIGURE: set the sequence and arm the group, after all members have joined. [DRV-5]
 * Errors: ESTALE this file has not joined a group of that generation;
 * EAGAIN a member is missing; EBUSY the group is armed already; ENODEV.
 */
struct gba_ioc_configure {
    __u32 size;       /* in */
    __u32 flags;      /* in: 0 */
    __u32 group;      /* in */
    __u32 generation; /* in */
    __u32 sequence;   /* in: the first round is sequence + 1 */
    __u32 reserved;   /* 0 */
};

/*
 * LEAVE: end a membership. Before the call returns, the driver revokes the doorbell page of this
 * membership (later stores to its mapping have no effect), and no release can be stored to its flag
 * any more. The caller need not unmap before. The last member to leave frees the group.
 * [DRV-6, DRV-16]
 * Errors: ESTALE this file has no such membership. Works on a dead device.
 */
struct gba_ioc_leave {
    __u32 size;       /* in */
    __u32 flags;      /* in: 0 */
    __u32 group;      /* in */
    __u32 generation; /* in */
    __u32 member;     /* in */
    __u32 reserved;   /* 0 */
};

/*
 * INSPECT: read the registers of a group that this file has joined, for the watchdog. [DRV-7]
 * Errors: ESTALE this file has not joined a group of that generation; ENODEV the device is dead.
 */
struct gba_ioc_inspect {
    __u32 size;                         /* in */
    __u32 flags;                        /* in: 0 */
    __u32 group;                        /* in */
    __u32 generation;                   /* in */
    __u32 sequence;                     /* out */
    __u32 arrived_count;                /* out */
    __u32 status;                       /* out: GBA_STATUS_* */
    __u32 last_error;                   /* out: GBA_ERROR_* */
    __u32 members;                      /* out */
    __u32 reserved;                     /* 0 */
    __u64 arrived_mask[GBA_MASK_WORDS]; /* out */
    __u64 counters[GBA_COUNTERS];       /* out */
};

/*
 * OWNER: report the process and the job that hold a group which this host has allocated. Of a group
 * of another user the call reports nothing, unless the caller has CAP_SYS_ADMIN. The owner is the
 * allocator, and after the first JOIN the member of this host with the lowest number. A driver
 * without GBA_FEATURE_OWNER fails with ENOTTY. [DRV-20]
 * Errors: EINVAL the device has no such group; ENOENT the group is free, or another host has
 * allocated it; EACCES the group is of another user; ENODEV the device is dead.
 */
struct gba_ioc_owner {
    __u32 size;       /* in */
    __u32 flags;      /* in: 0 */
    __u32 group;      /* in */
    __u32 generation; /* out */
    __u32 members;    /* out: that the group is for */
    __u32 present;    /* out: memberships of this host that have not ended */
    __u32 user;       /* out: of the allocator, in the caller's user namespace */
    __u32 process;    /* out: in the caller's pid namespace, it may have ended; 0: not known */
    __u64 job;        /* out: as ALLOC stated it */
};

/*
 * Events of a membership. They are bits, so an event that comes again before it is taken is one
 * event, and a file has at most one record for each membership. [DRV-8, DRV-18]
 */
#define GBA_EVENT_ROUND   0x01u /* the round of a NOTIFY or WAIT is complete */
#define GBA_EVENT_ERROR   0x02u /* an arrival of this host was an error of the group */
#define GBA_EVENT_DIED    0x04u /* a member of the group, or its host, has died */
#define GBA_EVENT_REVOKED 0x08u /* gba_flag_slot.revoked has been set */
#define GBA_EVENT_DEAD    0x10u /* the device no longer answers */

/*
 * WAIT: sleep until `sequence` is in the flag of a membership, or an event of the membership is
 * pending, or the timeout is over. The driver writes NOTIFY to the device and then reads the flag,
 * so no wake-up is lost. The call takes the events that it returns. Threads may WAIT for different
 * memberships at the same time. A sequence that the flag has reached is complete. A member may WAIT
 * before the group is armed. [DRV-18]
 * Errors: ETIMEDOUT, at once with a timeout of 0; EINTR no event was taken; ESTALE this file has no
 * such membership; EINVAL sequence is later than the next round, and timeout is not 0.
 */
struct gba_ioc_wait {
    __u32 size;       /* in */
    __u32 flags;      /* in: 0 */
    __u32 group;      /* in */
    __u32 generation; /* in */
    __u32 member;     /* in */
    __u32 sequence;   /* in: the round to wait for */
    __u64 timeout;    /* in: nanoseconds from now; 0: do not sleep; GBA_WAIT_FOREVER */
    __u32 events;     /* out: GBA_EVENT_*; with ROUND if the round is complete */
    __u32 last_error; /* out: GBA_ERROR_* of the group, with ERROR */
};
#define GBA_WAIT_FOREVER 0xFFFFFFFFFFFFFFFFull

/*
 * read(2) takes events: records of 32 bytes in every version, as many as are pending and fit.
 * Without one it blocks, or fails with EAGAIN under O_NONBLOCK. poll(2) reports POLLIN while an
 * event of any membership of the file is pending, and POLLHUP once the device is dead.
 *
 * A thread that cannot block in WAIT stores GBA_ARRIVAL(sequence, generation, member) to
 * GBA_BELL_NOTIFY of its doorbell page, reads its flag, and polls the file. The event ROUND also
 * comes if the round was complete before. read(2) takes the events of all memberships, so only one
 * thread of a process can use it. WAIT with a timeout of 0 takes the events of one membership.
 * read returns 0 when the device is dead and no event is pending.
 * Errors of read: EINVAL fewer than 32 bytes; EAGAIN; EINTR no event was taken; EPERM; EFAULT.
 */
struct gba_event {
    __u32 events;     /* GBA_EVENT_* */
    __u32 group;      /* of the membership */
    __u32 generation; /* of the membership */
    __u32 member;     /* of the membership */
    __u32 last_error; /* GBA_ERROR_*, with GBA_EVENT_ERROR */
    __u32 reserved[3];
};

/*
 * Versions 1 and 2 had the magic 0xBA, which mainline has given to another driver. The driver
 * answers their QUERY (136 bytes) with its own version, so that an old library can report it. It
 * refuses their other calls.
 *
 * The numbers have no size, because structures grow. No driver of mainline has this magic
 * (Documentation/userspace-api/ioctl/ioctl-number.rst).
 */
#define GBA_IOC_MAGIC     0xBB
#define GBA_IOC_QUERY     _IO(GBA_IOC_MAGIC, 0) /* struct gba_ioc_query */
#define GBA_IOC_ALLOC     _IO(GBA_IOC_MAGIC, 1) /* struct gba_ioc_alloc */
#define GBA_IOC_FREE      _IO(GBA_IOC_MAGIC, 2) /* struct gba_ioc_free */
#define GBA_IOC_JOIN      _IO(GBA_IOC_MAGIC, 3) /* struct gba_ioc_join */
#define GBA_IOC_CONFIGURE _IO(GBA_IOC_MAGIC, 4) /* struct gba_ioc_configure */
#define GBA_IOC_LEAVE     _IO(GBA_IOC_MAGIC, 5) /* struct gba_ioc_leave */
#define GBA_IOC_INSPECT   _IO(GBA_IOC_MAGIC, 6) /* struct gba_ioc_inspect */
#define GBA_IOC_WAIT      _IO(GBA_IOC_MAGIC, 7) /* struct gba_ioc_wait */
#define GBA_IOC_OWNER     _IO(GBA_IOC_MAGIC, 8) /* struct gba_ioc_owner */

/* Sizes, and the offset of every 64-bit field: the same in every kind of process. */
#define GBA_IOC_OFFSET(type, field, offset) \
    GBA_REGS_ASSERT(__builtin_offsetof(struct type, field) == (offset), type##_##field)
GBA_REGS_ASSERT(sizeof(struct gba_ioc_query) == 160, gba_ioc_query_size);
GBA_IOC_OFFSET(gba_ioc_query, features, 16);
GBA_IOC_OFFSET(gba_ioc_query, uuid, 48);
GBA_IOC_OFFSET(gba_ioc_query, bad_access, 72);
GBA_IOC_OFFSET(gba_ioc_query, counters, 80);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_alloc) == 48, gba_ioc_alloc_size);
GBA_IOC_OFFSET(gba_ioc_alloc, key, 32);
GBA_IOC_OFFSET(gba_ioc_alloc, job, 40);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_free) == 16, gba_ioc_free_size);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_join) == 56, gba_ioc_join_size);
GBA_IOC_OFFSET(gba_ioc_join, key, 16);
GBA_IOC_OFFSET(gba_ioc_join, doorbell_offset, 32);
GBA_IOC_OFFSET(gba_ioc_join, flag_offset, 40);
GBA_REGS_ASSERT(sizeof(struct gba_flag_slot) == 16, gba_flag_slot_size);
GBA_IOC_OFFSET(gba_flag_slot, revoked, 8);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_configure) == 24, gba_ioc_configure_size);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_leave) == 24, gba_ioc_leave_size);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_inspect) == 216, gba_ioc_inspect_size);
GBA_IOC_OFFSET(gba_ioc_inspect, arrived_mask, 40);
GBA_IOC_OFFSET(gba_ioc_inspect, counters, 136);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_wait) == 40, gba_ioc_wait_size);
GBA_IOC_OFFSET(gba_ioc_wait, timeout, 24);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_owner) == 40, gba_ioc_owner_size);
GBA_IOC_OFFSET(gba_ioc_owner, job, 32);
GBA_REGS_ASSERT(sizeof(struct gba_event) == 32, gba_event_size);

#endif
