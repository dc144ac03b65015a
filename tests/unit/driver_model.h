/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver of a device without ports [DEV-5], as a model: the record of each group's holders. Pure,
 * as the device model: the caller supplies the lock, the random key, and the knowledge which
 * processes are alive.
 *
 * A record and a model group belong together: these functions write the group's registers as the
 * kernel driver would. The rules in the comments are those of device.md, chapter "Driver". No
 * function is thread-safe on one record; the caller holds the group's lock.
 */
#ifndef GBA_TESTS_DRIVER_MODEL_H
#define GBA_TESTS_DRIVER_MODEL_H

#include "gba/gba.h"
#include "sim/model/model.h"

/* A holder of memberships and allocations is a number that the caller chooses, such as 1 + a port
 * or the number of an open file. This one is nobody. */
#define GBA_DRIVER_NOBODY 0u

struct gba_driver_membership {
    uint32_t holder;
    uint32_t state; /* GBA_MEMBERSHIP_* */
};

/* The part of a record that a caller copies in order to undo a call. */
struct gba_driver_head {
    uint32_t state; /* GBA_LIFE_* */
    uint32_t generation;
    uint64_t key;
    uint32_t members;
    uint32_t present;   /* memberships JOINED or MAPPED */
    uint32_t mapped;    /* memberships MAPPED */
    uint32_t allocator; /* holder; GBA_DRIVER_NOBODY after the first join */
    uint32_t uid;       /* of the allocator */
    uint64_t job;       /* among those of uid */
};

struct gba_driver_record {
    struct gba_driver_head head;
    struct gba_driver_membership membership[GBA_MEMBERS_MAX];
};

/* A request for a group. */
struct gba_driver_request {
    uint32_t members;
    uint32_t holder;
    uint64_t key; /* random */
    uint32_t uid;
    uint64_t job;
};

/*
 * Each function below returns the status of the ioctl of that name (gba_ioctl.h).
 *
 * Allocate the group. Returns GBA_OK; GBA_ERR_NO_GROUP: the group is not free; GBA_ERR_PARAM:
 * members is not 1 to GBA_MEMBERS_MAX. [DRV-2]
 */
gba_status_t gba_driver_alloc(struct gba_driver_record *record, struct gba_model_group *group,
                              const struct gba_driver_request *request);

/* Join as `member`. Returns GBA_OK; GBA_ERR_STALE; GBA_ERR_BUSY: the membership is taken or left;
 * GBA_ERR_PARAM: member is out of range. [DRV-3] */
gba_status_t gba_driver_join(struct gba_driver_record *record, uint32_t generation, uint64_t key,
                             uint32_t member, uint32_t holder);

/* Map the release flag of a member. address: not 0, a multiple of 8. Returns GBA_OK; GBA_ERR_STALE;
 * GBA_ERR_BUSY: mapped or armed already; GBA_ERR_PARAM: address, or not the holder's membership.
 * [DRV-4] */
gba_status_t gba_driver_map(struct gba_driver_record *record, struct gba_model_group *group,
                            uint32_t generation, uint32_t member, uint64_t address,
                            uint32_t holder);

/* Arm the group. sequence: the first round is sequence + 1. Returns GBA_OK; GBA_ERR_STALE;
 * GBA_ERR_PARAM: not a member; GBA_ERR_BUSY: a member is missing, or the group is armed. [DRV-5] */
gba_status_t gba_driver_configure(struct gba_driver_record *record, struct gba_model_group *group,
                                  uint32_t generation, uint32_t sequence, uint32_t holder);

/* Leave as `member`, or with GBA_MEMBER_NONE give up an allocation. Returns GBA_OK; GBA_ERR_STALE;
 * GBA_ERR_PARAM: not the holder's membership or allocation. [DRV-6] */
gba_status_t gba_driver_leave(struct gba_driver_record *record, struct gba_model_group *group,
                              uint32_t generation, uint32_t member, uint32_t holder);

/* Whether a member of that generation may read the registers. Returns GBA_OK or GBA_ERR_STALE.
 * [DRV-7] */
gba_status_t gba_driver_inspect(const struct gba_driver_record *record, uint32_t generation);

/*
 * Find a membership, or the allocation, of a holder that has ended, so that the caller takes it
 * back with gba_driver_leave. member: the first to examine; becomes the member, or GBA_MEMBER_NONE
 * for the allocation. Returns false if the holder holds nothing from `member` on. [DRV-10]
 */
bool gba_driver_find(const struct gba_driver_record *record, uint32_t *member, uint32_t holder);

#endif
