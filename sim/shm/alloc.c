/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ALLOC of the simulated device, with the step that may precede it: a group is taken back from a
 * team that hardly uses it.
 */
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "sim/model/control.h"
#include "sim/shm/fault.h"
#include "sim/shm/lock.h"
#include "sim/shm/process.h"
#include "sim/shm/sim.h"

/* The first free place: its memory may be reserved already. Under the device's lock. */
static uint32_t place_find(struct gba_sim_segment *segment)
{
    uint32_t place = 0;

    /* Acquire: pairs with gba_sim_place_put. */
    while (place < GBA_SIM_PLACES && 0 != gba_word_load_acquire(&segment->home[place]))
        place++;
    return place;
}

/* The life of a group for a survey. Only the port that allocated a group can take it back [CMD-7].
 * If that port is down, the group stays with its members. */
static uint32_t life_of(const struct gba_model_group *group)
{
    const struct gba_model_record *record = &group->record;

    return GBA_LIFE_ARMED == record->life && 0 == record->holder ? GBA_LIFE_ALLOCATED
                                                                 : record->life;
}

/*
 * Take the group back. Under the device's lock. Returns GBA_OK: the group is free. GBA_ERR_BUSY: a
 * member has arrived since the survey, or there is no free place, or no memory for one, for the
 * members that lose the group.
 */
static gba_status_t take_back(struct gba_sim_dev *dev, uint32_t group,
                              const struct gba_claim *claim)
{
    struct gba_sim_segment *segment = dev->segment;
    const struct gba_model_group *model = &segment->model.group[group];
    const struct gba_usage *usage = &segment->group[group].usage;
    uint32_t next = place_find(segment), rate = 0;
    gba_status_t status;
    bool taken;

    if (GBA_SIM_PLACES == next || GBA_OK != gba_sim_place_reserve(dev, next))
        return GBA_ERR_BUSY;
    status = gba_sim_group_lock_alive(segment, group);
    if (GBA_OK != status)
        return status;
    taken = gba_usage_can_reclaim(usage, life_of(model), &model->core, claim);
    if (taken) {
        rate = usage->rate;
        gba_word_store_relaxed(&segment->home[next], 1 + group);
        gba_sim_journal_reclaim(segment, group, next);
        gba_sim_reclaim(segment, group);
        gba_sim_journal_end(segment, group);
    } else if (GBA_LIFE_FREE != model->record.life) {
        status = GBA_ERR_BUSY;
    }
    gba_sim_group_unlock(segment, group);
    if (taken)
        gba_log(
            GBA_LOG_DEBUG,
            "sim: group %u: taken back; its team made %u rounds a second, the requesting team %u",
            group, rate, claim->barrier_rate);
    return status;
}

/* Choose a free group, or free one. Under the device's lock. Returns as gba_survey_decide and
 * take_back. */
static gba_status_t choose(struct gba_sim_dev *dev, const struct gba_claim *claim, uint32_t *group)
{
    struct gba_sim_segment *segment = dev->segment;
    struct gba_survey survey;
    gba_status_t status;
    bool reclaim;

    gba_survey_init(&survey);
    for (uint32_t i = 0; i < segment->model.groups; i++) {
        const struct gba_model_group *model = &segment->model.group[i];

        status = gba_sim_group_lock(segment, i);
        if (GBA_OK != status)
            return status;
        /* No journal: a survey changes only samples, and half a sample leads to one bad choice at
         * most. */
        gba_survey_group(&survey, &segment->group[i].usage, life_of(model), &model->core, i, claim);
        gba_sim_group_unlock(segment, i);
    }
    status = gba_survey_decide(&survey, claim, group, &reclaim);
    if (GBA_OK == status && reclaim)
        status = take_back(dev, *group, claim);
    return status;
}

/* Take a free group. Under the device's lock. */
static gba_status_t take(struct gba_sim_dev *dev, uint32_t port, const struct gba_claim *claim,
                         gba_group_handle_t *handle)
{
    struct gba_sim_segment *segment = dev->segment;
    uint32_t group = handle->group;
    gba_status_t status = gba_sim_group_lock_alive(segment, group);

    if (GBA_OK != status)
        return status;
    gba_sim_journal_begin(segment, group, GBA_SIM_JOURNAL_GROUP);
    status = gba_dev_result(
        gba_control_alloc(&segment->model, port, &group, handle->members, handle->key));
    if (GBA_OK == status) /* needs no journal: of no meaning if the group is free */
        gba_usage_begin(&segment->group[group].usage, claim);
    handle->generation = segment->model.group[group].record.generation;
    gba_sim_journal_end(segment, group);
    gba_sim_group_unlock(segment, group);
    return status;
}

static bool is_refused(gba_status_t status)
{
    return GBA_ERR_NO_GROUP == status || GBA_ERR_LIMIT == status;
}

/* Allocate a group. Under the device's lock, because counting the groups of a job and taking one
 * are one step. [DRV-11] */
static gba_status_t alloc(struct gba_sim_dev *dev, uint32_t port, struct gba_claim *claim,
                          gba_group_handle_t *handle)
{
    uint32_t barrier_rate = claim->barrier_rate;
    gba_status_t status, refused;

    /* First try free groups, then those of dead processes, and then those that a team hardly
     * uses. */
    claim->barrier_rate = 0;
    status = choose(dev, claim, &handle->group);
    if (is_refused(status)) {
        gba_sim_reap_locked(dev->segment);
        status = choose(dev, claim, &handle->group);
    }
    if (is_refused(status) && 0 != barrier_rate) {
        refused = status;
        claim->barrier_rate = barrier_rate;
        status = choose(dev, claim, &handle->group);
        if (GBA_ERR_BUSY == status)
            status = refused;
    }
    return GBA_OK == status ? take(dev, port, claim, handle) : status;
}

gba_status_t gba_sim_alloc(struct gba_dev *d, const gba_group_request_t *asked,
                           gba_group_handle_t *handle)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    gba_group_handle_t t = {.members = asked->members};
    struct gba_claim claim = {.groups_max = asked->groups_max,
                              .barrier_rate = asked->barrier_rate,
                              .uid = (uint32_t)geteuid(),
                              .job = dev->job};
    uint32_t holder;
    gba_status_t status;

    gba_sim_fault_call(dev->segment);
    if (gba_sim_dead(dev->segment))
        return GBA_ERR_DEAD;
    if (0 != dev->segment->header.options.full)
        return GBA_ERR_NO_GROUP;
    if (sizeof t.key != getrandom(&t.key, sizeof t.key, 0)) {
        gba_log(GBA_LOG_ERROR, "sim: cannot get random numbers for the key of a group");
        return GBA_ERR_IO;
    }
    status = gba_sim_port_claim(dev, &holder);
    if (GBA_OK != status)
        return status;
    status = gba_sim_device_lock(dev->segment);
    if (GBA_OK != status)
        return status;
    claim.now = gba_sim_clock_ns(); /* under the lock: samples are in order */
    status = alloc(dev, holder - 1, &claim, &t);
    gba_sim_device_unlock(dev->segment);
    if (GBA_OK != status)
        return status;
    gba_model_uuid(&dev->segment->model, t.uuid);
    *handle = t;
    return GBA_OK;
}
