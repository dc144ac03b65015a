/* SPDX-License-Identifier: BSD-3-Clause */
/* Quotas of users and jobs, and the reasons for which memberships ended. The control unit of the
 * device has neither. */
#include <string.h>

#include "sim/switch/core/state.h"

static bool same_user(const struct gba_switch_identity *a, const struct gba_switch_identity *b)
{
    return a->user == b->user && a->local == b->local;
}

/* Two ports without a job, such as those of virtual machines, share no job. */
static bool same_job(const struct gba_switch_identity *a, const struct gba_switch_identity *b)
{
    return same_user(a, b) && a->job != 0 && a->job == b->job;
}

bool gba_switch_sees(const struct gba_switch_identity *viewer,
                     const struct gba_switch_identity *other)
{
    return viewer == NULL || (viewer->local ? same_user(viewer, other) : same_job(viewer, other));
}

bool gba_switch_at_limit(const struct gba_switch *device, uint32_t port)
{
    const struct gba_switch_config *config = &device->config;
    const struct gba_switch_identity *own = &device->port[port].identity;
    uint32_t user = 0, job = 0;

    if (config->user_quota == 0 && config->job_quota == 0)
        return false;
    for (uint32_t group = 0; group < device->model.groups; group++) {
        const struct gba_switch_identity *other = &device->owner[group];

        if (device->model.group[group].record.life == GBA_LIFE_FREE)
            continue;
        user += same_user(own, other);
        job += same_job(own, other);
    }
    return (config->user_quota != 0 && user >= config->user_quota) ||
           (config->job_quota != 0 && job >= config->job_quota);
}

bool gba_switch_at_port_limit(const struct gba_switch *device,
                              const struct gba_switch_identity *identity)
{
    const struct gba_switch_config *config = &device->config;
    uint32_t user = 0, job = 0;

    if (config->user_ports == 0 && config->job_ports == 0)
        return false;
    for (uint32_t port = 0; port < device->ports_used; port++) {
        const struct gba_switch_identity *other = &device->port[port].identity;

        if (!device->port[port].attached)
            continue;
        user += same_user(identity, other);
        job += same_job(identity, other);
    }
    return (config->user_ports != 0 && user >= config->user_ports) ||
           (config->job_ports != 0 && job >= config->job_ports);
}

/* --- Ended memberships --- */

static void end_member(struct gba_switch *device, uint32_t group, uint32_t member, uint32_t port,
                       uint32_t end)
{
    const struct gba_switch_identity *identity = &device->port[port].identity;
    struct gba_switch_former *former = &device->former[group][member];

    former->end = end;
    former->port = port;
    former->user = *identity;
}

/* Record the end of all memberships of a port in a group. */
static void end_members(struct gba_switch *device, uint32_t group, uint32_t port, uint32_t end)
{
    const struct gba_model_group *g = &device->model.group[group];

    for (uint32_t member = 0; member < g->record.members; member++) {
        if (g->bound[member] == 1 + port)
            end_member(device, group, member, port, end);
    }
}

void gba_switch_note_command(struct gba_switch *device, uint32_t port, uint32_t command)
{
    const struct gba_model_port *bank = &device->model.port[port];
    uint32_t group = bank->group;

    if (group >= device->model.groups ||
        device->model.group[group].record.generation != bank->generation)
        return;
    if (command == GBA_CMD_LEAVE && bank->member < GBA_MEMBERS_MAX &&
        device->model.group[group].bound[bank->member] == 1 + port)
        end_member(device, group, bank->member, port,
                   bank->value == GBA_LEAVE_DIED ? GBA_SWITCH_DIED : GBA_SWITCH_LEFT);
}

void gba_switch_note_down(struct gba_switch *device, uint32_t port)
{
    for (uint32_t group = 0; group < device->model.groups; group++)
        end_members(device, group, port, GBA_SWITCH_LINK_DOWN);
}

void gba_switch_note_alloc(struct gba_switch *device, uint32_t port, uint32_t group)
{
    device->owner[group] = device->port[port].identity;
    device->waiting_since[group] = device->config.now(device->config.context);
    memset(device->former[group], 0, sizeof(device->former[group]));
}

uint64_t gba_switch_waiting(const struct gba_switch *device, uint32_t group)
{
    return device->config.now(device->config.context) - device->waiting_since[group];
}

const struct gba_switch_former *gba_switch_former(const struct gba_switch *device, uint32_t group,
                                                  uint32_t member)
{
    return &device->former[group][member];
}

const struct gba_switch_identity *gba_switch_owner(const struct gba_switch *device, uint32_t group)
{
    return &device->owner[group];
}
