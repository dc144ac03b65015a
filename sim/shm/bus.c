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
 * Commit an access to a group, and make its release stores. All under the group's lock: the stores
 * of two rounds keep their order, and no store goes to a member that has left.
 * Release: the writes of the members before they arrived are visible to a member that sees its
 * flag. Each arrival took the same lock, so all those writes precede these stores. Pairs with
 * gba_flag_load_acquire of the member.
 */
static void access_finish(struct gba_sim_dev *dev, uint32_t group,
                          const struct gba_model_effects *effects)
{
    struct gba_sim_segment *segment = dev->segment;
    uint32_t releases = effects->releases;

    if (UNLIKELY(dev->faulty) && effects->completed && gba_sim_fault_die(segment)) {
        uint32_t last = segment->header.options.die_release;

        if (0 == last) {
            gba_sim_journal_undo(segment, group);
            return;
        }
        if (releases > last)
            releases = last;
    }
    gba_sim_journal_end(segment, group);
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

/* Arrive at a group through a port. */
static gba_status_t group_arrive(struct gba_sim_dev *dev, uint32_t group, uint32_t port,
                                 uint64_t value)
{
    struct gba_sim_segment *segment = dev->segment;
    struct gba_model_effects effects; /* 11 KiB; the model sets only the part that it uses */
    gba_status_t status;

    if (UNLIKELY(dev->faulty) && gba_sim_fault_lose_arrival(segment))
        return GBA_OK;
    status = gba_sim_group_lock(segment, group);
    if (UNLIKELY(GBA_OK != status))
        return status;
    /* Under the lock: no member is released after the device died. */
    if (UNLIKELY(gba_sim_dead(segment)))
        goto unlock;
    if (UNLIKELY(dev->faulty) && gba_sim_fault_die_arrival(segment))
        goto unlock;
    /* Beside the core it may set an event, which may be set for nothing, and count in BAD_ACCESS.
     */
    gba_sim_journal_begin(segment, group, GBA_SIM_JOURNAL_CORE);
    gba_model_arrive(&segment->model, group, port, value, &effects);
    access_finish(dev, group, &effects);
unlock:
    gba_sim_group_unlock(segment, group);
    return GBA_OK;
}

static struct gba_sim_slot *slot_of(const struct gba_sim_membership *membership)
{
    return &membership->dev->segment
                ->slot[membership->membership.group][membership->membership.member];
}

/* An arrival at a damaged segment is lost, as on a dead bus. gba_sim_group_lock has logged the
 * damage. */
void gba_sim_bus_arrive(struct gba_membership *membership, uint64_t value)
{
    struct gba_sim_membership *mine = (struct gba_sim_membership *)membership;

    (void)group_arrive(mine->dev, membership->group, mine->port, value);
}

void gba_sim_bus_poll(struct gba_membership *membership)
{
    struct gba_sim_dev *dev = ((struct gba_sim_membership *)membership)->dev;
    struct gba_sim_slot *slot;

    if (!UNLIKELY(dev->delayed))
        return;
    slot = slot_of((struct gba_sim_membership *)membership);
    if (!gba_sim_fault_due(slot) || GBA_OK != gba_sim_group_lock(dev->segment, membership->group))
        return;
    gba_sim_fault_deliver(slot);
    gba_sim_group_unlock(dev->segment, membership->group);
}

/* Access a group. */
static gba_status_t group_access(struct gba_sim_dev *dev, uint32_t group,
                                 const struct gba_model_access *access,
                                 struct gba_model_effects *effects)
{
    struct gba_sim_segment *segment = dev->segment;
    gba_status_t status = gba_sim_group_lock(segment, group);

    if (GBA_OK != status)
        return status;
    /* A refused read counts an error. */
    gba_sim_journal_begin(segment, group,
                          access->write ? GBA_SIM_JOURNAL_GROUP : GBA_SIM_JOURNAL_CORE);
    gba_model_access(&segment->model, access, effects);
    access_finish(dev, group, effects);
    gba_sim_group_unlock(segment, group);
    return GBA_OK;
}

/* Access what belongs to no group, with all groups locked: GROUPS_FREE reads them. */
static gba_status_t page_access(struct gba_sim_dev *dev, const struct gba_model_access *access,
                                struct gba_model_effects *effects)
{
    struct gba_sim_segment *segment = dev->segment;
    uint32_t locked = 0;
    gba_status_t status = gba_sim_device_lock(segment);

    if (GBA_OK != status)
        return status;
    while (GBA_OK == status && locked < segment->model.groups) {
        status = gba_sim_group_lock(segment, locked);
        locked += GBA_OK == status;
    }
    if (GBA_OK == status)
        gba_model_access(&segment->model, access, effects);
    while (0 != locked)
        gba_sim_group_unlock(segment, --locked);
    gba_sim_device_unlock(segment);
    return status;
}

static gba_status_t bus_access(struct gba_sim_dev *dev, struct gba_model_access *access,
                               uint64_t *value)
{
    struct gba_model_effects effects;
    int group = gba_model_group_of(&dev->segment->model, access->address);
    uint32_t holder;
    gba_status_t status = gba_sim_port_claim(dev, &holder);

    if (GBA_OK != status)
        return status;
    access->port = (uint16_t)(holder - 1);
    /* The mailbox is the driver's, which is the code of this directory: an access to it goes
     * nowhere. */
    if (access->address - GBA_PORT_BASE < GBA_PORT_SIZE)
        access->address = GBA_BAR_SIZE;
    status = group < 0 ? page_access(dev, access, &effects)
                       : group_access(dev, (uint32_t)group, access, &effects);
    if (GBA_OK == status && value != NULL)
        *value = effects.value;
    return status;
}

gba_status_t gba_sim_bus_read(struct gba_dev *d, uint32_t address, unsigned width, uint64_t *value)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    struct gba_model_access access = {.write = false, .width = (uint8_t)width, .address = address};

    if (gba_sim_dead(dev->segment)) {
        *value = width < 8 ? GBA_READ_NONE >> (64 - 8 * width) : GBA_READ_NONE;
        return GBA_OK;
    }
    return bus_access(dev, &access, value);
}

gba_status_t gba_sim_bus_write(struct gba_dev *d, uint32_t address, unsigned width, uint64_t value)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    struct gba_model_access access = {
        .write = true, .width = (uint8_t)width, .address = address, .value = value};
    int group = gba_model_group_of(&dev->segment->model, address);
    gba_status_t status;
    uint32_t holder;

    if (gba_sim_dead(dev->segment))
        return GBA_OK; /* as a store to removed hardware */
    if (group >= 0 && 8 == width && GBA_DOORBELL((uint32_t)group) == address) {
        status = gba_sim_port_claim(dev, &holder);
        if (GBA_OK != status)
            return status;
        return group_arrive(dev, (uint32_t)group, holder - 1, value);
    }
    return bus_access(dev, &access, NULL);
}
