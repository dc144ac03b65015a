/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes with this component. A process without it calls the barrier that was
 * selected before ours, and receives none of our messages. So each process publishes a word in the
 * modex, the exchange of MPI_Init: that it has the component, and the values that decide whether
 * the component serves a communicator. Members compare these words locally and come to the same
 * conclusion.
 */
#include "ompi/mca/coll/gba_barrier/agree.h"
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/report.h"

#include <string.h>

/* not const, because Open MPI 4.1 takes it as char * */
static char modex_key[] = "gba.coll.barrier";

/* The version of everything that members send to each other outside libgba, this word included. To
 * be raised with each change of it. */
#define PROTOCOL UINT64_C(11)

/* Words of processes without an enabled component. All other words contain a protocol. */
#define CAPABILITY_UNKNOWN UINT64_C(0) /* not looked up */
#define CAPABILITY_ABSENT  UINT64_C(1) /* published nothing */
#define CAPABILITY_OFF     UINT64_C(2) /* disabled */
#define CAPABILITY_BAD     UINT64_C(3) /* a parameter is invalid */

/*
 * The word of an enabled component is that of gba_common_capability, so equal words mean an
 * equal decision. REQUESTED is this component's own bit. It decides only which process reports a
 * missing device.
 */
#define REQUESTED GBA_COMMON_OWN_BIT

static uint64_t capability_mine(void)
{
    if (!gba_common.enabled)
        return '\0' == gba_common.bad_parameter[0] ? CAPABILITY_OFF : CAPABILITY_BAD;
    return gba_common_capability(PROTOCOL, (uint64_t)gba_common.own.agree_after) |
           (gba_common.device_asked ? REQUESTED : 0);
}

void gba_coll_capability_publish(void)
{
    /* These settings of the user are the same for all processes. */
    const bool reports = gba_common.enabled && 0 == OMPI_PROC_MY_NAME->vpid;
    uint64_t word;

    if (gba_compat_fault_tolerant()) {
        if (reports && (gba_common.device_asked || gba_common.params.verbose > 0))
            gba_common_alert("the job runs with fault tolerance (--with-ft, mpi_ft_enable), where "
                             "a process may fail and the other processes continue; the component "
                             "is disabled");
        gba_common.enabled = false;
    }
    /* With an incomplete modex the result would depend on the caller and the time of the call. */
    if (!gba_compat_modex_complete()) {
        if (reports)
            gba_common_alert(GBA_COMPAT_MODEX_SETTING
                             ", so MPI_Init ends before all processes have published whether "
                             "they have this component; the component is disabled");
        gba_common.enabled = false;
    }
    /* If publishing fails, the other processes see a process without the component. So the
     * component is disabled here. */
    word = capability_mine();
    if (OPAL_SUCCESS != gba_compat_modex_put(modex_key, &word, 1)) {
        gba_common_alert("cannot publish this component in the modex of MPI_Init; the component is "
                         "disabled");
        gba_common.enabled = false;
    }
}

/* The word that a process of this job has published. Under the lock. */
static uint64_t capability_get(opal_process_name_t *name)
{
    uint64_t unknown = CAPABILITY_UNKNOWN, *word = &unknown;

    if (name->vpid == OMPI_PROC_MY_NAME->vpid)
        return capability_mine();
    /* Each word is looked up once in the life of the job, because there are many communicators.
     * Without memory for the words each call looks it up. */
    if (gba_coll->capabilities == NULL)
        gba_coll->capabilities = calloc((size_t)ompi_proc_world_size(), sizeof *word);
    if (gba_coll->capabilities != NULL)
        word = &gba_coll->capabilities[name->vpid];
    if (CAPABILITY_UNKNOWN == *word) {
        *word = CAPABILITY_ABSENT;
        (void)gba_common_modex_get(name, modex_key, word, 1);
    }
    return *word;
}

static uint64_t capability_of(ompi_communicator_t *comm, int rank)
{
    opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);

    return capability_get(&name);
}

/* Whether all members belong to one job; if not, *rank is a member of another one. The modex of a
 * job is complete on every host. That of another job need not be, so the result would depend on the
 * caller. All members see that there are several jobs. */
static bool one_job(ompi_communicator_t *comm, uint32_t *rank)
{
    opal_process_name_t first = ompi_group_get_proc_name(comm->c_local_group, 0);

    for (int i = 1; i < ompi_comm_size(comm); i++)
        if (first.jobid != ompi_group_get_proc_name(comm->c_local_group, i).jobid) {
            *rank = (uint32_t)i;
            return false;
        }
    return true;
}

void gba_coll_capability_survey(ompi_communicator_t *comm, struct gba_coll_survey *survey)
{
    const int size = ompi_comm_size(comm);
    gba_status_t status;
    uint64_t first, word;

    *survey = (struct gba_coll_survey){.requester = UINT32_MAX};
    if (!one_job(comm, &survey->culprit)) {
        survey->status = GBA_ERR_UNSUPPORTED;
        return;
    }
    survey->reporter = UINT32_MAX;
    opal_mutex_lock(&gba_common.lock);
    first = capability_of(comm, 0);
    for (int i = 0; i < size; i++) {
        word = capability_of(comm, i);
        status = 0 == word >> GBA_COMMON_PROTOCOL_SHIFT ? GBA_ERR_NO_PLUGIN
                 : 0 != ((word ^ first) & ~REQUESTED)   ? GBA_ERR_MISMATCH
                                                        : GBA_OK;
        if (GBA_OK == survey->status && GBA_OK != status) {
            survey->status = status;
            survey->culprit = (uint32_t)i;
        }
        if (GBA_ERR_NO_PLUGIN == status)
            continue;
        if (UINT32_MAX == survey->reporter)
            survey->reporter = (uint32_t)i;
        if (UINT32_MAX == survey->requester && 0 != (word & REQUESTED))
            survey->requester = (uint32_t)i;
    }
    opal_mutex_unlock(&gba_common.lock);
}

uint32_t gba_coll_size(ompi_communicator_t *comm)
{
    const int further = OMPI_COMM_IS_INTER(comm) ? ompi_comm_remote_size(comm) : 0;

    return (uint32_t)(ompi_comm_size(comm) + further);
}

ompi_group_t *gba_coll_first_group(const ompi_communicator_t *comm)
{
    const opal_process_name_t local = ompi_group_get_proc_name(comm->c_local_group, 0),
                              remote = ompi_group_get_proc_name(comm->c_remote_group, 0);
    const bool swapped =
        remote.jobid == local.jobid ? remote.vpid < local.vpid : remote.jobid < local.jobid;

    return swapped ? comm->c_remote_group : comm->c_local_group;
}

opal_process_name_t gba_coll_member(const ompi_communicator_t *comm, uint32_t member)
{
    ompi_group_t *group = gba_coll_first_group(comm);
    const uint32_t size = (uint32_t)ompi_group_size(group);

    if (member < size)
        return ompi_group_get_proc_name(group, (int)member);
    group = group == comm->c_local_group ? comm->c_remote_group : comm->c_local_group;
    return ompi_group_get_proc_name(group, (int)(member - size));
}

void gba_coll_name_member(void *owner, uint32_t rank, char *text, size_t len)
{
    const gba_coll_module_t *module = owner;
    opal_process_name_t name = gba_coll_member(module->comm, rank);
    char host[OPAL_MAXHOSTNAMELEN];

    gba_compat_host(&name, host, sizeof host);
    if (OMPI_COMM_IS_INTER(module->comm)) /* its two groups have the same ranks */
        rank = name.vpid;
    snprintf(text, len, "rank %u on %s", (unsigned)rank, host);
}

void gba_coll_capability_describe(gba_coll_module_t *module, gba_status_t reason, uint32_t rank,
                                  char *text, size_t len)
{
    const char *what = gba_status_text(reason);
    char first[96], member[96];
    const char *const names[] = {first, member};
    uint64_t words[2];

    gba_coll_name_member(module, 0, first, sizeof first);
    gba_coll_name_member(module, rank, member, sizeof member);
    if (GBA_ERR_UNSUPPORTED == reason) { /* the words of another job cannot be looked up */
        snprintf(text, len, "its members belong to several jobs (%s, %s)", first, member);
        return;
    }
    opal_mutex_lock(&gba_common.lock);
    words[0] = capability_of(module->comm, 0);
    words[1] = capability_of(module->comm, (int)rank);
    opal_mutex_unlock(&gba_common.lock);
    if (GBA_ERR_MISMATCH == reason) {
        gba_common_capability_differ(words, names, text, len);
        return;
    }
    if (CAPABILITY_OFF == words[1])
        what = "the plugin is disabled";
    else if (CAPABILITY_BAD == words[1])
        what = "the plugin is disabled by a bad parameter";
    else if (CAPABILITY_ABSENT == words[1])
        what = "the plugin is missing";
    snprintf(text, len, "%s (%s)", what, member);
}

bool gba_coll_capability_requested(ompi_communicator_t *comm, uint32_t rank)
{
    bool requested;

    opal_mutex_lock(&gba_common.lock);
    requested = 0 != (capability_of(comm, (int)rank) & REQUESTED);
    opal_mutex_unlock(&gba_common.lock);
    return requested;
}

bool gba_coll_capability_same(uint32_t vpid)
{
    opal_process_name_t name = *OMPI_PROC_MY_NAME;
    bool same;

    name.vpid = vpid;
    opal_mutex_lock(&gba_common.lock);
    same = capability_mine() == capability_get(&name);
    opal_mutex_unlock(&gba_common.lock);
    return same;
}
