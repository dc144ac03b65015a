/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moe_dispatch: dispatch tokens to experts and combine the results. See README.md. A plain
 * OpenSHMEM program, independent of barrier plugins.
 */
#include "model.h"
#include "phases.h"
#include "product.h"
#include "sync.h"

#include <limits.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: moe_dispatch [--mode normal|low-latency] [--nodes N] [--sync WAY] [--cores N]\n"
    "                    [--pes N] [--pairs N] [--steps N] [--seed N] [--verify] [--jitter US]\n"
    "                    [--tokens N] [--hidden N] [--experts N] [--top-k N] [--zipf N]\n"
    "                    [--communication]\n"
    "  --mode MODE  normal: rows cross to each node once and are forwarded there (default);\n"
    "               low-latency: rows go directly to the PEs of their experts\n"
    "  --nodes N    split the PEs into N nodes (0: nodes are hosts)\n"
    "  --sync WAY   CrossRankSync: barrier: by shmem_barrier_all; flags: to each receiver; cores:\n"
    "               each core signals and awaits a part of the PEs; both: barrier and flags\n"
    "               interleaved (default); all: the three interleaved\n"
    "  --cores N    threads of a PE, which share the matrix product and the signals of --sync\n"
    "               cores, 1 to 64 (1)\n"
    "  --pes N      end with an error unless there are N PEs\n"
    "  --pairs N    turns of each way (5)\n"
    "  --steps N    of dispatch and combine in a turn (20)\n"
    "  --seed N     of the tokens, the router and the weights (1)\n"
    "  --verify     compare every result of every step with a serial model\n"
    "  --jitter US  random pauses of less than that many microseconds, to provoke races (0)\n"
    "  --tokens N (per PE: 64), --hidden N (values of a token: 128),\n"
    "  --experts N (per PE: 4), --top-k N (experts of a token, 1 to 16: 2)\n"
    "  --zipf N     expert e, from 0, is drawn as often as 1 / (e + 1)^(N / 100): the first ones\n"
    "               are hot; by default the smaller of two draws\n"
    "  --communication  experts have no weights and return their rows as they are\n";

enum { MOE_WAYS = 3 };

/* The words of --sync, the first of which are those of enum moe_sync, and the ways of each. */
static const char *const sync_words[] = {"barrier", "flags", "cores", "both", "all", NULL};
static const long sync_ways[] = {1 << MOE_BARRIER, 1 << MOE_FLAGS, 1 << MOE_CORES,
                                 1 << MOE_BARRIER | 1 << MOE_FLAGS,
                                 1 << MOE_BARRIER | 1 << MOE_FLAGS | 1 << MOE_CORES};
static const char *const mode_words[] = {
    [MOE_NORMAL] = "normal", [MOE_LOW_LATENCY] = "low-latency", NULL};

struct moe_options {
    long pes, pairs, steps, seed, jitter, tokens, hidden, experts, top_k, nodes, cores, verify,
        zipf, communication;
    long mode, sync; /* indices of their words */
    long ways;       /* set of enum moe_sync */
};

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

static void print_head(const struct moe_pe *pe, const struct moe_options *options)
{
    const struct moe_shape *shape = &pe->config.shape;

    printf("moe_dispatch  %s mode, %s%s\n", mode_words[pe->config.mode],
           shape->communication ? "communication alone" : "matrix product by ",
           shape->communication ? "" : moe_product_name);
    printf(
        "              %d PEs on %d node%s%s, %d experts, %d tokens of %d values per PE, top %d\n",
        shape->pes, pe->nodes.count, pe->nodes.count == 1 ? "" : "s",
        pe->config.emulated_nodes > 0 ? " (emulated)" : "", moe_experts_all(shape), shape->tokens,
        shape->hidden, shape->top_k);
    printf("us per step   %12s %12s %12s %7s %12s   (%ld turns of %ld steps)\n", "sync median",
           "sync least", "all median", "sync %", "rows across", options->pairs, options->steps);
}

/* One way, over all turns. turns: [turns][MOE_WAYS] of this PE. Times are means over the PEs. */
static void print_way(const struct moe_pe *pe, const struct turn *turns, int way,
                      const struct moe_options *options, double *sync, double *total)
{
    const int pes = pe->config.shape.pes;
    const long count = options->pairs;
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
    qsort(sync, (size_t)count, sizeof *sync, pool_compare);
    qsort(total, (size_t)count, sizeof *total, pool_compare);
    printf("%-12s  %12.2f %12.2f %12.2f %7.1f %12.1f\n", sync_words[way], sync[count / 2], sync[0],
           total[count / 2], 100 * sync[count / 2] / total[count / 2], across);
}

/* On PE 0. */
static void report(const struct moe_pe *pe, const struct turn *turns,
                   const struct moe_options *options)
{
    double *sync = calloc((size_t)options->pairs, sizeof *sync);
    double *total = calloc((size_t)options->pairs, sizeof *total);

    if (!sync || !total) {
        fprintf(stderr, "moe_dispatch: no memory to report %ld turns\n", options->pairs);
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
    struct turn *turns = shmem_malloc((size_t)options->pairs * MOE_WAYS * sizeof *turns);
    struct moe_model model = {.weights = NULL};

    if (!turns) {
        fprintf(stderr, "moe_dispatch: no symmetric memory to record %ld turns\n", options->pairs);
        shmem_global_exit(2);
        return;
    }
    if (options->verify && moe_model_init(&model, &pe->config.shape) != 0) {
        fprintf(stderr, "moe_dispatch: no memory for the serial model\n");
        shmem_global_exit(2);
    }
    shmem_barrier_all(); /* so that the first turn does not wait for the start of the slowest PE */
    for (long i = 0; i < options->pairs; i++)
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

/* Collective, with valid options. Returns the exit status. */
static int start(const struct moe_options *options, struct moe_config *config)
{
    const size_t all = (size_t)moe_experts_all(&config->shape);
    double *const popular = options->zipf >= 0 ? calloc(all, sizeof *popular) : NULL;
    const int me = shmem_my_pe();
    struct moe_pe pe;

    if (options->zipf >= 0 && !popular) {
        fprintf(stderr, "moe_dispatch: out of memory for the popularity of experts\n");
        shmem_global_exit(2);
        return 2;
    }
    if (popular)
        moe_zipf(&config->shape, (double)options->zipf / 100, popular);
    config->shape.popular = popular;
    if (moe_pe_init(&pe, config, me) == 0) {
        run(&pe, options);
        moe_pe_fini(&pe);
        free(popular);
        return 0;
    }
    free(popular);
    if (me == 0)
        fprintf(stderr,
                "moe_dispatch: no symmetric memory: %.1f MiB per PE are needed; take fewer "
                "tokens or make SHMEM_SYMMETRIC_HEAP_SIZE larger\n",
                (double)pe.symmetric / 1048576);
    return 2;
}

/* What one option alone does not show. Returns 0, or -1 with the error in text. */
static int check_values(const struct moe_options *o, const struct moe_shape *shape, char *text,
                        size_t size)
{
    const long term = (long)(moe_sum_max(shape) / (shape->top_k * shape->hidden));

    if (o->pes != 0 && o->pes != shape->pes)
        snprintf(text, size, "--pes %ld: there are %d PEs", o->pes, shape->pes);
    else if (o->nodes > shape->pes)
        snprintf(text, size, "--nodes %ld: there are %d PEs", o->nodes, shape->pes);
    else if (o->top_k > (long)shape->experts * shape->pes)
        snprintf(text, size, "--top-k %ld: there are %ld experts", o->top_k,
                 (long)shape->experts * shape->pes);
    else if ((long)shape->tokens * shape->pes > INT_MAX)
        snprintf(text, size, "--tokens %ld: too many rows for %d PEs", o->tokens, shape->pes);
    else if (moe_sum_max(shape) > MOE_EXACT_MAX)
        snprintf(
            text, size,
            "--hidden %ld --top-k %ld: sums of up to %lld are possible, and floats are exact up "
            "to %d; hidden times top-k may be %ld",
            o->hidden, o->top_k, (long long)moe_sum_max(shape), MOE_EXACT_MAX,
            MOE_EXACT_MAX / term);
    else
        return 0;
    return -1;
}

int main(int argc, char **argv)
{
    struct moe_options o = {.pairs = 5,
                            .steps = 20,
                            .seed = 1,
                            .tokens = 64,
                            .hidden = 128,
                            .experts = 4,
                            .top_k = 2,
                            .cores = 1,
                            .sync = 3, /* both */
                            .zipf = -1};
    const struct pool_option rows[] = {
        {"pes", &o.pes, 1, 1 << 20, NULL},
        {"pairs", &o.pairs, 1, 10000, NULL},
        {"steps", &o.steps, 1, 1000000, NULL},
        {"seed", &o.seed, 0, 1L << 30, NULL},
        {"jitter", &o.jitter, 0, 100000, NULL},
        {"tokens", &o.tokens, 1, 65536, NULL},
        {"hidden", &o.hidden, 1, 16384, NULL},
        {"experts", &o.experts, 1, 256, NULL},
        {"top-k", &o.top_k, 1, MOE_TOP_K_MAX, NULL},
        {"nodes", &o.nodes, 0, 1 << 20, NULL},
        {"cores", &o.cores, 1, POOL_CORES_MAX, NULL},
        {"zipf", &o.zipf, 0, 1000, NULL},
        {.name = "verify", .value = &o.verify},
        {.name = "communication", .value = &o.communication},
        {.name = "mode", .value = &o.mode, .words = mode_words},
        {.name = "sync", .value = &o.sync, .words = sync_words},
    };
    struct moe_config config;
    char message[240];
    int status = 2;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    pool_shmem_init(argc, argv, 1);
    if (pool_options(rows, sizeof rows / sizeof *rows, argc, argv, "moe_dispatch", usage) == 0) {
        o.ways = sync_ways[o.sync];
        config = (struct moe_config){.shape = {.pes = shmem_n_pes(),
                                               .experts = (int)o.experts,
                                               .tokens = (int)o.tokens,
                                               .hidden = (int)o.hidden,
                                               .top_k = (int)o.top_k,
                                               .seed = (uint64_t)o.seed,
                                               .communication = (int)o.communication},
                                     .mode = (enum moe_mode)o.mode,
                                     .emulated_nodes = (int)o.nodes,
                                     .cores = (int)o.cores,
                                     .jitter = (int)o.jitter};
        if (check_values(&o, &config.shape, message, sizeof message) == 0)
            status = start(&o, &config);
        else if (shmem_my_pe() == 0)
            fprintf(stderr, "moe_dispatch: %s\n", message);
    }
    shmem_finalize();
    return status;
}
