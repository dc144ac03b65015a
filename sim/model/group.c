/* SPDX-License-Identifier: BSD-3-Clause */
/* One group of the model: its configuration, its rounds, its errors. */
#include "sim/model/group.h"

#include <string.h>

#include "sim/model/event.h"

static bool mask_has(const uint64_t *mask, uint32_t member)
{
    return (mask[member / 64] >> (member % 64) & 1) != 0;
}

/* The bits of one word of a mask for the members 0 to members - 1. */
static uint64_t mask_bits(uint32_t members, uint32_t word)
{
    uint32_t rest = members > word * 64 ? members - word * 64 : 0;

    return rest >= 64 ? ~0ull : (1ull << rest) - 1;
}

static bool is_ready(const struct gba_model_core *core)
{
    return (core->control & GBA_CONTROL_ENABLE) != 0 && (core->control & GBA_CONTROL_ARM) != 0;
}

static uint32_t status_of(const struct gba_model_core *core)
{
    return core->status | (is_ready(core) ? GBA_STATUS_READY : 0) |
           (core->arrived_count > 0 ? GBA_STATUS_ACTIVE : 0);
}

static void clear_arrived(struct gba_model_core *core)
{
    memset(core->arrived_mask, 0, sizeof(core->arrived_mask));
    core->arrived_count = 0;
}

/* The record of the control unit is not a part of the configuration. */
void gba_model_reset(struct gba_model_group *group)
{
    uint64_t counters[GBA_COUNTERS];

    memcpy(counters, group->core.counters, sizeof(counters));
    memset(&group->core, 0, sizeof(group->core));
    memcpy(group->core.counters, counters, sizeof(counters));
    memset(group->table, 0, sizeof(group->table));
    memset(group->bound, 0, sizeof(group->bound));
}

void gba_model_prepare(struct gba_model_group *group, uint32_t members)
{
    gba_model_reset(group);
    group->core.member_count = members;
    for (uint32_t word = 0; word < GBA_MASK_WORDS; word++)
        group->core.member_mask[word] = mask_bits(members, word);
}

bool gba_model_is_complete(const struct gba_model_group *group)
{
    for (uint32_t member = 0; member < group->core.member_count; member++) {
        if (group->table[member] == 0)
            return false;
    }
    return true;
}

void gba_model_arm(struct gba_model_group *group, uint32_t sequence)
{
    group->core.sequence = sequence;
    group->core.control = GBA_CONTROL_ENABLE | GBA_CONTROL_ARM | GBA_CONTROL_IRQ_EN;
}

uint32_t gba_model_store_table(struct gba_model_group *group, uint32_t member, uint64_t address)
{
    /* Withdrawing is always allowed, because a member can leave at any time. [TAB-3] */
    if (address != 0 &&
        ((group->core.control & GBA_CONTROL_ENABLE) || address % GBA_TABLE_ENTRY_SIZE))
        return GBA_ERROR_CONFIG;
    group->table[member] = address;
    return GBA_ERROR_NONE;
}

/* Read a register that takes the read. */
uint64_t gba_model_load(const struct gba_model_group *group, uint32_t id, uint32_t offset,
                        uint8_t width)
{
    const struct gba_model_core *core = &group->core;

    switch (offset) {
    case GBA_REG_GROUP_ID:
        return id;
    case GBA_REG_MEMBER_COUNT:
        return core->member_count;
    case GBA_REG_CONTROL:
        return core->control;
    case GBA_REG_STATUS:
        return status_of(core);
    case GBA_REG_ARRIVAL: /* also ARRIVED_COUNT, the low half */
        return width == 4 ? core->arrived_count
                          : (uint64_t)core->sequence << 32 | core->arrived_count;
    case GBA_REG_SEQUENCE:
        return core->sequence;
    case GBA_REG_LAST_ERROR:
        return core->last_error;
    case GBA_REG_GENERATION:
        return group->record.generation;
    default:
        if (offset >= GBA_REG_COUNTERS)
            return core->counters[(offset - GBA_REG_COUNTERS) / 8];
        if (offset >= GBA_REG_ARRIVED_MASK)
            return core->arrived_mask[(offset - GBA_REG_ARRIVED_MASK) / 8];
        return core->member_mask[(offset - GBA_REG_MEMBER_MASK) / 8];
    }
}

/* Store the current sequence to one member, unless it was withdrawn. [REL-2, TAB-3] */
static void release(struct gba_model_group *group, uint32_t member,
                    struct gba_model_effects *effects)
{
    if (group->table[member] == 0)
        return;
    effects->release[effects->releases++] =
        (struct gba_model_release){.address = group->table[member],
                                   .member = member,
                                   .sequence = group->core.sequence,
                                   .port = group->bound[member] - 1u};
    group->core.counters[GBA_COUNTER_RELEASES]++;
}

/* Send the event of a complete round to the ports that requested it. [NOTE-1] */
static void notify_all(struct gba_model *model, uint32_t id, struct gba_model_effects *effects)
{
    struct gba_model_record *record = &model->group[id].record;

    for (uint32_t word = 0; word < GBA_MODEL_PORT_WORDS; word++) {
        for (uint64_t bits = record->notify[word]; bits != 0; bits &= bits - 1)
            gba_model_raise(model, id, word * 64 + (uint32_t)__builtin_ctzll(bits), GBA_IRQ_ROUND,
                            effects);
        record->notify[word] = 0;
    }
    record->notified = 0;
}

static void complete_round(struct gba_model *model, uint32_t id, struct gba_model_effects *effects)
{
    struct gba_model_group *group = &model->group[id];
    struct gba_model_core *core = &group->core;

    /* Clear before the first store: a member that sees its release may arrive for the next round at
     * once, and that arrival must not be cleared. [REL-1] */
    clear_arrived(core);
    core->sequence++;
    core->status |= GBA_STATUS_COMPLETE;
    core->counters[GBA_COUNTER_ROUNDS]++;
    effects->completed = true;
    /* In ascending order. Bit by bit, because most groups have few members. */
    for (uint32_t word = 0; word < GBA_MASK_WORDS; word++)
        for (uint64_t bits = core->member_mask[word]; bits != 0; bits &= bits - 1)
            release(group, word * 64 + (uint32_t)__builtin_ctzll(bits), effects);
    if (group->record.notified != 0)
        notify_all(model, id, effects);
}

/* Take an arrival for the current round. [ARR-3, ARR-4] */
static void arrive_now(struct gba_model *model, uint32_t id, uint32_t member,
                       struct gba_model_effects *effects)
{
    struct gba_model_core *core = &model->group[id].core;

    if (mask_has(core->arrived_mask, member)) {
        core->counters[GBA_COUNTER_REPEATS]++;
        return;
    }
    core->arrived_mask[member / 64] |= 1ull << (member % 64);
    core->arrived_count++;
    core->status &= ~GBA_STATUS_COMPLETE;
    core->counters[GBA_COUNTER_ARRIVALS]++;
    /* Each arrived bit is that of a member, so equal counts mean equal masks. */
    if (core->arrived_count == core->member_count)
        complete_round(model, id, effects);
}

/* What an arrival and a NOTIFY of that member through that port have in common. The order of the
 * checks is the precedence of the errors. [ARR-2] */
static uint32_t check_member(const struct gba_model_group *group, uint64_t value, uint32_t port)
{
    uint32_t member = GBA_ARRIVAL_MEMBER(value);

    if (!is_ready(&group->core))
        return GBA_ERROR_DISABLED;
    if (GBA_ARRIVAL_GENERATION(value) != (group->record.generation & 0xFFFFu))
        return GBA_ERROR_MEMBER;
    if (member >= GBA_MEMBERS_MAX || !mask_has(group->core.member_mask, member))
        return GBA_ERROR_MEMBER;
    return gba_model_is_bound(group, member, port) ? GBA_ERROR_NONE : GBA_ERROR_MEMBER;
}

void gba_model_arrive(struct gba_model *model, uint32_t id, uint32_t port, uint64_t value,
                      struct gba_model_effects *effects)
{
    struct gba_model_group *group = &model->group[id];
    struct gba_model_core *core = &group->core;
    uint32_t sequence = GBA_ARRIVAL_SEQ(value);
    uint32_t member = GBA_ARRIVAL_MEMBER(value);
    uint32_t error = check_member(group, value, port);

    gba_model_clear(effects);
    if (error != GBA_ERROR_NONE) {
        gba_model_report(model, id, port, error, effects);
    } else if (sequence == core->sequence + 1) {
        arrive_now(model, id, member, effects);
    } else if (sequence == core->sequence) {
        /* A retry after the release was lost: store the release again. [ARR-5] */
        core->counters[GBA_COUNTER_LATE]++;
        release(group, member, effects);
    } else {
        gba_model_report(model, id, port, GBA_ERROR_SEQUENCE, effects);
    }
}

void gba_model_notify(struct gba_model *model, uint32_t id, uint32_t port, uint64_t value,
                      struct gba_model_effects *effects)
{
    struct gba_model_group *group = &model->group[id];
    uint32_t sequence = GBA_ARRIVAL_SEQ(value);
    uint32_t error = check_member(group, value, port);
    uint64_t *word = &group->record.notify[port / 64];

    if (error != GBA_ERROR_NONE) {
        gba_model_report(model, id, port, error, effects);
    } else if (sequence == group->core.sequence + 1) {
        group->record.notified += (*word >> (port % 64) & 1) == 0;
        *word |= 1ull << (port % 64);
    } else if (sequence == group->core.sequence) {
        /* Complete already, so the event is due now: the member may have looked at its flag before
         * the release, and sleeps next. [NOTE-2] */
        gba_model_raise(model, id, port, GBA_IRQ_ROUND, effects);
    } else {
        gba_model_report(model, id, port, GBA_ERROR_SEQUENCE, effects);
    }
}
