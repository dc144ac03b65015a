/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests of nonblocking and persistent barriers, as MPI_Wait, MPI_Test and similar calls see
 * them. ibarrier.c completes them.
 */
#include "ompi/mca/coll/gba_barrier/queue.h"

/* The number of requests by which the free list grows. Some programs use one at a time, some a
 * hundred. */
#define REQUESTS_CHUNK 16

/* MPI 3.1, 5.12: an active nonblocking collective can be neither freed nor cancelled, because the
 * other members depend on this one. */
static int request_free(ompi_request_t **request)
{
    gba_coll_request_t *r = (gba_coll_request_t *)*request;
    ompi_communicator_t *comm = r->super.req_mpi_object.comm;
    gba_coll_module_t *module = r->module;
    ompi_communicator_t *own = r->own;

    if (!REQUEST_COMPLETE(*request))
        return MPI_ERR_REQUEST;
    /* Acquire: pairs with turn_end in ibarrier.c, possibly in another thread. This call may
     * end the module, which reads what that thread wrote there (gba_coll_ibarrier_drop). */
    gba_fence_acquire();
    OMPI_REQUEST_FINI(&r->super);
    opal_free_list_return(&gba_coll->requests, &r->super.super);
    *request = MPI_REQUEST_NULL;
    /* Last, because this may destroy the communicator, if the user has freed it in the meantime. */
    OBJ_RELEASE(module);
    OBJ_RELEASE(comm);
    /* MPI_Comm_free sends nothing here, so the members may free persistent barriers in any order.
     */
    return MPI_COMM_NULL == own ? OMPI_SUCCESS : PMPI_Comm_free(&own);
}

static int request_cancel(ompi_request_t *request, int flag)
{
    (void)request;
    (void)flag;
    return MPI_ERR_REQUEST;
}

static void request_construct(gba_coll_request_t *request)
{
    request->super.req_type = OMPI_REQUEST_COLL;
    request->super.req_start = NULL;
    request->super.req_free = request_free;
    request->super.req_cancel = request_cancel;
}

OBJ_CLASS_INSTANCE(gba_coll_request_t, ompi_request_t, request_construct, NULL);

gba_coll_request_t *gba_coll_request_create(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_coll_request_t *request = (gba_coll_request_t *)opal_free_list_get(&gba_coll->requests);

    if (request == NULL)
        return NULL;
    OMPI_REQUEST_INIT(&request->super, false);
    request->super.req_state = OMPI_REQUEST_ACTIVE;
    request->super.req_status = ompi_status_empty;
    request->super.req_mpi_object.comm = comm;
    request->module = module;
    request->next = NULL;
    request->own = MPI_COMM_NULL;
    request->blocking = false;
    request->super.req_start = NULL;
    /* MPI allows MPI_Comm_free while a barrier is in progress; the barrier then completes normally.
     * The module has its own reference, because MPI_COMM_WORLD is not counted: MPI_Finalize
     * destroys it in spite of references. */
    OBJ_RETAIN(comm);
    OBJ_RETAIN(module);
    return request;
}

int gba_coll_requests_open(void)
{
    OBJ_CONSTRUCT(&gba_coll->requests, opal_free_list_t);
    return opal_free_list_init(&gba_coll->requests, sizeof(gba_coll_request_t),
                               opal_cache_line_size, OBJ_CLASS(gba_coll_request_t), 0, 0, 0, -1,
                               REQUESTS_CHUNK, NULL, 0, NULL, NULL, NULL);
}
