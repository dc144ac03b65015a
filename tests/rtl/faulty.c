/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A design with faults, which the suite must find: the model, except that
 * - a member that arrives late gets no second release store [ARR-5],
 * - the arrived mask is cleared after the stores of a round, so it loses the first arrival of the
 * next round, made by a member that was released first [REL-1],
 * - an address can be changed while arrivals are taken [TAB-4].
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

void gba_model_access(struct gba_model *model, const struct gba_model_access *access,
                      struct gba_model_effects *effects)
{
    int group = gba_model_group_of(model, access->address);
    uint64_t late = late_of(model, group);
    uint32_t control = group < 0 ? 0 : model->group[group].core.control;
    uint32_t offset = access->address - GBA_TABLE_BASE - (uint32_t)group * GBA_TABLE_STRIDE;
    bool in_table = group >= 0 && access->address >= GBA_TABLE_BASE &&
                    access->address < GBA_DOORBELL_BASE && offset / 8 < GBA_MEMBERS_MAX;

    if (has("TAB-4") && in_table && access->write)
        model->group[group].core.control = 0;
    gba_firmware_access(model, access, effects);
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
