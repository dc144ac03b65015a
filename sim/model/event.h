/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: the groups that concern a port, its events and interrupts, and the counting of errors,
 * which depends on both. Pure. Not thread-safe on one group.
 */
#ifndef GBA_SIM_EVENT_H
#define GBA_SIM_EVENT_H

#include "sim/model/model.h"

/* Clear all fields of the effects but release[] and interrupts[]. The latter is cleared by the
 * first interrupt, because an arrival must stay cheap. */
void gba_model_clear(struct gba_model_effects *effects);

/* Whether that member, below GBA_MEMBERS_MAX, is bound to that port. [PORT-5] */
bool gba_model_is_bound(const struct gba_model_group *group, uint32_t member, uint32_t port);

/* Whether the port has a member in the group, or holds it as its allocator. [PORT-2] */
bool gba_model_concerns(const struct gba_model_group *group, uint32_t port);

/* Set events of a group at a port. Interrupts if one of them is new. [IRQ-1, IRQ-3] */
void gba_model_raise(struct gba_model *model, uint32_t group, uint32_t port, uint32_t events,
                     struct gba_model_effects *effects);

/* Interrupt a port. */
void gba_model_interrupt(uint32_t port, struct gba_model_effects *effects);

/* Count an error in the group. GBA_ERROR_NONE: do nothing. [ERR-1] */
void gba_model_count(struct gba_model_core *core, uint32_t error);

/* Count an error of an access to the group, and put it into the effects; GBA_ERROR_NONE: do
 * nothing. [ERR-1, ERR-5, PORT-2] */
void gba_model_report(struct gba_model *model, uint32_t group, uint32_t port, uint32_t error,
                      struct gba_model_effects *effects);

#endif
