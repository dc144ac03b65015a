/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreements in nonblocking barriers: the first one of a communicator, renegotiations, and those
 * about another path after a device failure. An agreement precedes the first barrier of the queue
 * (ibarrier.c), and progress advances it: a coroutine runs the function of ompi/mca/common/gba that
 * a blocking barrier would call, and leaves it in each call of the exchange until the messages of
 * the call have arrived.
 *
 * The agreement is no barrier. The barriers of the queue start when it has ended, the first one on
 * the agreed path, too. So no member has to know which barriers other members have called before
 * the end of the agreement.
 *
 * All members run the same agreement before the same barrier n + 1. When a member is about to start
 * that barrier, it has completed n barriers, neither fewer nor more, and what it examines then is
 * the same on all members: whether they have agreed (agree.c), gba_team_recover_due
 * (gba/failover/failover.md), gba_team_request_due (gba/agree/alloc.c), and whether barrier n + 1
 * is a nonblocking one. If it is a blocking one, they agree at its end, wherever it runs. No member
 * starts barrier n + 1 on the new path while another one is in barrier n on the old path, because
 * the calls of the exchange end only when all members have started them. A team whose device has
 * failed accepts and answers failure notifications until then.
 *
 * If the members agree on the fallback, the queued barriers cannot use Open MPI's own nonblocking
 * barrier, which matches by the order of the calls, because they would start in progress. Members
 * have different barriers in their queues then, so no member knows a later call that is the first
 * one for all. All barriers up to the next blocking one therefore use messages
 * (gba_coll_iagree_barrier), that one as well. At its end no member has made a later call.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

typedef gba_status_t (*agreement_fn)(struct gba_common_module *m);

struct gba_coll_iagree {
    gba_coll_module_t *module;
    agreement_fn agreement;
    gba_coll_coroutine_t *coroutine; /* NULL: the agreement has ended */
    gba_status_t exchanged;          /* the result of the last exchange */
    gba_status_t status;             /* the result of the agreement */
    struct gba_coll_exchange exchange;
};

/* ------------------------------------------------------------------- in the coroutine --------- */

/* Leave the coroutine until the exchange is complete. */
static gba_status_t exchange_await(struct gba_coll_iagree *a)
{
    gba_coll_coroutine_yield(a->coroutine);
    return a->exchanged;
}

static gba_status_t oob_bcast(void *ctx, void *buffer, size_t bytes, uint32_t root)
{
    struct gba_coll_iagree *a = ((gba_coll_module_t *)ctx)->iagree;

    gba_coll_exchange_bcast(&a->exchange, buffer, bytes, root);
    return exchange_await(a);
}

static gba_status_t oob_allreduce_min(void *ctx, int64_t mine, int64_t *least)
{
    struct gba_coll_iagree *a = ((gba_coll_module_t *)ctx)->iagree;
    gba_status_t status;

    gba_coll_exchange_min(&a->exchange, mine);
    status = exchange_await(a);
    *least = a->exchange.least;
    return status;
}

static gba_status_t oob_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    struct gba_coll_iagree *a = ((gba_coll_module_t *)ctx)->iagree;

    gba_coll_exchange_allgather(&a->exchange, in, out, bytes);
    return exchange_await(a);
}

static gba_status_t oob_barrier(void *ctx)
{
    int64_t ignored;

    return oob_allreduce_min(ctx, 0, &ignored);
}

static void agree(void *argument)
{
    struct gba_coll_iagree *a = argument;

    a->status = a->agreement(&a->module->base);
}

/* ----------------------------------------------------------------- outside of it -------------- */

void gba_coll_iagree_oob(gba_oob_t *oob)
{
    oob->bcast = oob_bcast;
    oob->allreduce_min = oob_allreduce_min;
    oob->allgather = oob_allgather;
    oob->barrier = oob_barrier;
}

/* The agreement that precedes a nonblocking barrier, or NULL. Trials wait for a blocking one, see
 * gba/team/trial_run.c. */
static agreement_fn agreement_due(const struct gba_common_module *m)
{
    if (!m->agreed)
        return gba_common_agree;
    if (gba_team_recover_due(m->team))
        return gba_common_recover;
    return gba_team_request_due(m->team) ? gba_common_renegotiate : NULL;
}

/* The object for the next agreement: that of the last one, if the barriers use its messages. NULL:
 * out of memory. */
static struct gba_coll_iagree *iagree_get(gba_coll_module_t *module)
{
    struct gba_coll_iagree *a = module->iagree;

    if (NULL != a)
        return a;
    a = calloc(1, sizeof *a);
    if (NULL == a)
        return NULL;
    a->module = module;
    gba_coll_exchange_init(&a->exchange, module->comm);
    module->iagree = a;
    return a;
}

void gba_coll_iagree_begin(gba_coll_module_t *module)
{
    agreement_fn agreement = agreement_due(&module->base);
    struct gba_coll_iagree *a;

    if (module->failed || NULL == agreement)
        return;
    a = iagree_get(module);
    if (NULL != a) {
        a->agreement = agreement;
        a->coroutine = gba_coll_coroutine_create(agree, a);
    }
    module->agreeing = NULL != a && NULL != a->coroutine;
    module->failed = !module->agreeing;
}

gba_status_t gba_coll_iagree_test(gba_coll_module_t *module)
{
    struct gba_coll_iagree *a = module->iagree;
    gba_status_t status;

    /* No exchange before the first call. */
    do {
        a->exchanged = gba_coll_exchange_test(&a->exchange);
        if (GBA_INPROGRESS == a->exchanged)
            return GBA_INPROGRESS;
        status = a->exchanged;
        /* The other messages of a failed call may still access the memory of the coroutine, which
         * must not free it then. It never continues. */
        if (GBA_OK != status && gba_coll_exchange_in_transit(&a->exchange))
            goto end;
    } while (!gba_coll_coroutine_resume(a->coroutine));
    gba_coll_coroutine_destroy(a->coroutine);
    a->coroutine = NULL;
    status = a->status;

end:
    module->agreeing = false;
    module->base.agreed = true; /* also if it has failed */
    module->failed = GBA_OK != status;
    if (GBA_OK == status && GBA_PATH_FALLBACK != module->base.path)
        gba_coll_iagree_free(module);
    return status;
}

void gba_coll_iagree_barrier(gba_coll_module_t *module)
{
    gba_coll_exchange_min(&module->iagree->exchange, 0);
}

gba_status_t gba_coll_iagree_barrier_test(gba_coll_module_t *module)
{
    return gba_coll_exchange_test(&module->iagree->exchange);
}

void gba_coll_iagree_free(gba_coll_module_t *module)
{
    struct gba_coll_iagree *a = module->iagree;

    module->iagree = NULL;
    /* After an error of the program or a failure only: the PML may still write to the messages in
     * transit, and the frames of the coroutine own memory. They are leaked. */
    if (NULL != a && NULL == a->coroutine && !gba_coll_exchange_in_transit(&a->exchange))
        free(a);
}
