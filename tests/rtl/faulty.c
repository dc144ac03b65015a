/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A design with faults, which the suite must find: the model, except that
 * - a member that arrives late gets no second release store [ARR-5],
 * - the arrived mask is cleared after the stores of a round, so it loses the first arrival of the
 * next round, made by a member that was released first [REL-1],
 * - an address can be changed while arrivals are taken [TAB-4],
 * - a JOIN takes any key [CMD-3],
 * - the generation of an arrival does not count [ARR-2],
 * - the bits of a sequence above bit 23 do not count [ARR-6],
 * - counters and generations have 8 bits [CNT-2, CMD-2].
 * GBA_DUT_FAULTS: the rules of those that are present, all by default; "none" for a design without
 * one.
 */
#include <stdlib.h>
#include <string.h>

#include "gba/spec/gba_dut.h"
#include "tests/rtl/arrive.h"

static bool has(const char *rule)
{
    const char *faults = getenv("GBA_DUT_FAULTS");

    return faults == NULL || strstr(faults, rule) != NULL;
}

static int lost = -1; /* the group that loses its next arrival */

static uint64_t late_of(const struct gba_model *model, int group)
{
    return group < 0 ? 0 : model->group[group].core.counters[GBA_COUNTER_LATE];
}

/* Before an access that they concern. */
static void plant(struct gba_model *model, struct gba_model_access *access)
{
    struct gba_model_port *bank = &model->port[access->port % GBA_PORTS_MAX];
    uint32_t group = (access->address - GBA_DOORBELL_BASE) / GBA_DOORBELL_STRIDE;

    if (has("CMD-3") && access->address == GBA_PORT_REG(GBA_PORT_COMMAND) &&
        access->value == GBA_CMD_JOIN && bank->group < model->groups)
        bank->key = model->group[bank->group].record.key;
    if (has("ARR-2") && access->address >= GBA_DOORBELL_BASE && group < model->groups)
        access->value =
            GBA_ARRIVAL(GBA_ARRIVAL_SEQ(access->value), model->group[group].record.generation,
                        GBA_ARRIVAL_MEMBER(access->value));
    if (has("ARR-6") && access->address >= GBA_DOORBELL_BASE && group < model->groups)
        access->value = (access->value & 0x00FFFFFFFFFFFFFFull) |
                        (uint64_t)(model->group[group].core.sequence >> 24) << 56;
}

static void cut(struct gba_model *model)
{
    for (uint32_t group = 0; group < model->groups; group++) {
        for (uint32_t i = 0; has("CNT-2") && i < GBA_COUNTERS; i++)
            model->group[group].core.counters[i] %= 256;
        if (has("CMD-2"))
            model->group[group].record.generation %= 256;
    }
    for (uint32_t port = 0; has("CMD-2") && port < model->ports; port++)
        model->port[port].generation %= 256;
}

void gba_model_access(struct gba_model *model, const struct gba_model_access *access,
                      struct gba_model_effects *effects)
{
    struct gba_model_access planted = *access;
    int group = gba_model_group_of(model, access->address);
    uint64_t late = late_of(model, group);
    uint32_t control = group < 0 ? 0 : model->group[group].core.control;
    uint32_t offset = access->address - GBA_TABLE_BASE - (uint32_t)group * GBA_TABLE_STRIDE;
    bool in_table = group >= 0 && access->address >= GBA_TABLE_BASE &&
                    access->address < GBA_DOORBELL_BASE && offset / 8 < GBA_MEMBERS_MAX;

    if (has("TAB-4") && in_table && access->write)
        model->group[group].core.control = 0;
    plant(model, &planted);
    gba_firmware_access(model, &planted, effects);
    cut(model);
    if (in_table && group >= 0)
        model->group[group].core.control |= control;
    if (has("ARR-5") && late_of(model, group) != late)
        effects->releases = 0;
    if (has("REL-1") && group >= 0 && lost == group &&
        model->group[group].core.arrived_count == 1) {
        memset(model->group[group].core.arrived_mask, 0, sizeof model->group[0].core.arrived_mask);
        model->group[group].core.arrived_count = 0;
        lost = -1;
    }
    if (effects->completed && access->write)
        lost = group;
}

void gba_model_init(struct gba_model *model, uint32_t groups, uint32_t ports,
                    const uint64_t uuid[2])
{
    lost = -1;
    gba_firmware_init(model, groups, ports, uuid);
}
