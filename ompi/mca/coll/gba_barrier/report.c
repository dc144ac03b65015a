/* SPDX-License-Identifier: BSD-3-Clause */
/* The output for the user: one line for each unexpected fallback. */
#include "ompi/mca/coll/gba_barrier/agree.h"
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/report.h"

#include <string.h>

void gba_coll_report_parameter(void)
{
    static gba_word_t reported;
    const bool bad = '\0' != gba_common.bad_parameter[0];
    bool due = bad || (gba_common.params.disable && gba_common.params.verbose > 0);

    due = due && 0 == gba_word_add_relaxed(&reported, 1);
    /* The lowest process with the same word reports for all, because most often all have the same
     * parameters. */
    for (uint32_t vpid = 0; due && vpid < OMPI_PROC_MY_NAME->vpid; vpid++)
        due = !gba_coll_capability_same(vpid);
    if (due && bad)
        gba_common_alert("%s; the component is disabled", gba_common.bad_parameter);
    else if (due)
        gba_common_print(false, "%s (rank %u); the component is disabled", gba_common_disabled(),
                         (unsigned)OMPI_PROC_MY_NAME->vpid);
}

/* The member that reports to a user who requested the device: rank 0 of the job, for a reason of
 * the whole job; the one that knows the cause; or else one that knows the requested path. */
static uint32_t reporter_of(ompi_communicator_t *comm, uint32_t requester, gba_status_t reason,
                            uint32_t culprit)
{
    if (gba_common_reason_of_job(reason))
        for (int i = 0; i < ompi_comm_size(comm); i++)
            if (0 == ompi_group_get_proc_name(comm->c_local_group, i).vpid)
                return (uint32_t)i;
    return gba_common_reason_own(reason) && gba_coll_capability_requested(comm, culprit)
               ? culprit
               : requester;
}

static void comm_describe(ompi_communicator_t *comm, char *text, size_t len)
{
    char own[MPI_MAX_OBJECT_NAME];

    snprintf(text, len, "%s (id %u, %d ranks)", gba_compat_comm_name(comm, own), GBA_COMM_ID(comm),
             ompi_comm_size(comm));
}

void gba_coll_report_path(void *owner, uint32_t reporter, gba_status_t reason, uint32_t culprit,
                          const char *why)
{
    gba_coll_module_t *module = owner;
    ompi_communicator_t *comm = module->comm;
    struct gba_coll_survey survey;
    char name[128], more[700];
    bool asked, due;

    comm_describe(comm, name, sizeof name);
    gba_common_reason_keep(&module->base, name, why);
    if (GBA_OK == module->base.declined && gba_coll_agree_for_set(comm))
        reason = GBA_OK; /* the user misses no device there */
    gba_coll_capability_survey(comm, &survey);
    asked = UINT32_MAX != survey.requester;
    due = gba_common_reason_due(reason, asked); /* every member records that it is reported */
    /* `due` may differ between members, because the job may have other such communicators. Where
     * the reporter depends on the reason, all members choose the same one. */
    if (asked && (due || gba_common_reason_of_job(reason) || gba_common_reason_own(reason)))
        reporter = reporter_of(comm, survey.requester, reason, culprit);
    if (reporter != module->base.rank)
        return;
    due = gba_common_reason_describe(reason, due, asked, more, sizeof more);
    gba_common_print(due, "%s: %.512s%s", name, why, more);
}

void gba_coll_report_unagreed_begin(gba_coll_module_t *module)
{
    char name[128];

    if (gba_common.params.verbose < 1 || module->base.agreed || 0 != module->base.fallbacks ||
        0 != module->base.rank)
        return;
    comm_describe(module->comm, name, sizeof name);
    module->label = strdup(name); /* out of memory: no line */
}

void gba_coll_report_unagreed_end(gba_coll_module_t *module)
{
    if (module->label != NULL && !module->base.agreed)
        gba_common_print(false,
                         "%s: fallback: the ranks agree on a path after %u barriers; barriers on "
                         "Open MPI's own: %llu",
                         module->label, module->agree_after, module->base.fallbacks);
    free(module->label);
    module->label = NULL;
}
