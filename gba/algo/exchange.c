/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithm: a binomial tree with root 0. The messages go up the tree and then down, whatever
 * the operation is. The parent of rank r is r without its lowest bit. The ranks below a member are
 * consecutive, so the records of an allgather need no copy.
 *
 * Matching. A member sends up again only when it has received the last message down, and sends down
 * only when it has received from all ranks below it. So between two members at most one message is
 * in transit in each direction. Messages that overtake each other do no harm then.
 *
 * tests/unit/algo/test_exchange.c searches all orders of events for few members.
 */
#include "gba/algo/exchange.h"

#include <stdlib.h>
#include <string.h>

struct gba_exchange {
    const struct gba_mail *mail;
    void *ctx;
    uint32_t rank, size, children;
    enum { IDLE, UP_RECEIVE, UP_SEND, DOWN_SEND, DOWN_SENT } phase; /* the next step */
    uint32_t posted;                                                /* messages of this step */
    bool failed;                                                    /* permanently */
    void *result;                                                   /* the caller's memory */
    /* A minimum: the words so far, the result, and those of each child. */
    uint32_t count; /* 0: this is an allgather */
    uint64_t least[GBA_OOB_WORDS], all[GBA_OOB_WORDS];
    uint64_t (*theirs)[GBA_OOB_WORDS];
    /* An allgather: the records, by rank, in the reserved memory. */
    char *records;
    size_t bytes, most; /* of one record; most: as reserved */
};

/* The number of children, that of the bits of the distance to the last rank below this one. */
static uint32_t children_of(uint32_t rank, uint32_t size)
{
    uint32_t count = 0;

    while (count < GBA_EXCHANGE_LANES - 1 && rank + (UINT64_C(1) << count) < size &&
           0 == (rank >> count & 1))
        count++;
    return count;
}

static uint32_t child_of(const struct gba_exchange *x, uint32_t i)
{
    return (uint32_t)(x->rank + (UINT64_C(1) << i));
}

/* The number of ranks of a member's subtree if `bits` of its lowest bits are 0. */
static uint32_t subtree(const struct gba_exchange *x, uint32_t rank, uint32_t bits)
{
    const uint32_t most = x->size - rank;

    return bits >= 31 || most < UINT32_C(1) << bits ? most : UINT32_C(1) << bits;
}

struct gba_exchange *gba_exchange_create(uint32_t rank, uint32_t size, const struct gba_mail *mail,
                                         void *ctx)
{
    struct gba_exchange *x = calloc(1, sizeof *x);

    if (x == NULL)
        return NULL;
    x->mail = mail;
    x->ctx = ctx;
    x->rank = rank;
    x->size = size;
    x->children = children_of(rank, size);
    x->theirs = calloc(x->children + 1, sizeof x->theirs[0]);
    if (x->theirs == NULL) {
        free(x);
        return NULL;
    }
    return x;
}

void gba_exchange_destroy(struct gba_exchange *x)
{
    if (x == NULL)
        return;
    free(x->theirs);
    free(x->records);
    free(x);
}

gba_status_t gba_exchange_min(struct gba_exchange *x, uint64_t *words, uint32_t count)
{
    if (x->failed || 0 == count || count > GBA_OOB_WORDS)
        return GBA_ERR_OOB;
    x->result = words;
    x->count = count;
    memcpy(x->least, words, count * sizeof words[0]);
    x->phase = UP_RECEIVE;
    return GBA_OK;
}

gba_status_t gba_exchange_reserve(struct gba_exchange *x, size_t bytes)
{
    if (x->failed) /* a message may be in transit */
        return GBA_OK;
    free(x->records);
    x->most = bytes;
    x->records = 0 == bytes ? NULL : calloc(x->size, bytes);
    return 0 != bytes && x->records == NULL ? GBA_ERR_NOMEM : GBA_OK;
}

gba_status_t gba_exchange_allgather(struct gba_exchange *x, const void *in, void *out, size_t bytes)
{
    if (x->failed || x->records == NULL || bytes > x->most)
        return GBA_ERR_OOB;
    x->result = out;
    x->count = 0;
    x->bytes = bytes;
    memcpy(x->records + x->rank * bytes, in, bytes);
    x->phase = UP_RECEIVE;
    return GBA_OK;
}

/* Each of the following steps posts the messages that it has not posted yet. Returns GBA_OK if all
 * are posted, GBA_INPROGRESS or GBA_ERR_OOB. */

static gba_status_t post_receive(struct gba_exchange *x, uint32_t lane, uint32_t from, void *buffer,
                                 size_t bytes)
{
    gba_status_t status = x->mail->receive(x->ctx, lane, from, buffer, bytes);

    x->posted += GBA_OK == status;
    return status;
}

static gba_status_t post_send(struct gba_exchange *x, uint32_t lane, uint32_t to,
                              const void *buffer, size_t bytes)
{
    gba_status_t status = x->mail->send(x->ctx, lane, to, buffer, bytes);

    x->posted += GBA_OK == status;
    return status;
}

/* Post the receives from the children. */
static gba_status_t up_receive(struct gba_exchange *x)
{
    gba_status_t status = GBA_OK;

    for (uint32_t i = x->posted; i < x->children && GBA_OK == status; i++) {
        uint32_t child = child_of(x, i);

        status = 0 != x->count
                     ? post_receive(x, i, child, x->theirs[i], x->count * sizeof x->theirs[i][0])
                     : post_receive(x, i, child, x->records + child * x->bytes,
                                    subtree(x, child, i) * x->bytes);
    }
    return status;
}

/* All children have sent: the minimum of this member's subtree. */
static void up_combine(struct gba_exchange *x)
{
    for (uint32_t i = 0; i < x->children; i++)
        for (uint32_t word = 0; word < x->count; word++)
            if (x->theirs[i][word] < x->least[word])
                x->least[word] = x->theirs[i][word];
    if (0 == x->rank)
        memcpy(x->all, x->least, sizeof x->all);
}

/* Send to the parent, and post the receive of the result. */
static gba_status_t up_send(struct gba_exchange *x)
{
    const uint32_t parent = x->rank & (x->rank - 1);
    const size_t words = x->count * sizeof x->least[0];
    uint32_t bits = 0;
    gba_status_t status = GBA_OK;

    if (0 == x->posted)
        up_combine(x);
    if (0 == x->rank)
        return GBA_OK;
    while (0 == (x->rank >> bits & 1))
        bits++;
    if (0 == x->posted)
        status = 0 != x->count ? post_send(x, 0, parent, x->least, words)
                               : post_send(x, 0, parent, x->records + x->rank * x->bytes,
                                           subtree(x, x->rank, bits) * x->bytes);
    if (GBA_OK != status)
        return status;
    /* The result comes when the parent has received what went up, so it may overwrite that. */
    return 0 != x->count ? post_receive(x, 1, parent, x->all, words)
                         : post_receive(x, 1, parent, x->records, x->size * x->bytes);
}

/* The result is known: send it to the children. */
static gba_status_t down_send(struct gba_exchange *x)
{
    gba_status_t status = GBA_OK;

    for (uint32_t i = x->posted; i < x->children && GBA_OK == status; i++)
        status = 0 != x->count
                     ? post_send(x, i, child_of(x, i), x->all, x->count * sizeof x->all[0])
                     : post_send(x, i, child_of(x, i), x->records, x->size * x->bytes);
    return status;
}

/* The operation is complete. */
static gba_status_t end(struct gba_exchange *x)
{
    if (0 != x->count)
        memcpy(x->result, x->all, x->count * sizeof x->all[0]);
    else
        memcpy(x->result, x->records, x->size * x->bytes);
    return GBA_OK;
}

gba_status_t gba_exchange_test(struct gba_exchange *x)
{
    static gba_status_t (*const steps[])(struct gba_exchange *) = {
        [UP_RECEIVE] = up_receive,
        [UP_SEND] = up_send,
        [DOWN_SEND] = down_send,
        [DOWN_SENT] = end,
    };
    gba_status_t status = x->failed ? GBA_ERR_OOB : GBA_OK;

    while (GBA_OK == status && IDLE != x->phase) {
        status = x->mail->test(x->ctx);
        if (GBA_OK == status)
            status = steps[x->phase](x);
        if (GBA_OK == status) {
            x->phase = DOWN_SENT == x->phase ? IDLE : x->phase + 1;
            x->posted = 0;
        }
    }
    x->failed = x->failed || (GBA_OK != status && GBA_INPROGRESS != status);
    return status;
}
