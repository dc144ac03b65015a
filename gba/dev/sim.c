/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated device as a backend: the calls of the driver (gba_ioctl.h), made by each process on
 * the shared segment itself.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/dev/sim.h"
#include "gba/spec/gba_ioctl.h"

#define JOURNAL_GROUP (GBA_SIM_JOURNAL_CORE | GBA_SIM_JOURNAL_HEAD)
#define JOURNAL_ALL   (JOURNAL_GROUP | GBA_SIM_JOURNAL_SEAT)

static struct gba_driver_record *record_of(struct gba_sim_dev *dev, uint32_t group)
{
    return &dev->segment->group[group].record;
}

static struct gba_model_group *model_of(struct gba_sim_dev *dev, uint32_t group)
{
    return &dev->segment->model.group[group];
}

/* Who calls. A child of fork uses the device that its parent opened, but it is not its parent, and
 * must not be taken for it when either of them dies. */
static struct gba_driver_owner caller(const struct gba_sim_dev *dev)
{
    return (uint64_t)getpid() == dev->self.pid ? dev->self : gba_sim_process_self();
}

static bool is_dead(const struct gba_sim_dev *dev)
{
    return 0 != gba_word_load_relaxed(&dev->segment->dead);
}

/* Lock a group for a call of the driver that is no longer possible once the device is dead. */
static gba_status_t call_begin(struct gba_sim_dev *dev, uint32_t group, uint32_t what,
                               uint32_t member)
{
    gba_status_t status = gba_sim_group_lock(dev->segment, group);

    if (GBA_OK != status)
        return status;
    if (is_dead(dev)) {
        gba_sim_group_unlock(dev->segment, group);
        return GBA_ERR_DEAD;
    }
    gba_sim_journal_begin(dev->segment, group, what, member);
    return GBA_OK;
}

static void call_end(struct gba_sim_dev *dev, uint32_t group)
{
    gba_sim_journal_end(dev->segment, group);
    gba_sim_group_unlock(dev->segment, group);
}

/* Take back what dead processes hold; what could not be locked keeps it. */
static void reap(struct gba_sim_dev *dev)
{
    for (uint32_t group = 0; group < dev->segment->model.groups; group++) {
        uint32_t taken;

        if (GBA_OK != gba_sim_group_lock(dev->segment, group))
            continue;
        gba_sim_journal_begin(dev->segment, group, JOURNAL_GROUP, 0);
        taken = gba_driver_reap(record_of(dev, group), model_of(dev, group), gba_sim_process_alive);
        call_end(dev, group);
        if (0 != taken)
            gba_log(GBA_LOG_DEBUG, "sim: group %u: took back %u seats of dead processes", group,
                    taken);
    }
}

static void sim_close(struct gba_dev *d)
{
    gba_sim_segment_close((struct gba_sim_dev *)d);
    free(d);
}

static gba_status_t sim_open(const struct gba_dev_path *path, const gba_device_attr_t *attr,
                             struct gba_dev **out)
{
    const struct gba_sim_options *set; /* the maker's */
    struct gba_sim_dev *dev = calloc(1, sizeof *dev);
    gba_status_t status;
    uint32_t version;

    if (NULL == dev)
        return GBA_ERR_NOMEM;
    dev->dev.ops = &gba_dev_sim;
    dev->self = gba_sim_process_self();
    status = gba_sim_segment_open(dev, path, NULL == attr ? NULL : attr->job);
    if (GBA_OK != status)
        goto free_dev;
    version = dev->segment->model.version;
    if (GBA_REGS_MAJOR != version >> 16) {
        gba_log(GBA_LOG_ERROR, "sim: the device has registers of version %u.%u, not %u.x",
                version >> 16, version & 0xFFFF, GBA_REGS_MAJOR);
        status = GBA_ERR_VERSION;
        goto close_segment;
    }
    set = &dev->segment->header.options;
    dev->delayed = 0 != (set->latency | set->jitter | set->repeat_release);
    dev->faulty = dev->delayed || 0 != (set->lose_arrival | set->lose_release | set->die_after |
                                        set->die_arrival | set->die_release);
    reap(dev);
    *out = &dev->dev;
    return GBA_OK;

close_segment:
    gba_sim_segment_close(dev);
free_dev:
    free(dev);
    return status;
}

static gba_status_t sim_query(struct gba_dev *d, gba_device_info_t *info)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    const struct gba_model *model = &dev->segment->model;
    gba_device_info_t i = {.backend = "sim",
                           .regs_version = model->version,
                           .groups = model->groups,
                           .members_max = GBA_MEMBERS_MAX,
                           .dead = is_dead(dev)};
    gba_status_t status;

    reap(dev);
    for (uint32_t group = 0; group < model->groups; group++) {
        status = gba_sim_group_lock(dev->segment, group);
        if (GBA_OK != status)
            return status;
        i.groups_free += GBA_GROUP_FREE == record_of(dev, group)->head.state;
        for (uint32_t c = 0; c < GBA_COUNTERS; c++)
            i.counters[c] += model->group[group].core.counters[c];
        gba_sim_group_unlock(dev->segment, group);
    }
    if (0 != dev->segment->header.options.full)
        i.groups_free = 0;
    status = gba_sim_device_lock(dev->segment);
    if (GBA_OK != status)
        return status;
    i.bad_access = model->bad_access;
    gba_sim_device_unlock(dev->segment);
    memcpy(i.uuid, model->uuid, sizeof i.uuid);
    memcpy(i.path, info->path, sizeof i.path);
    *info = i;
    return GBA_OK;
}

/* The first free group; GBA_ERR_NO_GROUP if there is none. */
static gba_status_t alloc_first(struct gba_sim_dev *dev, uint32_t members, gba_ticket_t *ticket)
{
    struct gba_driver_owner owner = caller(dev);
    gba_status_t status = GBA_ERR_NO_GROUP;

    for (uint32_t group = 0; GBA_ERR_NO_GROUP == status && group < dev->segment->model.groups;
         group++) {
        struct gba_driver_record *record = record_of(dev, group);

        status = call_begin(dev, group, JOURNAL_GROUP, 0);
        if (GBA_OK != status)
            return status;
        status = gba_driver_alloc(record, model_of(dev, group), members, ticket->key, owner);
        ticket->group = group;
        ticket->generation = record->head.generation;
        call_end(dev, group);
    }
    return status;
}

static gba_status_t sim_alloc(struct gba_dev *d, uint32_t members, gba_ticket_t *ticket)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    gba_ticket_t t = {.members = members};
    gba_status_t status;

    if (is_dead(dev))
        return GBA_ERR_DEAD;
    if (0 != dev->segment->header.options.full)
        return GBA_ERR_NO_GROUP;
    if (sizeof t.key != getrandom(&t.key, sizeof t.key, 0)) {
        gba_log(GBA_LOG_ERROR, "sim: cannot get random numbers for the key of a group");
        return GBA_ERR_IO;
    }
    status = alloc_first(dev, members, &t);
    if (GBA_ERR_NO_GROUP == status) {
        reap(dev);
        status = alloc_first(dev, members, &t);
    }
    if (GBA_OK != status)
        return status;
    memcpy(t.uuid, dev->segment->model.uuid, sizeof t.uuid);
    *ticket = t;
    return GBA_OK;
}

static void sim_cancel(struct gba_dev *d, const gba_ticket_t *ticket)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    uint32_t group = ticket->group;

    if (group >= dev->segment->model.groups || GBA_OK != gba_sim_group_lock(dev->segment, group))
        return;
    gba_sim_journal_begin(dev->segment, group, JOURNAL_GROUP, 0);
    (void)gba_driver_leave(record_of(dev, group), model_of(dev, group), ticket->generation,
                           GBA_MEMBER_NONE, caller(dev));
    call_end(dev, group);
}

static gba_status_t sim_join(struct gba_dev *d, const gba_ticket_t *ticket, uint32_t member,
                             struct gba_seat **out)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    struct gba_sim_seat *seat;
    gba_status_t status;

    if (ticket->group >= dev->segment->model.groups || member >= GBA_MEMBERS_MAX)
        return GBA_ERR_PARAM; /* they are indexes from here on */
    if (dev->segment->header.options.refuse_rank == member + 1)
        return GBA_ERR_REFUSED;
    seat = calloc(1, sizeof *seat);
    if (NULL == seat)
        return GBA_ERR_NOMEM;
    status = call_begin(dev, ticket->group, JOURNAL_ALL, member);
    if (GBA_OK != status)
        goto free_seat;
    status = gba_driver_join(record_of(dev, ticket->group), ticket->generation, ticket->key, member,
                             caller(dev));
    call_end(dev, ticket->group);
    if (GBA_OK != status)
        goto free_seat;
    seat->seat = (struct gba_seat){.dev = d,
                                   .group = ticket->group,
                                   .generation = ticket->generation,
                                   .member = member,
                                   .members = ticket->members};
    seat->dev = dev;
    *out = &seat->seat;
    return GBA_OK;

free_seat:
    free(seat);
    return status;
}

static gba_status_t sim_map_flag(struct gba_seat *seat)
{
    struct gba_sim_dev *dev = ((struct gba_sim_seat *)seat)->dev;
    struct gba_sim_slot *slot = &dev->segment->slot[seat->group][seat->member];
    gba_status_t status = gba_sim_segment_reserve(dev, seat->group, seat->member);

    if (GBA_OK != status)
        return status;
    status = call_begin(dev, seat->group, JOURNAL_ALL, seat->member);
    if (GBA_OK != status)
        return status;
    status =
        gba_driver_map(record_of(dev, seat->group), model_of(dev, seat->group), seat->generation,
                       seat->member, gba_sim_slot_address(seat->group, seat->member), caller(dev));
    if (GBA_OK == status) { /* nothing is on its way any more to who had the slot before */
        gba_word_store_relaxed(&slot->flag, 0);
        gba_word_store_relaxed(&slot->pending, 0);
        gba_word_store_relaxed(&slot->repeated, 0);
        gba_word_store_relaxed(&slot->awaited, 0);
        gba_word_store_relaxed(&slot->sleeper, 0); /* who was killed asleep is still counted */
        seat->flag = &slot->flag;
    }
    call_end(dev, seat->group);
    return status;
}

static gba_status_t sim_configure(struct gba_seat *seat, uint32_t sequence)
{
    struct gba_sim_dev *dev = ((struct gba_sim_seat *)seat)->dev;
    gba_status_t status = call_begin(dev, seat->group, JOURNAL_GROUP, 0);

    if (GBA_OK != status)
        return status;
    status = gba_driver_configure(record_of(dev, seat->group), model_of(dev, seat->group),
                                  seat->generation, sequence, caller(dev));
    call_end(dev, seat->group);
    return status;
}

/* Also on a dead device: the records are the driver's, which lives. */
static void sim_leave(struct gba_seat *seat)
{
    struct gba_sim_dev *dev = ((struct gba_sim_seat *)seat)->dev;

    if (GBA_OK == gba_sim_group_lock(dev->segment, seat->group)) {
        gba_sim_journal_begin(dev->segment, seat->group, JOURNAL_ALL, seat->member);
        /* Refused if this is a child of fork: the seat is its parent's. */
        (void)gba_driver_leave(record_of(dev, seat->group), model_of(dev, seat->group),
                               seat->generation, seat->member, caller(dev));
        call_end(dev, seat->group);
    }
    free((struct gba_sim_seat *)seat);
}

static gba_status_t sim_inspect(struct gba_seat *seat, gba_group_state_t *state)
{
    struct gba_sim_dev *dev = ((struct gba_sim_seat *)seat)->dev;
    const struct gba_model_access read_status = {
        .width = 4, .address = GBA_GROUP_REG(seat->group, GBA_REG_STATUS)};
    const struct gba_driver_head *head = &record_of(dev, seat->group)->head;
    const struct gba_model_core *core = &model_of(dev, seat->group)->core;
    struct gba_model_effects effects;
    gba_group_state_t s;
    gba_status_t status = call_begin(dev, seat->group, GBA_SIM_JOURNAL_CORE, 0);

    if (GBA_OK != status)
        return status;
    if (GBA_GROUP_FREE == head->state || head->generation != seat->generation) {
        call_end(dev, seat->group);
        return GBA_ERR_STALE;
    }
    gba_model_access(&dev->segment->model, &read_status, &effects);
    s = (gba_group_state_t){.sequence = core->sequence,
                            .arrived_count = core->arrived_count,
                            .status = (uint32_t)effects.value,
                            .last_error = core->last_error,
                            .members = core->member_count};
    memcpy(s.arrived_mask, core->arrived_mask, sizeof s.arrived_mask);
    call_end(dev, seat->group);
    *state = s;
    return GBA_OK;
}

const struct gba_dev_ops gba_dev_sim = {
    .name = "sim",
    .open = sim_open,
    .close = sim_close,
    .query = sim_query,
    .alloc = sim_alloc,
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
