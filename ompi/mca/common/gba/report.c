/* SPDX-License-Identifier: BSD-3-Clause */
/* The output that all components share: libgba's log, and lines for the user. */
#include "ompi/mca/common/gba/report.h"
#include "ompi/mca/common/gba/module.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <unistd.h>

#include "gba/base/batch_job.h"
#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/util/output.h"

static int alert_output = -1;
static bool log_all; /* log all processes, not one per host */

/* While this thread opens a device: the buffer for the line about a failure, which becomes part of
 * the line that the user gets. */
static _Thread_local char *log_keep;
static _Thread_local size_t log_keep_len;

void gba_common_log_keep(char *text, size_t len)
{
    log_keep = text;
    log_keep_len = len;
}

/* The hash of a text: FNV-1a, 64 bits. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; '\0' != *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* The first process to report a topic makes a file in the directory that the launcher makes for
 * each job on each host, and removes at its end. Any process may be the first: a message reports
 * what that process itself has found. */
bool gba_common_first_on_host(const char *topic)
{
    char path[PATH_MAX];
    int file = -1;

    errno = 0;
    if (opal_process_info.job_session_dir != NULL &&
        (size_t)snprintf(path, sizeof path, "%s/gba-reported-%016llx",
                         opal_process_info.job_session_dir,
                         (unsigned long long)hash_of(topic)) < sizeof path)
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR);
    if (file < 0) /* without the directory: the first process of the host */
        return EEXIST != errno && 0 == opal_process_info.my_local_rank;
    close(file);
    return true;
}

void gba_common_print(bool always, const char *format, ...)
{
    char line[1536];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (always)
        opal_output(alert_output, "%s: %s", gba_common_framework.label, line);
    else
        opal_output_verbose(1, gba_common.output, "%s: %s", gba_common_framework.label, line);
}

void gba_common_end_job(const char *why)
{
    gba_common_alert("rank %u of the job %s; the job ends", (unsigned)OPAL_PROC_MY_NAME.vpid, why);
    (void)ompi_mpi_abort(&ompi_mpi_comm_world.comm, MPI_ERR_OTHER);
}

/*
 * Output of a line of libgba. One process of a host prints a line, because often all of them have
 * found the same fault. All print it if the user requested every line, or if libgba has chosen the
 * process.
 */
static void log_line(void *ctx, gba_log_level_t level, const char *line)
{
    (void)ctx;
    if (log_keep != NULL && level <= GBA_LOG_WARN) {
        snprintf(log_keep, log_keep_len, "%s", line);
        if (!log_all)
            return;
    }
    if (level > GBA_LOG_WARN) {
        if (0 == opal_process_info.my_local_rank || log_all)
            opal_output(gba_common.output, "%s: %s", gba_common_framework.label, line);
    } else if (GBA_LOG_TEAM == level || log_all || gba_common_first_on_host(line)) {
        gba_common_alert("%s", line);
    }
}

/* Open a stream whose lines begin with that text, the host and the process, and the job of a batch
 * system if there is one. */
static int output_open(const char *begin)
{
    char prefix[340], job[GBA_BATCH_JOB];
    opal_output_stream_t stream;
    int output;

    gba_batch_job(0, job);
    OBJ_CONSTRUCT(&stream, opal_output_stream_t);
    snprintf(prefix, sizeof prefix, "%s[%.255s:%05d%s%s] ", begin, opal_process_info.nodename,
             (int)getpid(), '\0' == job[0] ? "" : " ", job);
    stream.lds_prefix = prefix;
    stream.lds_want_stderr = true;
    output = opal_output_open(&stream); /* copies the prefix */
    stream.lds_prefix = NULL;
    OBJ_DESTRUCT(&stream);
    return output;
}

void gba_common_log_open(void)
{
    /* At 1 the user sees paths and totals, which a component reports once per team, not the steps
     * of every member. */
    static const gba_log_level_t levels[] = {GBA_LOG_WARN, GBA_LOG_WARN, GBA_LOG_INFO,
                                             GBA_LOG_DEBUG};
    int verbose = gba_common.variables.verbose; /* not checked yet: may be any number */

    verbose = verbose < 0 ? 0 : verbose > 3 ? 3 : verbose;
    log_all = verbose > 1;
    gba_common.output = output_open("");
    opal_output_set_verbosity(gba_common.output, verbose);
    /* The program may have left a line unfinished on the same terminal. */
    alert_output = output_open("\n");
    gba_log_set(log_line, NULL, levels[verbose]);
}

void gba_common_log_close(void)
{
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    opal_output_close(gba_common.output);
    opal_output_close(alert_output);
    gba_common.output = alert_output = -1;
}

_Static_assert(-GBA_STATUS_LAST < 32, "there is a bit for each status");

bool gba_common_reason_due(gba_status_t reason, bool asked)
{
    struct gba_common_device *device = &gba_common.device;
    uint32_t bit;
    bool due;

    /* These reasons result from the user's own settings, or pass. */
    if (GBA_ERR_DEFERRED == reason || GBA_ERR_LIMIT == reason || GBA_ERR_TOO_FEW == reason ||
        GBA_ERR_NOT_WANTED == reason || GBA_ERR_FEW_HOSTS == reason || GBA_ERR_SLOWER == reason)
        return false;
    bit = UINT32_C(1) << (-reason & 31);
    opal_mutex_lock(&gba_common.lock);
    device->used = device->used || GBA_OK == reason;
    /* A missing device is reported only if it was requested; a device that fails is always
     * reported. It is no fault if a device that serves other communicators has no group for this
     * one. */
    due = GBA_OK != reason && (asked || GBA_ERR_DEAD == reason) &&
          !((GBA_ERR_NO_GROUP == reason || GBA_ERR_QUOTA == reason) && device->used) &&
          0 == (device->reasons_reported & bit);
    device->reasons_reported |= bit;
    opal_mutex_unlock(&gba_common.lock);
    return due;
}

bool gba_common_reason_own(gba_status_t reason)
{
    return GBA_ERR_PERM == reason || GBA_ERR_NOT_GBA == reason || GBA_ERR_VERSION == reason ||
           GBA_ERR_BUSY == reason || GBA_ERR_NOMEM == reason || GBA_ERR_AWAY == reason ||
           GBA_ERR_IO == reason;
}

bool gba_common_reason_of_job(gba_status_t reason)
{
    return GBA_ERR_NO_GROUP == reason;
}

static bool reason_first(gba_status_t reason)
{
    gba_device_t *device = gba_common.device.open[gba_common.device.current];
    char topic[300];

    if (!gba_common_reason_of_job(reason)) {
        snprintf(topic, sizeof topic, "%s %s", gba_common_framework.label, gba_status_name(reason));
        return gba_common_first_on_host(topic);
    }
    if (0 != OPAL_PROC_MY_NAME.vpid || (device != NULL && gba_device_usable(device)))
        return false;
    /* Both components may use the device of that path. */
    snprintf(topic, sizeof topic, "no group %.255s", gba_common.params.device_path);
    return gba_common_first_on_host(topic);
}

bool gba_common_reason_describe(gba_status_t reason, bool due, bool asked, char *text, size_t len)
{
    const struct gba_common_device *device = &gba_common.device;
    const char *path = gba_common.params.device_path;
    const bool set = gba_common.device_set, prints = due && reason_first(reason);
    const bool detailed = '\0' != device->detail[0] && reason == device->status;
    char request[300] = "", advice[160] = "";

    if (prints && asked)
        snprintf(request, sizeof request, "%s%s is \"%.255s\"",
                 GBA_ERR_DEAD == reason ? "; " : ", although ", set ? "device_path" : "device_list",
                 set ? path : gba_common.params.device_list);
    if (prints && asked && detailed)
        gba_device_advice(path, reason, advice, sizeof advice);
    snprintf(text, len, "%s%s%s%s%s%s", request, detailed ? " (" : "",
             detailed ? device->detail : "", detailed ? ")" : "", '\0' == advice[0] ? "" : ". ",
             advice);
    return prints;
}
