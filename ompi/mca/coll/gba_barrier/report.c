/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user gets to see: one line per fallback that was not wanted, totals. */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <unistd.h>

#define HELP_FILE "help-coll-gba-barrier.txt"

/* Whether Open MPI finds our texts and can show each one once for the whole job. */
static bool help_found;

static bool help_find(void)
{
    if (!GBA_SHOW_HELP || 0 != access(GBA_HELP_DIR "/" HELP_FILE, R_OK))
        return false;
    return OPAL_SUCCESS == opal_show_help_add_dir(GBA_HELP_DIR);
}

void gba_coll_report_init(void)
{
    gba_coll->output = gba_common_log_open("coll gba_barrier", gba_coll->variables.verbose);
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

    /* It does not change after open; so most programs pay for no lock, at each communicator. */
    if ('\0' == gba_coll->bad_parameter[0])
        return;
    opal_mutex_lock(&gba_coll->lock);
    due = !gba_coll->parameter_told;
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

void gba_coll_report_path(ompi_communicator_t *comm, uint32_t speaker, gba_status_t reason,
                          const char *why)
{
    const char *detail = gba_coll->device.detail;
    uint32_t asker = gba_coll_capability_asker(comm);
    bool asked = UINT32_MAX != asker;
    char line[1024];
    int n;
    /* All members note that the speaker tells it. */
    bool due = gba_common_reason_due(&gba_coll->reasons_told, &gba_coll->lock, reason, asked);

    if ((due && asked ? asker : speaker) != (uint32_t)ompi_comm_rank(comm))
        return;
    n = snprintf(line, sizeof line, "%s (id %u, %d ranks): %s", gba_compat_comm_name(comm),
                 GBA_COMM_ID(comm), ompi_comm_size(comm), why);
    if (!due) {
        opal_output_verbose(1, gba_coll->output, "coll gba_barrier: %s", line);
        return;
    }
    if (asked && n < (int)sizeof line)
        snprintf(line + n, sizeof line - (size_t)n, ", although device_path is \"%s\"%s%s%s",
                 gba_coll->params.device_path, '\0' == detail[0] ? "" : " (", detail,
                 '\0' == detail[0] ? "" : ")");
    gba_coll_report_once(gba_status_name(reason), line);
}

void gba_coll_report_totals(void)
{
    struct gba_common_counts sum;

    if (gba_coll->params.verbose < 1)
        return;
    gba_coll_counts_sum(&sum);
    gba_common_totals(gba_coll->output, "rank 0", &sum, &gba_coll->device);
}
