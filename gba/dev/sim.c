/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated device as a backend: the calls of the driver (gba_ioctl.h), made by each process on
 * the shared segment itself.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/dev/sim.h"
#include "gba/spec/gba_ioctl.h"

#define JOURNAL_ALL (GBA_SIM_JOURNAL_GROUP | GBA_SIM_JOURNAL_SEAT)

static struct gba_model_group *model_of(struct gba_sim_dev *dev, uint32_t group)
{
    return &dev->segment->model.group[group];
}

struct gba_driver_owner gba_sim_caller(const struct gba_sim_dev *dev)
{
    return (uint64_t)getpid() == dev->self.pid ? dev->self : gba_sim_process_self();
}

/* The record of the life of the group that was joined, or NULL: it is over. Under the group's lock.
 */
static struct gba_driver_record *record_of(const struct gba_sim_seat *seat)
{
    struct gba_sim_segment *segment = seat->dev->segment;

    if (1 + seat->seat.group != gba_word_load_relaxed(&segment->home[seat->place]))
        return NULL;
    return &segment->place[seat->place].record;
}

/* Lock a group for a call of the driver. place: where the record is; GBA_SIM_PLACES: where the
 * group has it now. */
static gba_status_t call_begin(struct gba_sim_dev *dev, uint32_t group, uint32_t what,
                               uint32_t place, uint32_t member)
{
    gba_status_t status;

    gba_sim_fault_call(dev->segment);
    status = gba_sim_group_lock_alive(dev->segment, group);
    if (GBA_OK != status)
        return status;
    if (GBA_SIM_PLACES == place)
        place = dev->segment->group[group].place;
    gba_sim_journal_begin(dev->segment, group, what, place, member);
    return GBA_OK;
}

static void call_end(struct gba_sim_dev *dev, uint32_t group)
{
    gba_sim_journal_end(dev->segment, group);
    gba_sim_group_unlock(dev->segment, group);
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
    dev->job = gba_dev_job(NULL == attr ? NULL : attr->job);
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
    gba_sim_reap(dev);
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
                           .dead = gba_sim_dead(dev->segment)};
    gba_status_t status;

    gba_sim_reap(dev);
    for (uint32_t group = 0; group < model->groups; group++) {
        status = gba_sim_group_lock(dev->segment, group);
        if (GBA_OK != status)
            return status;
        i.groups_free += GBA_GROUP_FREE == gba_sim_record(dev->segment, group)->head.state;
        i.reclaimed += dev->segment->group[group].reclaims;
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

static void sim_cancel(struct gba_dev *d, const gba_ticket_t *ticket)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    uint32_t group = ticket->group;

    if (group >= dev->segment->model.groups || GBA_OK != gba_sim_group_lock(dev->segment, group))
        return;
    gba_sim_journal_begin(dev->segment, group, GBA_SIM_JOURNAL_GROUP,
                          dev->segment->group[group].place, 0);
    (void)gba_driver_leave(gba_sim_record(dev->segment, group), model_of(dev, group),
                           ticket->generation, GBA_MEMBER_NONE, gba_sim_caller(dev));
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
    status = call_begin(dev, ticket->group, JOURNAL_ALL, GBA_SIM_PLACES, member);
    if (GBA_OK != status)
        goto free_seat;
    status = gba_driver_join(gba_sim_record(dev->segment, ticket->group), ticket->generation,
                             ticket->key, member, gba_sim_caller(dev));
    seat->place = dev->segment->group[ticket->group].place;
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

static gba_status_t sim_map_flag(struct gba_seat *s)
{
    struct gba_sim_seat *seat = (struct gba_sim_seat *)s;
    struct gba_sim_dev *dev = seat->dev;
    struct gba_sim_slot *slot = &dev->segment->place[seat->place].slot[s->member];
    gba_status_t status = gba_sim_slot_reserve(dev, seat->place, s->member);
    struct gba_driver_record *record;

    if (GBA_OK != status)
        return status;
    status = call_begin(dev, s->group, JOURNAL_ALL, seat->place, s->member);
    if (GBA_OK != status)
        return status;
    record = record_of(seat);
    status =
        NULL == record
            ? GBA_ERR_STALE
            : gba_driver_map(record, model_of(dev, s->group), s->generation, s->member,
                             gba_sim_slot_address(seat->place, s->member), gba_sim_caller(dev));
    if (GBA_OK == status) { /* nothing is on its way any more to who had the slot before */
        gba_word_store_relaxed(&slot->flag, 0);
        gba_word_store_relaxed(&slot->pending, 0);
        gba_word_store_relaxed(&slot->repeated, 0);
        gba_word_store_relaxed(&slot->awaited, 0);
        gba_word_store_relaxed(&slot->sleeper, 0); /* who was killed asleep is still counted */
        s->flag = &slot->flag;
    }
    call_end(dev, s->group);
    return status;
}

static gba_status_t sim_configure(struct gba_seat *s, uint32_t sequence)
{
    struct gba_sim_seat *seat = (struct gba_sim_seat *)s;
    struct gba_sim_dev *dev = seat->dev;
    gba_status_t status = call_begin(dev, s->group, GBA_SIM_JOURNAL_GROUP, seat->place, 0);
    struct gba_driver_record *record;

    if (GBA_OK != status)
        return status;
    record = record_of(seat);
    status = NULL == record
                 ? GBA_ERR_STALE
                 : gba_driver_configure(record, model_of(dev, s->group), s->generation, sequence,
                                        gba_sim_caller(dev), gba_sim_clock_ns());
    call_end(dev, s->group);
    return status;
}

/* Also on a dead device: the records are the driver's, which lives. */
static void sim_leave(struct gba_seat *s)
{
    struct gba_sim_seat *seat = (struct gba_sim_seat *)s;
    struct gba_sim_segment *segment = seat->dev->segment;
    struct gba_driver_record *record;

    gba_sim_fault_call(segment);
    if (GBA_OK == gba_sim_group_lock(segment, s->group)) {
        record = record_of(seat);
        if (NULL != record) {
            gba_sim_journal_begin(segment, s->group, JOURNAL_ALL, seat->place, s->member);
            /* Refused if this is a child of fork: the seat is its parent's. */
            (void)gba_driver_leave(record, model_of(seat->dev, s->group), s->generation, s->member,
                                   gba_sim_caller(seat->dev));
            gba_sim_journal_end(segment, s->group);
            gba_sim_place_put(segment, s->group, seat->place);
        }
        gba_sim_group_unlock(segment, s->group);
    }
    free(seat);
}

static gba_status_t sim_inspect(struct gba_seat *s, gba_group_state_t *state)
{
    struct gba_sim_seat *seat = (struct gba_sim_seat *)s;
    struct gba_sim_dev *dev = seat->dev;
    const struct gba_model_access read_status = {
        .width = 4, .address = GBA_GROUP_REG(s->group, GBA_REG_STATUS)};
    const struct gba_model_core *core = &model_of(dev, s->group)->core;
    const struct gba_driver_record *record;
    struct gba_model_effects effects;
    gba_group_state_t look;
    gba_status_t status = call_begin(dev, s->group, GBA_SIM_JOURNAL_CORE, seat->place, 0);

    if (GBA_OK != status)
        return status;
    record = record_of(seat);
    status = NULL == record ? GBA_ERR_STALE : gba_driver_inspect(record, s->generation);
    if (GBA_OK == status) {
        gba_model_access(&dev->segment->model, &read_status, &effects);
        look = (gba_group_state_t){.sequence = core->sequence,
                                   .arrived_count = core->arrived_count,
                                   .status = (uint32_t)effects.value,
                                   .last_error = core->last_error,
                                   .members = core->member_count};
        memcpy(look.arrived_mask, core->arrived_mask, sizeof look.arrived_mask);
        *state = look;
    }
    call_end(dev, s->group);
    return status;
}

const struct gba_dev_ops gba_dev_sim = {
    .name = "sim",
    .open = sim_open,
    .close = sim_close,
    .query = sim_query,
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
