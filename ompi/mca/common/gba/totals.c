/* SPDX-License-Identifier: BSD-3-Clause */
/* The totals of a process at its end: a line of words, or an object of JSON that a site collects.
 */
#define _GNU_SOURCE /* open_memstream */
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

static void devices_json(FILE *out)
{
    unsigned long long errors;
    gba_device_info_t info;
    const char *comma = "";

    for (uint32_t i = 0; i < GBA_DEVICE_CHOICES_MAX; i++) {
        if (!counters_get(gba_common.device.open[i], &info, &errors))
            continue;
        fprintf(out, "%s{\"path\":", comma);
        gba_json_text(out, info.path);
        fprintf(out, ",\"answers\":%s", info.dead ? "false" : "true");
        if (!info.dead)
            fprintf(out, ",\"arrivals\":%llu,\"releases\":%llu,\"rounds\":%llu,\"errors\":%llu",
                    (unsigned long long)info.counters[GBA_COUNTER_ARRIVALS],
                    (unsigned long long)info.counters[GBA_COUNTER_RELEASES],
                    (unsigned long long)info.counters[GBA_COUNTER_ROUNDS], errors);
        fputc('}', out);
        comma = ",";
    }
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

static void json_field(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",\"%s\":", name);
    gba_json_text(out, text);
}

static void totals_json(const struct gba_common_counts *sum, FILE *out)
{
    char job[256], batch[GBA_BATCH_JOB];

    gba_compat_job_name(job, sizeof job);
    gba_batch_job(0, batch);
    fputs("{\"component\":", out);
    gba_json_text(out, gba_common_framework.label);
    json_field(out, "job", job);
    json_field(out, "batch_job", batch);
    fprintf(out, ",\"rank\":%u", (unsigned)OPAL_PROC_MY_NAME.vpid);
    json_field(out, "path", gba_path_name(main_path(sum)));
    json_field(out, "reason", gba_common.why);
    fputs(",\"barriers\":{", out);
    for (int i = 0; i < GBA_COMMON_PATHS; i++)
        fprintf(out, "%s\"%s\":%llu", 0 == i ? "" : ",", gba_path_name((gba_path_t)i),
                sum->barriers[i]);
    fprintf(out,
            "},\"lost_arrivals\":%llu,\"lost_releases\":%llu,\"failovers\":%llu,"
            "\"renegotiations\":%llu,\"devices\":[",
            sum->retries_arrival, sum->retries_release, sum->failovers, sum->renegotiations);
    devices_json(out);
    fputs("]}", out);
}

/* Without memory there is no line. */
static void json_print(const struct gba_common_counts *sum)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (out == NULL)
        return;
    totals_json(sum, out);
    if (0 == fclose(out))
        opal_output(gba_common.output, "%s: totals: %s", gba_common_framework.label, text);
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
