/* SPDX-License-Identifier: BSD-3-Clause */
/* The experts' work, and the way back. */
#include "phases.h"
#include "product.h"
#include "sync.h"

#include <shmem.h>
#include <string.h>

/* Gather the expert's rows of all sources: one matrix, one product. Returns its rows, or -1. */
static int gather(struct moe_pe *pe, int expert)
{
    const struct moe_shape *shape = &pe->config.shape;
    const size_t hidden = (size_t)shape->hidden, tokens = (size_t)shape->tokens;
    size_t rows = 0;

    for (int s = 0; s < shape->pes; s++) {
        const size_t pair = (size_t)s * (size_t)shape->experts + (size_t)expert;
        const struct moe_head *head = &pe->shared.heads[pair];

        if (head->count < 0 || head->count > shape->tokens || head->home < 0 ||
            head->home > pe->results - head->count)
            return -1;
        memcpy(&pe->own.batch[rows * hidden], &pe->shared.receive[pair * tokens * hidden],
               (size_t)head->count * hidden * sizeof *pe->own.batch);
        rows += (size_t)head->count;
    }
    return (int)rows;
}

/* Put the results of the expert to the forwarder of each source. */
static void return_rows(struct moe_pe *pe, int expert)
{
    const struct moe_shape *shape = &pe->config.shape;
    const size_t hidden = (size_t)shape->hidden;
    const float *y = shape->communication ? pe->own.batch : pe->own.product;

    for (int s = 0; s < shape->pes; s++) {
        const struct moe_head *head = &pe->shared.heads[s * shape->experts + expert];
        const size_t values = (size_t)head->count * hidden;
        const int slot = moe_slot(&pe->groups, s, pe->group);

        if (head->count > 0)
            shmem_putmem_nbi(
                &pe->shared
                     .back[((size_t)slot * (size_t)pe->results + (size_t)head->home) * hidden],
                y, values * sizeof *y, moe_forwarder(&pe->groups, s, pe->group));
        y += values;
    }
}

/* The product of an expert, split by rows. */
struct product {
    int rows, hidden, cores;
    const float *x, *w;
    float *y;
};

static void product_part(void *arg, int core)
{
    const struct product *p = arg;
    const int first = (int)((long)p->rows * core / p->cores);
    const int end = (int)((long)p->rows * (core + 1) / p->cores);
    const size_t offset = (size_t)first * (size_t)p->hidden;

    if (end > first)
        moe_product(end - first, p->hidden, p->x + offset, p->w, p->y + offset);
}

/* The grouped matrix product: for each expert, its rows times its weights. With flags an expert
 * begins when its own rows have arrived, and its results leave before the next expert begins. */
const char *moe_run_experts(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->config.shape;
    const int hidden = shape->hidden, pes = shape->pes;
    const size_t weights = (size_t)hidden * (size_t)hidden;

    for (int e = 0; e < shape->experts; e++) {
        const int mine = pe->groups.local[pe->me] * shape->experts + e;
        int rows;

        moe_sync_await(pe, &pe->shared.deliver_flag[e * pes], pes);
        rows = gather(pe, e);
        if (rows < 0)
            return "the rows of an expert cannot be those of one step";
        if (!shape->communication)
            pool_run(&pe->pool, product_part,
                     &(struct product){rows, hidden, pe->config.cores, pe->own.batch,
                                       &pe->own.weights[(size_t)e * weights], pe->own.product});
        return_rows(pe, e);
        moe_sync_quiet(pe); /* also before the next expert overwrites the rows */
        for (int s = 0; s < pes; s++)
            moe_sync_raise(
                pe, &pe->shared.back_flag[moe_slot(&pe->groups, s, pe->group) * pe->reach + mine],
                moe_forwarder(&pe->groups, s, pe->group));
    }
    moe_sync_meet(pe);
    return NULL;
}

/* Add up the results of my group's experts for each token of the source, in `sums`. */
static void reduce_source(const struct moe_pe *pe, const struct moe_source *source, float *sums)
{
    const struct moe_shape *shape = &pe->config.shape;
    const size_t hidden = (size_t)shape->hidden, slot = (size_t)source->slot;
    const int *place = pe->own.place + slot * (size_t)(shape->tokens * shape->top_k);

    memset(sums, 0, (size_t)source->count * hidden * sizeof *sums);
    for (int i = 0; i < source->count * shape->top_k; i++) {
        float *to = &sums[(size_t)(i / shape->top_k) * hidden];
        const float *y;

        if (place[i] < 0)
            continue;
        y = pe->shared.back + (slot * (size_t)pe->results + (size_t)place[i]) * hidden;
        for (size_t v = 0; v < hidden; v++)
            to[v] += source->choice[i].gate * y[v];
    }
}

/* First level of the way back: within the node. In normal mode the sums go to the sources. */
void moe_reduce(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->config.shape;
    const size_t values = (size_t)shape->tokens * (size_t)shape->hidden;
    struct moe_source source;

    for (int slot = 0; slot < pe->slots; slot++) {
        float *sums = &pe->own.sums[(size_t)slot * values];

        if (!moe_find_source(pe, slot, &source))
            continue;
        moe_sync_await(pe, &pe->shared.back_flag[slot * pe->reach], pe->reach);
        reduce_source(pe, &source, pe->config.mode == MOE_NORMAL ? sums : pe->own.result);
        if (pe->config.mode == MOE_NORMAL && source.count > 0)
            shmem_putmem_nbi(&pe->shared.parts[(size_t)pe->group * values], sums,
                             (size_t)(source.count * shape->hidden) * sizeof *sums, source.pe);
    }
    if (pe->config.mode == MOE_LOW_LATENCY)
        return;
    moe_sync_quiet(pe);
    for (int slot = 0; slot < pe->slots; slot++)
        if (moe_find_source(pe, slot, &source))
            moe_sync_raise(pe, &pe->shared.parts_flag[pe->group], source.pe);
    moe_sync_meet(pe);
}

/* Second level of the way back: add up the parts of all groups for each of my tokens. */
void moe_combine(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->config.shape;
    const size_t hidden = (size_t)shape->hidden, tokens = (size_t)shape->tokens;

    memset(pe->own.result, 0, tokens * hidden * sizeof *pe->own.result);
    moe_sync_await(pe, pe->shared.parts_flag, pe->groups.count);
    for (size_t g = 0; g < (size_t)pe->groups.count; g++)
        for (size_t i = 0; i < (size_t)pe->own.sent_count[g]; i++) {
            float *to = pe->own.result + (size_t)pe->own.sent[g * tokens + i] * hidden;

            for (size_t v = 0; v < hidden; v++)
                to[v] += pe->shared.parts[(g * tokens + i) * hidden + v];
        }
}
