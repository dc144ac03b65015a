/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /dev/gbaN: the interface between the Linux driver and user space, version 2.
 *
 * Every structure is the same for 32-bit and 64-bit processes: fixed-width fields, 64-bit fields on
 * 8-byte boundaries, no pointer, no padding. Every structure begins with `size`, its size in bytes
 * as the caller knows it, and `flags`, which is 0 in version 2. The driver refuses an unknown size
 * and an unknown flag with EINVAL, so a later version can add both. It also refuses (EINVAL) a
 * reserved field that is not 0.
 *
 * A membership belongs to the open file. The last close of the file, and so the death of the
 * process, leaves every group that was joined through it. The rules in brackets are those of
 * device.md, chapter "Driver".
 */
#ifndef GBA_IOCTL_H
#define GBA_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include "gba_regs.h"

#define GBA_ABI_VERSION 2u /* 2: ALLOC has a limit and a barrier rate; groups can be taken back */

/* Groups and members are numbered from 0. This number stands for "no member". */
#define GBA_MEMBER_NONE 0xFFFFFFFFu

/*
 * QUERY: report the device. The structure is the same in all versions, because it contains the
 * version. `uuid` has the bytes of GBA_DEV_UUID, little endian on every host. [DRV-1]
 * Errors: ENOTTY the file is not a GBA; EINVAL; EFAULT.
 */
struct gba_ioc_query {
    __u32 size;         /* in */
    __u32 flags;        /* in: 0 */
    __u32 abi_version;  /* out: GBA_ABI_VERSION of the driver */
    __u32 regs_version; /* out: GBA_DEV_VERSION */
    __u32 groups;       /* out: groups of the device, 1 to 32 */
    __u32 groups_free;  /* out: groups that are not allocated now */
    __u32 members_max;  /* out: 708 */
    __u32 state;        /* out: GBA_DEV_STATE_* */
    __u8 uuid[16];      /* out: equal for two hosts if and only if one switch unit serves both */
    __u64 bad_access;   /* out: GBA_DEV_BAD_ACCESS */
    __u64 counters[GBA_COUNTERS]; /* out: sums over all groups since power-on */
};
#define GBA_DEV_STATE_UP   0u
#define GBA_DEV_STATE_DEAD 1u /* the device no longer answers; only QUERY and FREE work */

/*
 * ALLOC: allocate a group for `members` members. The group is a free one, or one that is taken back
 * from a team that uses it much less. The caller is its allocator. [DRV-2, DRV-11, DRV-12]
 * Errors: ENOSPC no group is free, and none can be taken back; EDQUOT the job has groups_max
 * groups, and none of them can be taken back; EINVAL members is not 1 to 708; ENODEV the device is
 * dead.
 */
struct gba_ioc_alloc {
    __u32 size;         /* in */
    __u32 flags;        /* in: 0 */
    __u32 members;      /* in: 1 to 708 */
    __u32 groups_max;   /* in: most groups that the job may hold, with this one; 0: no limit */
    __u32 barrier_rate; /* in: barriers per second of the team; 0: take nothing back */
    __u32 group;        /* out */
    __u32 generation;   /* out: differs in each allocation of this group */
    __u32 reserved;     /* 0 */
    __u64 key;          /* out: random; JOIN requires it */
    __u64 job;          /* in: number of the job, among those of its user */
};

/*
 * JOIN: become member `member` of an allocated group. [DRV-3]
 * Errors: ESTALE group, generation and key do not match an allocation; EBUSY the membership is
 * taken; EINVAL the member is not below the number of members; EPERM refused by the administrator;
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
    __u64 doorbell_offset; /* out: for mmap(PROT_WRITE, MAP_SHARED) of this file */
    __u64 doorbell_size;   /* out: bytes to map, a multiple of the page size */
};

/*
 * MAP_FLAG: pin the 8 bytes at `addr`, and give them to the device as the release flag of a member
 * that this file has joined. [DRV-4]
 * Errors: ESTALE; EINVAL addr is not a multiple of 8, or this file is not that member; EFAULT;
 * EBUSY the group is armed, or the member has a flag; ENOMEM; ENODEV.
 */
struct gba_ioc_map_flag {
    __u32 size;       /* in */
    __u32 flags;      /* in: 0 */
    __u32 group;      /* in */
    __u32 generation; /* in */
    __u32 member;     /* in */
    __u32 reserved;   /* 0 */
    __u64 addr;       /* in: virtual address in the calling process */
};

/*
 * CONFIGURE: set the sequence and arm the group, after all members have joined and mapped. [DRV-5]
 * Errors: ESTALE; EINVAL this file has not joined; EAGAIN a member is missing; EBUSY the group is
 * armed already; ENODEV.
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
 * FREE: leave the group. The flag is withdrawn and unpinned before the call returns. FREE also
 * leaves a group that was taken back. With GBA_MEMBER_NONE the allocator gives up an allocation
 * without any join. The last member to leave frees the group. [DRV-6, DRV-15]
 * Errors: ESTALE; EINVAL this file is not that member.
 */
struct gba_ioc_free {
    __u32 size;       /* in */
    __u32 flags;      /* in: 0 */
    __u32 group;      /* in */
    __u32 generation; /* in */
    __u32 member;     /* in */
    __u32 reserved;   /* 0 */
};

/*
 * INSPECT: read the registers of a group that this file has joined, for the watchdog. [DRV-7]
 * Errors: ESTALE; EIDRM the group was taken back [DRV-15]; EINVAL this file has not joined; ENODEV
 * the device is dead.
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
 * EVENT: take the oldest event of this file. poll(2) reports POLLIN while an event is waiting.
 * [DRV-8]
 * Errors: EAGAIN no event is waiting.
 */
struct gba_ioc_event {
    __u32 size;       /* in */
    __u32 flags;      /* in: 0 */
    __u32 kind;       /* out: GBA_EVENT_* */
    __u32 group;      /* out: for GBA_EVENT_ERROR */
    __u32 generation; /* out */
    __u32 last_error; /* out: GBA_ERROR_* */
};
#define GBA_EVENT_ERROR 1u /* STATUS.ERROR was set in a group that this file has joined */
#define GBA_EVENT_DEAD  2u /* the device no longer answers */

#define GBA_IOC_MAGIC     0xBA
#define GBA_IOC_QUERY     _IOWR(GBA_IOC_MAGIC, 0, struct gba_ioc_query)
#define GBA_IOC_ALLOC     _IOWR(GBA_IOC_MAGIC, 1, struct gba_ioc_alloc)
#define GBA_IOC_JOIN      _IOWR(GBA_IOC_MAGIC, 2, struct gba_ioc_join)
#define GBA_IOC_MAP_FLAG  _IOW(GBA_IOC_MAGIC, 3, struct gba_ioc_map_flag)
#define GBA_IOC_CONFIGURE _IOW(GBA_IOC_MAGIC, 4, struct gba_ioc_configure)
#define GBA_IOC_FREE      _IOW(GBA_IOC_MAGIC, 5, struct gba_ioc_free)
#define GBA_IOC_INSPECT   _IOWR(GBA_IOC_MAGIC, 6, struct gba_ioc_inspect)
#define GBA_IOC_EVENT     _IOWR(GBA_IOC_MAGIC, 7, struct gba_ioc_event)

/*
 * The mmap offset of the whole BAR, for conformance tests and repair; needs CAP_SYS_RAWIO. JOIN
 * never returns this offset for a doorbell. [DRV-9]
 */
#define GBA_MMAP_BAR 0x100000000ull

/* Sizes, and the offset of every 64-bit field: the same in every kind of process. */
#define GBA_IOC_OFFSET(type, field, offset) \
    GBA_REGS_ASSERT(__builtin_offsetof(struct type, field) == (offset), type##_##field)
GBA_REGS_ASSERT(sizeof(struct gba_ioc_query) == 136, gba_ioc_query_size);
GBA_IOC_OFFSET(gba_ioc_query, uuid, 32);
GBA_IOC_OFFSET(gba_ioc_query, bad_access, 48);
GBA_IOC_OFFSET(gba_ioc_query, counters, 56);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_alloc) == 48, gba_ioc_alloc_size);
GBA_IOC_OFFSET(gba_ioc_alloc, key, 32);
GBA_IOC_OFFSET(gba_ioc_alloc, job, 40);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_join) == 48, gba_ioc_join_size);
GBA_IOC_OFFSET(gba_ioc_join, key, 16);
GBA_IOC_OFFSET(gba_ioc_join, doorbell_offset, 32);
GBA_IOC_OFFSET(gba_ioc_join, doorbell_size, 40);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_map_flag) == 32, gba_ioc_map_flag_size);
GBA_IOC_OFFSET(gba_ioc_map_flag, addr, 24);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_configure) == 24, gba_ioc_configure_size);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_free) == 24, gba_ioc_free_size);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_inspect) == 216, gba_ioc_inspect_size);
GBA_IOC_OFFSET(gba_ioc_inspect, arrived_mask, 40);
GBA_IOC_OFFSET(gba_ioc_inspect, counters, 136);
GBA_REGS_ASSERT(sizeof(struct gba_ioc_event) == 24, gba_ioc_event_size);

#endif
