/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver's side of the model: who holds which group. As pure as the device: the caller brings
 * the lock, the random key and the knowledge of who is alive.
 *
 * A record and a model group belong together: these functions write the group's registers as the
 * kernel driver would. Rules in the comments are those of device.md, chapter "Driver".
 */
#ifndef GBA_SIM_DRIVER_H
#define GBA_SIM_DRIVER_H

#include "gba/gba.h"
#include "sim/model/model.h"

/* A process, so that a process number that is used again is not taken for it. 0, 0 = nobody. */
struct gba_driver_owner {
    uint64_t pid;
    uint64_t start; /* when it started, in whatever unit the caller has */
};

enum gba_driver_seat_state { GBA_SEAT_EMPTY, GBA_SEAT_JOINED, GBA_SEAT_MAPPED, GBA_SEAT_LEFT };

struct gba_driver_seat {
    struct gba_driver_owner owner;
    uint32_t state;
    uint32_t reserved;
};

enum gba_driver_group_state { GBA_GROUP_FREE, GBA_GROUP_ALLOCATED, GBA_GROUP_ARMED };

/* The part that is copied by whoever must be able to take a call back. */
struct gba_driver_head {
    uint32_t state;
    uint32_t generation;
    uint64_t key;
    uint32_t members;
    uint32_t present; /* seats JOINED or MAPPED */
    uint32_t mapped;  /* seats MAPPED */
    uint32_t reserved;
    struct gba_driver_owner allocator; /* nobody, once somebody has joined */
};

struct gba_driver_record {
    struct gba_driver_head head;
    struct gba_driver_seat seat[GBA_MEMBERS_MAX];
};

/*
 * Each returns a status as the ioctl of that name (gba_ioctl.h) would:
 * alloc: GBA_OK; GBA_ERR_NO_GROUP: this group is not free; GBA_ERR_PARAM: members. [DRV-2]
 */
gba_status_t gba_driver_alloc(struct gba_driver_record *record, struct gba_model_group *group,
                              uint32_t members, uint64_t key, struct gba_driver_owner owner);

/* GBA_OK, GBA_ERR_STALE, GBA_ERR_BUSY, GBA_ERR_PARAM. [DRV-3] */
gba_status_t gba_driver_join(struct gba_driver_record *record, uint32_t generation, uint64_t key,
                             uint32_t member, struct gba_driver_owner owner);

/* address: not 0, a multiple of 8. GBA_OK, GBA_ERR_STALE, GBA_ERR_BUSY, GBA_ERR_PARAM. [DRV-4] */
gba_status_t gba_driver_map(struct gba_driver_record *record, struct gba_model_group *group,
                            uint32_t generation, uint32_t member, uint64_t address,
                            struct gba_driver_owner owner);

/* GBA_OK; GBA_ERR_STALE; GBA_ERR_PARAM: not a member; GBA_ERR_BUSY: a member is missing, or it is
 * armed. [DRV-5] */
gba_status_t gba_driver_configure(struct gba_driver_record *record, struct gba_model_group *group,
                                  uint32_t generation, uint32_t sequence,
                                  struct gba_driver_owner owner);

/* member may be GBA_MEMBER_NONE: give up an allocation. GBA_OK, GBA_ERR_STALE, GBA_ERR_PARAM.
 * [DRV-6] */
gba_status_t gba_driver_leave(struct gba_driver_record *record, struct gba_model_group *group,
                              uint32_t generation, uint32_t member, struct gba_driver_owner owner);

/*
 * Take back all that the dead hold in this group. alive: whether a process still lives.
 * Returns how many seats and allocations were taken back. [DRV-10]
 */
uint32_t gba_driver_reap(struct gba_driver_record *record, struct gba_model_group *group,
                         bool (*alive)(struct gba_driver_owner owner));

/*
 * Mend a record and its group after a call that did not come to its end, since its process was
 * killed in it: the caller first puts back head and core as they were before that call; this makes
 * counts and seats fit them again. The dead process' seats remain, for gba_driver_reap.
 */
void gba_driver_repair(struct gba_driver_record *record, struct gba_model_group *group);

#endif
