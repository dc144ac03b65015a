/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user gets to see: libgba's log, one line per fallback that was not wanted, totals. */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <unistd.h>

#include "gba/spec/gba_regs.h"

#define HELP_FILE "help-coll-gba-barrier.txt"

_Static_assert(-GBA_STATUS_LAST < 32, "reasons_told has a bit for each status");

/* Whether Open MPI finds our texts and can show each one once for the whole job. */
static bool help_found;

/*
 * What libgba has to say. Often all processes of a host have met with the same trouble, so one of
 * them speaks for all, unless the user wants to see everything.
 */
static void log_line(void *ctx, gba_log_level_t level, const char *line)
{
    (void)ctx;
    (void)level;
    if (0 == opal_process_info.my_local_rank || gba_coll->variables.verbose > 1)
        opal_output(gba_coll->output, "coll gba_barrier: %s", line);
}

static bool help_find(void)
{
    if (!GBA_SHOW_HELP || 0 != access(GBA_HELP_DIR "/" HELP_FILE, R_OK))
        return false;
    return OPAL_SUCCESS == opal_show_help_add_dir(GBA_HELP_DIR);
}

void gba_coll_report_init(void)
{
    /* At 1 the user wants to see paths and totals, which this component reports once per
     * communicator, and not every member's steps. */
    static const gba_log_level_t levels[] = {GBA_LOG_WARN, GBA_LOG_WARN, GBA_LOG_INFO,
                                             GBA_LOG_DEBUG};
    int verbose = gba_coll->variables.verbose; /* before the check, so any number */

    verbose = verbose < 0 ? 0 : verbose > 3 ? 3 : verbose;
    gba_coll->output = opal_output_open(NULL);
    opal_output_set_verbosity(gba_coll->output, verbose);
    gba_log_set(log_line, NULL, levels[verbose]);
    help_found = help_find();
}

void gba_coll_report_fini(void)
{
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    opal_output_close(gba_coll->output);
    gba_coll->output = -1;
}

void gba_coll_report_once(const char *topic, const char *line)
{
    if (help_found)
        opal_show_help(HELP_FILE, topic, false, line);
    else
        opal_output(gba_coll->output, "coll gba_barrier: %s", line);
}

void gba_coll_report_parameter(void)
{
    char line[sizeof gba_coll->bad_parameter + 64];
    bool due;

    opal_mutex_lock(&gba_coll->lock);
    due = '\0' != gba_coll->bad_parameter[0] && !gba_coll->parameter_told;
    gba_coll->parameter_told = true;
    opal_mutex_unlock(&gba_coll->lock);
    /* The lowest process with a bad parameter speaks for all: most often they all have the same. */
    for (uint32_t vpid = 0; due && vpid < OMPI_PROC_MY_NAME->vpid; vpid++)
        due = !gba_coll_capability_bad(vpid);
    if (!due)
        return;
    snprintf(line, sizeof line, "%s; the component takes no part", gba_coll->bad_parameter);
    gba_coll_report_once("parameter", line);
}

/* Whether the user should be told of this reason, and has not been. */
static bool reason_due(gba_status_t reason)
{
    uint32_t bit;
    bool due;

    /* Nobody is told of hardware that is not there, unless he asked for it; everybody is when it
     * dies. */
    if (GBA_OK == reason || (!gba_coll->device_asked && GBA_ERR_DEAD != reason))
        return false;
    bit = UINT32_C(1) << (-reason & 31);
    opal_mutex_lock(&gba_coll->lock);
    due = 0 == (gba_coll->reasons_told & bit);
    gba_coll->reasons_told |= bit;
    opal_mutex_unlock(&gba_coll->lock);
    return due;
}

void gba_coll_report_path(ompi_communicator_t *comm, uint32_t speaker, gba_status_t reason,
                          const char *why)
{
    char line[768];
    int n;
    bool due = reason_due(reason); /* all members note that the speaker tells it */

    if (speaker != (uint32_t)ompi_comm_rank(comm))
        return;
    n = snprintf(line, sizeof line, "%s (id %u, %d ranks): %s", gba_compat_comm_name(comm),
                 GBA_COMM_ID(comm), ompi_comm_size(comm), why);
    if (!due) {
        opal_output_verbose(1, gba_coll->output, "coll gba_barrier: %s", line);
        return;
    }
    if (gba_coll->device_asked && n < (int)sizeof line)
        snprintf(line + n, sizeof line - (size_t)n, ", although device_path is \"%s\"",
                 gba_coll->params.device_path);
    gba_coll_report_once(gba_status_name(reason), line);
}

static unsigned long long errors_sum(const gba_device_info_t *info)
{
    unsigned long long sum = info->bad_access;

    for (unsigned i = GBA_COUNTER_ERR_ACCESS; i < GBA_COUNTERS; i++)
        sum += info->counters[i];
    return sum;
}

void gba_coll_report_totals(void)
{
    struct gba_coll_counts sum;
    gba_device_info_t info;
    char device[192] = "none";

    if (gba_coll->params.verbose < 1)
        return;
    gba_coll_counts_sum(&sum);
    if (NULL != gba_coll->device && GBA_OK == gba_device_query(gba_coll->device, &info))
        snprintf(device, sizeof device,
                 "%s counted arrivals %llu, releases %llu, rounds %llu, errors %llu", info.path,
                 (unsigned long long)info.counters[GBA_COUNTER_ARRIVALS],
                 (unsigned long long)info.counters[GBA_COUNTER_RELEASES],
                 (unsigned long long)info.counters[GBA_COUNTER_ROUNDS], errors_sum(&info));
    opal_output(
        gba_coll->output,
        "coll gba_barrier: totals of rank 0: barriers device %llu, sim %llu, software %llu, "
        "fallback %llu; sent again %llu arrivals lost and %llu releases lost; failovers "
        "%llu; device: %s",
        sum.barriers[GBA_PATH_DEVICE], sum.barriers[GBA_PATH_SIM], sum.barriers[GBA_PATH_SOFT],
        sum.barriers[GBA_PATH_CALLER], sum.retries_arrival, sum.retries_release, sum.failovers,
        device);
}
