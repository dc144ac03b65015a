/* SPDX-License-Identifier: BSD-3-Clause */
/* ALLOC of the simulated device. */
#include <sys/random.h>

#include "gba/base/log.h"
#include "sim/model/control.h"
#include "sim/shm/fault.h"
#include "sim/shm/lock.h"
#include "sim/shm/sim.h"

/* Allocate a group, unless the job holds groups_max groups. With all groups locked, because
 * counting the groups of a job and taking one are one step. [DRV-11] */
static gba_status_t take(struct gba_sim_dev *dev, uint32_t port, uint32_t groups_max,
                         gba_group_handle_t *handle)
{
    struct gba_sim_segment *segment = dev->segment;
    struct gba_model *model = &segment->model;
    uint32_t held = 0;
    gba_status_t status;

    for (uint32_t i = 0; i < model->groups; i++)
        held += GBA_LIFE_FREE != model->group[i].record.life && segment->group[i].job == dev->job;
    if (0 != groups_max && held >= groups_max)
        return GBA_ERR_LIMIT;
    handle->group = GBA_GROUP_ANY;
    status = gba_dev_result(
        gba_control_alloc(model, port, &handle->group, handle->members, handle->key));
    if (GBA_OK != status)
        return status;
    segment->group[handle->group].job = dev->job;
    handle->generation = model->group[handle->group].record.generation;
    return GBA_OK;
}

static gba_status_t alloc(struct gba_sim_dev *dev, uint32_t port, uint32_t groups_max,
                          gba_group_handle_t *handle)
{
    gba_status_t status = gba_sim_lock_all(dev->segment);

    if (GBA_OK != status)
        return status;
    status = take(dev, port, groups_max, handle);
    gba_sim_unlock_all(dev->segment);
    return status;
}

gba_status_t gba_sim_alloc(struct gba_dev *d, const gba_group_request_t *asked,
                           gba_group_handle_t *handle)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    gba_group_handle_t t = {.members = asked->members};
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
    status = alloc(dev, holder - 1, asked->groups_max, &t);
    if (GBA_ERR_NO_GROUP == status || GBA_ERR_LIMIT == status) {
        gba_sim_reap(dev->segment); /* a dead process may hold one */
        status = alloc(dev, holder - 1, asked->groups_max, &t);
    }
    if (GBA_OK != status)
        return status;
    gba_model_uuid(&dev->segment->model, t.uuid);
    *handle = t;
    return GBA_OK;
}
