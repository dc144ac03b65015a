/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver of the fake kernel: each call of gba_ioctl.h, on the model of the driver. */
#include "tests/unit/fake_driver.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sim/model/driver.h"

/* Where the doorbells are for mmap; any place but that of the BAR. */
#define BELL_OFFSET(group) (((uint64_t)(group) + 1) * GBA_DOORBELL_STRIDE)

static struct gba_model model;
static struct gba_driver_record record[GBA_GROUPS];

static int releasing; /* the file that is being closed */

static struct gba_driver_owner owner_of(int file)
{
    return (struct gba_driver_owner){(uint64_t)file, 1};
}

void fake_driver_start(uint32_t groups)
{
    static const uint64_t uuid[2] = {0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};

    gba_model_init(&model, groups, uuid);
    memset(record, 0, sizeof record);
}

static bool is_pinned(uint64_t address)
{
    for (uint32_t group = 0; group < model.groups; group++)
        for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++)
            if (model.group[group].table[member] == address)
                return true;
    return false;
}

static void count_pinned(void)
{
    fake_kernel.pinned = 0;
    for (uint32_t group = 0; group < model.groups; group++)
        fake_kernel.pinned +=
            record[group].head.state == GBA_GROUP_FREE ? 0 : record[group].head.mapped;
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
}

static bool has_joined(int file, uint32_t group)
{
    const struct gba_driver_record *r = &record[group];

    for (uint32_t member = 0; member < r->head.members; member++)
        if ((GBA_SEAT_JOINED == r->seat[member].state ||
             GBA_SEAT_MAPPED == r->seat[member].state) &&
            r->seat[member].owner.pid == (uint64_t)file)
            return true;
    return false;
}

int fake_driver_doorbell(int file, uint64_t offset, uint64_t size)
{
    if (size != (uint64_t)sysconf(_SC_PAGESIZE))
        return -1;
    for (uint32_t group = 0; group < model.groups; group++)
        if (BELL_OFFSET(group) == offset)
            return has_joined(file, group) ? (int)group : -1;
    return -1;
}

static bool file_lives(struct gba_driver_owner owner)
{
    return owner.pid != (uint64_t)releasing;
}

void fake_driver_release(int file)
{
    releasing = file;
    for (uint32_t group = 0; group < model.groups; group++)
        gba_driver_reap(&record[group], &model.group[group], file_lives);
    count_pinned();
}

/* The release stores of one access. [REL-2] */
static void store_releases(const struct gba_model_effects *effects)
{
    for (uint32_t i = 0; i < effects->releases; i++)
        gba_word_store_release((gba_word_t *)(uintptr_t)effects->release[i].address,
                               effects->release[i].sequence);
}

void fake_driver_arrive(uint32_t group, uint64_t value)
{
    static struct gba_model_effects effects;

    if (fake_kernel.dead)
        return;
    gba_model_arrive(&model.group[group], value, &effects);
    store_releases(&effects);
}

uint64_t fake_driver_access(uint32_t address, unsigned width, bool write, uint64_t value)
{
    static struct gba_model_effects effects;
    const struct gba_model_access access = {write, (uint8_t)width, address, value};

    if (fake_kernel.dead)
        return GBA_READ_NONE;
    gba_model_access(&model, &access, &effects);
    store_releases(&effects);
    return effects.value;
}

/* What a status of the driver's model is as an errno. busy: what GBA_ERR_BUSY is for this call. */
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
    memcpy(query->uuid, model.uuid, sizeof query->uuid);
    query->bad_access = model.bad_access;
    memset(query->counters, 0, sizeof query->counters);
    for (uint32_t group = 0; group < model.groups; group++) {
        query->groups_free += GBA_GROUP_FREE == record[group].head.state;
        for (uint32_t i = 0; i < GBA_COUNTERS; i++)
            query->counters[i] += model.group[group].core.counters[i];
    }
    return 0;
}

static int do_alloc(int file, struct gba_ioc_alloc *alloc)
{
    gba_status_t status = GBA_ERR_NO_GROUP;
    static uint64_t key = 0x9e3779b97f4a7c15ull; /* a test needs no secret, only another one */

    for (uint32_t group = 0; GBA_ERR_NO_GROUP == status && group < model.groups; group++) {
        key = key * 6364136223846793005ull + 1442695040888963407ull;
        status = gba_driver_alloc(&record[group], &model.group[group], alloc->members, key,
                                  owner_of(file));
        alloc->group = group;
        alloc->generation = record[group].head.generation;
        alloc->key = key;
    }
    return error_of(status, EBUSY);
}

static int do_join(int file, struct gba_ioc_join *join)
{
    gba_status_t status;

    if (fake_kernel.refuse_member == join->member + 1)
        return EPERM;
    status = gba_driver_join(&record[join->group], join->generation, join->key, join->member,
                             owner_of(file));
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
    status = gba_driver_map(&record[map->group], &model.group[map->group], map->generation,
                            map->member, map->addr, owner_of(file));
    count_pinned();
    return error_of(status, EBUSY);
}

static int do_configure(int file, const struct gba_ioc_configure *configure)
{
    struct gba_driver_record *r = &record[configure->group];
    int busy = GBA_GROUP_ARMED == r->head.state ? EBUSY : EAGAIN;

    return error_of(gba_driver_configure(r, &model.group[configure->group], configure->generation,
                                         configure->sequence, owner_of(file)),
                    busy);
}

static int do_free(int file, const struct gba_ioc_free *leave)
{
    gba_status_t status = gba_driver_leave(&record[leave->group], &model.group[leave->group],
                                           leave->generation, leave->member, owner_of(file));

    count_pinned();
    return error_of(status, EBUSY);
}

static int do_inspect(int file, struct gba_ioc_inspect *inspect)
{
    const struct gba_driver_head *head = &record[inspect->group].head;
    const struct gba_model_core *core = &model.group[inspect->group].core;

    if (GBA_GROUP_FREE == head->state || head->generation != inspect->generation)
        return ESTALE;
    if (!has_joined(file, inspect->group))
        return EINVAL;
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
 * What is the same for all calls. The library is part of the test, so what a driver would answer
 * with EINVAL is a violation, too. group: of the call; reserved: its reserved field.
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
    } copy; /* as the kernel: outputs are copied back on success only */
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
    case GBA_IOC_FREE: /* works on a dead device, as the records are the driver's */
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
