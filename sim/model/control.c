/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/model/control.h"

#include <string.h>

#include "sim/model/event.h"
#include "sim/model/group.h"

/* The group of a handle, or NULL: stale, because no allocation has that generation now. [CMD-1] */
static struct gba_model_group *find(struct gba_model *model, uint32_t group, uint32_t generation)
{
    struct gba_model_group *g = group < model->groups ? &model->group[group] : NULL;

    if (g == NULL || g->record.life == GBA_LIFE_FREE || g->record.generation != generation)
        return NULL;
    return g;
}

static bool is_present(const struct gba_model_group *g, uint32_t member, uint32_t port)
{
    return member < g->record.members && g->bound[member] == 1 + port;
}

static bool has_member(const struct gba_model_group *g, uint32_t port)
{
    for (uint32_t member = 0; member < g->record.members; member++) {
        if (is_present(g, member, port))
            return true;
    }
    return false;
}

/* Events for all ports with a member in the group, except one. */
static void raise_others(struct gba_model *model, uint32_t group, uint32_t except, uint32_t events,
                         struct gba_model_effects *effects)
{
    const struct gba_model_group *g = &model->group[group];

    for (uint32_t member = 0; member < g->record.members; member++) {
        if (g->bound[member] != 0 && g->bound[member] != 1 + except)
            gba_model_raise(model, group, g->bound[member] - 1u, events, effects);
    }
}

static void forget_notify(struct gba_model_record *record, uint32_t port)
{
    uint64_t bit = 1ull << (port % 64);

    record->notified -= (record->notify[port / 64] & bit) != 0;
    record->notify[port / 64] &= ~bit;
}

static void forget_all_notify(struct gba_model_record *record)
{
    memset(record->notify, 0, sizeof(record->notify));
    record->notified = 0;
}

/* Events stay: a host may not have seen them yet. */
static void free_group(struct gba_model *model, uint32_t group)
{
    struct gba_model_group *g = &model->group[group];
    struct gba_model_record *record = &g->record;

    gba_model_reset(g);
    forget_all_notify(record);
    memset(record->membership, 0, record->members * sizeof(record->membership[0]));
    record->life = GBA_LIFE_FREE; /* the generation stays: the next one must differ */
    record->key = 0;
    record->members = 0;
    record->joined = 0;
    record->holder = 0;
}

/* Withdraw first: from here on no release goes to that member, and no arrival for it is taken. */
static void drop(struct gba_model_group *g, uint32_t member)
{
    gba_model_store_table(g, member, 0);
    g->bound[member] = 0;
    g->record.membership[member] = GBA_MEMBERSHIP_LEFT;
    g->record.present--;
}

/* Drop all members of a port. Returns their number. */
static uint32_t drop_all(struct gba_model_group *g, uint32_t port)
{
    uint32_t dropped = 0;

    for (uint32_t member = 0; member < g->record.members; member++) {
        if (is_present(g, member, port)) {
            drop(g, member);
            dropped++;
        }
    }
    return dropped;
}

static void free_if_empty(struct gba_model *model, uint32_t group)
{
    const struct gba_model_record *record = &model->group[group].record;

    if (record->joined != 0 && record->present == 0)
        free_group(model, group);
}

uint32_t gba_control_held(const struct gba_model *model, uint32_t port)
{
    uint32_t held = 0;

    for (uint32_t group = 0; group < model->groups; group++)
        held += model->group[group].record.holder == 1 + port;
    return held;
}

uint32_t gba_control_groups_free(const struct gba_model *model)
{
    uint32_t free = 0;

    for (uint32_t group = 0; group < model->groups; group++)
        free += model->group[group].record.life == GBA_LIFE_FREE;
    return free;
}

uint32_t gba_control_alloc(struct gba_model *model, uint32_t port, uint32_t *group,
                           uint32_t members, uint64_t key)
{
    uint32_t quota = model->port[port].quota, id = *group;
    struct gba_model_record *record;

    if (members < 1 || members > GBA_MEMBERS_MAX || (id != GBA_GROUP_ANY && id >= model->groups))
        return GBA_RESULT_PARAM;
    if (quota != 0 && gba_control_held(model, port) >= quota)
        return GBA_RESULT_LIMIT;
    if (id == GBA_GROUP_ANY)
        for (id = 0; id < model->groups && model->group[id].record.life != GBA_LIFE_FREE;)
            id++;
    if (id == model->groups || model->group[id].record.life != GBA_LIFE_FREE)
        return GBA_RESULT_NO_GROUP;
    record = &model->group[id].record;
    gba_model_prepare(&model->group[id], members);
    record->life = GBA_LIFE_ALLOCATED;
    record->generation++;
    record->key = key;
    record->members = members;
    record->holder = 1 + port;
    *group = id;
    return GBA_RESULT_OK;
}

uint32_t gba_control_join(struct gba_model *model, uint32_t port, uint32_t group,
                          uint32_t generation, uint64_t key, uint32_t member)
{
    struct gba_model_group *g = find(model, group, generation);

    if (g == NULL || g->record.key != key)
        return GBA_RESULT_STALE;
    if (member >= g->record.members)
        return GBA_RESULT_PARAM;
    /* A membership that was left stays taken: the team has failed to agree, or is ending. */
    if (g->record.membership[member] != GBA_MEMBERSHIP_EMPTY)
        return GBA_RESULT_BUSY;
    g->record.membership[member] = GBA_MEMBERSHIP_JOINED;
    g->bound[member] = (uint16_t)(1 + port);
    g->record.present++;
    g->record.joined = 1;
    return GBA_RESULT_OK;
}

uint32_t gba_control_arm(struct gba_model *model, uint32_t port, uint32_t group,
                         uint32_t generation, uint32_t sequence)
{
    struct gba_model_group *g = find(model, group, generation);

    if (g == NULL)
        return GBA_RESULT_STALE;
    if (!has_member(g, port))
        return GBA_RESULT_PARAM;
    /* Complete: each member has joined, given an address, and not left. */
    if (g->record.life == GBA_LIFE_ARMED || !gba_model_is_complete(g))
        return GBA_RESULT_BUSY;
    gba_model_arm(g, sequence);
    g->record.life = GBA_LIFE_ARMED;
    return GBA_RESULT_OK;
}

uint32_t gba_control_leave(struct gba_model *model, uint32_t port, uint32_t group,
                           uint32_t generation, uint32_t member, uint32_t how,
                           struct gba_model_effects *effects)
{
    struct gba_model_group *g = find(model, group, generation);

    if (g == NULL)
        return GBA_RESULT_STALE;
    if (!is_present(g, member, port) || how > GBA_LEAVE_DIED)
        return GBA_RESULT_PARAM;
    drop(g, member);
    if (!has_member(g, port))
        forget_notify(&g->record, port);
    if (how == GBA_LEAVE_DIED)
        raise_others(model, group, port, GBA_IRQ_DIED, effects);
    free_if_empty(model, group);
    return GBA_RESULT_OK;
}

uint32_t gba_control_free(struct gba_model *model, uint32_t port, uint32_t group,
                          uint32_t generation)
{
    struct gba_model_group *g = find(model, group, generation);

    if (g == NULL)
        return GBA_RESULT_STALE;
    if (g->record.holder != 1 + port || g->record.joined != 0)
        return GBA_RESULT_PARAM;
    free_group(model, group);
    return GBA_RESULT_OK;
}

uint32_t gba_control_member(const struct gba_model *model, uint32_t group, uint32_t generation,
                            uint32_t member, uint32_t *value)
{
    const struct gba_model_group *g = group < model->groups ? &model->group[group] : NULL;
    uint32_t state, port = 0;

    if (g == NULL || g->record.life == GBA_LIFE_FREE || g->record.generation != generation)
        return GBA_RESULT_STALE;
    if (member >= g->record.members)
        return GBA_RESULT_PARAM;
    state = g->record.membership[member];
    if (state == GBA_MEMBERSHIP_JOINED) {
        port = g->bound[member] - 1u;
        if (g->table[member] != 0)
            state = GBA_MEMBERSHIP_MAPPED;
    }
    *value = port << 16 | state;
    return GBA_RESULT_OK;
}

void gba_control_port_leave(struct gba_model *model, uint32_t port, uint32_t group,
                            struct gba_model_effects *effects)
{
    struct gba_model_record *record = &model->group[group].record;
    bool joined = record->joined != 0;

    forget_notify(record, port);
    if (drop_all(&model->group[group], port) != 0)
        raise_others(model, group, port, GBA_IRQ_PORT_DOWN, effects);
    if (record->holder == 1 + port) {
        record->holder = 0;
        if (!joined)
            free_group(model, group);
    }
    free_if_empty(model, group);
    record->events[port] = 0;
}
