/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scarce groups: the choice of a group for ALLOC, the rate at which a team uses its group, and the
 * taking back of a group from a team that hardly uses it.
 */
#include "sim/model/driver.h"
#include "sim/model/group.h"

static bool same_user(const struct gba_driver_head *head, const struct gba_driver_request *request)
{
    return head->uid == request->uid;
}

static bool same_job(const struct gba_driver_head *head, const struct gba_driver_request *request)
{
    return same_user(head, request) && head->job == request->job;
}

/* Sample an armed group if its last sample is a window old. [DRV-13] */
static void sample(struct gba_driver_head *head, const struct gba_model_core *core, uint64_t now)
{
    uint64_t rounds = core->counters[GBA_COUNTER_ROUNDS] - head->sampled_rounds;
    uint64_t passed = now - head->sampled_at;
    uint64_t rate;

    if (now < head->sampled_at || passed < GBA_DRIVER_WINDOW_NS)
        return;
    /* A device completes fewer than 2^32 rounds per second, so the product does not overflow within
     * 4 s. A longer interval is divided first, which is no less exact. */
    rate =
        rounds < UINT32_MAX ? rounds * 1000000000u / passed : rounds / (passed / 1000000000u + 1);
    head->rate = rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
    head->rated = 1;
    head->sampled_at = now;
    head->sampled_rounds = core->counters[GBA_COUNTER_ROUNDS];
}

bool gba_driver_can_reclaim(const struct gba_driver_record *record,
                            const struct gba_model_group *group,
                            const struct gba_driver_request *request)
{
    const struct gba_driver_head *head = &record->head;

    /* Only between two rounds. Taking a group back within a round is safe, but its arrived members
     * show that the group is in use. [DRV-12] */
    return head->state == GBA_GROUP_ARMED && same_user(head, request) &&
           group->core.arrived_count == 0 && head->rated != 0 &&
           (uint64_t)head->rate * GBA_DRIVER_FASTER < request->barrier_rate;
}

void gba_driver_survey_init(struct gba_driver_survey *survey)
{
    *survey = (struct gba_driver_survey){
        .free = GBA_DRIVER_NONE, .slowest = GBA_DRIVER_NONE, .own = GBA_DRIVER_NONE};
}

static void keep_slower(uint32_t *number, uint32_t *least, uint32_t candidate, uint32_t rate)
{
    if (*number != GBA_DRIVER_NONE && *least <= rate)
        return;
    *number = candidate;
    *least = rate;
}

void gba_driver_survey(struct gba_driver_survey *survey, struct gba_driver_record *record,
                       const struct gba_model_group *group, uint32_t number,
                       const struct gba_driver_request *request)
{
    struct gba_driver_head *head = &record->head;

    if (head->state == GBA_GROUP_FREE) {
        if (survey->free == GBA_DRIVER_NONE)
            survey->free = number;
        return;
    }
    survey->held += same_job(head, request);
    if (request->barrier_rate == 0 || head->state != GBA_GROUP_ARMED)
        return; /* a group that is not armed yet cannot have rounds */
    sample(head, &group->core, request->now);
    if (!gba_driver_can_reclaim(record, group, request))
        return;
    keep_slower(&survey->slowest, &survey->rate, number, head->rate);
    if (same_job(head, request))
        keep_slower(&survey->own, &survey->own_rate, number, head->rate);
}

gba_status_t gba_driver_decide(const struct gba_driver_survey *survey,
                               const struct gba_driver_request *request, uint32_t *number,
                               bool *reclaim)
{
    bool limited = request->groups_max != 0 && survey->held >= request->groups_max;
    uint32_t victim = survey->slowest;

    if (!limited && survey->free != GBA_DRIVER_NONE) {
        *number = survey->free;
        *reclaim = false;
        return GBA_OK;
    }
    /* At the limit a job can only replace one of its groups by another. Above the limit, which
     * happens if its processes have different limits, it cannot do that either. [DRV-11] */
    if (limited)
        victim = survey->held == request->groups_max ? survey->own : GBA_DRIVER_NONE;
    if (victim == GBA_DRIVER_NONE)
        return limited ? GBA_ERR_LIMIT : GBA_ERR_NO_GROUP;
    *number = victim;
    *reclaim = true;
    return GBA_OK;
}

void gba_driver_reclaim(struct gba_driver_record *record, struct gba_model_group *group)
{
    /* Disarm first: from here on no round completes, even if an arrival comes. [DRV-14] */
    gba_model_store(group, GBA_REG_CONTROL, 0);
    for (uint32_t member = 0; member < record->head.members; member++)
        gba_model_store_table(group, member, 0);
    record->head.key = 0;
    record->head.state = GBA_GROUP_RECLAIMED;
}
