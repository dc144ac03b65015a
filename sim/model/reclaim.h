/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scarce groups: which group an allocation gets, the rate at which a team uses its group, and
 * whether a group can be taken back from a team that hardly uses it. Needs of a group only its life
 * (GBA_LIFE_*) and its core, so that it serves every owner of groups. Pure. No function is
 * thread-safe on one usage. The rules in the comments are those of device.md, chapter "Driver".
 */
#ifndef GBA_SIM_RECLAIM_H
#define GBA_SIM_RECLAIM_H

#include "gba/types.h"
#include "sim/model/model.h"

/* Who uses an allocated group, and how much. Of no meaning while the group is free. */
struct gba_usage {
    uint32_t uid;            /* user of the allocator */
    uint32_t rate;           /* rounds per second between the last two samples */
    uint64_t job;            /* number of the job that holds the group, among those of uid */
    uint64_t sampled_at;     /* ns, on the clock of gba_claim.now */
    uint64_t sampled_rounds; /* the group's ROUNDS counter at that time */
    uint32_t rated;          /* 1: rate is valid */
    uint32_t reserved;
};

/* The claim of an allocation on the groups of others. */
struct gba_claim {
    uint32_t groups_max;   /* limit of groups of the job, this one included; 0: no limit */
    uint32_t barrier_rate; /* barriers per second of the team; 0: take nothing back */
    uint32_t uid;
    uint64_t job;
    uint64_t now; /* ns, on a clock that all callers share */
};

/* The shortest interval between two samples of a group. A shorter one is not meaningful for a team
 * that computes for some milliseconds between two barriers. A group has no rate before its second
 * sample. [DRV-13] */
#define GBA_USAGE_WINDOW_NS 50000000u

/* A claim takes a group back only if its barrier rate exceeds the group's rate by this factor. The
 * factor is well above the error between two measurements of one rate, so that two teams do not
 * take one group from each other alternately. [DRV-12] */
#define GBA_CLAIM_FACTOR 4u

/* The group number that stands for "none". */
#define GBA_SURVEY_NONE UINT32_MAX

/* The usage of a group that was allocated for that claim; and the first sample, when the group is
 * armed. [DRV-13] */
void gba_usage_begin(struct gba_usage *usage, const struct gba_claim *claim);
void gba_usage_arm(struct gba_usage *usage, const struct gba_model_core *core, uint64_t now);

/* The state of an allocation while it examines the groups. */
struct gba_survey {
    uint32_t held;          /* groups that the job of the claim holds */
    uint32_t free;          /* the first free group, or GBA_SURVEY_NONE */
    uint32_t slowest, rate; /* the reclaimable group with the lowest rate, and that rate */
    uint32_t own, own_rate; /* the same among the groups of the claim's job */
};

void gba_survey_init(struct gba_survey *survey);

/* Examine one group, number `number`, and sample it if a sample is due. Changes only the sample.
 * [DRV-11, DRV-13] */
void gba_survey_group(struct gba_survey *survey, struct gba_usage *usage, uint32_t life,
                      const struct gba_model_core *core, uint32_t number,
                      const struct gba_claim *claim);

/*
 * Choose the group to allocate, after all groups were examined. reclaim: true if the group must be
 * taken back first. Returns GBA_OK, GBA_ERR_LIMIT or GBA_ERR_NO_GROUP; outputs are set on GBA_OK
 * only. [DRV-11, DRV-12]
 */
gba_status_t gba_survey_decide(const struct gba_survey *survey, const struct gba_claim *claim,
                               uint32_t *number, bool *reclaim);

/* Whether the group can be taken back for that claim now. [DRV-12] */
bool gba_usage_can_reclaim(const struct gba_usage *usage, uint32_t life,
                           const struct gba_model_core *core, const struct gba_claim *claim);

#endif
