/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Ibarrier, and the blocking barrier behind nonblocking ones.
 *
 * A team has one barrier in progress. Further ones wait in the queue of its module. The first of
 * the queue is in progress; the next one starts as soon as the first is complete, in whichever MPI
 * call detects that. All members call the barriers of a communicator in one order, so their queues
 * hold the same barriers. The queue of a member is shorter only by the barriers that it has seen
 * complete.
 *
 * While the queue is not empty, module->base.active is NULL, which routes the blocking barrier
 * here. The blocking barrier pays nothing for the queue otherwise.
 *
 * The lock. gba_coll->queue_lock protects the queues, the list of busy modules, and their teams. It
 * is a real lock in a program of one thread as well, because progress can re-enter this file from
 * one of our sends. No request is completed under the lock, because a completion may call anything.
 */
#include "ompi/mca/coll/gba_barrier/queue.h"
#include "ompi/mca/coll/gba_barrier/agree.h"

#include "gba/base/clock.h"
#include "opal/runtime/opal_progress.h"

/*
 * Time between two slow turns, ns: a part of the shortest pause of the watchdog (gba/path/retry.h).
 * Not a number of turns, because a program may call MPI once a minute: such a program has slow
 * turns only.
 */
#define SLOW_NS 25000u

/*
 * The budget of a turn: so many modules, and further ones for a share of the time since the last
 * turn. The PML takes in some dozens of messages in a turn of opal_progress, so n modules need a
 * number of turns in proportion to n; with all modules in each turn they would cost n squared
 * steps. The next turn goes on where this one ends. But a program that calls MPI once a minute has
 * all modules in each turn, because the share is then longer than that takes.
 */
#define TURN_MODULES 64u
#define TURN_SHARE   20u

/* One turn of the queues. */
struct turn {
    bool slow;                         /* call gba_barrier_progress, which takes a microsecond */
    gba_coll_request_t *first, **last; /* to complete once the lock is released */
};

static void turn_begin(struct turn *turn)
{
    const uint64_t now = gba_clock_ns(), last = gba_word_load_relaxed(&gba_coll->progressed);

    turn->slow = now - last >= SLOW_NS;
    if (turn->slow)
        gba_word_store_relaxed(&gba_coll->progressed, now);
    turn->first = NULL;
    turn->last = &turn->first;
}

static void turn_end(struct turn *turn)
{
    gba_coll_request_t *request = turn->first, *next;

    /* Release: pairs with the acquire in request_free and gba_coll_ibarrier_wait, in the thread
     * that sees the request complete. */
    gba_fence_release();
    for (; request != NULL; request = next) {
        next = request->next; /* the owner may free it as soon as it is complete */
        (void)ompi_request_complete(&request->super, true);
    }
}

static void busy_insert(gba_coll_module_t *module)
{
    module->busy_next = gba_coll->busy;
    module->busy_link = &gba_coll->busy;
    if (module->busy_next != NULL)
        module->busy_next->busy_link = &module->busy_next;
    gba_coll->busy = module;
    gba_word_store_relaxed(&gba_coll->busy_any, 1);
}

static void busy_remove(const gba_coll_module_t *module)
{
    *module->busy_link = module->busy_next;
    if (module->busy_next != NULL)
        module->busy_next->busy_link = module->busy_link;
    if (module == gba_coll->busy_at)
        gba_coll->busy_at = module->busy_next;
    gba_word_store_relaxed(&gba_coll->busy_any, gba_coll->busy != NULL);
}

static void queue_append(gba_coll_module_t *module, gba_coll_request_t *request)
{
    *module->queue_last = request;
    module->queue_last = &request->next;
}

/* The first barrier of the queue is complete. error: as in MPI_ERROR of a status. */
static void queue_finish(gba_coll_module_t *module, int error, struct turn *turn)
{
    gba_coll_request_t *request = module->queue;

    gba_common_stall_end(&module->base, MPI_SUCCESS == error);
    module->begun = false;
    module->queue = request->next;
    if (module->queue == NULL)
        module->queue_last = &module->queue;
    request->super.req_status.MPI_ERROR = error;
    request->next = NULL;
    *turn->last = request;
    turn->last = &request->next;
}

/* The barriers of the queue use messages, after an agreement on the fallback; see agree.c. */
static bool uses_messages(const gba_coll_module_t *module)
{
    return module->base.agreed && GBA_PATH_FALLBACK == module->base.path;
}

/*
 * The agreement that precedes the first barrier of the queue, if one is due or in progress, unless
 * that is a blocking barrier, which agrees at its end. Returns GBA_OK: module->base.path is agreed;
 * GBA_INPROGRESS; or the error of the agreement, also from then on. Never waits for another member.
 */
static gba_status_t agreement_advance(gba_coll_module_t *module)
{
    const gba_due_t due = gba_common_due(&module->base, false);
    gba_status_t status = GBA_OK;

    /* On another path the barrier would be one behind those of the other members. */
    if (module->failed)
        return GBA_ERR_OOB;
    if (module->base.agreement == NULL) {
        if (GBA_DUE_NOTHING == due || module->queue->blocking)
            return GBA_OK;
        status = gba_common_agree_start(&module->base, due);
    }
    if (GBA_OK == status)
        status = gba_common_agree_test(&module->base);
    if (GBA_INPROGRESS == status)
        return status;
    module->base.agreed = true; /* also if it has failed */
    module->failed = GBA_OK != status;
    return status;
}

/* Start the first barrier of the queue, after that agreement. Returns as agreement_advance. */
static gba_status_t round_start(gba_coll_module_t *module)
{
    gba_status_t status = agreement_advance(module);

    if (GBA_OK != status)
        return status;
    module->begun = true;
    if (!uses_messages(module))
        return gba_barrier_start(module->base.team);
    module->word = 0;
    gba_common_stall_begin(&module->base, "fallback",
                           module->queue->blocking ? GBA_WHERE_BARRIER : GBA_WHERE_NONBLOCKING,
                           gba_common_number(&module->base) + 1);
    return gba_common_oob.min(&module->base, &module->word, 1);
}

static gba_status_t round_test(gba_coll_module_t *module, bool slow)
{
    gba_status_t status;

    if (!uses_messages(module))
        return (slow ? gba_barrier_progress : gba_barrier_test)(module->base.team);
    status = gba_common_oob.test(&module->base);
    if (GBA_OK == status) {
        module->base.fallbacks++;
        gba_team_count(module->base.team); /* agree.c examines the count, or the caller */
    }
    return status;
}

/* Advance the queue as far as possible. When it is empty, blocking barriers take the fast path
 * again. */
static void queue_step(gba_coll_module_t *module, struct turn *turn)
{
    gba_status_t status = GBA_OK;

    while (module->queue != NULL && GBA_OK == status) {
        if (!module->begun)
            status = round_start(module);
        if (GBA_OK == status)
            status = round_test(module, turn->slow);
        if (GBA_INPROGRESS == status)
            return;
        if (GBA_OK == status)
            queue_finish(module, MPI_SUCCESS, turn);
    }
    if (GBA_OK != status && module->base.team != NULL) /* as gba_barrier_end does */
        gba_team_leave(module->base.team);
    while (module->queue != NULL) /* the path has failed */
        queue_finish(module, MPI_ERR_OTHER, turn);
    busy_remove(module);
    gba_coll_agree_apply(module);
}

/* The turn of some modules, with the lock held: those that are left of a round, and a new round. A
 * round visits each module once. All its turns are slow or none is. */
static void busy_step(struct turn *turn)
{
    const uint64_t began = gba_clock_ns(), share = (began - gba_coll->turned) / TURN_SHARE;
    bool begun = false;
    gba_coll_module_t *module;

    gba_coll->slow_due |= turn->slow;
    turn->slow = gba_coll->slow;
    for (unsigned i = 0; i < TURN_MODULES || gba_clock_ns() - began < share; i++) {
        if (gba_coll->busy_at == NULL) {
            if (begun || gba_coll->busy == NULL)
                break;
            begun = true;
            gba_coll->busy_at = gba_coll->busy;
            turn->slow = gba_coll->slow = gba_coll->slow_due;
            gba_coll->slow_due = false;
        }
        module = gba_coll->busy_at;
        gba_coll->busy_at = module->busy_next;
        queue_step(module, turn);
    }
    gba_coll->turned = gba_clock_ns();
}

static int ibarrier_progress(void)
{
    struct turn turn;

    /* Before the lock: a thread sees its own barriers at once, and those of other threads soon. */
    if (0 == gba_word_load_relaxed(&gba_coll->busy_any))
        return 0;
    turn_begin(&turn);
    /* Open MPI takes in what has come over TCP, among others, after our turn of its progress. This
     * one may be the last for a minute, so it uses what has come until now. */
    if (turn.slow)
        (void)gba_common_progress(NULL);
    if (0 != opal_mutex_trylock(&gba_coll->queue_lock))
        return 0;
    busy_step(&turn);
    opal_mutex_unlock(&gba_coll->queue_lock);
    if (turn.first == NULL)
        return 0;
    turn_end(&turn);
    return 1;
}

/* Registered by the first nonblocking barrier, so that other programs pay for no callback. */
static int progress_register(void)
{
    int rc = OMPI_SUCCESS;

    if (!gba_coll->progress_registered)
        rc = opal_progress_register(ibarrier_progress);
    gba_coll->progress_registered = OMPI_SUCCESS == rc;
    return rc;
}

int gba_coll_ibarrier_enqueue(gba_coll_request_t *request)
{
    gba_coll_module_t *module = request->module;
    struct turn turn;
    int rc;

    turn_begin(&turn);
    opal_mutex_lock(&gba_coll->queue_lock);
    rc = progress_register();
    if (OMPI_SUCCESS == rc) {
        queue_append(module, request);
        if (module->queue == request) {
            gba_pointer_store_release(&module->base.active, NULL);
            busy_insert(module);
            queue_step(module, &turn);
        }
    }
    opal_mutex_unlock(&gba_coll->queue_lock);
    if (OMPI_SUCCESS == rc)
        turn_end(&turn);
    return rc;
}

/* Start a barrier of the queue. */
static int ibarrier_start(gba_coll_module_t *module, bool blocking, ompi_request_t **request)
{
    gba_coll_request_t *r = gba_coll_request_create(module, module->comm);
    int rc;

    if (r == NULL)
        return OMPI_ERR_OUT_OF_RESOURCE;
    r->blocking = blocking;
    *request = &r->super;
    rc = gba_coll_ibarrier_enqueue(r);
    if (OMPI_SUCCESS != rc) {
        /* Mark the request complete, so that it can be freed. */
        r->super.req_complete = REQUEST_COMPLETED;
        (void)ompi_request_free(request);
    }
    return rc;
}

/* Whether the nonblocking barriers are queued from this call on, since an agreement precedes it. On
 * the fallback the barriers are counted when they are called, so by this call on all members. */
static bool ibarrier_agrees(gba_coll_module_t *module)
{
    if (gba_coll_agree_due(module))
        return !gba_coll_agree_declines(module);
    return GBA_DUE_REQUEST == gba_common_due(&module->base, false);
}

int gba_coll_ibarrier(ompi_communicator_t *comm, ompi_request_t **request,
                      mca_coll_base_module_t *super)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;

    /* All members have called the same barriers before this one, so either all have agreed or none,
     * unless nonblocking ones are queued. */
    if (module->queueing || (module->base.agreed && GBA_PATH_FALLBACK != module->base.path) ||
        ibarrier_agrees(module)) {
        module->queueing = true;
        return ibarrier_start(module, false, request);
    }
    gba_coll_report_unagreed_begin(module);
    module->base.fallbacks++;
    gba_team_count(module->base.team); /* for ibarrier_agrees, or a blocking barrier */
    return module->fallback.ibarrier(comm, request, module->fallback.ibarrier_module);
}

int gba_coll_ibarrier_wait(gba_coll_module_t *module)
{
    ompi_request_t *request;
    int rc = ibarrier_start(module, true, &request);

    if (OMPI_SUCCESS != rc)
        return rc;
    while (!REQUEST_COMPLETE(request))
        (void)opal_progress();
    /* Acquire: pairs with turn_end, possibly in another thread. */
    gba_fence_acquire();
    rc = request->req_status.MPI_ERROR;
    (void)ompi_request_free(&request);
    /* The request was the last of the queue, because its caller is still in this call. So no
     * barrier is in progress now. */
    if (MPI_SUCCESS != rc)
        return rc;
    if (uses_messages(module)) /* so do all members, and none has a later barrier */
        module->queueing = false;
    return gba_coll_error(gba_barrier_end(module->base.team, GBA_OK));
}

bool gba_coll_ibarrier_queues(gba_coll_module_t *module)
{
    bool queues;

    opal_mutex_lock(&gba_coll->queue_lock);
    queues = module->queue != NULL || uses_messages(module) || module->failed;
    opal_mutex_unlock(&gba_coll->queue_lock);
    return queues;
}

void gba_coll_ibarrier_drop(gba_coll_module_t *module)
{
    /*
     * The test takes no lock, because the caller of the progress that brought us here may hold it:
     * one of our sends can end some other communicator. Queued requests keep the module alive, so
     * no other thread accesses it any more, and the last change preceded the completion of its last
     * request.
     */
    if (module->queue == NULL)
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
