/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver's half of the model: the record of each group's holders. Pure, as the device model:
 * the caller supplies the lock, the random key, and the knowledge which processes are alive.
 *
 * A record and a model group belong together: these functions write the group's registers as the
 * kernel driver would. The rules in the comments are those of device.md, chapter "Driver". No
 * function is thread-safe on one record; the caller holds the group's lock.
 */
#ifndef GBA_SIM_DRIVER_H
#define GBA_SIM_DRIVER_H

#include "gba/gba.h"
#include "sim/model/model.h"

/* A holder of memberships and allocations is a number that the caller chooses, such as 1 + a port
 * or the number of an open file. This one is nobody. */
#define GBA_DRIVER_NOBODY 0u

struct gba_driver_membership {
    uint32_t holder;
    uint32_t state; /* GBA_MEMBERSHIP_* */
};

/* The state of a record. RECLAIMED: the group was taken back and has another record. This record
 * remains for the members that have not left. */
enum gba_driver_group_state {
    GBA_GROUP_FREE,
    GBA_GROUP_ALLOCATED,
    GBA_GROUP_ARMED,
    GBA_GROUP_RECLAIMED
};

/* The part of a record that a caller copies in order to undo a call. */
struct gba_driver_head {
    uint32_t state;
    uint32_t generation;
    uint64_t key;
    uint32_t members;
    uint32_t present;        /* memberships JOINED or MAPPED */
    uint32_t mapped;         /* memberships MAPPED */
    uint32_t uid;            /* user of the allocator */
    uint32_t allocator;      /* holder; GBA_DRIVER_NOBODY after the first join */
    uint32_t rated;          /* 1: rate is valid */
    uint64_t job;            /* number of the job that holds the group, among those of uid */
    uint64_t sampled_at;     /* ns, on the clock of gba_driver_request.now */
    uint64_t sampled_rounds; /* the group's ROUNDS counter at that time */
    uint32_t rate;           /* rounds per second between the last two samples */
    uint32_t reserved;
};

struct gba_driver_record {
    struct gba_driver_head head;
    struct gba_driver_membership membership[GBA_MEMBERS_MAX];
};

/* A request for a group. */
struct gba_driver_request {
    uint32_t members;
    uint32_t groups_max;   /* limit of groups of the job, this one included; 0: no limit */
    uint32_t barrier_rate; /* barriers per second of the team; 0: take nothing back */
    uint32_t uid;
    uint64_t job;
    uint64_t key; /* random */
    uint64_t now; /* ns, on a clock that all callers share */
    uint32_t holder;
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

/* Arm the group. sequence: the first round is sequence + 1. now: as in a request. Returns GBA_OK;
 * GBA_ERR_STALE; GBA_ERR_PARAM: not a member; GBA_ERR_BUSY: a member is missing, or the group is
 * armed. [DRV-5, DRV-13] */
gba_status_t gba_driver_configure(struct gba_driver_record *record, struct gba_model_group *group,
                                  uint32_t generation, uint32_t sequence, uint32_t holder,
                                  uint64_t now);

/*
 * Leave as `member`, or with GBA_MEMBER_NONE give up an allocation. Does not touch the group if it
 * was taken back from this record. Returns GBA_OK; GBA_ERR_STALE; GBA_ERR_PARAM: not the holder's
 * membership or allocation. [DRV-6, DRV-15]
 */
gba_status_t gba_driver_leave(struct gba_driver_record *record, struct gba_model_group *group,
                              uint32_t generation, uint32_t member, uint32_t holder);

/* Whether a member of that generation may read the registers. Returns GBA_OK, GBA_ERR_STALE or
 * GBA_ERR_RECLAIMED. [DRV-7, DRV-15] */
gba_status_t gba_driver_inspect(const struct gba_driver_record *record, uint32_t generation);

/*
 * Find a membership, or the allocation, of a holder that has ended, so that the caller takes it
 * back with gba_driver_leave. member: the first to examine; becomes the member, or GBA_MEMBER_NONE
 * for the allocation. Returns false if the holder holds nothing from `member` on. [DRV-10]
 */
bool gba_driver_find(const struct gba_driver_record *record, uint32_t *member, uint32_t holder);

/* --- reclaim.c: which group ALLOC takes, and how it takes a group back --- */

/* The shortest interval between two samples of a group. A shorter one is not meaningful for a team
 * that computes for some milliseconds between two barriers. A group has no rate before its second
 * sample. [DRV-13] */
#define GBA_DRIVER_WINDOW_NS 50000000u

/* A request takes a group back only if its barrier rate exceeds the group's rate by this factor.
 * The factor is well above the error between two measurements of one rate, so that two teams do not
 * take one group from each other in turns. [DRV-12] */
#define GBA_DRIVER_FASTER 4u

/* The group number that stands for "none". */
#define GBA_DRIVER_NONE UINT32_MAX

/* The state of an ALLOC while it examines the groups. */
struct gba_driver_survey {
    uint32_t held;          /* groups that the job of the request holds */
    uint32_t free;          /* the first free group, or GBA_DRIVER_NONE */
    uint32_t slowest, rate; /* the reclaimable group with the lowest rate, and that rate */
    uint32_t own, own_rate; /* the same among the groups of the request's job */
};

void gba_driver_survey_init(struct gba_driver_survey *survey);

/* Examine one group, number `number`, and sample it if a sample is due. Changes only the sample.
 * [DRV-11, DRV-13] */
void gba_driver_survey(struct gba_driver_survey *survey, struct gba_driver_record *record,
                       const struct gba_model_group *group, uint32_t number,
                       const struct gba_driver_request *request);

/*
 * Choose the group to allocate, after all groups were examined. reclaim: true if the group must be
 * taken back first. Returns GBA_OK, GBA_ERR_LIMIT or GBA_ERR_NO_GROUP; outputs are set on GBA_OK
 * only. [DRV-11, DRV-12]
 */
gba_status_t gba_driver_decide(const struct gba_driver_survey *survey,
                               const struct gba_driver_request *request, uint32_t *number,
                               bool *reclaim);

/* Whether the group can be taken back for that request now. [DRV-12] */
bool gba_driver_can_reclaim(const struct gba_driver_record *record,
                            const struct gba_model_group *group,
                            const struct gba_driver_request *request);

/*
 * Take the group from its members: disarm it and withdraw all members. The record stays, as
 * RECLAIMED. Restartable after an interruption. The caller then marks the flags of the memberships
 * that are MAPPED, and gives the group a free record with the generation of this one. [DRV-14]
 */
void gba_driver_reclaim(struct gba_driver_record *record, struct gba_model_group *group);

#endif
