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
 * the same on all members: whether they have agreed (agree.c), gba_team_due
 * (gba/agree/schedule.c, gba/failover/failover.md), and whether barrier n + 1
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
    gba_coll_coroutine_t *coroutine;
    gba_status_t status; /* the result of the agreement */
};

void gba_coll_iagree_yield(struct gba_coll_iagree *a)
{
    gba_coll_coroutine_yield(a->coroutine);
}

static void agree(void *argument)
{
    struct gba_coll_iagree *a = argument;

    a->status = a->agreement(&a->module->base);
}

/* The agreement that precedes a nonblocking barrier, or NULL. Trials wait for a blocking one, see
 * gba/agree/trial_run.c. */
static agreement_fn agreement_due(const struct gba_common_module *m)
{
    if (!m->agreed)
        return gba_common_agree;
    if (NULL == m->team)
        return NULL;
    switch (gba_team_due(m->team, false)) {
    case GBA_DUE_RECOVER:
        return gba_common_recover;
    case GBA_DUE_REQUEST:
        return gba_common_renegotiate;
    default:
        return NULL;
    }
}

void gba_coll_iagree_begin(gba_coll_module_t *module)
{
    agreement_fn agreement = agreement_due(&module->base);
    struct gba_coll_iagree *a;

    if (module->failed || NULL == agreement)
        return;
    module->failed = true;
    a = calloc(1, sizeof *a);
    if (NULL == a)
        return;
    a->module = module;
    a->agreement = agreement;
    a->coroutine = gba_coll_coroutine_create(agree, a);
    if (NULL == a->coroutine) {
        free(a);
        return;
    }
    module->iagree = a;
    module->agreeing = true;
    module->failed = false;
}

gba_status_t gba_coll_iagree_test(gba_coll_module_t *module)
{
    struct gba_coll_iagree *a = module->iagree;
    gba_status_t status;

    if (!gba_coll_coroutine_resume(a->coroutine))
        return GBA_INPROGRESS;
    status = a->status;
    gba_coll_coroutine_destroy(a->coroutine);
    free(a);
    module->iagree = NULL;
    module->agreeing = false;
    module->base.agreed = true; /* also if it has failed */
    module->failed = GBA_OK != status;
    return status;
}

gba_status_t gba_coll_iagree_barrier(gba_coll_module_t *module)
{
    module->word = 0;
    return gba_coll_exchange_min(gba_coll_messages_exchange(module->messages), &module->word, 1);
}

gba_status_t gba_coll_iagree_barrier_test(gba_coll_module_t *module)
{
    return gba_coll_exchange_test(gba_coll_messages_exchange(module->messages));
}
