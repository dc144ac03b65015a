/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement in a nonblocking barrier. It precedes the first barrier of the queue (ibarrier.c),
 * and progress advances it: a coroutine runs gba_common_agree, and leaves it in each call of the
 * exchange until the messages of the call have arrived.
 *
 * The agreement is no barrier. The barriers of the queue start when it has ended, the first one on
 * the agreed path, too. So no member has to know which barriers other members have called before
 * the end of the agreement.
 *
 * If the members agree on the fallback, the queued barriers cannot use Open MPI's own nonblocking
 * barrier, which matches by the order of the calls, because they would start in progress. Members
 * have different barriers in their queues then, so no member knows a later call that is the first
 * one for all. All barriers up to the next blocking one therefore use messages
 * (gba_coll_iagree_barrier), that one as well. At its end no member has made a later call.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

struct gba_coll_iagree {
    gba_coll_module_t *module;
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

    a->status = gba_common_agree(&a->module->base);
}

/* ----------------------------------------------------------------- outside of it -------------- */

void gba_coll_iagree_oob(gba_oob_t *oob)
{
    oob->bcast = oob_bcast;
    oob->allreduce_min = oob_allreduce_min;
    oob->allgather = oob_allgather;
    oob->barrier = oob_barrier;
}

void gba_coll_iagree_begin(gba_coll_module_t *module)
{
    struct gba_coll_iagree *a = calloc(1, sizeof *a);

    module->queueing = true; /* as on the other members, also if there is no memory */
    if (NULL == a)
        return;
    a->module = module;
    a->coroutine = gba_coll_coroutine_create(agree, a);
    if (NULL == a->coroutine) {
        free(a);
        return;
    }
    gba_coll_exchange_init(&a->exchange, module->comm);
    module->iagree = a;
    module->agreeing = true;
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
    if (GBA_OK != status)
        a->exchange.failed = true;
    else if (GBA_PATH_FALLBACK != module->base.path)
        gba_coll_iagree_free(module);
    return status;
}

gba_status_t gba_coll_iagree_barrier(gba_coll_module_t *module)
{
    struct gba_coll_exchange *exchange = &module->iagree->exchange;

    gba_coll_exchange_min(exchange, 0);
    return exchange->failed ? GBA_ERR_OOB : GBA_OK;
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
