/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One group, after the decoding of addresses: the functions of group.c that the control unit and
 * model.c call. Pure. Not thread-safe on one group.
 */
#ifndef GBA_SIM_GROUP_H
#define GBA_SIM_GROUP_H

#include "sim/model/model.h"

/* Write entry `member` of the release table. Returns GBA_ERROR_NONE, or GBA_ERROR_CONFIG: nothing
 * has changed, and nothing is counted yet. */
uint32_t gba_model_store_table(struct gba_model_group *group, uint32_t member, uint64_t address);

/* Reset everything but the counters [CFG-7]. A group is reset at both
 * ends of its life. At the end: no release store may go to memory that was given back. At the
 * start: nothing may depend on how the previous end went. [CMD-2, CMD-5, DRV-2, DRV-6] */
void gba_model_reset(struct gba_model_group *group);

/* Reset the group, and give it the members 0 to members - 1. members: 1 to GBA_MEMBERS_MAX. */
void gba_model_prepare(struct gba_model_group *group, uint32_t members);

/* Read a register of group number `id`. offset: a register that can be read begins there. */
uint64_t gba_model_load(const struct gba_model_group *group, uint32_t id, uint32_t offset,
                        uint8_t width);

/* Whether each member has an address. [CMD-4] */
bool gba_model_is_complete(const struct gba_model_group *group);

/* Take arrivals. sequence: the first round is sequence + 1. [CMD-4] */
void gba_model_arm(struct gba_model_group *group, uint32_t sequence);

/* Make the access "64-bit store of value to GBA_BELL_NOTIFY of group number id" through that port.
 * effects are clear. [NOTE] */
void gba_model_notify(struct gba_model *model, uint32_t id, uint32_t port, uint64_t value,
                      struct gba_model_effects *effects);

#endif
