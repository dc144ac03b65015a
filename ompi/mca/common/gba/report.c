/* SPDX-License-Identifier: BSD-3-Clause */
/* What every component shows in the same way: libgba's log and the totals. And the device. */
#include "ompi/mca/common/gba/gba_common.h"

#include "gba/spec/gba_regs.h"

static const char *log_label = "gba";
static int log_output = -1;
static bool log_all; /* of every process, and not of one a host */

/* While this thread opens a device: where what libgba says of it is kept, for the one line that
 * tells the user why he does not get it. */
static _Thread_local char *log_keep;
#define LOG_KEEP_BYTES sizeof(((struct gba_common_device *)0)->detail)

/*
 * What libgba has to say. Often all processes of a host have met with the same trouble, so one of
 * them speaks for all, unless the user wants to see everything; or libgba has chosen the speaker.
 */
static void log_line(void *ctx, gba_log_level_t level, const char *line)
{
    (void)ctx;
    if (NULL != log_keep && level <= GBA_LOG_WARN && !log_all) {
        snprintf(log_keep, LOG_KEEP_BYTES, "%s", line);
        return;
    }
    if (GBA_LOG_TEAM == level || 0 == opal_process_info.my_local_rank || log_all)
        opal_output(log_output, "%s: %s", log_label, line);
}

int gba_common_log_open(const char *label, int verbose)
{
    /* At 1 the user wants to see paths and totals, which a component reports once per team, and not
     * every member's steps. */
    static const gba_log_level_t levels[] = {GBA_LOG_WARN, GBA_LOG_WARN, GBA_LOG_INFO,
                                             GBA_LOG_DEBUG};

    verbose = verbose < 0 ? 0 : verbose > 3 ? 3 : verbose; /* not checked yet, so any number */
    log_label = label;
    log_all = verbose > 1;
    log_output = opal_output_open(NULL);
    opal_output_set_verbosity(log_output, verbose);
    gba_log_set(log_line, NULL, levels[verbose]);
    return log_output;
}

_Static_assert(-GBA_STATUS_LAST < 32, "there is a bit for each status");

bool gba_common_reason_due(uint32_t *told, opal_mutex_t *lock, gba_status_t reason, bool asked)
{
    uint32_t bit;
    bool due;

    /* Nobody is told of hardware that is not there, unless he asked for it; everybody is when it
     * dies. That there is no group yet, or not just now, is what he asked for as well. */
    if (GBA_OK == reason || GBA_ERR_COLD == reason || GBA_ERR_RECLAIMED == reason ||
        (!asked && GBA_ERR_DEAD != reason))
        return false;
    bit = UINT32_C(1) << (-reason & 31);
    opal_mutex_lock(lock);
    due = 0 == (*told & bit);
    *told |= bit;
    opal_mutex_unlock(lock);
    return due;
}

gba_device_t *gba_common_device_get(struct gba_common_device *device, opal_mutex_t *lock,
                                    const char *path, gba_status_t *status)
{
    char job[256];
    gba_device_attr_t attr = {.job = job};

    opal_mutex_lock(lock);
    if (!device->tried) {
        gba_compat_job_name(job, sizeof job);
        log_keep = device->detail;
        device->status = gba_global_device_get(path, &attr, &device->device);
        log_keep = NULL;
        device->tried = true;
    }
    *status = device->status;
    opal_mutex_unlock(lock);
    return GBA_OK == *status ? device->device : NULL;
}

void gba_common_device_put(struct gba_common_device *device)
{
    gba_global_device_put(device->device);
    device->device = NULL;
    device->tried = false;
}

static unsigned long long errors_sum(const gba_device_info_t *info)
{
    unsigned long long sum = info->bad_access;

    for (unsigned i = GBA_COUNTER_ERR_ACCESS; i < GBA_COUNTERS; i++)
        sum += info->counters[i];
    return sum;
}

void gba_common_totals(int output, const char *who, const struct gba_common_counts *sum,
                       const struct gba_common_device *device)
{
    gba_device_info_t info;
    char text[192] = "none";

    if (NULL != device->device && GBA_OK == gba_device_query(device->device, &info))
        snprintf(text, sizeof text,
                 "%s counted arrivals %llu, releases %llu, rounds %llu, errors %llu", info.path,
                 (unsigned long long)info.counters[GBA_COUNTER_ARRIVALS],
                 (unsigned long long)info.counters[GBA_COUNTER_RELEASES],
                 (unsigned long long)info.counters[GBA_COUNTER_ROUNDS], errors_sum(&info));
    opal_output(output,
                "%s: totals of %s: barriers device %llu, sim %llu, software %llu, "
                "fallback %llu; sent again %llu arrivals lost and %llu releases lost; failovers "
                "%llu; groups taken back %llu, meetings %llu; device: %s",
                log_label, who, sum->barriers[GBA_PATH_DEVICE], sum->barriers[GBA_PATH_SIM],
                sum->barriers[GBA_PATH_SOFT], sum->barriers[GBA_PATH_CALLER], sum->retries_arrival,
                sum->retries_release, sum->failovers, sum->reclaims, sum->meetings, text);
}
