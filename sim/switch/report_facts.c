/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the reports: the text in memory, and the state of members and processes. */
#define _GNU_SOURCE /* open_memstream */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/switch/report.h"

char *gba_switchd_print(const struct gba_switchd *daemon,
                        void (*print)(FILE *out, struct gba_switchd_view *view), size_t *length)
{
    struct gba_switchd_view view = {.daemon = daemon};
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    bool bad;

    *length = 0;
    if (out == NULL)
        return NULL;
    print(out, &view);
    bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad) {
        free(text);
        *length = 0;
        return NULL;
    }
    return text;
}

/* From the state in /proc/PID/stat: "PID (NAME) STATE ...". */
static const char *read_process(uint32_t process)
{
    char path[64], line[512], *state = NULL;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", process);
    file = fopen(path, "re");
    if (file == NULL)
        return "gone";
    if (fgets(line, sizeof(line), file) != NULL)
        state = strrchr(line, ')');
    fclose(file);
    if (state == NULL || strlen(state) < 3)
        return "gone";
    switch (state[2]) {
    case 'T':
    case 't':
        return "stopped";
    case 'Z':
    case 'X':
        return "gone";
    default:
        return "running";
    }
}

const char *gba_switchd_process(struct gba_switchd_view *view, uint32_t port)
{
    const struct gba_switch_identity *user = gba_switch_user(view->daemon->device, port);

    if (!user->local)
        return NULL;
    if (view->process[port] == NULL)
        view->process[port] = read_process(user->process);
    return view->process[port];
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
    static const char *const lives[] = {[GBA_LIFE_FREE] = "free",
                                        [GBA_LIFE_ALLOCATED] = "allocated",
                                        [GBA_LIFE_ARMED] = "armed",
                                        [GBA_LIFE_TAKEN] = "taken back"};

    return lives[life];
}

/* A member with a membership is absent only while another member has arrived in the round. */
static bool is_absent(const struct gba_model_group *group, uint32_t member)
{
    if (group->record.membership[member] != GBA_MEMBERSHIP_JOINED)
        return true;
    return group->core.arrived_count != 0 && !has_bit(group->core.arrived_mask, member);
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
                                          .host = former->host,
                                          .port = former->port,
                                          .pid = former->process,
                                          .known = former->end != GBA_SWITCH_NOT_ENDED,
                                          .absent = is_absent(g, number)};
    if (user == NULL)
        return;
    member->known = true;
    member->host = user->host;
    member->port = g->bound[number] - 1u;
    member->pid = user->process;
    member->process = gba_switchd_process(view, member->port);
}

uint32_t gba_switchd_absent(const struct gba_switchd *daemon)
{
    const struct gba_model *model = gba_switch_model(daemon->device);
    uint32_t absent = 0;

    for (uint32_t group = 0; group < model->groups; group++) {
        const struct gba_model_group *g = &model->group[group];

        for (uint32_t member = 0; member < g->record.members; member++)
            absent += is_absent(g, member);
    }
    return absent;
}
