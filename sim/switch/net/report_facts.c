/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the reports: the text in memory, and the state of members and processes. */
#define _GNU_SOURCE /* open_memstream */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/process.h"
#include "sim/switch/net/report.h"

char *gba_switchd_print(struct gba_switchd_view *view,
                        void (*print)(FILE *out, struct gba_switchd_view *view), size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    bool bad;

    *length = 0;
    if (out == NULL)
        return NULL;
    print(out, view);
    bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad) {
        free(text);
        *length = 0;
        return NULL;
    }
    return text;
}

/* In view->process: it was read, but is not known. */
static const char unknown[] = "";

static const char *read_process(uint32_t number)
{
    static const char *const names[] = {[GBA_PROCESS_UNKNOWN] = unknown,
                                        [GBA_PROCESS_RUNNING] = "running",
                                        [GBA_PROCESS_STOPPED] = "stopped",
                                        [GBA_PROCESS_GONE] = "gone"};
    struct gba_process process;

    gba_process_read(number, &process);
    return names[process.state];
}

const char *gba_switchd_process(struct gba_switchd_view *view, uint32_t port)
{
    const struct gba_switch_identity *user = gba_switch_user(view->daemon->device, port);

    if (view->process[port] != NULL)
        return view->process[port] == unknown ? NULL : view->process[port];
    /* The kernel reports process 0 for one of a PID namespace that is not below that of the daemon.
     */
    if (!user->local || user->process == 0)
        return NULL;
    /* A manager can make the connection of a virtual machine, hand it over, and end or stop. */
    if (strcmp(user->kind, "vfio-user") == 0)
        return NULL;
    view->process[port] = read_process(user->process);
    return view->process[port] == unknown ? NULL : view->process[port];
}

static bool has_bit(const uint64_t *mask, uint32_t member)
{
    return (mask[member / 64] >> member % 64 & 1) != 0;
}

static const char *member_state(const struct gba_model_group *group, uint32_t member,
                                const struct gba_switch_former *former)
{
    static const char *const ends[] = {[GBA_SWITCH_NOT_ENDED] = "left",
                                       [GBA_SWITCH_LEFT] = "left",
                                       [GBA_SWITCH_DIED] = "died",
                                       [GBA_SWITCH_LINK_DOWN] = "link down"};

    switch (group->record.membership[member]) {
    case GBA_MEMBERSHIP_EMPTY:
        return "not joined";
    case GBA_MEMBERSHIP_LEFT:
        return ends[former->end];
    default:
        break;
    }
    if (has_bit(group->core.arrived_mask, member))
        return "arrived";
    if (group->core.arrived_count != 0)
        return "missing";
    return group->table[member] == 0 ? "joined" : "ready";
}

const char *gba_switchd_life(uint32_t life)
{
    static const char *const lives[] = {
        [GBA_LIFE_FREE] = "free", [GBA_LIFE_ALLOCATED] = "allocated", [GBA_LIFE_ARMED] = "armed"};

    return lives[life];
}

static bool is_process(const struct gba_switchd_member *member, const char *state)
{
    return member->process != NULL && strcmp(member->process, state) == 0;
}

/* Set absence and fault of a member whose other fields are set. */
static void judge(const struct gba_switchd_view *view, uint32_t group, uint32_t membership,
                  struct gba_switchd_member *member)
{
    const struct gba_switch *device = view->daemon->device;
    bool waiting = gba_switch_model(device)->group[group].core.arrived_count != 0;
    bool missing = strcmp(member->state, "missing") == 0;
    bool overdue = view->late_ms != 0 &&
                   gba_switch_waiting(device, group) >= view->late_ms * UINT64_C(1000000);

    if (membership == GBA_MEMBERSHIP_LEFT) {
        member->absence = member->state;
        member->fault = waiting || strcmp(member->state, "left") != 0;
    } else if (is_process(member, "gone")) {
        member->absence = "has ended";
        member->fault = true;
    } else if (missing && is_process(member, "stopped")) {
        member->absence = "is stopped";
        member->fault = true;
    } else if (missing || membership == GBA_MEMBERSHIP_EMPTY) {
        member->absence = missing ? "late" : member->state;
        member->fault = overdue;
    }
}

static uint32_t pid_of(const struct gba_switchd_view *view, const struct gba_switch_identity *user)
{
    return gba_switch_sees(view->viewer, user) ? user->process : 0;
}

void gba_switchd_member(struct gba_switchd_view *view, uint32_t group, uint32_t number,
                        struct gba_switchd_member *member)
{
    const struct gba_switchd *daemon = view->daemon;
    const struct gba_model_group *g = &gba_switch_model(daemon->device)->group[group];
    const struct gba_switch_former *former = gba_switch_former(daemon->device, group, number);
    const struct gba_switch_identity *user =
        g->bound[number] == 0 ? NULL : gba_switch_user(daemon->device, g->bound[number] - 1u);

    *member = (struct gba_switchd_member){.state = member_state(g, number, former),
                                          .host = former->user.host,
                                          .port = former->port,
                                          .pid = pid_of(view, &former->user),
                                          .known = former->end != GBA_SWITCH_NOT_ENDED};
    if (user != NULL) {
        member->known = true;
        member->host = user->host;
        member->port = g->bound[number] - 1u;
        member->pid = pid_of(view, user);
        member->process = gba_switchd_process(view, member->port);
    }
    judge(view, group, g->record.membership[number], member);
    view->faults += member->fault;
}
