/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the switch as JSON. */
#include "sim/switch/net/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/clock.h"
#include "gba/base/json.h"
#include "gba/types.h"

static void print_port(FILE *out, struct gba_switchd_view *view, uint32_t port,
                       const struct gba_switch_identity *user)
{
    const struct gba_model *model = gba_switch_model(view->daemon->device);
    const char *process = gba_switchd_process(view, port);
    uint32_t held = 0;

    for (uint32_t group = 0; group < model->groups; group++)
        held += model->group[group].record.holder == 1 + port;
    fprintf(out, "{\"port\":%" PRIu32 ",\"kind\":\"%s\",\"host\":", port, user->kind);
    gba_json_text(out, user->host);
    if (gba_switch_sees(view->viewer, user))
        fprintf(out, ",\"user\":%" PRIu32 ",\"pid\":%" PRIu32 ",\"job\":\"%016" PRIx64 "\"",
                user->user, user->process, user->job);
    if (gba_switch_sees(view->viewer, user) && user->batch_job[0] != '\0') {
        fputs(",\"batch_job\":", out);
        gba_json_text(out, user->batch_job);
    }
    if (process != NULL)
        fprintf(out, ",\"process\":\"%s\"", process);
    fprintf(out, ",\"groups_held\":%" PRIu32 ",\"quota\":%" PRIu32 "}", held,
            model->port[port].quota);
}

static void print_member(FILE *out, struct gba_switchd_view *view, uint32_t group, uint32_t number)
{
    struct gba_switchd_member member;

    gba_switchd_member(view, group, number, &member);
    fprintf(out, "{\"member\":%" PRIu32 ",\"state\":\"%s\"", number, member.state);
    if (member.known) {
        fprintf(out, ",\"port\":%" PRIu32, member.port);
        if (member.pid != 0)
            fprintf(out, ",\"pid\":%" PRIu32, member.pid);
        fputs(",\"host\":", out);
        gba_json_text(out, member.host);
    }
    if (member.process != NULL)
        fprintf(out, ",\"process\":\"%s\"", member.process);
    if (member.absence != NULL)
        fprintf(out, ",\"absence\":\"%s\",\"fault\":%s", member.absence,
                member.fault ? "true" : "false");
    fputc('}', out);
}

static void print_counters(FILE *out, const uint64_t counters[GBA_COUNTERS])
{
    static const char *const names[GBA_COUNTERS] = {[GBA_COUNTER_ARRIVALS] = "arrivals",
                                                    [GBA_COUNTER_RELEASES] = "releases",
                                                    [GBA_COUNTER_ROUNDS] = "rounds",
                                                    [GBA_COUNTER_REPEATS] = "repeats",
                                                    [GBA_COUNTER_LATE] = "late",
                                                    [GBA_COUNTER_ERR_ACCESS] = "access_errors",
                                                    [GBA_COUNTER_ERR_SEQUENCE] = "sequence_errors",
                                                    [GBA_COUNTER_ERR_MEMBER] = "member_errors",
                                                    [GBA_COUNTER_ERR_DISABLED] = "disabled_errors",
                                                    [GBA_COUNTER_ERR_CONFIG] = "config_errors"};

    for (uint32_t i = 0; i < GBA_COUNTERS; i++)
        fprintf(out, "%s\"%s\":%" PRIu64, i == 0 ? "" : ",", names[i], counters[i]);
}

static void print_group(FILE *out, struct gba_switchd_view *view, uint32_t group)
{
    const struct gba_model_group *g = &gba_switch_model(view->daemon->device)->group[group];

    fprintf(out,
            "{\"group\":%" PRIu32 ",\"state\":\"%s\",\"generation\":%" PRIu32
            ",\"sequence\":%" PRIu32 ",\"members\":%" PRIu32 ",\"joined\":%" PRIu32
            ",\"arrived\":%" PRIu32 ",\"waiting_ms\":%" PRIu64,
            group, gba_switchd_life(g->record.life), g->record.generation, g->core.sequence,
            g->record.members, g->record.present, g->core.arrived_count,
            gba_switch_waiting(view->daemon->device, group) / 1000000u);
    if (g->record.holder != 0)
        fprintf(out, ",\"holder\":%" PRIu32, g->record.holder - 1);
    fputs(",\"counters\":{", out);
    print_counters(out, g->core.counters);
    fputs("},\"member\":[", out);
    for (uint32_t member = 0; member < g->record.members; member++) {
        fputs(member == 0 ? "\n" : ",\n", out);
        print_member(out, view, group, member);
    }
    fputs("]}", out);
}

static void print_device(FILE *out, const struct gba_switchd *daemon)
{
    const struct gba_model *model = gba_switch_model(daemon->device);
    uint8_t uuid[16];

    fprintf(out,
            "{\"version\":\"%d.%d.%d\",\"protocol\":%u,\"registers\":\"%" PRIu32 ".%" PRIu32
            "\",\"uuid\":\"",
            GBA_VERSION_MAJOR, GBA_VERSION_MINOR, GBA_VERSION_PATCH, GBA_SWITCH_PROTOCOL,
            model->version >> 16, model->version & 0xFFFF);
    gba_model_uuid(model, uuid);
    for (unsigned i = 0; i < sizeof(uuid); i++)
        fprintf(out, "%02x", uuid[i]);
    fprintf(out,
            "\",\"uptime_s\":%" PRIu64 ",\"groups_total\":%" PRIu32 ",\"ports_total\":%" PRIu32
            ",\"bad_accesses\":%" PRIu64 ",\"accepted\":%" PRIu64 ",\"refused\":%" PRIu64
            ",\"dropped\":%" PRIu64,
            (gba_clock_ns() - daemon->started) / 1000000000u, model->groups, model->ports,
            model->bad_access, daemon->accepted, daemon->refused, daemon->dropped);
}

static void print_all(FILE *out, struct gba_switchd_view *view)
{
    const struct gba_switchd *daemon = view->daemon;
    const struct gba_model *model = gba_switch_model(daemon->device);
    bool first = true;

    print_device(out, daemon);
    fputs(",\n\"ports\":[", out);
    for (uint32_t port = 0; port < model->ports; port++) {
        const struct gba_switch_identity *user = gba_switch_user(daemon->device, port);

        if (user == NULL)
            continue;
        fputs(first ? "\n" : ",\n", out);
        print_port(out, view, port, user);
        first = false;
    }
    fputs("],\n\"groups\":[", out);
    first = true;
    for (uint32_t group = 0; group < model->groups; group++) {
        if (model->group[group].record.life == GBA_LIFE_FREE)
            continue;
        fputs(first ? "\n" : ",\n", out);
        print_group(out, view, group);
        first = false;
    }
    fputs("]}\n", out);
}

char *gba_switchd_report(struct gba_switchd_view *view, size_t *length)
{
    return gba_switchd_print(view, print_all, length);
}
