/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreements of a communicator's members about the path of their barriers: in its first barrier
 * after agree_after barriers, again when the device has failed, and at each renegotiation. Not when
 * the communicator is made: an agreement costs more than many barriers, and Open MPI selects
 * modules for new communicators inside a progress callback, where nothing may block.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <dlfcn.h>
#include <string.h>

/*
 * Whether this is the communicator that Open MPI itself uses in an OpenSHMEM program. After its
 * barrier in shmem_finalize UCX waits for all processes, and calls no progress function. If the
 * device failed in that barrier, a member that has left it could not answer a failure notification.
 */
static bool comm_of_shmem(const ompi_communicator_t *comm)
{
    ompi_communicator_t *const *world = dlsym(RTLD_DEFAULT, "oshmem_comm_world");

    return NULL != world && comm == *world;
}

/* Whether the communicator gets no device: that of comm_of_shmem, or one below an active set, whose
 * members have another path or will have one soon. */
static bool comm_for_set(const ompi_communicator_t *comm)
{
    return 0 == strncmp(gba_compat_comm_name(comm), GBA_COMMON_SET_NAME,
                        sizeof GBA_COMMON_SET_NAME - 1) ||
           comm_of_shmem(comm);
}

/*
 * Why the communicator gets no device, or NULL. Failure notifications require that MPI_Finalize
 * waits for all members, because a member that has ended cannot answer. MPI_Session_finalize does
 * not wait. Without MPI_Init there is no MPI_COMM_WORLD to send on.
 */
static const char *device_refused(const ompi_communicator_t *comm)
{
    if (comm_for_set(comm))
        return "Open MPI created this communicator for OpenSHMEM; see scoll_gba_device_path";
    if (ompi_async_mpi_finalize)
        return "async_mpi_finalize is set";
    return gba_compat_comm_of_world(comm)
               ? NULL
               : "the communicator belongs to a session, not to MPI_Init";
}

gba_status_t gba_coll_agree_prepare(void *owner, struct gba_common_agreement *a, bool renegotiation)
{
    gba_coll_module_t *module = owner;
    int *offload_after = &a->params.offload_after;

    if (!module->agreeing) /* in a blocking barrier, so no member has a barrier in its queue */
        module->queueing = false;
    if (GBA_OK != gba_coll_oob_open(module))
        return GBA_ERR_NOMEM;

    /* The barriers before the agreement count. */
    if (!renegotiation && !module->base.agreed)
        *offload_after -= module->base.fallbacks < (unsigned)*offload_after
                              ? (int)module->base.fallbacks
                              : *offload_after;
    a->messages = (struct gba_common_messages){
        .comm = module->comm, .tag = {GBA_COMMON_TAG_TRANSPORT, GBA_COMMON_TAG_DEGRADED}};
    gba_common_remote_init(&a->remote, &a->messages);
    snprintf(a->name, sizeof a->name, "%.40s (id %u)", gba_compat_comm_name(module->comm),
             GBA_COMM_ID(module->comm));
    a->attr.remote = &a->remote;
    a->attr.nonblocking = true;
    a->attr.progress = gba_common_progress;
    a->attr.fallback = gba_coll_fallback;
    a->attr.trial_ctx = owner;
    a->attr.device_text = device_refused(module->comm);
    if (NULL != a->attr.device_text)
        a->attr.device_status = GBA_ERR_UNSUPPORTED;
    return GBA_OK;
}

void gba_coll_agree_apply(void *owner)
{
    gba_coll_module_t *module = owner;
    /* failed: perhaps after the choice of a path. */
    bool fast = GBA_PATH_FALLBACK != module->base.path && NULL == module->queue &&
                !module->failed && 0 == gba_coll->sample;

    /* Release: pairs with the acquire in gba_coll_barrier, in a thread that did not run the team's
     * last nonblocking barrier. */
    gba_pointer_store_release(&module->base.active, fast ? module->base.team : NULL);
}

void gba_coll_agree_report(void *owner, uint32_t reporter, gba_status_t reason, uint32_t culprit,
                           const char *why)
{
    gba_coll_module_t *module = owner;
    char name[128];

    snprintf(name, sizeof name, "%s (id %u, %d ranks)", gba_compat_comm_name(module->comm),
             GBA_COMM_ID(module->comm), ompi_comm_size(module->comm));
    if (module->base.path <= GBA_PATH_SIM)
        gba_common_why_clear(&module->base);
    else
        gba_common_why_set(&module->base, name, why);
    if (GBA_OK == module->base.declined && comm_for_set(module->comm))
        reason = GBA_OK; /* the user misses no device there */
    gba_coll_report_path(module->comm, reporter, reason, culprit, why);
}

bool gba_coll_agree_due(const gba_coll_module_t *module)
{
    return !module->queueing && !module->base.agreed &&
           module->base.fallbacks >= module->agree_after;
}

bool gba_coll_agree_declines(gba_coll_module_t *module)
{
    char text[448];
    uint32_t rank = 0, reporter = 0;
    gba_status_t status = gba_coll_capability_check(module->comm, &rank, &reporter);

    if (GBA_OK != status) {
        gba_coll_capability_describe(module->comm, status, rank, text, sizeof text);
    } else if ((int)module->base.size < gba_common.params.min_comm_size) {
        status = GBA_ERR_TOO_FEW;
        snprintf(text, sizeof text, "fewer ranks than min_comm_size, which is %d",
                 gba_common.params.min_comm_size);
    }
    if (GBA_OK == status)
        return false;
    gba_common_decline(&module->base, status, reporter, text);
    return true;
}
