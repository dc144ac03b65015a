/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Memory that other PEs write to, and the synchronisation that separates the next step's puts from
 * the reads of this PE. A step has three synchronisations: A after the counts, B after the
 * dispatch, C after the way back. Both kinds have the same effect: no PE leaves before all have
 * entered, and all puts issued before are then in place.
 *
 *   buffer    written by puts     read              next written, and why that is late enough
 *   counts    before A            from A to C       after C: all PEs have entered C then
 *   receive   from A to B         from B to C       after the next A, which all enter after C
 *   back      from B to C         from C, to the    after the next B, which all enter after they
 *                                 next A            have combined
 *
 * So one copy of each is enough. Without C, the next counts of a fast PE would reach a slow PE that
 * still looks up the targets of its rows.
 */

double moe_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *alloc_zeroed(size_t bytes)
{
    void *memory = shmem_malloc(bytes);

    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

static void *alloc_private(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);

    /* Other PEs may have their memory, so no collective call is possible here. */
    if (!memory) {
        fprintf(stderr, "moe_dispatch: no memory for %zu bytes\n", count * bytes);
        shmem_global_exit(2);
    }
    return memory;
}

int moe_pe_init(struct moe_pe *pe, const struct moe_shape *shape, int me, uint64_t seed, int jitter)
{
    const size_t all = (size_t)moe_experts_all(shape), pes = (size_t)shape->pes;
    const size_t row = (size_t)shape->hidden * sizeof(uint32_t), sent = moe_rows_sent(shape);

    *pe = (struct moe_pe){.shape = *shape, .me = me, .seed = seed, .jitter = jitter};
    pe->counts = alloc_zeroed(pes * all * sizeof *pe->counts);
    pe->receive = alloc_zeroed(moe_rows_received_max(shape) * row);
    pe->back = alloc_zeroed(sent * row);
    pe->flags = alloc_zeroed(pes * sizeof *pe->flags);
    if (!pe->counts || !pe->receive || !pe->back || !pe->flags) {
        moe_pe_fini(pe);
        return -1;
    }
    pe->my_counts = alloc_private(all, sizeof *pe->my_counts);
    pe->send = alloc_private(sent, row);
    pe->result = alloc_private((size_t)shape->tokens, row);
    pe->expert = alloc_private(sent, sizeof *pe->expert);
    pe->row = alloc_private(sent, sizeof *pe->row);
    pe->weight = alloc_private(sent, sizeof *pe->weight);
    if (moe_layout_init(&pe->layout, shape) != 0) {
        fprintf(stderr, "moe_dispatch: no memory for the layout of %zu experts\n", all);
        shmem_global_exit(2);
    }
    shmem_barrier_all(); /* no PE writes to a PE that has not cleared its memory yet */
    return 0;
}

void moe_pe_fini(struct moe_pe *pe)
{
    void *const symmetric[] = {pe->flags, pe->back, pe->receive, pe->counts};

    for (size_t i = 0; i < sizeof symmetric / sizeof *symmetric; i++)
        if (symmetric[i])
            shmem_free(symmetric[i]);
    free(pe->my_counts);
    free(pe->send);
    free(pe->result);
    free(pe->expert);
    free(pe->row);
    free(pe->weight);
    moe_layout_fini(&pe->layout);
}

/* A random pause, different on every PE and at every point of the step. */
static void jitter(const struct moe_pe *pe, uint64_t point)
{
    const uint64_t dice =
        moe_hash(moe_hash(pe->seed ^ point, (uint64_t)pe->step), (uint64_t)pe->me);
    struct timespec t = {0, 0};

    if (pe->jitter == 0 || dice % 2 == 0)
        return;
    t.tv_nsec = (long)(dice / 2 % (uint64_t)pe->jitter) * 1000;
    nanosleep(&t, NULL);
}

/*
 * One word for each sender, written by that PE only, with its count of synchronisations. It only
 * increases, so steps do not mix, and a PE that is one ahead has also been here.
 */
static void push_flags(struct moe_pe *pe)
{
    const int pes = pe->shape.pes;

    shmem_quiet(); /* my puts are in place before a flag announces them */
    for (int i = 0; i < pes; i++)
        shmem_long_atomic_set(&pe->flags[pe->me], pe->synchronisations, (pe->me + i) % pes);
    for (int p = 0; p < pes; p++)
        shmem_long_wait_until(&pe->flags[p], SHMEM_CMP_GE, pe->synchronisations);
}

static void synchronise(struct moe_pe *pe, enum moe_sync sync)
{
    const double begin = moe_now();

    pe->synchronisations++;
    if (sync == MOE_BARRIER)
        shmem_barrier_all();
    else
        push_flags(pe);
    pe->sync_time += moe_now() - begin;
}

/* Choose the experts of my tokens, and send all PEs the number of rows that each of their experts
 * gets from me. */
static void route(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->shape;
    const size_t all = (size_t)moe_experts_all(shape);

    memset(pe->my_counts, 0, all * sizeof *pe->my_counts);
    for (int t = 0; t < shape->tokens; t++) {
        const int first = t * shape->top_k;

        moe_route(shape, pe->seed, pe->step, pe->me, t, &pe->expert[first], &pe->weight[first]);
        for (int j = first; j < first + shape->top_k; j++)
            pe->my_counts[pe->expert[j]]++;
    }
    for (int i = 0; i < shape->pes; i++)
        shmem_putmem_nbi(&pe->counts[(size_t)pe->me * all], pe->my_counts, all * sizeof *pe->counts,
                         (pe->me + i) % shape->pes);
}

/* Pack the rows by expert, and put the rows of each expert to its PE. */
static void dispatch(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->shape;
    const size_t hidden = (size_t)shape->hidden;
    const int all = moe_experts_all(shape), first = pe->me * shape->experts;

    memset(pe->my_counts, 0, (size_t)all * sizeof *pe->my_counts); /* now: rows packed so far */
    for (int i = 0; i < shape->tokens * shape->top_k; i++) {
        const int e = pe->expert[i];

        pe->row[i] = pe->layout.mine[e] + pe->my_counts[e]++;
        moe_token(shape, pe->seed, pe->step, pe->me, i / shape->top_k,
                  &pe->send[(size_t)pe->row[i] * hidden]);
    }
    /* Begin with my own experts, so that not all PEs put to the same PE at the same time. */
    for (int i = 0; i < all; i++) {
        const int e = (first + i) % all;

        if (pe->my_counts[e] > 0)
            shmem_putmem_nbi(&pe->receive[(size_t)pe->layout.there[e] * hidden],
                             &pe->send[(size_t)pe->layout.mine[e] * hidden],
                             (size_t)pe->my_counts[e] * hidden * sizeof *pe->send,
                             e / shape->experts);
    }
}

/* Run my experts on the received rows, and put the results back to each sender. */
static void run_experts(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->shape;
    const size_t hidden = (size_t)shape->hidden;
    const int all = moe_experts_all(shape);

    for (int e = 0; e < shape->experts; e++)
        for (int i = 0; i < shape->pes; i++) {
            const int s = (pe->me + i) % shape->pes, chunk = e * shape->pes + s;
            const int expert = pe->me * shape->experts + e;
            const int32_t count = pe->counts[s * all + expert];
            uint32_t *rows = &pe->receive[(size_t)pe->layout.here[chunk] * hidden];

            for (int32_t r = 0; r < count; r++)
                moe_expert(shape, expert, &rows[(size_t)r * hidden]);
            if (count > 0)
                shmem_putmem_nbi(&pe->back[(size_t)pe->layout.home[chunk] * hidden], rows,
                                 (size_t)count * hidden * sizeof *rows, s);
        }
}

/* In the order of the tokens, and for each token in the order of the router's choices. */
static void combine(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->shape;
    const size_t hidden = (size_t)shape->hidden;

    memset(pe->result, 0, (size_t)shape->tokens * hidden * sizeof *pe->result);
    for (int i = 0; i < shape->tokens * shape->top_k; i++)
        moe_combine(shape, &pe->result[(size_t)(i / shape->top_k) * hidden],
                    &pe->back[(size_t)pe->row[i] * hidden], pe->weight[i]);
}

const char *moe_pe_step(struct moe_pe *pe, enum moe_sync sync)
{
    pe->step++;
    jitter(pe, 1);
    route(pe);
    synchronise(pe, sync); /* A: the counts of all PEs have arrived */
    if (moe_layout_make(&pe->layout, &pe->shape, pe->counts, pe->me) != 0)
        return "the counts of the PEs cannot be those of one step";
    jitter(pe, 2);
    dispatch(pe);
    synchronise(pe, sync); /* B: the rows for my experts have arrived */
    jitter(pe, 3);
    run_experts(pe);
    synchronise(pe, sync); /* C: my rows are back, and no PE reads the counts any more */
    jitter(pe, 4);
    combine(pe);
    return NULL;
}
