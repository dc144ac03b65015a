/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes take part. A process without this component calls the barrier that was there
 * before us, and nothing that we send could reach it; so each process says in the modex, the
 * exchange of MPI_Init, that it is here and what decides whether it takes part in a communicator.
 * Members compare these words locally and come to the same conclusion.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <string.h>

/* Not const only because Open MPI 4.1 takes it as char *. */
static char modex_key[] = "gba.coll.barrier";

/* Raised whenever what members send to each other changes, here or among members of a team
 * in libgba. */
#define PROTOCOL       UINT64_C(6)
#define PROTOCOL_SHIFT 48

/* Words that a process which takes part never publishes: these have a protocol. */
#define CAPABILITY_UNKNOWN UINT64_C(0) /* not looked up */
#define CAPABILITY_ABSENT  UINT64_C(1) /* published nothing */
#define CAPABILITY_OFF     UINT64_C(2) /* disabled */
#define CAPABILITY_BAD     UINT64_C(3) /* a parameter is bad */

/*
 * One word, so that equal words mean an equal decision: protocol << PROTOCOL_SHIFT | priority << 32
 * | min_comm_size. The priority decides whether our barrier or another component's is on top.
 * ASKED stands in the sign of min_comm_size and decides nothing but who hears of a missing device.
 */
#define ASKED (UINT64_C(1) << 31)

static uint64_t capability_mine(void)
{
    const gba_params_t *params = &gba_coll->params;

    if (!gba_coll->enabled)
        return '\0' == gba_coll->bad_parameter[0] ? CAPABILITY_OFF : CAPABILITY_BAD;
    return PROTOCOL << PROTOCOL_SHIFT | (uint64_t)(uint16_t)params->priority << 32 |
           (gba_coll->device_asked ? ASKED : 0) | (uint32_t)params->min_comm_size;
}

void gba_coll_capability_publish(void)
{
    /* Otherwise a host does not have the words of all others after MPI_Init, and what we found
     * would depend on who asks. The user set this, and for all processes alike. */
    if (opal_pmix_base_async_modex || !opal_pmix_collect_all_data) {
        if (gba_coll->enabled && 0 == OMPI_PROC_MY_NAME->vpid)
            gba_coll_report_once("modex", "pmix_base_async_modex is set or "
                                          "pmix_base_collect_data is not, so not all hosts know "
                                          "who has this component; it takes no part");
        gba_coll->enabled = false;
    }
    /* If it fails, the others take us for a process without the component; so we must be one. */
    if (OPAL_SUCCESS != gba_compat_modex_put(modex_key, capability_mine())) {
        gba_coll_report_once("modex", "the exchange of MPI_Init refused what this "
                                      "component publishes; it takes no part");
        gba_coll->enabled = false;
    }
}

/* What a process of this job has published. Called with the lock held. */
static uint64_t capability_get(opal_process_name_t *name)
{
    size_t processes = (size_t)ompi_proc_world_size();
    uint64_t word = CAPABILITY_ABSENT;

    if (name->vpid == OMPI_PROC_MY_NAME->vpid)
        return capability_mine();
    /* Each is looked up once in the life of the job: communicators are many. Without memory for
     * that it is looked up each time. */
    if (NULL == gba_coll->capabilities)
        gba_coll->capabilities = calloc(processes, sizeof gba_coll->capabilities[0]);
    if (NULL != gba_coll->capabilities && name->vpid < processes &&
        CAPABILITY_UNKNOWN != gba_coll->capabilities[name->vpid])
        return gba_coll->capabilities[name->vpid];

    if (OPAL_SUCCESS != gba_compat_modex_get(name, modex_key, &word))
        word = CAPABILITY_ABSENT;
    if (NULL != gba_coll->capabilities && name->vpid < processes)
        gba_coll->capabilities[name->vpid] = word;
    return word;
}

static uint64_t capability_of(ompi_communicator_t *comm, int rank)
{
    opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);

    return capability_get(&name);
}

static bool capability_takes_part(uint64_t word, int size)
{
    return 0 != word >> PROTOCOL_SHIFT && (uint32_t)(word & ~ASKED) <= (uint32_t)size;
}

/* A job's modex is complete on every host; another job's need not be, and then what we found would
 * depend on who asks. That there are several jobs is plain to all members. */
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

gba_status_t gba_coll_capability_check(ompi_communicator_t *comm, uint32_t *rank, uint32_t *speaker)
{
    int size = ompi_comm_size(comm);
    gba_status_t status = GBA_OK;
    uint64_t first, word;

    *speaker = 0;
    if (!one_job(comm, rank))
        return GBA_ERR_UNSUPPORTED;

    opal_mutex_lock(&gba_coll->lock);
    first = capability_of(comm, 0);
    for (int i = 0; i < size && GBA_OK == status; i++) {
        word = capability_of(comm, i);
        if (0 == word >> PROTOCOL_SHIFT)
            status = GBA_ERR_NO_PLUGIN;
        else if (0 != ((word ^ first) & ~ASKED))
            status = GBA_ERR_MISMATCH;
        if (GBA_OK != status)
            *rank = (uint32_t)i;
    }
    for (int i = 0; i < size; i++)
        if (capability_takes_part(capability_of(comm, i), size)) {
            *speaker = (uint32_t)i;
            break;
        }
    opal_mutex_unlock(&gba_coll->lock);
    return status;
}

uint32_t gba_coll_capability_asker(ompi_communicator_t *comm)
{
    int size = ompi_comm_size(comm), rank = 0;
    uint32_t ignored;

    if (!one_job(comm, &ignored))
        return UINT32_MAX;
    opal_mutex_lock(&gba_coll->lock);
    while (rank < size && (!capability_takes_part(capability_of(comm, rank), size) ||
                           0 == (capability_of(comm, rank) & ASKED)))
        rank++;
    opal_mutex_unlock(&gba_coll->lock);
    return rank < size ? (uint32_t)rank : UINT32_MAX;
}

bool gba_coll_capability_bad(uint32_t vpid)
{
    opal_process_name_t name = *OMPI_PROC_MY_NAME;
    bool bad;

    name.vpid = vpid;
    opal_mutex_lock(&gba_coll->lock);
    bad = CAPABILITY_BAD == capability_get(&name);
    opal_mutex_unlock(&gba_coll->lock);
    return bad;
}

void gba_coll_capability_fini(void)
{
    free(gba_coll->capabilities);
    gba_coll->capabilities = NULL;
}
