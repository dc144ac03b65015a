/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver of the fake kernel: each call of gba_ioctl.h, on the model of the driver. fake_abi.c
 * has the checks that all calls share. */
#include "tests/unit/fake_driver.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/driver_model.h"

/* One life of a group. A life whose group was taken back stays until its members have left. */
#define LIVES 64
struct life {
    uint32_t home; /* 1 + its group, 0: not used */
    struct gba_driver_record record;
};

static struct gba_model model;
static struct life life[LIVES];
static struct life *current[GBA_GROUPS];

/* 1 + the number: no holder is 0. */
static uint32_t holder_of(int file)
{
    return 1 + (uint32_t)file;
}

void fake_driver_start(uint32_t groups)
{
    static const uint64_t uuid[2] = {0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};

    gba_model_init(&model, groups, 0, uuid);
    memset(life, 0, sizeof life);
    for (uint32_t group = 0; group < GBA_GROUPS; group++) {
        life[group].home = 1 + group;
        current[group] = &life[group];
    }
}

/* The life of that generation; if there is none, the current life of the group. */
static struct life *life_of(uint32_t group, uint32_t generation)
{
    for (size_t i = 0; i < LIVES; i++)
        if (1 + group == life[i].home && GBA_LIFE_TAKEN == life[i].record.head.state &&
            generation == life[i].record.head.generation)
            return &life[i];
    return current[group];
}

/* Remove all lives that have ended. */
static void lives_sweep(void)
{
    for (size_t i = 0; i < LIVES; i++)
        if (0 != life[i].home && current[life[i].home - 1] != &life[i] &&
            GBA_LIFE_FREE == life[i].record.head.state)
            life[i].home = 0;
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

static void take_back_from(int file, struct life *l)
{
    for (uint32_t member = 0; gba_driver_find(&l->record, &member, holder_of(file));)
        (void)gba_driver_leave(&l->record, &model.group[l->home - 1], l->record.head.generation,
                               member, holder_of(file));
}

void fake_driver_release(int file)
{
    struct fake_seat *seat;

    for (size_t i = 0; i < LIVES; i++)
        if (0 != life[i].home)
            take_back_from(file, &life[i]);
    for (size_t i = 0; (seat = fake_seat_next(&i)) != NULL;)
        if (file == seat->file) {
            tell_death(seat);
            fake_seat_revoke(seat, GBA_REVOKED_ENDED);
            fake_seat_leave(seat);
        }
    fake_memory_release(file);
    lives_sweep();
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
    case GBA_ERR_NO_GROUP:
        return ENOSPC;
    case GBA_ERR_LIMIT:
        return EDQUOT;
    case GBA_ERR_RECLAIMED:
        return EIDRM;
    default:
        return EINVAL;
    }
}

/* Groups that the caller's user holds. */
static uint32_t user_groups(void)
{
    uint32_t held = 0;

    for (uint32_t group = 0; group < model.groups; group++)
        held += GBA_LIFE_FREE != current[group]->record.head.state &&
                fake_kernel.uid == current[group]->record.head.usage.uid;
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
        query->groups_free += GBA_LIFE_FREE == current[group]->record.head.state;
        for (uint32_t i = 0; i < GBA_COUNTERS && 0 != (query->flags & GBA_QUERY_COUNTERS); i++)
            query->counters[i] += model.group[group].core.counters[i];
    }
    return 0;
}

/* [DRV-14], [DRV-15] */
static gba_status_t take_back(uint32_t group)
{
    struct life *old = current[group], *next = NULL;
    struct fake_seat *seat;

    for (size_t i = 0; i < LIVES && next == NULL; i++)
        if (0 == life[i].home)
            next = &life[i];
    if (next == NULL)
        return GBA_ERR_NO_GROUP;
    gba_driver_reclaim(&old->record, &model.group[group]);
    for (size_t i = 0; (seat = fake_seat_next(&i)) != NULL;)
        if (seat->group == group && seat->generation == old->record.head.generation)
            fake_seat_revoke(seat, GBA_REVOKED_TAKEN);
    memset(&next->record.head, 0, sizeof next->record.head);
    next->record.head.generation = old->record.head.generation;
    next->home = 1 + group;
    current[group] = next;
    return GBA_OK;
}

int fake_alloc(int file, void *argument)
{
    static uint64_t key = 0x9e3779b97f4a7c15ull; /* not secret: the keys only have to differ */
    struct gba_ioc_alloc *alloc = argument;
    struct gba_driver_request request = {.members = alloc->members,
                                         .holder = holder_of(file),
                                         .claim = {.groups_max = alloc->groups_max,
                                                   .barrier_rate = alloc->barrier_rate,
                                                   .uid = fake_kernel.uid,
                                                   .job = alloc->job,
                                                   .now = fake_kernel.now}};
    struct gba_survey survey;
    struct gba_driver_head *head;
    gba_status_t status;
    uint32_t group;
    bool reclaim;

    if (alloc->members < 1 || alloc->members > GBA_MEMBERS_MAX)
        return EINVAL;
    key = key * 6364136223846793005ull + 1442695040888963407ull;
    request.key = key;
    gba_survey_init(&survey);
    for (group = 0; group < model.groups; group++) {
        head = &current[group]->record.head;
        gba_survey_group(&survey, &head->usage, head->state, &model.group[group].core, group,
                         &request.claim);
    }
    status = gba_survey_decide(&survey, &request.claim, &group, &reclaim);
    if (GBA_OK == status && !reclaim && 0 != fake_kernel.user_groups_max &&
        user_groups() >= fake_kernel.user_groups_max)
        return EUSERS;
    if (GBA_OK == status && reclaim)
        status = take_back(group);
    if (GBA_OK == status)
        status = gba_driver_alloc(&current[group]->record, &model.group[group], &request);
    if (GBA_OK != status)
        return error_of(status, EBUSY);
    alloc->group = group;
    alloc->generation = current[group]->record.head.generation;
    alloc->key = key;
    return 0;
}

int fake_free(int file, void *argument)
{
    const struct gba_ioc_free *cancel = argument;
    const struct gba_driver_head *head;

    if (cancel->group >= model.groups)
        return ESTALE;
    head = &current[cancel->group]->record.head;
    if (GBA_LIFE_FREE != head->state && head->generation == cancel->generation && head->present)
        return EBUSY;
    if (GBA_OK == gba_driver_leave(&current[cancel->group]->record, &model.group[cancel->group],
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
    r = &current[join->group]->record;
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
    r = &life_of(configure->group, configure->generation)->record;
    busy = GBA_LIFE_ARMED == r->head.state ? EBUSY : EAGAIN;
    status = gba_driver_configure(r, &model.group[configure->group], configure->generation,
                                  configure->sequence, holder_of(file), fake_kernel.now);
    return GBA_ERR_PARAM == status ? ESTALE : error_of(status, busy); /* not joined */
}

int fake_leave(int file, void *argument)
{
    const struct gba_ioc_leave *leave = argument;
    struct fake_seat *seat = fake_seat_find(file, leave->group, leave->generation, leave->member);

    if (seat == NULL)
        return ESTALE;
    fake_seat_leave(seat);
    gba_driver_leave(&life_of(leave->group, leave->generation)->record, &model.group[leave->group],
                     leave->generation, leave->member, holder_of(file));
    lives_sweep();
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
    r = &life_of(inspect->group, inspect->generation)->record;
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
    r = &current[owner->group]->record;
    if (GBA_LIFE_FREE == r->head.state)
        return ENOENT;
    if (r->head.usage.uid != fake_kernel.uid && !fake_kernel.admin)
        return EACCES;
    owner->generation = r->head.generation;
    owner->members = r->head.members;
    owner->present = r->head.present;
    owner->user = r->head.usage.uid;
    holder = r->head.allocator;
    for (uint32_t member = 0; member < r->head.members && GBA_DRIVER_NOBODY == holder; member++)
        if (GBA_MEMBERSHIP_MAPPED == r->membership[member].state)
            holder = r->membership[member].holder;
    owner->process = holder - holder_of(0);
    owner->job = r->head.usage.job;
    return 0;
}
