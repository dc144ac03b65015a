/* SPDX-License-Identifier: BSD-3-Clause */
/* ALLOC of the simulated device. */
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "sim/model/control.h"
#include "sim/shm/fault.h"
#include "sim/shm/lock.h"
#include "sim/shm/sim.h"

/* Find a free group. Under the device's lock. Returns GBA_OK, GBA_ERR_LIMIT (the job holds
 * groups_max groups), GBA_ERR_NO_GROUP or GBA_ERR_IO. [DRV-11] */
static gba_status_t find_free(struct gba_sim_segment *segment, const struct gba_sim_owner *owner,
                              uint32_t groups_max, uint32_t *group)
{
    const uint32_t groups = segment->model.groups;
    uint32_t held = 0, free = groups;

    for (uint32_t i = 0; i < groups; i++) {
        const struct gba_sim_owner *other = &segment->group[i].owner;
        gba_status_t status = gba_sim_group_lock(segment, i);

        if (GBA_OK != status)
            return status;
        if (GBA_LIFE_FREE != segment->model.group[i].record.life)
            held += other->uid == owner->uid && other->job == owner->job;
        else if (groups == free)
            free = i;
        gba_sim_group_unlock(segment, i);
    }
    if (0 != groups_max && held >= groups_max)
        return GBA_ERR_LIMIT;
    *group = free;
    return groups == free ? GBA_ERR_NO_GROUP : GBA_OK;
}

/* Take a free group. Under the device's lock. */
static gba_status_t take(struct gba_sim_segment *segment, uint32_t port,
                         const struct gba_sim_owner *owner, gba_group_handle_t *handle)
{
    uint32_t group = handle->group;
    gba_status_t status = gba_sim_group_lock_alive(segment, group);

    if (GBA_OK != status)
        return status;
    gba_sim_journal_begin(segment, group, GBA_SIM_JOURNAL_GROUP);
    status = gba_dev_result(
        gba_control_alloc(&segment->model, port, &group, handle->members, handle->key));
    if (GBA_OK == status) /* needs no journal: of no meaning if the group is free */
        segment->group[group].owner = *owner;
    handle->generation = segment->model.group[group].record.generation;
    gba_sim_journal_end(segment, group);
    gba_sim_group_unlock(segment, group);
    return status;
}

/* Allocate a group: a free one, or else one of dead processes. Under the device's lock, because
 * counting the groups of a job and taking one are one step. [DRV-11] */
static gba_status_t alloc(struct gba_sim_segment *segment, uint32_t port,
                          const struct gba_sim_owner *owner, uint32_t groups_max,
                          gba_group_handle_t *handle)
{
    gba_status_t status = find_free(segment, owner, groups_max, &handle->group);

    if (GBA_ERR_NO_GROUP == status || GBA_ERR_LIMIT == status) {
        gba_sim_reap_locked(segment);
        status = find_free(segment, owner, groups_max, &handle->group);
    }
    return GBA_OK == status ? take(segment, port, owner, handle) : status;
}

gba_status_t gba_sim_alloc(struct gba_dev *d, const gba_group_request_t *asked,
                           gba_group_handle_t *handle)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    gba_group_handle_t t = {.members = asked->members};
    const struct gba_sim_owner owner = {.uid = (uint32_t)geteuid(), .job = dev->job};
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
    status = alloc(dev->segment, holder - 1, &owner, asked->groups_max, &t);
    gba_sim_device_unlock(dev->segment);
    if (GBA_OK != status)
        return status;
    gba_model_uuid(&dev->segment->model, t.uuid);
    *handle = t;
    return GBA_OK;
}
