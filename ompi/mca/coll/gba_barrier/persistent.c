/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent barriers: MPI_Barrier_init of MPI 4, MPIX_Barrier_init of Open MPI 4.1.
 *
 * Members may start several persistent barriers in different orders, so the sequence of the
 * communicator's team does not distinguish them. Each one has its own communicator with its own
 * team: a barrier group if one is free, else a software barrier. A start is then a nonblocking
 * barrier of that communicator, which has no other calls.
 *
 * MPI_Barrier_init is collective and may block, so the members agree on the path in it. If the path
 * is the fallback, the fallback provides the persistent barrier from the beginning.
 */
#include "ompi/mca/coll/gba_barrier/module.h"
#include "ompi/mca/coll/gba_barrier/agree.h"
#include "ompi/mca/coll/gba_barrier/queue.h"

/* Pass the call to the module below this one. */
static int init_fallback(ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request,
                         gba_coll_module_t *module)
{
    return module->fallback.barrier_init(comm, info, request, module->fallback.barrier_init_module);
}

/* Whether the barriers of that communicator are ours. The same on all members, because the
 * framework selects by values that they have in common. */
static bool comm_is_ours(ompi_communicator_t *comm)
{
    return gba_coll_barrier_init == comm->c_coll->coll_barrier_init;
}

/*
 * Create a communicator with the members of comm whose barriers have a path of ours.
 * own: receives it, or MPI_COMM_NULL if there is no such path; the same on all members.
 * Returns OMPI_SUCCESS, or an error code. Collective, blocks.
 */
static int comm_create(ompi_communicator_t *comm, ompi_communicator_t **own)
{
    int rc;

    /* Uses the MPI interface. Unlike MPI_Comm_dup, MPI_Comm_split copies no attributes, which would
     * call the user's functions. Unlike Open MPI's internal functions it is visible in every build.
     */
    rc = PMPI_Comm_split(comm, 0, 0, own);
    if (MPI_SUCCESS != rc)
        return rc;
    if (comm_is_ours(*own)) {
        gba_coll_module_t *module = (gba_coll_module_t *)(*own)->c_coll->coll_barrier_init_module;

        module->agree_after = 0;
        rc = PMPI_Barrier(*own); /* the members agree on the path */
        if (MPI_SUCCESS == rc && GBA_PATH_FALLBACK != module->base.path)
            return MPI_SUCCESS;
    }
    (void)PMPI_Comm_free(own);
    return rc;
}

/* MPI_Start and MPI_Startall. */
static int persistent_start(size_t count, ompi_request_t **requests)
{
    int rc = OMPI_SUCCESS;

    for (size_t i = 0; i < count && OMPI_SUCCESS == rc; i++) {
        gba_coll_request_t *request = (gba_coll_request_t *)requests[i];

        request->super.req_status = ompi_status_empty;
        request->super.req_complete = REQUEST_PENDING;
        request->super.req_state = OMPI_REQUEST_ACTIVE;
        request->next = NULL;
        rc = gba_coll_ibarrier_enqueue(request);
        if (OMPI_SUCCESS != rc) {
            request->super.req_complete = REQUEST_COMPLETED;
            request->super.req_state = OMPI_REQUEST_INACTIVE;
        }
    }
    return rc;
}

int gba_coll_barrier_init(ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request,
                          mca_coll_base_module_t *super)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;
    gba_coll_request_t *r;
    ompi_communicator_t *own;
    int rc;

    /* All members have called the same barriers before this one, so either all have agreed or none,
     * unless nonblocking ones are queued. Then gba_coll_agree_declines has returned false. A member
     * without this component is in the fallback's function now, and makes none of our collective
     * calls. */
    if (!module->queueing && (module->base.agreed ? GBA_PATH_FALLBACK == module->base.path
                                                  : gba_coll_agree_declines(module)))
        return init_fallback(comm, info, request, module);
    rc = comm_create(comm, &own);
    if (MPI_SUCCESS != rc)
        return rc;
    if (MPI_COMM_NULL == own)
        return init_fallback(comm, info, request, module);
    r = gba_coll_request_create((gba_coll_module_t *)own->c_coll->coll_barrier_init_module, comm);
    if (r == NULL) {
        (void)PMPI_Comm_free(&own);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    r->own = own;
    r->super.req_persistent = true;
    r->super.req_complete = REQUEST_COMPLETED;
    r->super.req_state = OMPI_REQUEST_INACTIVE;
    r->super.req_start = persistent_start;
    *request = &r->super;
    return OMPI_SUCCESS;
}
