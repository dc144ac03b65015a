/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreements of a communicator's members about the path of their barriers: in its first barrier
 * after agree_after barriers, again when the device has failed, and at each renegotiation. Not when
 * the communicator is made: an agreement costs more than many barriers, and Open MPI selects
 * modules for new communicators inside a progress callback, where nothing may block.
 *
 * Agreements in nonblocking barriers: the first one of a communicator, requests of a group, and
 * those about another path after a device failure. An agreement precedes the first barrier of the
 * queue (ibarrier.c), and progress advances it.
 *
 * The agreement is no barrier. The barriers of the queue start when it has ended, the first one on
 * the agreed path, too. So no member has to know which barriers other members have called before
 * the end of the agreement.
 *
 * All members run the same agreement before the same barrier (gba/agree/schedule.c), and none
 * starts that barrier on the new path while another one is in the barrier before it on the old
 * path, because the operations of the exchange end only when all members have posted them. A team
 * whose device has failed accepts and answers failure notifications until then.
 *
 * If the members agree on the fallback, the queued barriers cannot use Open MPI's own nonblocking
 * barrier, which matches by the order of the calls, because they would start in progress. Members
 * have different barriers in their queues then, so no member knows a later call that is the first
 * one for all. All barriers up to the next blocking one therefore use messages
 * (ibarrier.c), that one as well. At its end no member has made a later call.
 */
#include "ompi/mca/coll/gba_barrier/agree.h"
#include "ompi/mca/common/gba/open.h"

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

    return world != NULL && comm == *world;
}

bool gba_coll_agree_for_set(const ompi_communicator_t *comm)
{
    char name[MPI_MAX_OBJECT_NAME];

    return 0 == strncmp(gba_compat_comm_name(comm, name), GBA_COMMON_SET_NAME,
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
    if (gba_coll_agree_for_set(comm))
        return "Open MPI created this communicator for OpenSHMEM; see scoll_gba_device_path";
    if (ompi_async_mpi_finalize)
        return "async_mpi_finalize is set";
    return gba_compat_comm_of_world(comm)
               ? NULL
               : "the communicator belongs to a session, not to MPI_Init";
}

int gba_coll_fallback_barrier(gba_coll_module_t *module)
{
    struct gba_coll_fallback *fallback = &module->fallback;
    mca_coll_base_comm_coll_t *now = module->comm->c_coll;
    mca_coll_base_module_barrier_fn_t barrier = now->coll_barrier;
    mca_coll_base_module_t *barrier_module = now->coll_barrier_module;
    int rc;

    /*
     * The fallback stands in the communicator's table during its call, because it may replace
     * itself there. coll/han of 4.1 does so: if its own function is in the table, it stores there
     * the function that it has saved. It then calls the function in the table, even if that is
     * ours, with another component's module. Afterwards this module keeps the function that is in
     * the table. The references are right: the fallback retains the module that it stores and
     * releases its own.
     */
    now->coll_barrier = fallback->barrier;
    now->coll_barrier_module = fallback->barrier_module;
    rc = fallback->barrier(module->comm, fallback->barrier_module);
    fallback->barrier = now->coll_barrier;
    fallback->barrier_module = now->coll_barrier_module;
    now->coll_barrier = barrier;
    now->coll_barrier_module = barrier_module;
    return rc;
}

gba_status_t gba_coll_fallback(void *owner)
{
    return OMPI_SUCCESS == gba_coll_fallback_barrier(owner) ? GBA_OK : GBA_ERR_OOB;
}

gba_status_t gba_coll_agree_prepare(void *owner, struct gba_common_agreement *a, bool renegotiation)
{
    gba_coll_module_t *module = owner;
    const struct gba_common_messages exchange = {.comm = module->comm,
                                                 .tag = {GBA_COMMON_TAG_AGREEMENT}};
    int *offload_after = &a->params.offload_after;

    if (module->queue == NULL) /* in a blocking barrier: no member has a barrier in its queue */
        module->queueing = false;
    if (GBA_OK != gba_common_exchange_open(&module->base, &exchange))
        return GBA_ERR_NOMEM;

    /* The barriers before the agreement count. */
    if (!renegotiation && !module->base.agreed)
        *offload_after -= module->base.fallbacks < (unsigned)*offload_after
                              ? (int)module->base.fallbacks
                              : *offload_after;
    a->messages = (struct gba_common_messages){
        .comm = module->comm, .tag = {GBA_COMMON_TAG_TRANSPORT, GBA_COMMON_TAG_DEGRADED}};
    gba_common_remote_init(&a->remote, &a->messages);
    a->attr.remote = &a->remote;
    a->attr.nonblocking = true;
    gba_common_progress_open(NULL);
    a->attr.device_text = device_refused(module->comm);
    if (a->attr.device_text != NULL)
        a->attr.device_status = GBA_ERR_UNSUPPORTED;
    return GBA_OK;
}

void gba_coll_agree_apply(void *owner)
{
    gba_coll_module_t *module = owner;
    /* failed: perhaps after the choice of a path. */
    bool fast = GBA_PATH_FALLBACK != module->base.path && module->queue == NULL && !module->failed;

    /* Release: pairs with the acquire in gba_coll_barrier, in a thread that did not run the team's
     * last nonblocking barrier. */
    gba_pointer_store_release(&module->base.active, fast ? module->base.team : NULL);
}

bool gba_coll_agree_due(const gba_coll_module_t *module)
{
    return !module->queueing && !module->base.agreed &&
           module->base.fallbacks >= module->agree_after;
}

bool gba_coll_agree_declines(gba_coll_module_t *module)
{
    struct gba_coll_survey survey;
    gba_status_t status;
    char text[448];

    gba_coll_capability_survey(module->comm, &survey);
    status = survey.status;
    if (GBA_OK != status) {
        gba_coll_capability_describe(module, status, survey.culprit, text, sizeof text);
    } else if ((int)module->base.size < gba_common.params.min_comm_size) {
        status = GBA_ERR_TOO_FEW;
        snprintf(text, sizeof text, "fewer ranks than min_comm_size, which is %d",
                 gba_common.params.min_comm_size);
    }
    if (GBA_OK == status)
        return false;
    gba_common_decline(&module->base, status, survey.reporter, text);
    return true;
}

void gba_coll_name(void *owner, char *text, size_t len)
{
    const gba_coll_module_t *module = owner;
    char own[MPI_MAX_OBJECT_NAME];

    snprintf(text, len, "%.40s (id %u)", gba_compat_comm_name(module->comm, own),
             GBA_COMM_ID(module->comm));
}

uint64_t gba_coll_id(const void *owner)
{
    const gba_coll_module_t *module = owner;

    /* Disjoint communicators may have the same number. */
    return (uint64_t)gba_coll_agree_peer(owner, 0) << 32 | gba_compat_comm_number(module->comm);
}

int gba_coll_agree_peer(const void *owner, uint32_t member)
{
    const gba_coll_module_t *module = owner;

    return (int)gba_coll_member(module->comm, member).vpid;
}

bool gba_coll_agree_of_job(const void *owner, uint32_t member)
{
    const gba_coll_module_t *module = owner;

    return gba_coll_member(module->comm, member).jobid == OMPI_PROC_MY_NAME->jobid;
}
