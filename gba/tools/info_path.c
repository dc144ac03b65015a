/* SPDX-License-Identifier: BSD-3-Clause */
/* The path that a job would take. libgba makes the decision (gba_team_predict). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/number.h"
#include "gba/base/site.h"
#include "gba/tools/info.h"

/* What gba_team_predict accepts. */
#define RANKS_MAX (UINT64_C(1) << 24)

/* Never called: the prediction opens no transport. */
static gba_status_t remote_open(void *ctx, const gba_remote_group_t *group,
                                struct gba_transport **transport)
{
    (void)ctx;
    (void)group;
    (void)transport;
    return GBA_ERR_IO;
}

/* What a component decides before it asks libgba: NULL, or why its barrier is not used. */
static const char *component_refuses(const gba_params_t *params, uint64_t size)
{
    static char why[GBA_SITE_WHY];
    char list[INFO_LIST];

    if (!info_params_selected(list)) {
        snprintf(why, sizeof why, "the parameter coll is \"%s\", without gba_barrier", list);
        return why;
    }
    if (params->disable)
        return "disable is 1";
    if (!info_params_is_set("disable") && GBA_SITE_ACTIVE != gba_site_read(GBA_SITE_FILE, why))
        return why;
    return size < (uint64_t)params->min_comm_size ? gba_status_text(GBA_ERR_TOO_FEW) : NULL;
}

const char *info_choose(const gba_params_t *params, gba_device_choices_t *choices, char *why,
                        size_t len)
{
    const char *first = gba_device_choices_first(
        info_params_is_set("device_path") ? params->device_path : NULL,
        info_params_is_set("device_list") ? params->device_list : NULL, choices);
    const uint64_t unknown = 0;
    uint32_t chosen;

    *why = '\0';
    if (choices->count > 1 &&
        GBA_OK == gba_device_choose(choices, params->device_map, &unknown, 1, 0, &chosen, why, len))
        return choices->list[chosen].path;
    return first != NULL ? first : params->device_path;
}

void info_devices_default(gba_device_choices_t *choices)
{
    const char *path = "/dev/gba0";
    gba_params_t params;
    bool set;

    (void)info_params_get(&params);
    set = info_params_is_set("device_path") && 0 != strcmp(params.device_path, "none");
    if (set)
        path = params.device_path;
    gba_device_choices_find("all", choices);
    if (set || 0 == choices->count) {
        choices->count = 1;
        snprintf(choices->list[0].path, sizeof choices->list[0].path, "%s", path);
    }
}

static uint32_t processors(void)
{
    gba_processors_t mine;

    gba_processors_get(&mine);
    return gba_processors_count(&mine);
}

/* "1.2 us", or "-": not known. */
static void time_print(uint64_t ns, char *text, size_t len)
{
    if (0 == ns)
        snprintf(text, len, "-");
    else
        snprintf(text, len, "%" PRIu64 ".%" PRIu64 " us", ns / 1000, ns % 1000 / 100);
}

/* One line for each candidate: the path, its expected time, and "taken", "not tried", or why it
 * cannot be used. */
static void show_candidates(const gba_prediction_t *prediction)
{
    int width = 0, length;

    for (uint32_t i = 0; i < prediction->count; i++) {
        length = (int)strlen(prediction->candidates[i].text);
        width = length > width ? length : width;
    }
    report_begin("candidates", '[');
    for (uint32_t i = 0; i < prediction->count; i++) {
        const gba_predicted_t *candidate = &prediction->candidates[i];
        const char *result = GBA_OK != candidate->reason ? candidate->words
                             : candidate->taken          ? "taken"
                                                         : "not tried";
        char expected[32];

        time_print(candidate->cost, expected, sizeof expected);
        if (!report_is_json()) {
            report_text("candidate", "%-*s  %9s  %s", width, candidate->text, expected, result);
            continue;
        }
        report_begin(NULL, '{');
        report_text("candidate", "%s", candidate->text);
        if (0 != candidate->cost)
            report_number("expected_ns", candidate->cost);
        report_text("result", "%s", result);
        report_end();
    }
    report_end();
}

/* Whether ranks share processors decides most about the times. */
static void show_assumption(const gba_prediction_t *prediction, uint32_t ranks)
{
    const bool described = 0 != prediction->cores;
    const uint32_t cores = described ? prediction->cores : processors();

    report_text("assumption", "all hosts have the plugin, these parameters and %" PRIu32 " %s, %s",
                cores, 1 == cores ? "processor" : "processors",
                described ? "as the parameter cluster says"
                          : "as this one; the parameter cluster can describe others");
    report_text("ranks and processors", "%s",
                ranks > cores ? "ranks share processors, which most of a barrier's time is due to"
                              : "each rank has a processor");
}

/* choice: why that device, or "". unusable: why it cannot be opened, or "". */
static void show(const gba_prediction_t *prediction, uint32_t hosts, uint32_t ranks,
                 const char *device, const char *choice, const char *unusable)
{
    report_begin(NULL, '{');
    report_text("path", "%s", gba_path_name(prediction->path));
    report_text("why", "%s", prediction->why);
    report_number("hosts", hosts);
    report_number("ranks on a host", ranks);
    report_text("device path", "%s", device);
    if ('\0' != choice[0])
        report_text("device choice", "%s", choice);
    if ('\0' != unusable[0])
        report_text("device state", "%s", unusable);
    show_assumption(prediction, ranks);
    show_candidates(prediction);
    report_end();
}

/* The devices among which a process chooses. */
struct devices {
    gba_device_choices_t choices;
    const char *chosen;                         /* opened by the caller */
    gba_device_t *list[GBA_DEVICE_CHOICES_MAX]; /* the other ones that can be opened */
    uint32_t count;
    bool opened;
};

static uint32_t devices_open(void *ctx, gba_device_t **list, uint32_t max)
{
    struct devices *devices = ctx;
    char ignored[640];
    gba_status_t status;

    for (uint32_t i = 0; i < devices->choices.count && devices->count < max && !devices->opened;
         i++) {
        const char *path = devices->choices.list[i].path;
        gba_device_t *device = NULL;

        if (0 != strcmp(path, devices->chosen))
            device = info_device_open(path, &status, ignored, sizeof ignored);
        if (device == NULL)
            continue;
        devices->list[devices->count++] = device;
    }
    devices->opened = true;
    for (uint32_t i = 0; i < devices->count; i++)
        list[i] = devices->list[i];
    return devices->count;
}

/* Predict with these parameters, and show it. refusal: NULL, or why it is the fallback. Returns an
 * exit status. */
static int predict(const gba_params_t *params, uint32_t hosts, uint32_t ranks, const char *path,
                   const char *refusal)
{
    gba_remote_t remote = {.name = "messages", .open = remote_open};
    gba_team_attr_t attr = {.params = params, .remote = &remote, .id = 1};
    gba_prediction_t prediction = {.path = GBA_PATH_FALLBACK};
    gba_status_t status;
    struct devices devices = {.choices.count = 0};
    char cause[640] = "", choice[160] = "";

    if (path == NULL)
        path = info_choose(params, &devices.choices, choice, sizeof choice);
    devices.chosen = path;
    if (devices.choices.count > 1) {
        attr.devices = devices_open;
        attr.devices_ctx = &devices;
    }
    if (refusal != NULL) {
        snprintf(prediction.why, sizeof prediction.why, "%s: %s", gba_path_name(prediction.path),
                 refusal);
        show(&prediction, hosts, ranks, path, choice, "");
        return INFO_EXIT_OK;
    }
    attr.oversubscribed = ranks > processors();
    attr.device = info_device_open(path, &attr.device_status, cause, sizeof cause);
    status = gba_team_predict(&attr, hosts, ranks, &prediction);
    gba_device_fini(attr.device);
    for (uint32_t i = 0; i < devices.count; i++)
        gba_device_fini(devices.list[i]);
    if (GBA_OK != status)
        return report_error(INFO_EXIT_NO_DEVICE, "%s: %s", path, gba_status_text(status));
    /* That there is no device is in `why`. */
    if (GBA_ERR_NO_DEVICE == attr.device_status)
        cause[0] = '\0';
    show(&prediction, hosts, ranks, path, choice, cause);
    return INFO_EXIT_OK;
}

int info_path(const char *shape, const char *path, bool no_mpi)
{
    uint64_t hosts, ranks = 1;
    gba_params_t params;
    char message[288];

    if (!gba_shape_parse("--path", shape, RANKS_MAX, &hosts, &ranks, message, sizeof message))
        return report_error(INFO_EXIT_USAGE, "%s", message);
    if (no_mpi)
        info_params_no_mpi();
    if (GBA_OK != info_params_get(&params))
        return INFO_EXIT_USAGE;
    return predict(&params, (uint32_t)hosts, (uint32_t)ranks, path,
                   no_mpi ? NULL : component_refuses(&params, hosts * ranks));
}
