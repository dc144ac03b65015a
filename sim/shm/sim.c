/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated device as a backend: each process commands the control unit itself, through its
 * port, on the shared segment.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/model/control.h"
#include "sim/model/event.h"
#include "sim/model/group.h"
#include "sim/shm/fault.h"
#include "sim/shm/find.h"
#include "sim/shm/lock.h"
#include "sim/shm/sim.h"
#include "gba/spec/gba_ioctl.h"

static struct gba_model_group *model_of(struct gba_sim_dev *dev, uint32_t group)
{
    return &dev->segment->model.group[group];
}

/* Lock a group for a call. */
static gba_status_t call_begin(struct gba_sim_dev *dev, uint32_t group)
{
    gba_sim_fault_call(dev->segment);
    return gba_sim_group_lock_alive(dev->segment, group);
}

/* Begin a command for a membership. Returns GBA_OK; as call_begin; or GBA_ERR_PARAM: the membership
 * belongs to another process, such as the parent. */
static gba_status_t command_begin(const struct gba_sim_membership *membership)
{
    struct gba_sim_dev *dev = membership->dev;
    uint32_t group = membership->membership.group;
    gba_status_t status = call_begin(dev, group);

    if (GBA_OK != status)
        return status;
    if (gba_sim_holder(dev) == 1 + membership->port)
        return GBA_OK;
    gba_sim_group_unlock(dev->segment, group);
    return GBA_ERR_PARAM;
}

static void sim_close(struct gba_dev *d)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;

    gba_sim_port_release(dev);
    gba_sim_segment_close(dev);
    free(dev);
}

/* Attach to a segment or make it, and claim a port. Returns as gba_sim_segment_open, or
 * GBA_ERR_DEAD: this device is dead, and another one can have its name. */
static gba_status_t attach(struct gba_sim_dev *dev, const struct gba_dev_path *path,
                           const char *job)
{
    const struct gba_sim_options *set; /* options of the maker */
    gba_status_t status = gba_sim_segment_open(dev, path, job);
    uint32_t holder;

    if (GBA_OK != status)
        return status;
    set = &dev->segment->header.options;
    dev->delayed = 0 != (set->latency | set->jitter);
    dev->faulty = dev->delayed || 0 != (set->lose_arrival | set->lose_release | set->die_after |
                                        set->die_arrival | set->die_release);
    status = gba_sim_port_claim(dev, &holder);
    if (GBA_ERR_DEAD == status && !gba_sim_is_named(path))
        return GBA_OK; /* nothing needs a port of a dead device */
    if (GBA_OK != status)
        gba_sim_segment_close(dev);
    return status;
}

static gba_status_t sim_open(const struct gba_dev_path *path, const gba_device_attr_t *attr,
                             struct gba_dev **out)
{
    const char *job = attr == NULL ? NULL : attr->job;
    struct gba_sim_dev *dev = calloc(1, sizeof *dev);
    gba_status_t status;

    if (dev == NULL)
        return GBA_ERR_NOMEM;
    dev->dev.ops = &gba_dev_sim;
    dev->job = gba_dev_job(job);
    do
        status = attach(dev, path, job);
    while (GBA_ERR_DEAD == status); /* known to be dead now: the next attempt skips it */
    if (GBA_OK != status) {
        free(dev);
        return status;
    }
    *out = &dev->dev;
    return GBA_OK;
}

static gba_status_t sim_query(struct gba_dev *d, gba_device_info_t *info)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    const struct gba_model *model = &dev->segment->model;
    gba_device_info_t i = {.backend = "sim",
                           .regs_version = model->version,
                           .groups = model->groups,
                           .members_max = GBA_MEMBERS_MAX,
                           .created = dev->created};

    gba_sim_reap(dev->segment);
    for (uint32_t group = 0; group < model->groups; group++) {
        if (GBA_OK != gba_sim_group_lock(dev->segment, group))
            continue;
        i.groups_free += GBA_LIFE_FREE == model->group[group].record.life;
        for (uint32_t c = 0; c < GBA_COUNTERS; c++)
            i.counters[c] += model->group[group].core.counters[c];
        gba_sim_group_unlock(dev->segment, group);
    }
    if (0 != dev->segment->header.options.full)
        i.groups_free = 0;
    i.dead = gba_sim_dead(dev->segment);
    i.bad_access = gba_word_load_relaxed(&model->bad_access);
    gba_model_uuid(model, i.uuid);
    *info = i;
    return GBA_OK;
}

/* The owner of a group: the allocator, or from the first join on its lowest member. All processes
 * that share a simulator have one user. Under the lock of the group. */
static gba_group_owner_t owner_of(struct gba_sim_segment *segment, uint32_t group)
{
    const struct gba_model_group *g = &segment->model.group[group];
    uint32_t holder = 0 == g->record.joined ? g->record.holder : GBA_SIM_NOBODY;

    for (uint32_t i = 0; i < g->record.members && GBA_SIM_NOBODY == holder; i++)
        holder = g->bound[i];
    return (gba_group_owner_t){.group = group,
                               .members = g->record.members,
                               .present = g->record.present,
                               .user = (uint32_t)geteuid(),
                               .process = gba_sim_holder_pid(segment, holder),
                               .local = true,
                               .job = segment->group[group].job};
}

static gba_status_t sim_owners(struct gba_dev *d, gba_group_owner_t *list, uint32_t max,
                               uint32_t *count)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    gba_status_t status;

    gba_sim_reap(dev->segment);
    status = gba_sim_lock_all(dev->segment);
    if (GBA_OK != status)
        return status;
    *count = 0;
    for (uint32_t group = 0; group < dev->segment->model.groups && *count < max; group++)
        if (GBA_LIFE_FREE != dev->segment->model.group[group].record.life)
            list[(*count)++] = owner_of(dev->segment, group);
    gba_sim_unlock_all(dev->segment);
    return GBA_OK;
}

static void sim_cancel(struct gba_dev *d, const gba_group_handle_t *handle)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    uint32_t group = handle->group, holder = gba_sim_holder(dev);

    if (GBA_SIM_NOBODY == holder || group >= dev->segment->model.groups ||
        GBA_OK != gba_sim_group_lock(dev->segment, group))
        return;
    (void)gba_control_free(&dev->segment->model, holder - 1, group, handle->generation);
    gba_sim_group_unlock(dev->segment, group);
}

static gba_status_t sim_join(struct gba_dev *d, const gba_group_handle_t *handle, uint32_t member,
                             struct gba_membership **out)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    struct gba_sim_membership *membership;
    gba_status_t status;
    uint32_t holder;

    if (handle->group >= dev->segment->model.groups || member >= GBA_MEMBERS_MAX)
        return GBA_ERR_PARAM; /* used as indexes below */
    if (dev->segment->header.options.refuse_rank == member + 1)
        return GBA_ERR_REFUSED;
    status = gba_sim_port_claim(dev, &holder);
    if (GBA_OK != status)
        return status;
    membership = calloc(1, sizeof *membership);
    if (membership == NULL)
        return GBA_ERR_NOMEM;
    status = call_begin(dev, handle->group);
    if (GBA_OK != status)
        goto free_membership;
    status = gba_dev_result(gba_control_join(&dev->segment->model, holder - 1, handle->group,
                                             handle->generation, handle->key, member));
    membership->port = holder - 1;
    gba_sim_group_unlock(dev->segment, handle->group);
    if (GBA_OK != status)
        goto free_membership;
    membership->membership = (struct gba_membership){.dev = d,
                                                     .group = handle->group,
                                                     .generation = handle->generation,
                                                     .member = member,
                                                     .members = handle->members};
    membership->dev = dev;
    *out = &membership->membership;
    return GBA_OK;

free_membership:
    free(membership);
    return status;
}

/* Write the entry of the release table. Returns as the call MAP of a driver. [DRV-4] */
static gba_status_t entry_write(const struct gba_sim_membership *membership)
{
    const struct gba_membership *m = &membership->membership;
    struct gba_model_group *group = model_of(membership->dev, m->group);
    uint64_t address = gba_sim_slot_address(m->group, m->member);

    if (GBA_LIFE_FREE == group->record.life || group->record.generation != m->generation)
        return GBA_ERR_STALE;
    if (group->bound[m->member] != 1 + membership->port)
        return GBA_ERR_PARAM;
    if (0 != group->table[m->member] ||
        GBA_ERROR_NONE != gba_model_store_table(group, m->member, address))
        return GBA_ERR_BUSY;
    return GBA_OK;
}

static gba_status_t sim_map_flag(struct gba_membership *s)
{
    struct gba_sim_membership *membership = (struct gba_sim_membership *)s;
    struct gba_sim_dev *dev = membership->dev;
    struct gba_sim_slot *slot = &dev->segment->slot[s->group][s->member];
    gba_status_t status = command_begin(membership);

    if (GBA_OK != status)
        return status;
    status = entry_write(membership);
    if (GBA_OK == status) { /* clear what a previous user left */
        gba_flag_store_relaxed(&slot->flag, 0);
        gba_word_store_relaxed(&slot->pending, 0);
        gba_word_store_relaxed(&slot->sleeper, 0); /* a process killed asleep is still counted */
        s->flag = &slot->flag;
    }
    gba_sim_group_unlock(dev->segment, s->group);
    return status;
}

static gba_status_t sim_configure(struct gba_membership *s, uint32_t sequence)
{
    struct gba_sim_membership *membership = (struct gba_sim_membership *)s;
    struct gba_sim_dev *dev = membership->dev;
    gba_status_t status = command_begin(membership);

    if (GBA_OK != status)
        return status;
    status = gba_dev_result(
        gba_control_arm(&dev->segment->model, membership->port, s->group, s->generation, sequence));
    gba_sim_group_unlock(dev->segment, s->group);
    return status;
}

/* Works on a dead device, too: the control unit has no option of faults. */
static void sim_leave(struct gba_membership *s)
{
    struct gba_sim_membership *membership = (struct gba_sim_membership *)s;
    struct gba_sim_dev *dev = membership->dev;
    struct gba_model_effects effects;

    gba_sim_fault_call(dev->segment);
    /* Not in a child of fork: its parent holds the membership. */
    if (gba_sim_holder(dev) == 1 + membership->port &&
        GBA_OK == gba_sim_group_lock(dev->segment, s->group)) {
        gba_model_clear(&effects);
        (void)gba_control_leave(&dev->segment->model, membership->port, s->group, s->generation,
                                s->member, 0, &effects);
        gba_sim_group_unlock(dev->segment, s->group);
    }
    free(membership);
}

static gba_status_t sim_inspect(struct gba_membership *s, gba_group_state_t *state)
{
    struct gba_sim_dev *dev = ((struct gba_sim_membership *)s)->dev;
    const struct gba_model_group *group = model_of(dev, s->group);
    const struct gba_model_core *core = &group->core;
    gba_status_t status = call_begin(dev, s->group);

    if (GBA_OK != status)
        return status;
    if (GBA_LIFE_FREE == group->record.life || group->record.generation != s->generation) {
        status = GBA_ERR_STALE; /* [DRV-7] */
    } else {
        *state = (gba_group_state_t){
            .sequence = core->sequence,
            .arrived_count = core->arrived_count,
            .status = (uint32_t)gba_model_load(group, s->group, GBA_REG_STATUS, 4),
            .last_error = core->last_error,
            .members = core->member_count};
        memcpy(state->arrived_mask, core->arrived_mask, sizeof state->arrived_mask);
    }
    gba_sim_group_unlock(dev->segment, s->group);
    return status;
}

const struct gba_dev_ops gba_dev_sim = {
    .name = "sim",
    .open = sim_open,
    .close = sim_close,
    .identify = gba_sim_identify,
    .query = sim_query,
    .owners = sim_owners,
    .alloc = gba_sim_alloc,
    .cancel = sim_cancel,
    .join = sim_join,
    .map_flag = sim_map_flag,
    .configure = sim_configure,
    .leave = sim_leave,
    .inspect = sim_inspect,
    .arrive = gba_sim_bus_arrive,
    .poll = gba_sim_bus_poll,
    .reg_read = gba_sim_bus_read,
    .reg_write = gba_sim_bus_write,
};
