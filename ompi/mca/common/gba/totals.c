/* SPDX-License-Identifier: BSD-3-Clause */
/* The totals of a process at its end: a line of words, or an object of JSON that a site collects.
 */
#define _GNU_SOURCE /* open_memstream */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/batch_job.h"
#include "gba/base/json.h"
#include "gba/spec/gba_regs.h"
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/report.h"
#include "opal/util/output.h"

void gba_common_reason_keep(const struct gba_common_module *m, const char *name, const char *why)
{
    if (m->path <= GBA_PATH_SIM || 0 != m->rank)
        return;
    opal_mutex_lock(&gba_common.lock);
    if ('\0' == gba_common.why[0])
        snprintf(gba_common.why, sizeof gba_common.why, "%s: %s", name, why);
    opal_mutex_unlock(&gba_common.lock);
}

/* What a device has counted. Returns false if it cannot be queried. */
static bool counters_get(gba_device_t *device, gba_device_info_t *info, unsigned long long *errors)
{
    if (device == NULL || GBA_OK != gba_device_query(device, info))
        return false;
    *errors = info->bad_access;
    for (unsigned i = GBA_COUNTER_ERR_ACCESS; i < GBA_COUNTERS; i++)
        *errors += info->counters[i];
    return true;
}

static void devices_text(char *text, size_t len)
{
    unsigned long long errors;
    gba_device_info_t info;
    size_t used = 0;

    for (uint32_t i = 0; i < GBA_DEVICE_CHOICES_MAX && used < len; i++) {
        const char *comma = 0 == used ? "" : ", ";

        if (!counters_get(gba_common.device.open[i], &info, &errors))
            continue;
        if (info.dead)
            used += (size_t)snprintf(text + used, len - used, "%s%s has stopped answering", comma,
                                     info.path);
        else
            used += (size_t)snprintf(text + used, len - used,
                                     "%s%s counted arrivals %llu, releases %llu, rounds %llu, "
                                     "errors %llu",
                                     comma, info.path,
                                     (unsigned long long)info.counters[GBA_COUNTER_ARRIVALS],
                                     (unsigned long long)info.counters[GBA_COUNTER_RELEASES],
                                     (unsigned long long)info.counters[GBA_COUNTER_ROUNDS], errors);
    }
    if (0 == used)
        snprintf(text, len, "none");
}

static void devices_json(struct gba_json *json)
{
    unsigned long long errors;
    gba_device_info_t info;

    gba_json_begin(json, "devices", '[');
    for (uint32_t i = 0; i < GBA_DEVICE_CHOICES_MAX; i++) {
        if (!counters_get(gba_common.device.open[i], &info, &errors))
            continue;
        gba_json_begin(json, NULL, '{');
        gba_json_string(json, "path", info.path);
        gba_json_value(json, "answers", "%s", info.dead ? "false" : "true");
        if (!info.dead) {
            gba_json_value(json, "arrivals", "%" PRIu64, info.counters[GBA_COUNTER_ARRIVALS]);
            gba_json_value(json, "releases", "%" PRIu64, info.counters[GBA_COUNTER_RELEASES]);
            gba_json_value(json, "rounds", "%" PRIu64, info.counters[GBA_COUNTER_ROUNDS]);
            gba_json_value(json, "errors", "%llu", errors);
        }
        gba_json_end(json);
    }
    gba_json_end(json);
}

/* The path of the most barriers. */
static gba_path_t main_path(const struct gba_common_counts *sum)
{
    int path = GBA_PATH_FALLBACK;

    for (int i = 0; i < GBA_COMMON_PATHS; i++)
        if (sum->barriers[i] > sum->barriers[path])
            path = i;
    return (gba_path_t)path;
}

static void totals_json(const struct gba_common_counts *sum, struct gba_json *json)
{
    char job[256], batch[GBA_BATCH_JOB];

    gba_compat_job_name(job, sizeof job);
    gba_batch_job(0, batch);
    gba_json_begin(json, NULL, '{');
    gba_json_string(json, "component", gba_common_framework.label);
    gba_json_string(json, "job", job);
    gba_json_string(json, "batch_job", batch);
    gba_json_value(json, "rank", "%u", (unsigned)OPAL_PROC_MY_NAME.vpid);
    gba_json_string(json, "path", gba_path_name(main_path(sum)));
    gba_json_string(json, "reason", gba_common.why);
    gba_json_begin(json, "barriers", '{');
    for (int i = 0; i < GBA_COMMON_PATHS; i++)
        gba_json_value(json, gba_path_name((gba_path_t)i), "%llu", sum->barriers[i]);
    gba_json_end(json);
    gba_json_value(json, "lost_arrivals", "%llu", sum->retries_arrival);
    gba_json_value(json, "lost_releases", "%llu", sum->retries_release);
    gba_json_value(json, "failovers", "%llu", sum->failovers);
    gba_json_value(json, "renegotiations", "%llu", sum->renegotiations);
    devices_json(json);
    gba_json_end(json);
}

/* Without memory there is no line. */
static void json_print(const struct gba_common_counts *sum)
{
    char *text = NULL;
    size_t length;
    struct gba_json json = {.out = open_memstream(&text, &length)};

    if (json.out == NULL)
        return;
    totals_json(sum, &json);
    if (0 == fclose(json.out)) {
        text[strcspn(text, "\n")] = '\0';
        opal_output(gba_common.output, "%s: totals: %s", gba_common_framework.label, text);
    }
    free(text);
}

void gba_common_totals(const char *who)
{
    const bool json = GBA_TOTALS_JSON == gba_common.own.totals;
    struct gba_common_counts sum;
    char text[640];

    gba_common_counts_sum(&sum, NULL);
    /* A sum over all processes would need an exchange after which nobody could be missing, but a
     * process may end at any time. */
    if (!gba_common.enabled || (!json && gba_common.params.verbose < 1) ||
        (0 != OPAL_PROC_MY_NAME.vpid && 0 == sum.retries_arrival && 0 == sum.retries_release))
        return;
    if (json) {
        json_print(&sum);
        return;
    }
    devices_text(text, sizeof text);
    opal_output(gba_common.output,
                "%s: totals of %s %u: barriers device %llu, switch %llu, sim %llu, software %llu, "
                "fallback %llu; lost arrivals %llu, lost releases %llu; failovers %llu, "
                "renegotiations %llu; device: %s",
                gba_common_framework.label, who, (unsigned)OPAL_PROC_MY_NAME.vpid,
                sum.barriers[GBA_PATH_DEVICE], sum.barriers[GBA_PATH_SWITCH],
                sum.barriers[GBA_PATH_SIM], sum.barriers[GBA_PATH_SOFTWARE],
                sum.barriers[GBA_PATH_FALLBACK], sum.retries_arrival, sum.retries_release,
                sum.failovers, sum.renegotiations, text);
}
