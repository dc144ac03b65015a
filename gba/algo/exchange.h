/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange of an agreement (gba_oob_t) over messages: the minimum of words, and an allgather,
 * which never wait. Pure: it knows of messages what struct gba_mail says. The components have
 * those of Open MPI. For one thread at a time.
 */
#ifndef GBA_ALGO_EXCHANGE_H
#define GBA_ALGO_EXCHANGE_H

#include "gba/runtime.h"

/* Messages that a member has in transit at a time, at most: one for each child in the tree. */
#define GBA_EXCHANGE_LANES 32

/*
 * The messages of a member, each in a lane of its own. receive and send return GBA_OK: posted;
 * GBA_INPROGRESS: not now, because there is no memory, so the caller tries again; or GBA_ERR_OOB.
 * Between two members at most one message is in transit in each direction. lane: below
 * GBA_EXCHANGE_LANES, with no message in transit.
 */
struct gba_mail {
    gba_status_t (*receive)(void *ctx, uint32_t lane, uint32_t from, void *buffer, size_t bytes);
    gba_status_t (*send)(void *ctx, uint32_t lane, uint32_t to, const void *buffer, size_t bytes);
    /* GBA_OK: no message is in transit; GBA_INPROGRESS; GBA_ERR_OOB: one has failed. Acquire: after
     * GBA_OK the caller sees what the senders wrote before they sent. */
    gba_status_t (*test)(void *ctx);
};

struct gba_exchange;

/* An exchange without an operation. mail: lives as long as the exchange; ctx: passed to it. NULL:
 * out of memory. */
struct gba_exchange *gba_exchange_create(uint32_t rank, uint32_t size, const struct gba_mail *mail,
                                         void *ctx);

/* Free it, with no message in transit. x: may be NULL. */
void gba_exchange_destroy(struct gba_exchange *x);

/*
 * Those of gba_oob_t. A member receives a result only after all members have posted the operation.
 * The operation is complete at a member when its messages have left the process, so a member that
 * makes no further call of MPI delays no other one. Messages in transit use no memory of the
 * caller. After GBA_ERR_OOB each call returns it. An allgather without enough reserved memory
 * fails.
 */
gba_status_t gba_exchange_reserve(struct gba_exchange *x, size_t bytes);
gba_status_t gba_exchange_min(struct gba_exchange *x, uint64_t *words, uint32_t count);
gba_status_t gba_exchange_allgather(struct gba_exchange *x, const void *in, void *out,
                                    size_t bytes);
gba_status_t gba_exchange_test(struct gba_exchange *x);

#endif
