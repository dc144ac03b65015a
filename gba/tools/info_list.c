/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices of this host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/spec/gba_regs.h"
#include "gba/tools/info.h"

/* The command of a process, "?" if the process has ended. */
static void process_name(int32_t pid, char *name, size_t len)
{
    char path[40];
    FILE *file;

    snprintf(name, len, "?");
    snprintf(path, sizeof path, "/proc/%" PRId32 "/comm", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(name, (int)len, file) != NULL)
        name[strcspn(name, "\n")] = '\0';
    fclose(file);
}

/* The processes that have a device open. */
static void list_processes(const gba_device_found_t *found)
{
    uint32_t shown = found->processes < GBA_FOUND_PIDS ? found->processes : GBA_FOUND_PIDS;
    char line[GBA_FOUND_PIDS * 32] = "", name[17];
    size_t used = 0;

    if (report_is_json()) {
        report_number("process count", found->processes);
        report_begin("processes", '[');
    }
    for (uint32_t i = 0; i < shown; i++) {
        process_name(found->pids[i], name, sizeof name);
        if (report_is_json()) {
            report_begin(NULL, '{');
            report_number("pid", (uint64_t)found->pids[i]);
            report_text("command", "%s", name);
            report_end();
        }
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%" PRId32 " (%s)",
                                 i > 0 ? ", " : "", found->pids[i], name);
    }
    if (report_is_json())
        report_end();
    else if (0 == shown)
        report_text("open in", "no process of this user");
    else if (found->processes > shown)
        report_text("open in", "%" PRIu32 " processes: %s, ...", found->processes, line);
    else
        report_text("open in", "%" PRIu32 " process%s: %s", found->processes,
                    1 == shown ? "" : "es", line);
}

/* The choice of a process like this one, if there are several devices to choose from. */
struct choice {
    gba_device_choices_t choices;
    const char *path;
    char why[160];
};

static void list_choice(const struct choice *choice, const char *path)
{
    for (uint32_t i = 0; i < choice->choices.count; i++)
        if (choice->choices.count > 1 && 0 == strcmp(path, choice->choices.list[i].path)) {
            report_text("distance", "%s", gba_distance_name(choice->choices.list[i].distance));
            if (0 == strcmp(path, choice->path))
                report_text("chosen here", "%s", choice->why);
        }
}

/* The ports of a switch and its quota of groups for each. 0: not known, or no quota. */
struct ports {
    uint64_t count, quota;
};

static void list_ports(const struct ports *ports)
{
    if (report_is_json()) {
        report_number("ports", ports->count);
        report_number("quota", ports->quota);
    } else if (ports->count > 0) {
        report_text("ports", "%" PRIu64, ports->count);
        if (ports->quota > 0)
            report_text("quota", "%" PRIu64 " groups for each port", ports->quota);
    }
}

/* The owners of the groups in use. status: GBA_OK, or why it is not known. */
struct owners {
    gba_status_t status;
    uint32_t count;
    gba_group_owner_t list[GBA_GROUPS];
};

static void owner_text(const gba_group_owner_t *owner, char *text, size_t len)
{
    char name[17] = "another host";
    size_t used = 0;

    if (owner->local)
        process_name((int32_t)owner->process, name, sizeof name);
    if (UINT32_MAX != owner->user)
        used += (size_t)snprintf(text, len, "user %" PRIu32 ", ", owner->user);
    if (0 != owner->process)
        used += (size_t)snprintf(text + used, len - used, "process %" PRIu32 " (%s), ",
                                 owner->process, name);
    if (0 != owner->job)
        used += (size_t)snprintf(text + used, len - used, "job %016" PRIx64 ", ", owner->job);
    if ('\0' != owner->batch_job[0])
        used += (size_t)snprintf(text + used, len - used, "%s, ", owner->batch_job);
    snprintf(text + used, len - used, "%" PRIu32 " of %" PRIu32 " member%s", owner->present,
             owner->members, 1 == owner->members ? "" : "s");
}

static void list_owner(const gba_group_owner_t *owner)
{
    char name[24], text[200];

    if (!report_is_json()) {
        snprintf(name, sizeof name, "group %" PRIu32, owner->group);
        owner_text(owner, text, sizeof text);
        report_text(name, "%s", text);
        return;
    }
    report_begin(NULL, '{');
    report_number("group", owner->group);
    report_number("members", owner->members);
    report_number("present", owner->present);
    if (UINT32_MAX != owner->user)
        report_number("user", owner->user);
    if (0 != owner->process)
        report_number("pid", owner->process);
    report_bool("local", owner->local);
    if (0 != owner->job)
        report_text("job", "%016" PRIx64, owner->job);
    if ('\0' != owner->batch_job[0])
        report_text("batch job", "%s", owner->batch_job);
    report_end();
}

static void list_owners(const struct owners *owners)
{
    if (GBA_OK != owners->status) {
        if (!report_is_json())
            report_text("owners", "not known: %s",
                        GBA_ERR_UNSUPPORTED == owners->status ? "the driver does not report them"
                                                              : gba_status_text(owners->status));
        return;
    }
    report_begin("owners", '[');
    for (uint32_t i = 0; i < owners->count; i++)
        list_owner(&owners->list[i]);
    report_end();
}

/* found: the processes that have it open; NULL: not known. */
static void list_device(const char *path, const gba_device_found_t *found,
                        const struct choice *choice)
{
    gba_device_info_t info = {.groups = 0};
    struct owners owners = {.status = GBA_ERR_DEAD};
    struct ports ports = {0, 0};
    char cause[640];
    gba_status_t status;
    gba_device_t *device = info_device_open(path, &status, cause, sizeof cause);

    if (device != NULL) {
        status = gba_device_query(device, &info);
        info.dead |= info.created; /* the listed one is dead: this open has made another one */
        if (0 == strcmp(info.backend, "switch") && !info.dead) {
            (void)gba_reg_read(device, GBA_DEVICE_BASE + GBA_DEV_PORTS, 4, &ports.count);
            (void)gba_reg_read(device, GBA_PORT_REG(GBA_PORT_QUOTA), 4, &ports.quota);
        }
        if (GBA_OK == status && !info.dead)
            owners.status = gba_device_owners(device, owners.list, GBA_GROUPS, &owners.count);
        gba_device_fini(device);
        snprintf(cause, sizeof cause, "%s", gba_status_text(status));
    } else if (GBA_ERR_NO_DEVICE == status && 0 == strncmp(path, "sim:", 4)) {
        return; /* the last process of the job has ended meanwhile */
    }
    report_begin(NULL, '{');
    report_text("device", "%s", path);
    if (GBA_OK != status) {
        report_text("state", "unusable");
        report_text("cause", "%s", cause);
    } else {
        report_text("state", "%s", info.dead ? "dead" : "up");
        if (report_is_json()) {
            report_text("backend", "%s", info.backend);
            report_number("groups", info.groups);
            if (!info.dead) { /* a dead device reports no free group */
                report_number("groups used", info.groups - info.groups_free);
                report_number("rounds", info.counters[GBA_COUNTER_ROUNDS]);
            }
        } else if (!info.dead) {
            report_text("groups used", "%" PRIu32 " of %" PRIu32, info.groups - info.groups_free,
                        info.groups);
        }
        if (0 == strcmp(info.backend, "switch"))
            list_ports(&ports);
        list_owners(&owners);
    }
    list_choice(choice, path);
    if (found != NULL) /* the connections of a switch do not show their processes */
        list_processes(found);
    else if (!report_is_json())
        report_text("members", "see gba_diag %s", path);
    report_end();
}

static bool is_switch(const char *path)
{
    return 0 == strncmp(path, "switch:", 7);
}

/* List the switch of the parameter device_path, whether it answers or not, unless it is in the
 * list. Returns the number of switches listed. */
static size_t list_configured(const char *configured, const gba_device_found_t *list, size_t count,
                              const struct choice *choice)
{
    if (!is_switch(configured))
        return 0;
    for (size_t i = 0; i < count; i++)
        if (0 == strcmp(list[i].path, configured))
            return 0;
    list_device(configured, NULL, choice);
    return 1;
}

int info_list(void)
{
    gba_device_found_t *list;
    struct choice choice = {.choices.count = 0};
    gba_params_t params;
    gba_status_t status;
    size_t count;
    bool bad;

    status = gba_device_list(&list, &count);
    if (GBA_OK != status)
        return report_error(INFO_EXIT_NO_DEVICE, "cannot list the devices: %s",
                            gba_status_text(status));
    report_begin(NULL, '{');
    /* Bad parameters, reported here, hide the choice among the devices, but not the devices. */
    bad = GBA_OK != info_params_get(&params);
    if (!bad)
        choice.path = info_choose(&params, &choice.choices, choice.why, sizeof choice.why);
    report_begin("devices", '[');
    for (size_t i = 0; i < count; i++)
        list_device(list[i].path, is_switch(list[i].path) ? NULL : &list[i], &choice);
    count += list_configured(params.device_path, list, count, &choice);
    report_end();
    report_end();
    if (0 == count && !report_is_json())
        printf("no device: there is no file /dev/gbaN, no gba-switchd at a default socket or in "
               "device_path, and no job of this user has a simulated device\n");
    free(list);
    if (bad)
        return INFO_EXIT_USAGE;
    return 0 == count ? INFO_EXIT_NO_DEVICE : INFO_EXIT_OK;
}
