/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Ibarrier, and the blocking barrier behind nonblocking ones.
 *
 * A team has one barrier under way. Further ones wait in its module's queue: the first of the queue
 * is the one under way, and the next starts as soon as it is over, in whatever MPI call that is
 * seen. All members call the barriers of a communicator in one order, so their queues hold the same
 * barriers; a member's queue may be shorter only by those that it has seen the end of.
 *
 * While the queue is not empty, module->active is NULL, which sends the blocking barrier here; it
 * pays nothing for it otherwise.
 *
 * The lock: gba_coll->queue_lock covers the queues, the list of busy modules, and the teams of
 * these. It is a real one in a program of one thread as well, since progress can come back to us
 * from a send of our own. No request is completed under it: that may call anything.
 *
 * When the device dies, or takes the group back, a barrier that is under way ends by notices
 * (notices.c), which need nothing but progress. The team leaves the device at the end of a blocking
 * barrier, which is one that all members are in; until then its barriers, of both kinds, go over
 * messages (gba/interim.h). In the same way it is at the end of a blocking one that members meet to
 * ask for a group: a communicator that has only nonblocking ones left gets none any more.
 *
 * Persistent barriers (MPIX_Barrier_init) are left to the module below us. Members may start those
 * in different orders (MPI_Startall says nothing of it), so that they must be told apart on their
 * way, as the tags of messages do, and the sequence of a team does not.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include "opal/runtime/opal_progress.h"

/* Looks between two calls of gba_barrier_progress, which reads the clock: a microsecond or more. */
#define LOOKS 64u

/* Requests to be completed once the lock is released. */
struct done {
    gba_coll_request_t *first, **last;
};

static void done_init(struct done *done)
{
    done->first = NULL;
    done->last = &done->first;
}

static void done_complete(struct done *done)
{
    gba_coll_request_t *request = done->first, *next;

    /* Others' notices may have ended it before this member had told them anything. */
    if (NULL != request)
        gba_common_notices_flush();
    /* Release: pairs with request_free and gba_coll_ibarrier_wait, of whoever sees it complete. */
    gba_fence_release();
    for (; NULL != request; request = next) {
        next = request->next; /* the owner may free it as soon as it is complete */
        (void)ompi_request_complete(&request->super, true);
    }
}

static void busy_insert(gba_coll_module_t *module)
{
    module->busy_next = gba_coll->busy;
    module->busy_link = &gba_coll->busy;
    if (NULL != module->busy_next)
        module->busy_next->busy_link = &module->busy_next;
    gba_coll->busy = module;
    gba_word_store_relaxed(&gba_coll->busy_any, 1);
}

static void busy_remove(gba_coll_module_t *module)
{
    if (NULL == module->busy_link)
        return;
    *module->busy_link = module->busy_next;
    if (NULL != module->busy_next)
        module->busy_next->busy_link = module->busy_link;
    module->busy_link = NULL;
    gba_word_store_relaxed(&gba_coll->busy_any, NULL != gba_coll->busy);
}

static void queue_append(gba_coll_module_t *module, gba_coll_request_t *request)
{
    *module->queue_last = request;
    module->queue_last = &request->next;
}

/* The first one is over. error: as in MPI_ERROR of a status. */
static void queue_finish(gba_coll_module_t *module, int error, struct done *done)
{
    gba_coll_request_t *request = module->queue;

    module->queue = request->next;
    if (NULL == module->queue)
        module->queue_last = &module->queue;
    request->super.req_status.MPI_ERROR = error;
    request->next = NULL;
    *done->last = request;
    done->last = &request->next;
}

/* Nothing is under way any more: blocking barriers take the fast path again. */
static void module_rest(gba_coll_module_t *module)
{
    busy_remove(module);
    gba_coll_module_activate(module);
}

/* There is no going on, for all that are queued. */
static void queue_fail(gba_coll_module_t *module, struct done *done)
{
    while (NULL != module->queue)
        queue_finish(module, MPI_ERR_OTHER, done);
    module_rest(module);
}

/* Go on with a queue as far as it gets, beginning with a look at the barrier that is under way. */
static void module_step(gba_coll_module_t *module, struct done *done)
{
    gba_status_t status;

    while (NULL != module->queue) {
        status = 0 == ++module->looks % LOOKS ? gba_barrier_progress(module->team)
                                              : gba_barrier_test(module->team);
        if (GBA_ERR_DEAD == status) {
            /* Without the device as with it: it is the others' notices that end the barrier. */
            gba_coll_notices_tell(module, module->queue->super.req_mpi_object.comm);
            return;
        }
        if (GBA_INPROGRESS == status)
            return;
        if (GBA_OK == status) {
            queue_finish(module, MPI_SUCCESS, done);
            if (NULL != module->queue)
                status = gba_barrier_start(module->team);
        }
        if (GBA_OK != status) {
            queue_fail(module, done);
            return;
        }
    }
    module_rest(module);
}

/* Arrive at the first barrier of the queue. */
static void module_start(gba_coll_module_t *module, struct done *done)
{
    gba_status_t status = gba_barrier_start(module->team);

    busy_insert(module);
    if (GBA_OK == status)
        module_step(module, done);
    else
        queue_fail(module, done);
}

static int ibarrier_progress(void)
{
    gba_coll_module_t *module, *next;
    struct done done;

    /* Before the lock: a thread sees what it has queued itself, and in good time what others have.
     */
    if (0 == gba_word_load_relaxed(&gba_coll->busy_any) ||
        0 != opal_mutex_trylock(&gba_coll->queue_lock))
        return 0;
    done_init(&done);
    for (module = gba_coll->busy; NULL != module; module = next) {
        next = module->busy_next;
        module_step(module, &done);
    }
    opal_mutex_unlock(&gba_coll->queue_lock);
    if (NULL == done.first)
        return 0;
    done_complete(&done);
    return 1;
}

/* Registered by the first one, so that a program without nonblocking barriers pays for no call. */
static int progress_register(void)
{
    int rc = OMPI_SUCCESS;

    if (!gba_coll->progress_registered)
        rc = opal_progress_register(ibarrier_progress);
    gba_coll->progress_registered = OMPI_SUCCESS == rc;
    return rc;
}

/* On our own path. */
static int ibarrier_start(ompi_communicator_t *comm, ompi_request_t **request,
                          gba_coll_module_t *module)
{
    gba_coll_request_t *r = gba_coll_request_create(module, comm);
    struct done done;
    int rc;

    if (NULL == r)
        return OMPI_ERR_OUT_OF_RESOURCE;
    done_init(&done);
    opal_mutex_lock(&gba_coll->queue_lock);
    rc = progress_register();
    if (OMPI_SUCCESS == rc) {
        queue_append(module, r);
        if (module->queue == r) {
            gba_pointer_store_release(&module->active, NULL);
            module_start(module, &done);
        }
    }
    opal_mutex_unlock(&gba_coll->queue_lock);
    if (OMPI_SUCCESS != rc) {
        /* Completed for nobody, so that it can be given back. */
        r->super.req_complete = REQUEST_COMPLETED;
        *request = &r->super;
        (void)ompi_request_free(request);
        return rc;
    }
    *request = &r->super;
    done_complete(&done);
    return OMPI_SUCCESS;
}

int gba_coll_ibarrier(ompi_communicator_t *comm, ompi_request_t **request,
                      mca_coll_base_module_t *super)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;

    /* An agreement would block. All members have called the same barriers before this one, so they
     * all have agreed, or none has. */
    if (module->agreed && GBA_PATH_CALLER != module->path)
        return ibarrier_start(comm, request, module);
    module->fallbacks++;
    (void)gba_team_count(module->team); /* if they are to meet: at the end of a blocking one */
    return module->saved.ibarrier(comm, request, module->saved.ibarrier_module);
}

int gba_coll_ibarrier_wait(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    ompi_request_t *request;
    int rc = ibarrier_start(comm, &request, module);

    if (OMPI_SUCCESS != rc)
        return rc;
    while (!REQUEST_COMPLETE(request))
        (void)opal_progress();
    /* Acquire: another thread may have seen the end; pairs with its completion. */
    gba_fence_acquire();
    rc = request->req_status.MPI_ERROR;
    (void)ompi_request_free(&request);
    /* It was the last of the queue, since its caller is in here, so nothing is under way now. */
    return MPI_SUCCESS == rc ? gba_coll_barrier_after(comm, module) : rc;
}

bool gba_coll_ibarrier_idle(gba_coll_module_t *module)
{
    bool idle;

    opal_mutex_lock(&gba_coll->queue_lock);
    idle = NULL == module->queue;
    opal_mutex_unlock(&gba_coll->queue_lock);
    return idle;
}

void gba_coll_ibarrier_drop(gba_coll_module_t *module)
{
    /* Without the lock, which whoever makes the progress that we are in may hold: a send of ours
     * can bring the end of some other communicator. Queued requests keep the module, so nobody else
     * looks at it any more, and the last change came before the completion of its last request. */
    if (NULL == module->queue && NULL == module->busy_link)
        return;
    opal_mutex_lock(&gba_coll->queue_lock);
    busy_remove(module);
    module->queue = NULL;
    module->queue_last = &module->queue;
    opal_mutex_unlock(&gba_coll->queue_lock);
}

void gba_coll_ibarrier_close(void)
{
    if (gba_coll->progress_registered)
        (void)opal_progress_unregister(ibarrier_progress);
    gba_coll->progress_registered = false;
}
