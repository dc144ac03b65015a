/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver of the fake kernel: each call of gba_ioctl.h, on the model of the driver. */
#include "tests/unit/fake_driver.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sim/model/driver.h"

/* The mmap offset of the doorbells; any value that is not the BAR's. */
#define BELL_OFFSET(group) (((uint64_t)(group) + 1) * GBA_DOORBELL_STRIDE)

/* One life of a group. A life whose group was taken back stays until its members have left. */
#define LIVES 64
struct life {
    uint32_t home; /* 1 + its group, 0: not used */
    struct gba_driver_record record;
    uint64_t
        flag[GBA_MEMBERS_MAX]; /* of a life whose group was taken back: addresses, still pinned */
};

static struct gba_model model;
static struct life life[LIVES];
static struct life *current[GBA_GROUPS];

static int releasing; /* the file that is being closed */

static struct gba_driver_owner owner_of(int file)
{
    return (struct gba_driver_owner){(uint64_t)file, 1};
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
        if (1 + group == life[i].home && GBA_GROUP_RECLAIMED == life[i].record.head.state &&
            generation == life[i].record.head.generation)
            return &life[i];
    return current[group];
}

static bool is_mapped(const struct life *l, uint32_t member)
{
    return member < l->record.head.members &&
           GBA_MEMBERSHIP_MAPPED == l->record.membership[member].state;
}

/* Remove all lives that have ended. */
static void lives_sweep(void)
{
    for (size_t i = 0; i < LIVES; i++)
        if (0 != life[i].home && current[life[i].home - 1] != &life[i] &&
            GBA_GROUP_FREE == life[i].record.head.state)
            life[i].home = 0;
}

static bool is_pinned(uint64_t address)
{
    for (uint32_t group = 0; group < model.groups; group++)
        for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++)
            if (model.group[group].table[member] == address)
                return true;
    for (size_t i = 0; i < LIVES; i++)
        for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++)
            if (0 != life[i].home && GBA_GROUP_RECLAIMED == life[i].record.head.state &&
                is_mapped(&life[i], member) && life[i].flag[member] == address)
                return true;
    return false;
}

static void count_pinned(void)
{
    fake_kernel.pinned = 0;
    for (size_t i = 0; i < LIVES; i++)
        if (0 != life[i].home && GBA_GROUP_FREE != life[i].record.head.state)
            fake_kernel.pinned += life[i].record.head.mapped;
}

void fake_driver_unmapped(uintptr_t first, size_t size)
{
    for (uint32_t group = 0; group < model.groups; group++)
        for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++) {
            uint64_t address = model.group[group].table[member];

            if (0 != address && address >= first && address < first + size)
                fake_violation("the flag of member %u of group %u was unmapped under the device",
                               member, group);
        }
    for (size_t i = 0; i < LIVES; i++)
        for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++)
            if (0 != life[i].home && GBA_GROUP_RECLAIMED == life[i].record.head.state &&
                is_mapped(&life[i], member) && life[i].flag[member] >= first &&
                life[i].flag[member] < first + size)
                fake_violation("the flag of member %u was unmapped while it was pinned", member);
}

static bool has_joined(int file, const struct gba_driver_record *r)
{
    for (uint32_t member = 0; member < r->head.members; member++)
        if ((GBA_MEMBERSHIP_JOINED == r->membership[member].state ||
             GBA_MEMBERSHIP_MAPPED == r->membership[member].state) &&
            r->membership[member].owner.pid == (uint64_t)file)
            return true;
    return false;
}

int fake_driver_doorbell(int file, uint64_t offset, uint64_t size, uint32_t *generation)
{
    if (size != (uint64_t)sysconf(_SC_PAGESIZE))
        return -1;
    for (uint32_t group = 0; group < model.groups; group++)
        if (BELL_OFFSET(group) == offset) {
            *generation = current[group]->record.head.generation;
            return has_joined(file, &current[group]->record) ? (int)group : -1;
        }
    return -1;
}

static bool file_lives(struct gba_driver_owner owner)
{
    return owner.pid != (uint64_t)releasing;
}

void fake_driver_release(int file)
{
    releasing = file;
    for (size_t i = 0; i < LIVES; i++)
        if (0 != life[i].home)
            gba_driver_reap(&life[i].record, &model.group[life[i].home - 1], file_lives);
    lives_sweep();
    count_pinned();
}

/* The release stores of one access. [REL-2] */
static void store_releases(const struct gba_model_effects *effects)
{
    for (uint32_t i = 0; i < effects->releases; i++)
        gba_flag_store_release((gba_flag_t *)(uintptr_t)effects->release[i].address,
                               effects->release[i].sequence);
}

void fake_driver_arrive(uint32_t group, uint32_t generation, uint64_t value)
{
    static struct gba_model_effects effects;

    /* A mapping of another life is revoked. [DRV-16] */
    if (fake_kernel.dead || current[group]->record.head.generation != generation)
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

static int do_query(struct gba_ioc_query *query)
{
    query->abi_version = fake_kernel.abi_version;
    query->regs_version = fake_kernel.regs_version;
    query->groups = fake_kernel.groups;
    query->groups_free = 0;
    query->members_max = fake_kernel.members_max;
    query->state = fake_kernel.dead ? GBA_DEV_STATE_DEAD : GBA_DEV_STATE_UP;
    gba_model_uuid(&model, query->uuid);
    query->bad_access = model.bad_access;
    memset(query->counters, 0, sizeof query->counters);
    for (uint32_t group = 0; group < model.groups; group++) {
        query->groups_free += GBA_GROUP_FREE == current[group]->record.head.state;
        for (uint32_t i = 0; i < GBA_COUNTERS; i++)
            query->counters[i] += model.group[group].core.counters[i];
    }
    return 0;
}

/* [DRV-14], [DRV-15] */
static gba_status_t take_back(uint32_t group)
{
    struct gba_model_group *g = &model.group[group];
    struct life *old = current[group], *next = NULL;

    for (size_t i = 0; i < LIVES && NULL == next; i++)
        if (0 == life[i].home)
            next = &life[i];
    if (NULL == next)
        return GBA_ERR_NO_GROUP;
    memcpy(old->flag, g->table, sizeof old->flag);
    gba_driver_reclaim(&old->record, g);
    for (uint32_t member = 0; member < old->record.head.members; member++) {
        gba_flag_t *flag = (gba_flag_t *)(uintptr_t)old->flag[member];

        if (is_mapped(old, member))
            gba_flag_store_release(flag, gba_flag_load_relaxed(flag) | GBA_FLAG_RECLAIMED);
    }
    memset(&next->record.head, 0, sizeof next->record.head);
    next->record.head.generation = old->record.head.generation;
    next->home = 1 + group;
    current[group] = next;
    return GBA_OK;
}

static int do_alloc(int file, struct gba_ioc_alloc *alloc)
{
    static uint64_t key = 0x9e3779b97f4a7c15ull; /* not secret: the keys only have to differ */
    struct gba_driver_request request = {.members = alloc->members,
                                         .groups_max = alloc->groups_max,
                                         .barrier_rate = alloc->barrier_rate,
                                         .uid = fake_kernel.uid,
                                         .job = alloc->job,
                                         .now = fake_kernel.now,
                                         .owner = owner_of(file)};
    struct gba_driver_survey survey;
    gba_status_t status;
    uint32_t group;
    bool reclaim;

    key = key * 6364136223846793005ull + 1442695040888963407ull;
    request.key = key;
    gba_driver_survey_init(&survey);
    for (group = 0; group < model.groups; group++)
        gba_driver_survey(&survey, &current[group]->record, &model.group[group], group, &request);
    status = gba_driver_decide(&survey, &request, &group, &reclaim);
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

static int do_join(int file, struct gba_ioc_join *join)
{
    gba_status_t status;

    if (fake_kernel.refuse_member == join->member + 1)
        return EPERM;
    status = gba_driver_join(&current[join->group]->record, join->generation, join->key,
                             join->member, owner_of(file));
    if (GBA_OK != status)
        return error_of(status, EBUSY);
    join->doorbell_offset =
        0 != fake_kernel.doorbell_offset ? fake_kernel.doorbell_offset : BELL_OFFSET(join->group);
    join->doorbell_size = 0 != fake_kernel.doorbell_size ? fake_kernel.doorbell_size
                                                         : (uint64_t)sysconf(_SC_PAGESIZE);
    return 0;
}

static int do_map_flag(int file, const struct gba_ioc_map_flag *map)
{
    gba_status_t status;

    if (0 != map->addr && is_pinned(map->addr))
        fake_violation("one flag for two members");
    status = gba_driver_map(&life_of(map->group, map->generation)->record, &model.group[map->group],
                            map->generation, map->member, map->addr, owner_of(file));
    count_pinned();
    return error_of(status, EBUSY);
}

static int do_configure(int file, const struct gba_ioc_configure *configure)
{
    struct gba_driver_record *r = &life_of(configure->group, configure->generation)->record;
    int busy = GBA_GROUP_ARMED == r->head.state ? EBUSY : EAGAIN;

    return error_of(gba_driver_configure(r, &model.group[configure->group], configure->generation,
                                         configure->sequence, owner_of(file), fake_kernel.now),
                    busy);
}

static int do_free(int file, const struct gba_ioc_free *leave)
{
    gba_status_t status = gba_driver_leave(&life_of(leave->group, leave->generation)->record,
                                           &model.group[leave->group], leave->generation,
                                           leave->member, owner_of(file));

    lives_sweep();
    count_pinned();
    return error_of(status, EBUSY);
}

static int do_inspect(int file, struct gba_ioc_inspect *inspect)
{
    const struct gba_driver_record *r = &life_of(inspect->group, inspect->generation)->record;
    const struct gba_model_core *core = &model.group[inspect->group].core;
    gba_status_t status = gba_driver_inspect(r, inspect->generation);

    if (GBA_ERR_STALE == status)
        return ESTALE;
    if (!has_joined(file, r))
        return EINVAL;
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

/*
 * The checks that all calls share. The library is part of the test, so a call that a driver would
 * answer with EINVAL is a violation, too. group: of the call; reserved: its reserved field.
 */
static int check(const uint32_t *argument, size_t size, uint32_t group, uint32_t reserved)
{
    bool works_when_dead = size == sizeof(struct gba_ioc_query);

    if (argument[0] != size || 0 != argument[1] || 0 != reserved || group >= GBA_GROUPS) {
        fake_violation("call of size %u, flags %u, reserved %u, group %u; structure has %zu",
                       argument[0], argument[1], reserved, group, size);
        return EINVAL;
    }
    return fake_kernel.dead && !works_when_dead ? ENODEV : 0;
}

int fake_driver_ioctl(int file, unsigned long request, void *argument)
{
    union {
        struct gba_ioc_query query;
        struct gba_ioc_alloc alloc;
        struct gba_ioc_join join;
        struct gba_ioc_map_flag map_flag;
        struct gba_ioc_configure configure;
        struct gba_ioc_free leave;
        struct gba_ioc_inspect inspect;
    } copy; /* as the kernel: outputs are copied only on success */
    size_t size = _IOC_SIZE(request);
    int error;

    if (GBA_IOC_MAGIC != _IOC_TYPE(request) || size > sizeof copy)
        return ENOTTY;
    memcpy(&copy, argument, size);
    switch (request) {
    case GBA_IOC_QUERY:
        error = check(argument, size, 0, 0);
        error = 0 != error ? error : do_query(&copy.query);
        break;
    case GBA_IOC_ALLOC:
        error = check(argument, size, 0, copy.alloc.reserved);
        error = 0 != error ? error : do_alloc(file, &copy.alloc);
        break;
    case GBA_IOC_JOIN:
        error = check(argument, size, copy.join.group, copy.join.reserved);
        error = 0 != error ? error : do_join(file, &copy.join);
        break;
    case GBA_IOC_MAP_FLAG:
        error = check(argument, size, copy.map_flag.group, copy.map_flag.reserved);
        error = 0 != error ? error : do_map_flag(file, &copy.map_flag);
        break;
    case GBA_IOC_CONFIGURE:
        error = check(argument, size, copy.configure.group, copy.configure.reserved);
        error = 0 != error ? error : do_configure(file, &copy.configure);
        break;
    case GBA_IOC_FREE: /* works on a dead device, because the records are the driver's */
        error = check(argument, size, copy.leave.group, copy.leave.reserved);
        error = 0 != error && ENODEV != error ? error : do_free(file, &copy.leave);
        break;
    case GBA_IOC_INSPECT:
        error = check(argument, size, copy.inspect.group, copy.inspect.reserved);
        error = 0 != error ? error : do_inspect(file, &copy.inspect);
        break;
    default:
        return ENOTTY;
    }
    if (0 == error && 0 != (_IOC_DIR(request) & _IOC_READ))
        memcpy(argument, &copy, size);
    return error;
}
