/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control unit: allocates groups to ports, and binds members to ports. It is the only authority
 * over groups. Pure. Not thread-safe on one group.
 *
 * Each command is a function that port.c calls after it has decoded the mailbox. It takes the port
 * of the access and returns GBA_RESULT_*. A command that fails changes nothing. The rules in the
 * comments are those of device.md, chapter "Commands". group: any number.
 */
#ifndef GBA_SIM_CONTROL_H
#define GBA_SIM_CONTROL_H

#include "sim/model/model.h"

/* Allocate a group. *group: the wanted one, or GBA_GROUP_ANY; becomes the allocated one. [CMD-2] */
uint32_t gba_control_alloc(struct gba_model *model, uint32_t port, uint32_t *group,
                           uint32_t members, uint64_t key);

/* Bind a member to the port. [CMD-3] */
uint32_t gba_control_join(struct gba_model *model, uint32_t port, uint32_t group,
                          uint32_t generation, uint64_t key, uint32_t member);

/* Arm the group. [CMD-4] */
uint32_t gba_control_arm(struct gba_model *model, uint32_t port, uint32_t group,
                         uint32_t generation, uint32_t sequence);

/* Withdraw a member for good. how: 0 or GBA_LEAVE_DIED. [CMD-5] */
uint32_t gba_control_leave(struct gba_model *model, uint32_t port, uint32_t group,
                           uint32_t generation, uint32_t member, uint32_t how,
                           struct gba_model_effects *effects);

/* Give up an allocation without any JOIN. [CMD-6] */
uint32_t gba_control_free(struct gba_model *model, uint32_t port, uint32_t group,
                          uint32_t generation);

/* Report a membership as the value of GBA_CMD_MEMBER. [CMD-9] */
uint32_t gba_control_member(const struct gba_model *model, uint32_t group, uint32_t generation,
                            uint32_t member, uint32_t *value);

/* Withdraw all members of a port from one group, and give up the group if the port allocated it, as
 * the link of the port goes down. [PORT-4] */
void gba_control_port_leave(struct gba_model *model, uint32_t port, uint32_t group,
                            struct gba_model_effects *effects);

/* Groups that the port holds, and groups that are free. */
uint32_t gba_control_held(const struct gba_model *model, uint32_t port);
uint32_t gba_control_groups_free(const struct gba_model *model);

#endif
