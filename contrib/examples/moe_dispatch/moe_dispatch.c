/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moe_dispatch: dispatch tokens to experts and combine the results. See README.md. A plain
 * OpenSHMEM program, independent of barrier plugins.
 */
#include "model.h"
#include "options.h"
#include "product.h"
#include "step.h"
#include "sync.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compare this step's results of my tokens, without another PE. Returns the number of wrong
 * results. */
static int verify(const struct moe_pe *pe, struct moe_model *model)
{
    const struct moe_shape *shape = &pe->config.shape;
    const float *result = pe->own.result;
    int wrong = 0;

    for (int t = 0; t < shape->tokens; t++) {
        const int32_t *expected = moe_model_result(model, pe->step, pe->me, t);
        int i = 0;

        while (i < shape->hidden && result[i] == (float)expected[i])
            i++;
        if (i < shape->hidden && wrong++ == 0)
            fprintf(
                stderr,
                "moe_dispatch: PE %d, step %lld: value %d of token %d is %g, the model's is %d\n",
                pe->me, (long long)pe->step, i, t, (double)result[i], expected[i]);
        result += shape->hidden;
    }
    return wrong;
}

/* Of one turn: seconds, and rows that were dispatched to other nodes. */
struct turn {
    double total, sync, across;
};

/* The comparison is part of neither time. model: NULL, or compare. */
static struct turn run_turn(struct moe_pe *pe, enum moe_sync way, long steps,
                            struct moe_model *model)
{
    struct turn turn = {0, 0, 0};

    pe->sync_time = 0;
    pe->rows_across = 0;
    for (long s = 0; s < steps; s++) {
        const double begin = pool_now();
        const char *message = moe_pe_step(pe, way);

        turn.total += pool_now() - begin;
        if (message)
            fprintf(stderr, "moe_dispatch: PE %d, step %lld: %s\n", pe->me, (long long)pe->step,
                    message);
        if (message || (model && verify(pe, model) > 0))
            shmem_global_exit(1);
    }
    turn.sync = pe->sync_time;
    turn.across = (double)pe->rows_across;
    return turn;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print_head(const struct moe_pe *pe, const struct moe_options *options)
{
    const struct moe_shape *shape = &pe->config.shape;

    printf("moe_dispatch  %s mode, matrix product by %s\n", moe_mode_name[pe->config.mode],
           moe_product_name);
    printf(
        "              %d PEs on %d node%s%s, %d experts, %d tokens of %d values per PE, top %d\n",
        shape->pes, pe->nodes.count, pe->nodes.count == 1 ? "" : "s",
        pe->config.emulated_nodes > 0 ? " (emulated)" : "", moe_experts_all(shape), shape->tokens,
        shape->hidden, shape->top_k);
    printf("us per step   %12s %12s %12s %12s   (%ld turns of %ld steps)\n", "sync median",
           "sync least", "all median", "rows across", options->turns, options->steps);
}

/* One way, over all turns. turns: [turns][MOE_WAYS] of this PE. Times are means over the PEs. */
static void print_way(const struct moe_pe *pe, const struct turn *turns, int way,
                      const struct moe_options *options, double *sync, double *total)
{
    const int pes = pe->config.shape.pes;
    const long count = options->turns;
    const double us = 1e6 / ((double)pes * (double)options->steps);
    double across = 0;

    for (long i = 0; i < count; i++) {
        sync[i] = total[i] = 0;
        for (int p = 0; p < pes; p++) {
            struct turn turn;

            shmem_getmem(&turn, &turns[i * MOE_WAYS + way], sizeof turn, p);
            sync[i] += turn.sync * us;
            total[i] += turn.total * us;
            across += turn.across / (double)(count * options->steps);
        }
    }
    qsort(sync, (size_t)count, sizeof *sync, compare_doubles);
    qsort(total, (size_t)count, sizeof *total, compare_doubles);
    printf("%-12s  %12.2f %12.2f %12.2f %12.1f\n", moe_sync_name[way], sync[count / 2], sync[0],
           total[count / 2], across);
}

/* On PE 0. */
static void report(const struct moe_pe *pe, const struct turn *turns,
                   const struct moe_options *options)
{
    double *sync = calloc((size_t)options->turns, sizeof *sync);
    double *total = calloc((size_t)options->turns, sizeof *total);

    if (!sync || !total) {
        fprintf(stderr, "moe_dispatch: no memory to report %ld turns\n", options->turns);
        free(total);
        free(sync);
        shmem_global_exit(2);
        return;
    }
    print_head(pe, options);
    for (int way = 0; way < MOE_WAYS; way++)
        if (options->ways & 1 << way)
            print_way(pe, turns, way, options, sync, total);
    free(total);
    free(sync);
    if (options->verify)
        printf("verified      every result of %lld steps on %d PEs\n", (long long)pe->step,
               pe->config.shape.pes);
}

static void run(struct moe_pe *pe, const struct moe_options *options)
{
    struct turn *turns = shmem_malloc((size_t)options->turns * MOE_WAYS * sizeof *turns);
    struct moe_model model = {.weights = NULL};

    if (!turns) {
        fprintf(stderr, "moe_dispatch: no symmetric memory to record %ld turns\n", options->turns);
        shmem_global_exit(2);
        return;
    }
    if (options->verify && moe_model_init(&model, &pe->config.shape) != 0) {
        fprintf(stderr, "moe_dispatch: no memory for the serial model\n");
        shmem_global_exit(2);
    }
    shmem_barrier_all(); /* so that the first turn does not wait for the start of the slowest PE */
    for (long i = 0; i < options->turns; i++)
        for (int way = 0; way < MOE_WAYS; way++)
            if (options->ways & 1 << way)
                turns[i * MOE_WAYS + way] = run_turn(pe, (enum moe_sync)way, options->steps,
                                                     options->verify ? &model : NULL);
    shmem_barrier_all(); /* before PE 0 reads what the others have written to their own memory */
    if (pe->me == 0)
        report(pe, turns, options);
    shmem_barrier_all(); /* before it is freed */
    moe_model_fini(&model);
    shmem_free(turns);
}

int main(int argc, char **argv)
{
    struct moe_options options;
    struct moe_pe pe;
    int me, status = 2;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(moe_usage, stdout) < 0;
    pool_shmem_init(argc, argv, 1);
    me = shmem_my_pe();
    if (moe_options_parse(&options, argc, argv, me, shmem_n_pes()) == 0) {
        if (moe_pe_init(&pe, &options.config, me) == 0) {
            run(&pe, &options);
            status = 0;
            moe_pe_fini(&pe);
        } else if (me == 0) {
            fprintf(stderr,
                    "moe_dispatch: no symmetric memory: %.1f MiB per PE are needed; take fewer "
                    "tokens or make SHMEM_SYMMETRIC_SIZE larger\n",
                    (double)pe.symmetric / 1048576);
        }
    }
    shmem_finalize();
    return status;
}
