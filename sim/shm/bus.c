/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bus of a simulated device: arrivals, the release stores that they cause, and accesses to
 * registers.
 */
#include <stddef.h>

#include "sim/shm/fault.h"
#include "sim/shm/lock.h"
#include "sim/shm/sim.h"
#include "gba/spec/gba_regs.h"

/* For branches that only an injected fault or a dead device takes. */
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A release address is a register, and gba_reg_write accepts any value. A store to an address that
 * is not a flag is dropped, as the IOMMU of a host would do. */
struct gba_sim_slot *gba_sim_slot_at(struct gba_sim_segment *segment, uint64_t address)
{
    uint64_t offset = address - offsetof(struct gba_sim_segment, slot);

    /* Unsigned: an address before the first slot wraps to a large offset. */
    if (offset >= sizeof segment->slot || 0 != offset % sizeof(struct gba_sim_slot))
        return NULL;
    return &segment->slot[0][0] + offset / sizeof(struct gba_sim_slot);
}

/*
 * Make the release stores of an access to a group. All under the group's lock: the stores of two
 * rounds keep their order, and no store goes to a member that has left.
 * Release: the writes of the members before they arrived are visible to a member that sees its
 * flag. Each arrival took the same lock, so all those writes precede these stores. Pairs with
 * gba_flag_load_acquire of the member.
 */
static void release_all(struct gba_sim_dev *dev, const struct gba_model_effects *effects)
{
    struct gba_sim_segment *segment = dev->segment;
    uint32_t releases = effects->releases;

    if (UNLIKELY(dev->faulty) && effects->completed && gba_sim_fault_die(segment) &&
        releases > segment->header.options.die_release)
        releases = segment->header.options.die_release;
    for (uint32_t i = 0; i < releases; i++) {
        const struct gba_model_release *release = &effects->release[i];
        struct gba_sim_slot *slot = gba_sim_slot_at(segment, release->address);

        if (UNLIKELY(slot == NULL))
            continue;
        if (UNLIKELY(dev->faulty))
            gba_sim_fault_release(segment, slot, release->sequence);
        else
            gba_sim_flag_store(slot, release->sequence);
    }
}

/* An arrival at a dead device is lost. Under the lock: no member is released after the device
 * died. */
void gba_sim_bus_arrive(struct gba_membership *membership, uint64_t value)
{
    struct gba_sim_membership *mine = (struct gba_sim_membership *)membership;
    struct gba_sim_dev *dev = mine->dev;
    struct gba_sim_segment *segment = dev->segment;
    struct gba_model_effects effects; /* 11 KiB; the model sets only the part that it uses */

    if ((UNLIKELY(dev->faulty) && gba_sim_fault_lose_arrival(segment)) ||
        UNLIKELY(GBA_OK != gba_sim_group_lock_alive(segment, membership->group)))
        return;
    if (!UNLIKELY(dev->faulty) || !gba_sim_fault_die_arrival(segment)) {
        gba_model_arrive(&segment->model, membership->group, mine->port, value, &effects);
        release_all(dev, &effects);
    }
    gba_sim_group_unlock(segment, membership->group);
}

void gba_sim_bus_poll(struct gba_membership *membership)
{
    struct gba_sim_dev *dev = ((struct gba_sim_membership *)membership)->dev;
    struct gba_sim_slot *slot = &dev->segment->slot[membership->group][membership->member];

    if (!UNLIKELY(dev->delayed) || !gba_sim_fault_due(slot) ||
        GBA_OK != gba_sim_group_lock(dev->segment, membership->group))
        return;
    gba_sim_fault_deliver(slot);
    gba_sim_group_unlock(dev->segment, membership->group);
}

/* Access a register. On a dead device a read returns all ones, and a write goes nowhere, as with
 * removed hardware. */
static gba_status_t bus_access(struct gba_sim_dev *dev, struct gba_model_access *access,
                               uint64_t *value)
{
    struct gba_sim_segment *segment = dev->segment;
    int group = gba_model_group_of(&segment->model, access->address);
    struct gba_model_effects effects;
    uint32_t holder;
    gba_status_t status = gba_sim_port_claim(dev, &holder);

    *value = GBA_READ_NONE >> (64 - 8 * access->width);
    /* What belongs to no group may depend on all: GROUPS_FREE reads them. */
    if (GBA_OK == status)
        status = group < 0 ? gba_sim_lock_all(segment)
                           : gba_sim_group_lock_alive(segment, (uint32_t)group);
    if (GBA_OK != status)
        return GBA_ERR_DEAD == status ? GBA_OK : status;
    access->port = (uint16_t)(holder - 1);
    /* The mailbox is the driver's, which is the code of this directory: an access to it goes
     * nowhere. */
    if (access->address - GBA_PORT_BASE < GBA_PORT_SIZE)
        access->address = GBA_BAR_SIZE;
    gba_model_access(&segment->model, access, &effects);
    release_all(dev, &effects);
    if (group < 0)
        gba_sim_unlock_all(segment);
    else
        gba_sim_group_unlock(segment, (uint32_t)group);
    *value = effects.value;
    return GBA_OK;
}

gba_status_t gba_sim_bus_read(struct gba_dev *dev, uint32_t address, unsigned width,
                              uint64_t *value)
{
    struct gba_model_access access = {.write = false, .width = (uint8_t)width, .address = address};

    return bus_access((struct gba_sim_dev *)dev, &access, value);
}

gba_status_t gba_sim_bus_write(struct gba_dev *dev, uint32_t address, unsigned width,
                               uint64_t value)
{
    struct gba_model_access access = {
        .write = true, .width = (uint8_t)width, .address = address, .value = value};

    return bus_access((struct gba_sim_dev *)dev, &access, &value);
}
