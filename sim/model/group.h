/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One group, behind the decoding of addresses: what model.c calls in group.c. All of these expect
 * an offset that a register of the group's page begins at, and a direction that it has.
 */
#ifndef GBA_SIM_GROUP_H
#define GBA_SIM_GROUP_H

#include "sim/model/model.h"

/* Nothing happened yet: all fields of the effects but release[]. */
void gba_model_clear(struct gba_model_effects *effects);

/* Count an error (or GBA_ERROR_NONE: do nothing) and put it into the effects. [ERR-1, ERR-5] */
void gba_model_report(struct gba_model_core *core, uint32_t error,
                      struct gba_model_effects *effects);

/* Write a register other than ARRIVAL, or entry `member` of the release table. Return
 * GBA_ERROR_NONE or GBA_ERROR_CONFIG, then nothing has changed and nothing is counted yet. */
uint32_t gba_model_store(struct gba_model_group *group, uint32_t offset, uint64_t value);
uint32_t gba_model_store_table(struct gba_model_group *group, uint32_t member, uint64_t address);

/* Read a register of group number `id`. */
uint64_t gba_model_load(const struct gba_model_core *core, uint32_t id, uint32_t offset,
                        uint8_t width);

#endif
