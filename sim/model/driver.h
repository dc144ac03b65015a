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

/* RECLAIMED: the group was taken back, and this record goes on without it for those who have not
 * left; the group has another record by then. */
enum gba_driver_group_state {
    GBA_GROUP_FREE,
    GBA_GROUP_ALLOCATED,
    GBA_GROUP_ARMED,
    GBA_GROUP_RECLAIMED
};

/* The part that is copied by whoever must be able to take a call back. */
struct gba_driver_head {
    uint32_t state;
    uint32_t generation;
    uint64_t key;
    uint32_t members;
    uint32_t present;                  /* seats JOINED or MAPPED */
    uint32_t mapped;                   /* seats MAPPED */
    uint32_t uid;                      /* the allocator's user */
    struct gba_driver_owner allocator; /* nobody, once somebody has joined */
    uint64_t job;                      /* of the user, whose group this is */
    uint64_t sampled_at;               /* ns, as `now` of a request */
    uint64_t sampled_rounds;           /* the group's counter then */
    uint32_t rate;                     /* rounds a second between the last two samples */
    uint32_t rated;                    /* 1: there is a rate */
};

struct gba_driver_record {
    struct gba_driver_head head;
    struct gba_driver_seat seat[GBA_MEMBERS_MAX];
};

/* Who asks for a group. */
struct gba_driver_request {
    uint32_t members;
    uint32_t groups_max; /* that his job may hold, with this one; 0: no limit */
    uint32_t heat;       /* barriers a second; 0: take nothing back */
    uint32_t uid;
    uint64_t job;
    uint64_t key; /* random */
    uint64_t now; /* ns, of a clock that all who ask share */
    struct gba_driver_owner owner;
};

/*
 * Each returns a status as the ioctl of that name (gba_ioctl.h) would:
 * alloc: GBA_OK; GBA_ERR_NO_GROUP: this group is not free; GBA_ERR_PARAM: members. [DRV-2]
 */
gba_status_t gba_driver_alloc(struct gba_driver_record *record, struct gba_model_group *group,
                              const struct gba_driver_request *request);

/* GBA_OK, GBA_ERR_STALE, GBA_ERR_BUSY, GBA_ERR_PARAM. [DRV-3] */
gba_status_t gba_driver_join(struct gba_driver_record *record, uint32_t generation, uint64_t key,
                             uint32_t member, struct gba_driver_owner owner);

/* address: not 0, a multiple of 8. GBA_OK, GBA_ERR_STALE, GBA_ERR_BUSY, GBA_ERR_PARAM. [DRV-4] */
gba_status_t gba_driver_map(struct gba_driver_record *record, struct gba_model_group *group,
                            uint32_t generation, uint32_t member, uint64_t address,
                            struct gba_driver_owner owner);

/* now: as of a request. GBA_OK; GBA_ERR_STALE; GBA_ERR_PARAM: not a member; GBA_ERR_BUSY: a member
 * is missing, or it is armed. [DRV-5, DRV-13] */
gba_status_t gba_driver_configure(struct gba_driver_record *record, struct gba_model_group *group,
                                  uint32_t generation, uint32_t sequence,
                                  struct gba_driver_owner owner, uint64_t now);

/*
 * member may be GBA_MEMBER_NONE: give up an allocation. GBA_OK, GBA_ERR_STALE, GBA_ERR_PARAM.
 * Does not touch the group of a record that lost it. [DRV-6, DRV-15]
 */
gba_status_t gba_driver_leave(struct gba_driver_record *record, struct gba_model_group *group,
                              uint32_t generation, uint32_t member, struct gba_driver_owner owner);

/* Whether a member of that generation may look: GBA_OK, GBA_ERR_STALE, GBA_ERR_RECLAIMED.
 * [DRV-7, DRV-15] */
gba_status_t gba_driver_inspect(const struct gba_driver_record *record, uint32_t generation);

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

/* --- reclaim.c: which group ALLOC takes, and how one is taken back --- */

/* A group is sampled at most this often, and has no rate before: less says little about a team that
 * computes for some milliseconds between two barriers. [DRV-13] */
#define GBA_DRIVER_WINDOW_NS 50000000u

/* A team loses its group to one that is this much hotter: well over what a rate that is measured
 * twice differs by, so that no two teams take one group from each other in turns. [DRV-12] */
#define GBA_DRIVER_HOTTER 4u

/* Of a group number: none. */
#define GBA_DRIVER_NONE UINT32_MAX

/* What an ALLOC has seen of the groups so far. */
struct gba_driver_survey {
    uint32_t held;          /* groups of the asker's job */
    uint32_t free;          /* the first free group, or GBA_DRIVER_NONE */
    uint32_t coldest, rate; /* of those that can be taken back, the one with the least rate */
    uint32_t own, own_rate; /* the same among those of the asker's job */
};

void gba_driver_survey_init(struct gba_driver_survey *survey);

/* Look at one group, number `number`, and sample it if that is due. Changes only the sample.
 * [DRV-11, DRV-13] */
void gba_driver_survey(struct gba_driver_survey *survey, struct gba_driver_record *record,
                       const struct gba_model_group *group, uint32_t number,
                       const struct gba_driver_request *request);

/*
 * After all groups were looked at: which one to allocate, and whether it is to be taken back first.
 * GBA_OK, GBA_ERR_LIMIT, GBA_ERR_NO_GROUP; outputs on GBA_OK only. [DRV-11, DRV-12]
 */
gba_status_t gba_driver_decide(const struct gba_driver_survey *survey,
                               const struct gba_driver_request *request, uint32_t *number,
                               bool *reclaim);

/* Whether the group can be taken back for that request now. [DRV-12] */
bool gba_driver_can_reclaim(const struct gba_driver_record *record,
                            const struct gba_model_group *group,
                            const struct gba_driver_request *request);

/*
 * Take the group from its members: it is disarmed and all are withdrawn; the record goes on without
 * it. To be begun anew after it was cut short. What is left to the caller: to mark the flags of the
 * seats that are MAPPED, and to give the group a record that is free, with this one's generation.
 * [DRV-14]
 */
void gba_driver_reclaim(struct gba_driver_record *record, struct gba_model_group *group);

#endif
