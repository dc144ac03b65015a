/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver of the fake kernel: each call of gba_ioctl.h, on the model of the driver. fake_abi.c
 * has the checks that all calls share. */
#include "tests/unit/fake_driver.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/driver_model.h"

static struct gba_model model;
static struct gba_driver_record record[GBA_GROUPS];

/* 1 + the number: no holder is 0. */
static uint32_t holder_of(int file)
{
    return 1 + (uint32_t)file;
}

void fake_driver_start(uint32_t groups)
{
    static const uint64_t uuid[2] = {0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};

    gba_model_init(&model, groups, 0, uuid);
    memset(record, 0, sizeof record);
}

static bool has_joined(int file, const struct gba_driver_record *r)
{
    for (uint32_t member = 0; member < r->head.members; member++)
        if ((GBA_MEMBERSHIP_JOINED == r->membership[member].state ||
             GBA_MEMBERSHIP_MAPPED == r->membership[member].state) &&
            r->membership[member].holder == holder_of(file))
            return true;
    return false;
}

/* The other members of that membership's group get the event. [DRV-18] */
static void tell_death(const struct fake_seat *dead)
{
    struct fake_seat *seat;

    for (size_t i = 0; (seat = fake_seat_next(&i)) != NULL;)
        if (seat->file != dead->file && seat->group == dead->group &&
            seat->generation == dead->generation)
            seat->events |= GBA_EVENT_DIED;
}

static void take_back_from(int file, uint32_t group)
{
    struct gba_driver_record *r = &record[group];

    for (uint32_t member = 0; gba_driver_find(r, &member, holder_of(file));)
        (void)gba_driver_leave(r, &model.group[group], r->head.generation, member, holder_of(file));
}

void fake_driver_release(int file)
{
    struct fake_seat *seat;

    for (uint32_t group = 0; group < model.groups; group++)
        take_back_from(file, group);
    for (size_t i = 0; (seat = fake_seat_next(&i)) != NULL;)
        if (file == seat->file) {
            tell_death(seat);
            fake_seat_revoke(seat, GBA_REVOKED_ENDED);
            fake_seat_leave(seat);
        }
    fake_memory_release(file);
}

/* The release stores of one access. [REL-2] */
static void store_releases(const struct gba_model_effects *effects)
{
    for (uint32_t i = 0; i < effects->releases; i++)
        gba_flag_store_release((gba_flag_t *)(uintptr_t)effects->release[i].address,
                               effects->release[i].sequence);
}

void fake_driver_arrive(uint32_t group, uint64_t value)
{
    static struct gba_model_effects effects;

    if (fake_kernel.dead)
        return;
    gba_model_arrive(&model, group, 0, value, &effects);
    store_releases(&effects);
}

uint64_t fake_driver_access(uint32_t address, unsigned width, bool write, uint64_t value)
{
    static struct gba_model_effects effects;
    const struct gba_model_access access = {
        .write = write, .width = (uint8_t)width, .address = address, .value = value};

    if (fake_kernel.dead)
        return GBA_READ_NONE;
    gba_model_access(&model, &access, &effects);
    store_releases(&effects);
    return effects.value;
}

/* The errno of a status of the driver's model. busy: the errno of GBA_ERR_BUSY for this call. */
static int error_of(gba_status_t status, int busy)
{
    switch (status) {
    case GBA_OK:
        return 0;
    case GBA_ERR_STALE:
        return ESTALE;
    case GBA_ERR_BUSY:
        return busy;
    default:
        return EINVAL;
    }
}

/* Groups that the caller's user holds. */
static uint32_t user_groups(void)
{
    uint32_t held = 0;

    for (uint32_t group = 0; group < model.groups; group++)
        held +=
            GBA_LIFE_FREE != record[group].head.state && fake_kernel.uid == record[group].head.uid;
    return held;
}

int fake_query(int file, void *argument)
{
    struct gba_ioc_query *query = argument;

    (void)file;
    query->abi_version = fake_kernel.abi_version;
    query->regs_version = fake_kernel.regs_version;
    query->features = fake_kernel.features;
    query->groups = fake_kernel.groups;
    query->groups_free = 0;
    query->members_max = fake_kernel.members_max;
    query->state = fake_kernel.dead ? GBA_DEV_STATE_DEAD : GBA_DEV_STATE_UP;
    query->port = query->ports = 0;
    gba_model_uuid(&model, query->uuid);
    query->user_groups = user_groups();
    query->user_groups_max = fake_kernel.user_groups_max;
    query->bad_access = model.bad_access;
    memset(query->counters, 0, sizeof query->counters);
    for (uint32_t group = 0; group < model.groups; group++) {
        query->groups_free += GBA_LIFE_FREE == record[group].head.state;
        for (uint32_t i = 0; i < GBA_COUNTERS && 0 != (query->flags & GBA_QUERY_COUNTERS); i++)
            query->counters[i] += model.group[group].core.counters[i];
    }
    return 0;
}

/* A free group for that request, or model.groups; and the groups that its job holds. [DRV-11] */
static uint32_t find_free(const struct gba_driver_request *request, uint32_t *held)
{
    uint32_t free = model.groups;

    *held = 0;
    for (uint32_t group = model.groups; group-- > 0;)
        if (GBA_LIFE_FREE == record[group].head.state)
            free = group;
        else
            *held +=
                request->uid == record[group].head.uid && request->job == record[group].head.job;
    return free;
}

int fake_alloc(int file, void *argument)
{
    static uint64_t key = 0x9e3779b97f4a7c15ull; /* not secret: the keys only have to differ */
    struct gba_ioc_alloc *alloc = argument;
    struct gba_driver_request request = {.members = alloc->members,
                                         .holder = holder_of(file),
                                         .uid = fake_kernel.uid,
                                         .job = alloc->job};
    gba_status_t status;
    uint32_t group, held;

    if (alloc->members < 1 || alloc->members > GBA_MEMBERS_MAX)
        return EINVAL;
    key = key * 6364136223846793005ull + 1442695040888963407ull;
    request.key = key;
    group = find_free(&request, &held);
    if (0 != alloc->groups_max && held >= alloc->groups_max)
        return EDQUOT;
    if (0 != fake_kernel.user_groups_max && user_groups() >= fake_kernel.user_groups_max)
        return EUSERS;
    if (model.groups == group)
        return ENOSPC;
    status = gba_driver_alloc(&record[group], &model.group[group], &request);
    if (GBA_OK != status)
        return error_of(status, EBUSY);
    alloc->group = group;
    alloc->generation = record[group].head.generation;
    alloc->key = key;
    return 0;
}

int fake_free(int file, void *argument)
{
    const struct gba_ioc_free *cancel = argument;
    const struct gba_driver_head *head;

    if (cancel->group >= model.groups)
        return ESTALE;
    head = &record[cancel->group].head;
    if (GBA_LIFE_FREE != head->state && head->generation == cancel->generation && head->present)
        return EBUSY;
    if (GBA_OK == gba_driver_leave(&record[cancel->group], &model.group[cancel->group],
                                   cancel->generation, GBA_MEMBER_NONE, holder_of(file)))
        return 0;
    return ESTALE;
}

/* The memberships of a file. */
static uint32_t memberships(int file)
{
    struct fake_seat *seat;
    uint32_t count = 0;

    for (size_t i = 0; (seat = fake_seat_next(&i)) != NULL;)
        count += file == seat->file;
    return count;
}

int fake_join(int file, void *argument)
{
    struct gba_ioc_join *join = argument;
    struct gba_driver_record *r;
    struct fake_seat *seat;
    gba_status_t status;

    if (join->group >= model.groups)
        return ESTALE;
    if (0 != fake_kernel.memberships_max && memberships(file) >= fake_kernel.memberships_max)
        return EDQUOT;
    r = &record[join->group];
    seat = fake_seat_new(file, join->group, join->generation, join->member);
    if (seat == NULL)
        return ENOMEM;
    status = gba_driver_join(r, join->generation, join->key, join->member, holder_of(file));
    if (GBA_OK == status)
        status = gba_driver_map(r, &model.group[join->group], join->generation, join->member,
                                (uintptr_t)seat->flag, holder_of(file));
    if (GBA_OK != status) {
        fake_seat_leave(seat);
        return error_of(status, EBUSY);
    }
    join->doorbell_offset = seat->doorbell;
    join->flag_offset = seat->page;
    join->flag_position = seat->position;
    join->map_size = (uint32_t)sysconf(_SC_PAGESIZE);
    if (fake_kernel.forge_join != NULL)
        fake_kernel.forge_join(join);
    return 0;
}

int fake_configure(int file, void *argument)
{
    const struct gba_ioc_configure *configure = argument;
    struct gba_driver_record *r;
    gba_status_t status;
    int busy;

    if (configure->group >= model.groups)
        return ESTALE;
    r = &record[configure->group];
    busy = GBA_LIFE_ARMED == r->head.state ? EBUSY : EAGAIN;
    status = gba_driver_configure(r, &model.group[configure->group], configure->generation,
                                  configure->sequence, holder_of(file));
    return GBA_ERR_PARAM == status ? ESTALE : error_of(status, busy); /* not joined */
}

int fake_leave(int file, void *argument)
{
    const struct gba_ioc_leave *leave = argument;
    struct fake_seat *seat = fake_seat_find(file, leave->group, leave->generation, leave->member);

    if (seat == NULL)
        return ESTALE;
    fake_seat_leave(seat);
    gba_driver_leave(&record[leave->group], &model.group[leave->group], leave->generation,
                     leave->member, holder_of(file));
    return 0;
}

int fake_inspect(int file, void *argument)
{
    struct gba_ioc_inspect *inspect = argument;
    const struct gba_driver_record *r;
    const struct gba_model_core *core;
    gba_status_t status;

    if (inspect->group >= model.groups)
        return ESTALE;
    r = &record[inspect->group];
    core = &model.group[inspect->group].core;
    status = gba_driver_inspect(r, inspect->generation);
    if (GBA_ERR_STALE == status || !has_joined(file, r))
        return ESTALE;
    if (GBA_OK != status)
        return error_of(status, EBUSY);
    inspect->sequence = core->sequence;
    inspect->arrived_count = core->arrived_count;
    inspect->status =
        (uint32_t)fake_driver_access(GBA_GROUP_REG(inspect->group, GBA_REG_STATUS), 4, false, 0);
    inspect->last_error = core->last_error;
    inspect->members = core->member_count;
    memcpy(inspect->arrived_mask, core->arrived_mask, sizeof inspect->arrived_mask);
    memcpy(inspect->counters, core->counters, sizeof inspect->counters);
    return 0;
}

/* Whether WAIT is over, as the driver decides it. If it is, the events are taken. */
static bool is_over(struct fake_seat *seat, uint32_t sequence, uint32_t *events)
{
    fake_kernel_run();
    *events = seat->events;
    if (GBA_SEQ_REACHED((uint32_t)gba_flag_load_acquire(seat->flag), sequence))
        *events |= GBA_EVENT_ROUND;
    if (seat->revoked)
        *events |= GBA_EVENT_REVOKED;
    seat->events = 0;
    return 0 != *events;
}

/* A sleep ends at once: the test does in on_sleep what happens meanwhile. [DRV-18] */
int fake_wait(int file, void *argument)
{
    struct gba_ioc_wait *wait = argument;
    struct fake_seat *seat = fake_seat_find(file, wait->group, wait->generation, wait->member);

    if (seat == NULL)
        return ESTALE;
    wait->last_error = 0;
    if (is_over(seat, wait->sequence, &wait->events))
        return 0;
    if (0 == wait->timeout)
        return ETIMEDOUT;
    if (wait->sequence != (uint32_t)gba_flag_load_relaxed(seat->flag) + 1)
        return EINVAL;
    fake_kernel.seen.waits++;
    if (fake_kernel.on_sleep != NULL)
        fake_kernel.on_sleep();
    return is_over(seat, wait->sequence, &wait->events) ? 0 : ETIMEDOUT;
}

/* [DRV-20]. The number of a file stands for its process. */
int fake_owner(int file, void *argument)
{
    struct gba_ioc_owner *owner = argument;
    const struct gba_driver_record *r;
    uint32_t holder;

    (void)file;
    if (owner->group >= model.groups)
        return EINVAL;
    r = &record[owner->group];
    if (GBA_LIFE_FREE == r->head.state)
        return ENOENT;
    if (r->head.uid != fake_kernel.uid && !fake_kernel.admin)
        return EACCES;
    owner->generation = r->head.generation;
    owner->members = r->head.members;
    owner->present = r->head.present;
    owner->user = r->head.uid;
    holder = r->head.allocator;
    for (uint32_t member = 0; member < r->head.members && GBA_DRIVER_NOBODY == holder; member++)
        if (GBA_MEMBERSHIP_MAPPED == r->membership[member].state)
            holder = r->membership[member].holder;
    owner->process = holder - holder_of(0);
    owner->job = r->head.job;
    return 0;
}
