/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/model/reclaim.h"

static bool same_user(const struct gba_usage *usage, const struct gba_claim *claim)
{
    return usage->uid == claim->uid;
}

static bool same_job(const struct gba_usage *usage, const struct gba_claim *claim)
{
    return same_user(usage, claim) && usage->job == claim->job;
}

void gba_usage_begin(struct gba_usage *usage, const struct gba_claim *claim)
{
    *usage = (struct gba_usage){.uid = claim->uid, .job = claim->job};
}

void gba_usage_arm(struct gba_usage *usage, const struct gba_model_core *core, uint64_t now)
{
    usage->sampled_at = now;
    usage->sampled_rounds = core->counters[GBA_COUNTER_ROUNDS];
}

/* Sample an armed group if its last sample is a window old. [DRV-13] */
static void sample(struct gba_usage *usage, const struct gba_model_core *core, uint64_t now)
{
    uint64_t rounds = core->counters[GBA_COUNTER_ROUNDS] - usage->sampled_rounds;
    uint64_t passed = now - usage->sampled_at;
    uint64_t rate;

    if (now < usage->sampled_at || passed < GBA_USAGE_WINDOW_NS)
        return;
    /* A device completes fewer than 2^32 rounds per second, so the product does not overflow within
     * 4 s. A longer interval is divided first, which is no less exact. */
    rate =
        rounds < UINT32_MAX ? rounds * 1000000000u / passed : rounds / (passed / 1000000000u + 1);
    usage->rate = rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
    usage->rated = 1;
    gba_usage_arm(usage, core, now);
}

bool gba_usage_can_reclaim(const struct gba_usage *usage, uint32_t life,
                           const struct gba_model_core *core, const struct gba_claim *claim)
{
    /* Only between two rounds. Taking a group back within a round is safe, but its arrived members
     * show that the group is in use. [DRV-12] */
    return life == GBA_LIFE_ARMED && same_user(usage, claim) && core->arrived_count == 0 &&
           usage->rated != 0 && (uint64_t)usage->rate * GBA_CLAIM_FACTOR < claim->barrier_rate;
}

void gba_survey_init(struct gba_survey *survey)
{
    *survey = (struct gba_survey){
        .free = GBA_SURVEY_NONE, .slowest = GBA_SURVEY_NONE, .own = GBA_SURVEY_NONE};
}

static void keep_slower(uint32_t *number, uint32_t *least, uint32_t candidate, uint32_t rate)
{
    if (*number != GBA_SURVEY_NONE && *least <= rate)
        return;
    *number = candidate;
    *least = rate;
}

void gba_survey_group(struct gba_survey *survey, struct gba_usage *usage, uint32_t life,
                      const struct gba_model_core *core, uint32_t number,
                      const struct gba_claim *claim)
{
    if (life == GBA_LIFE_FREE) {
        if (survey->free == GBA_SURVEY_NONE)
            survey->free = number;
        return;
    }
    survey->held += same_job(usage, claim);
    if (claim->barrier_rate == 0 || life != GBA_LIFE_ARMED)
        return; /* a group that is not armed yet cannot have rounds */
    sample(usage, core, claim->now);
    if (!gba_usage_can_reclaim(usage, life, core, claim))
        return;
    keep_slower(&survey->slowest, &survey->rate, number, usage->rate);
    if (same_job(usage, claim))
        keep_slower(&survey->own, &survey->own_rate, number, usage->rate);
}

gba_status_t gba_survey_decide(const struct gba_survey *survey, const struct gba_claim *claim,
                               uint32_t *number, bool *reclaim)
{
    bool limited = claim->groups_max != 0 && survey->held >= claim->groups_max;
    uint32_t victim = survey->slowest;

    if (!limited && survey->free != GBA_SURVEY_NONE) {
        *number = survey->free;
        *reclaim = false;
        return GBA_OK;
    }
    /* At the limit a job can only replace one of its groups by another. Above the limit, which
     * happens if its processes have different limits, it cannot do that either. [DRV-11] */
    if (limited)
        victim = survey->held == claim->groups_max ? survey->own : GBA_SURVEY_NONE;
    if (victim == GBA_SURVEY_NONE)
        return limited ? GBA_ERR_LIMIT : GBA_ERR_NO_GROUP;
    *number = victim;
    *reclaim = true;
    return GBA_OK;
}
