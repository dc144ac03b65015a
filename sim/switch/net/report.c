/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the switch as JSON. */
#include "sim/switch/net/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/clock.h"
#include "gba/base/json.h"
#include "gba/types.h"

static void print_port(struct gba_json *json, struct gba_switchd_view *view, uint32_t port,
                       const struct gba_switch_identity *user)
{
    const struct gba_model *model = gba_switch_model(view->daemon->device);
    const char *process = gba_switchd_process(view, port);
    const bool sees = gba_switch_sees(view->viewer, user);
    uint32_t held = 0;

    for (uint32_t group = 0; group < model->groups; group++)
        held += model->group[group].record.holder == 1 + port;
    gba_json_begin(json, NULL, '{');
    gba_json_value(json, "port", "%" PRIu32, port);
    gba_json_string(json, "kind", user->kind);
    gba_json_string(json, "host", user->host);
    if (sees) {
        gba_json_value(json, "user", "%" PRIu32, user->user);
        gba_json_value(json, "pid", "%" PRIu32, user->process);
        gba_json_value(json, "job", "\"%016" PRIx64 "\"", user->job);
    }
    if (sees && user->batch_job[0] != '\0')
        gba_json_string(json, "batch_job", user->batch_job);
    if (process != NULL)
        gba_json_string(json, "process", process);
    gba_json_value(json, "groups_held", "%" PRIu32, held);
    gba_json_value(json, "quota", "%" PRIu32, model->port[port].quota);
    gba_json_end(json);
}

static void print_member(struct gba_json *json, struct gba_switchd_view *view, uint32_t group,
                         uint32_t number)
{
    struct gba_switchd_member member;

    gba_switchd_member(view, group, number, &member);
    gba_json_begin(json, NULL, '{');
    gba_json_value(json, "member", "%" PRIu32, number);
    gba_json_string(json, "state", member.state);
    if (member.known)
        gba_json_value(json, "port", "%" PRIu32, member.port);
    if (member.known && member.pid != 0)
        gba_json_value(json, "pid", "%" PRIu32, member.pid);
    if (member.known)
        gba_json_string(json, "host", member.host);
    if (member.process != NULL)
        gba_json_string(json, "process", member.process);
    if (member.absence != NULL) {
        gba_json_string(json, "absence", member.absence);
        gba_json_value(json, "fault", "%s", member.fault ? "true" : "false");
    }
    gba_json_end(json);
}

static void print_counters(struct gba_json *json, const uint64_t counters[GBA_COUNTERS])
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

    gba_json_begin(json, "counters", '{');
    for (uint32_t i = 0; i < GBA_COUNTERS; i++)
        gba_json_value(json, names[i], "%" PRIu64, counters[i]);
    gba_json_end(json);
}

static void print_group(struct gba_json *json, struct gba_switchd_view *view, uint32_t group)
{
    const struct gba_model_group *g = &gba_switch_model(view->daemon->device)->group[group];

    gba_json_begin(json, NULL, '{');
    gba_json_value(json, "group", "%" PRIu32, group);
    gba_json_string(json, "state", gba_switchd_life(g->record.life));
    gba_json_value(json, "generation", "%" PRIu32, g->record.generation);
    gba_json_value(json, "sequence", "%" PRIu32, g->core.sequence);
    gba_json_value(json, "members", "%" PRIu32, g->record.members);
    gba_json_value(json, "joined", "%" PRIu32, g->record.present);
    gba_json_value(json, "arrived", "%" PRIu32, g->core.arrived_count);
    gba_json_value(json, "waiting_ms", "%" PRIu64,
                   gba_switch_waiting(view->daemon->device, group) / 1000000u);
    if (g->record.holder != 0)
        gba_json_value(json, "holder", "%" PRIu32, g->record.holder - 1);
    print_counters(json, g->core.counters);
    gba_json_begin(json, "member", '[');
    for (uint32_t member = 0; member < g->record.members; member++)
        print_member(json, view, group, member);
    gba_json_end(json);
    gba_json_end(json);
}

static void print_device(struct gba_json *json, const struct gba_switchd *daemon)
{
    const struct gba_model *model = gba_switch_model(daemon->device);
    char text[2 * 16 + 1];
    uint8_t uuid[16];

    gba_model_uuid(model, uuid);
    for (unsigned i = 0; i < sizeof(uuid); i++)
        snprintf(text + 2 * i, 3, "%02x", uuid[i]);
    gba_json_value(json, "version", "\"%d.%d.%d\"", GBA_VERSION_MAJOR, GBA_VERSION_MINOR,
                   GBA_VERSION_PATCH);
    gba_json_value(json, "protocol", "%u", GBA_SWITCH_PROTOCOL);
    gba_json_value(json, "registers", "\"%" PRIu32 ".%" PRIu32 "\"", model->version >> 16,
                   model->version & 0xFFFF);
    gba_json_string(json, "uuid", text);
    gba_json_value(json, "uptime_s", "%" PRIu64, (gba_clock_ns() - daemon->started) / 1000000000u);
    gba_json_value(json, "groups_total", "%" PRIu32, model->groups);
    gba_json_value(json, "ports_total", "%" PRIu32, model->ports);
    gba_json_value(json, "bad_accesses", "%" PRIu64, model->bad_access);
    gba_json_value(json, "accepted", "%" PRIu64, daemon->accepted);
    gba_json_value(json, "refused", "%" PRIu64, daemon->refused);
    gba_json_value(json, "dropped", "%" PRIu64, daemon->dropped);
}

static void print_all(FILE *out, struct gba_switchd_view *view)
{
    const struct gba_switchd *daemon = view->daemon;
    const struct gba_model *model = gba_switch_model(daemon->device);
    struct gba_json json = {.out = out, .lines = 4};

    gba_json_begin(&json, NULL, '{');
    print_device(&json, daemon);
    gba_json_begin(&json, "ports", '[');
    for (uint32_t port = 0; port < model->ports; port++) {
        const struct gba_switch_identity *user = gba_switch_user(daemon->device, port);

        if (user != NULL)
            print_port(&json, view, port, user);
    }
    gba_json_end(&json);
    gba_json_begin(&json, "groups", '[');
    for (uint32_t group = 0; group < model->groups; group++)
        if (model->group[group].record.life != GBA_LIFE_FREE)
            print_group(&json, view, group);
    gba_json_end(&json);
    gba_json_end(&json);
}

char *gba_switchd_report(struct gba_switchd_view *view, size_t *length)
{
    return gba_switchd_print(view, print_all, length);
}
