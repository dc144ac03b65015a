/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/driver_model.h"

#include <string.h>

#include "gba/spec/gba_ioctl.h"
#include "sim/model/group.h"

static bool is_present(const struct gba_driver_membership *membership)
{
    return membership->state == GBA_MEMBERSHIP_JOINED || membership->state == GBA_MEMBERSHIP_MAPPED;
}

static bool holds(const struct gba_driver_membership *membership, uint32_t holder)
{
    return is_present(membership) && membership->holder == holder;
}

static bool is_member(const struct gba_driver_record *record, uint32_t holder)
{
    for (uint32_t member = 0; member < record->head.members; member++) {
        if (holds(&record->membership[member], holder))
            return true;
    }
    return false;
}

static bool is_stale(const struct gba_driver_head *head, uint32_t generation)
{
    return head->state == GBA_LIFE_FREE || head->generation != generation;
}

static void free_group(struct gba_driver_record *record, struct gba_model_group *group)
{
    gba_model_reset(group);
    record->head.allocator = GBA_DRIVER_NOBODY;
    record->head.key = 0;
    record->head.state = GBA_LIFE_FREE; /* the generation stays: the next one must differ */
}

gba_status_t gba_driver_alloc(struct gba_driver_record *record, struct gba_model_group *group,
                              const struct gba_driver_request *request)
{
    struct gba_driver_head *head = &record->head;
    uint32_t members = request->members;

    if (members < 1 || members > GBA_MEMBERS_MAX)
        return GBA_ERR_PARAM;
    if (head->state != GBA_LIFE_FREE)
        return GBA_ERR_NO_GROUP;
    gba_model_prepare(group, members);
    memset(record->membership, 0,
           members * sizeof(record->membership[0])); /* no call reads the rest */
    *head = (struct gba_driver_head){.state = GBA_LIFE_ALLOCATED,
                                     .generation = head->generation + 1,
                                     .key = request->key,
                                     .members = members,
                                     .allocator = request->holder,
                                     .uid = request->uid,
                                     .job = request->job};
    return GBA_OK;
}

gba_status_t gba_driver_join(struct gba_driver_record *record, uint32_t generation, uint64_t key,
                             uint32_t member, uint32_t holder)
{
    struct gba_driver_head *head = &record->head;

    if (is_stale(head, generation) || head->key != key)
        return GBA_ERR_STALE;
    if (member >= head->members)
        return GBA_ERR_PARAM;
    /* A membership that was left stays taken: the team has failed to agree, or is ending. */
    if (record->membership[member].state != GBA_MEMBERSHIP_EMPTY)
        return GBA_ERR_BUSY;
    record->membership[member].holder = holder;
    record->membership[member].state = GBA_MEMBERSHIP_JOINED;
    head->present++;
    /* From now on the members hold the group. The allocator holds it only as one of them. */
    head->allocator = GBA_DRIVER_NOBODY;
    return GBA_OK;
}

gba_status_t gba_driver_map(struct gba_driver_record *record, struct gba_model_group *group,
                            uint32_t generation, uint32_t member, uint64_t address, uint32_t holder)
{
    struct gba_driver_head *head = &record->head;

    if (is_stale(head, generation))
        return GBA_ERR_STALE;
    if (member >= head->members || !holds(&record->membership[member], holder))
        return GBA_ERR_PARAM;
    if (address == 0 || address % GBA_TABLE_ENTRY_SIZE != 0)
        return GBA_ERR_PARAM;
    if (record->membership[member].state == GBA_MEMBERSHIP_MAPPED || head->state == GBA_LIFE_ARMED)
        return GBA_ERR_BUSY;
    gba_model_store_table(group, member, address);
    record->membership[member].state = GBA_MEMBERSHIP_MAPPED;
    head->mapped++;
    return GBA_OK;
}

gba_status_t gba_driver_configure(struct gba_driver_record *record, struct gba_model_group *group,
                                  uint32_t generation, uint32_t sequence, uint32_t holder)
{
    struct gba_driver_head *head = &record->head;

    if (is_stale(head, generation))
        return GBA_ERR_STALE;
    if (!is_member(record, holder))
        return GBA_ERR_PARAM;
    if (head->state == GBA_LIFE_ARMED || head->mapped != head->members)
        return GBA_ERR_BUSY;
    gba_model_store(group, GBA_REG_SEQUENCE, sequence);
    gba_model_store(group, GBA_REG_CONTROL,
                    GBA_CONTROL_ENABLE | GBA_CONTROL_ARM | GBA_CONTROL_IRQ_EN);
    head->state = GBA_LIFE_ARMED;
    return GBA_OK;
}

/* Withdraw the flag first: once the membership is left, the flag's memory may be gone. */
static void leave_membership(struct gba_driver_record *record, struct gba_model_group *group,
                             uint32_t member)
{
    struct gba_driver_head *head = &record->head;
    struct gba_driver_membership *membership = &record->membership[member];

    gba_model_store_table(group, member, 0);
    head->mapped -= membership->state == GBA_MEMBERSHIP_MAPPED;
    head->present--;
    membership->state = GBA_MEMBERSHIP_LEFT;
    if (head->present == 0)
        free_group(record, group);
}

gba_status_t gba_driver_leave(struct gba_driver_record *record, struct gba_model_group *group,
                              uint32_t generation, uint32_t member, uint32_t holder)
{
    struct gba_driver_head *head = &record->head;

    if (is_stale(head, generation))
        return GBA_ERR_STALE;
    if (member == GBA_MEMBER_NONE) {
        if (head->allocator != holder || holder == GBA_DRIVER_NOBODY)
            return GBA_ERR_PARAM;
        free_group(record, group);
        return GBA_OK;
    }
    if (member >= head->members || !holds(&record->membership[member], holder))
        return GBA_ERR_PARAM;
    leave_membership(record, group, member);
    return GBA_OK;
}

gba_status_t gba_driver_inspect(const struct gba_driver_record *record, uint32_t generation)
{
    return is_stale(&record->head, generation) ? GBA_ERR_STALE : GBA_OK;
}

bool gba_driver_find(const struct gba_driver_record *record, uint32_t *member, uint32_t holder)
{
    const struct gba_driver_head *head = &record->head;

    if (head->state == GBA_LIFE_FREE || holder == GBA_DRIVER_NOBODY)
        return false;
    if (head->allocator == holder) { /* an allocation without any join */
        *member = GBA_MEMBER_NONE;
        return true;
    }
    for (; *member < head->members; ++*member) {
        if (holds(&record->membership[*member], holder))
            return true;
    }
    return false;
}
