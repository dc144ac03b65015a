/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One group, after the decoding of addresses: the functions of group.c that model.c calls. Each
 * expects an offset at which a register of the group's page begins, and a direction that the
 * register has. Pure. Not thread-safe on one group.
 */
#ifndef GBA_SIM_GROUP_H
#define GBA_SIM_GROUP_H

#include "sim/model/model.h"

/* Clear all fields of the effects but release[]. */
void gba_model_clear(struct gba_model_effects *effects);

/* Count an error and put it into the effects; GBA_ERROR_NONE: do nothing. [ERR-1, ERR-5] */
void gba_model_report(struct gba_model_core *core, uint32_t error,
                      struct gba_model_effects *effects);

/* Write a register other than ARRIVAL, or entry `member` of the release table. Return
 * GBA_ERROR_NONE, or GBA_ERROR_CONFIG: nothing has changed, and nothing is counted yet. */
uint32_t gba_model_store(struct gba_model_group *group, uint32_t offset, uint64_t value);
uint32_t gba_model_store_table(struct gba_model_group *group, uint32_t member, uint64_t address);

/* Read a register of group number `id`. */
uint64_t gba_model_load(const struct gba_model_core *core, uint32_t id, uint32_t offset,
                        uint8_t width);

#endif
