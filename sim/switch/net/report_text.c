/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the switch as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/clock.h"
#include "sim/switch/net/report.h"

/* Print a member that is absent, as a report of a stalled barrier does (gba/base/stall.c). */
static void print_member(FILE *out, uint32_t number, const struct gba_switchd_member *member)
{
    bool runs;

    fprintf(out, "  member %" PRIu32, number);
    if (member->known) {
        fputs(" (", out);
        if (member->pid != 0)
            fprintf(out, "pid %" PRIu32 ", ", member->pid);
        fprintf(out, "port %" PRIu32, member->port);
        if (member->host[0] != '\0')
            fprintf(out, " on %s", member->host);
        fputc(')', out);
    }
    /* What else it may be the absence says. */
    runs = member->process != NULL && 0 == strcmp(member->process, "running");
    fprintf(out, ": %s%s\n", member->absence, runs ? ", running" : "");
}

/* Print the user and the job of a group, if the viewer may know them. */
static void print_owner(FILE *out, const struct gba_switchd_view *view, uint32_t group)
{
    const struct gba_switch_identity *owner = gba_switch_owner(view->daemon->device, group);

    if (!gba_switch_sees(view->viewer, owner))
        return;
    if (owner->user != UINT32_MAX)
        fprintf(out, ", user %" PRIu32, owner->user);
    if (owner->job != 0)
        fprintf(out, ", job %016" PRIx64, owner->job);
    if (owner->batch_job[0] != '\0')
        fprintf(out, ", %s", owner->batch_job);
}

static void print_group(FILE *out, struct gba_switchd_view *view, uint32_t group)
{
    const struct gba_model_group *g = &gba_switch_model(view->daemon->device)->group[group];

    fprintf(out, "group %" PRIu32 ": %s", group, gba_switchd_life(g->record.life));
    if (g->record.life == GBA_LIFE_ARMED)
        fprintf(out, ", round %" PRIu32 ": %" PRIu32 " of %" PRIu32 " members have arrived",
                1 + g->core.sequence, g->core.arrived_count, g->record.members);
    else
        fprintf(out, ", members: %" PRIu32, g->record.members);
    if (g->core.arrived_count != 0)
        fprintf(out, ", waiting for %.1f s",
                (double)gba_switch_waiting(view->daemon->device, group) / 1e9);
    print_owner(out, view, group);
    fputc('\n', out);
    for (uint32_t number = 0; number < g->record.members; number++) {
        struct gba_switchd_member member;

        gba_switchd_member(view, group, number, &member);
        if (member.absence != NULL)
            print_member(out, number, &member);
    }
}

static void print_all(FILE *out, struct gba_switchd_view *view)
{
    const struct gba_switchd *daemon = view->daemon;
    const struct gba_model *model = gba_switch_model(daemon->device);
    uint32_t up = 0, used = 0;

    for (uint32_t port = 0; port < model->ports; port++)
        up += model->port[port].up;
    for (uint32_t group = 0; group < model->groups; group++)
        used += model->group[group].record.life != GBA_LIFE_FREE;
    fprintf(out,
            "switch: %" PRIu32 " of %" PRIu32 " groups in use, %" PRIu32 " of %" PRIu32
            " ports up, running for %" PRIu64 " s\n",
            used, model->groups, up, model->ports,
            (gba_clock_ns() - daemon->started) / 1000000000u);
    for (uint32_t port = 0; port < model->ports; port++) {
        if (gba_switch_lost(daemon->device, port)[0] != '\0')
            fprintf(out, "port %" PRIu32 ": the link to %s is lost\n", port,
                    gba_switch_lost(daemon->device, port));
    }
    for (uint32_t group = 0; group < model->groups; group++) {
        if (model->group[group].record.life != GBA_LIFE_FREE)
            print_group(out, view, group);
    }
}

char *gba_switchd_report_text(struct gba_switchd_view *view, size_t *length)
{
    return gba_switchd_print(view, print_all, length);
}
