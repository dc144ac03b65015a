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
    return viewer == NULL || same_user(viewer, other);
}

struct use {
    uint32_t user, job;
};

static void use_count(struct use *use, const struct gba_switch_identity *own,
                      const struct gba_switch_identity *other)
{
    use->user += same_user(own, other);
    use->job += same_job(own, other);
}

static bool use_is_over(const struct use *use, uint32_t user_quota, uint32_t job_quota)
{
    return (user_quota != 0 && use->user >= user_quota) ||
           (job_quota != 0 && use->job >= job_quota);
}

bool gba_switch_at_limit(const struct gba_switch *device, uint32_t port)
{
    struct use use = {0, 0};

    for (uint32_t group = 0; group < device->model.groups; group++)
        if (device->model.group[group].record.life != GBA_LIFE_FREE)
            use_count(&use, &device->port[port].identity, &device->owner[group]);
    return use_is_over(&use, device->config.user_quota, device->config.job_quota);
}

bool gba_switch_at_port_limit(const struct gba_switch *device,
                              const struct gba_switch_identity *identity)
{
    struct use use = {0, 0};

    for (uint32_t port = 0; port < device->ports_used; port++)
        if (device->port[port].attached)
            use_count(&use, identity, &device->port[port].identity);
    return use_is_over(&use, device->config.user_ports, device->config.job_ports);
}

/* --- Ended memberships --- */

static void end_member(struct gba_switch *device, uint32_t group, uint32_t member, uint32_t port,
                       uint32_t end)
{
    device->former[group][member] =
        (struct gba_switch_former){.end = end, .port = port, .user = device->port[port].identity};
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
    for (uint32_t group = 0; group < device->model.groups; group++) {
        const struct gba_model_group *g = &device->model.group[group];

        for (uint32_t member = 0; member < g->record.members; member++)
            if (g->bound[member] == 1 + port)
                end_member(device, group, member, port, GBA_SWITCH_LINK_DOWN);
    }
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
