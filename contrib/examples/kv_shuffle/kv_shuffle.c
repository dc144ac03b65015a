/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kv_shuffle: balance the KV caches of a serving job. See README.md. A plain OpenSHMEM program,
 * independent of barrier plugins.
 */
#include "exchange.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: kv_shuffle [--pes N] [--rounds N] [--seed N] [--verify] [--jitter US]\n"
    "                  [--cores N] [--blocks N] [--heads N] [--tokens N] [--dim N] [--slices N]\n"
    "  --pes N      end with an error unless there are N PEs\n"
    "  --rounds N   shuffles, 1 to 100000 (20)\n"
    "  --seed N     of the sequences (1)\n"
    "  --verify     compare all caches after every round with a serial model\n"
    "  --jitter US  random pauses of less than that many microseconds, to provoke races (0)\n"
    "  --blocks N, --heads N, --tokens N, --dim N\n"
    "               each of the two caches of a PE is int8 [80][8][128][128]\n"
    "  --cores N    threads of a PE, 1 or an even number up to 64 (16): half of them move K, and\n"
    "               half V, each a part of every block; 1: one moves both\n"
    "  --slices N   copies that each such part is divided into, 1 to 1024 (4)\n";

struct kv_options {
    long pes; /* 0: any number */
    long rounds, seed, jitter;
    long blocks, heads, tokens, dim;
    long verify, slices, cores;
};

/*
 * Compare the sums of every PE with the model's, on PE 0. Sums are taken after each round and
 * compared at the end, so that the comparison adds no synchronisation that could hide a fault.
 * Returns the number of wrong sums.
 */
static int verify(const struct kv_pe *pe, const uint64_t *sums, int rounds)
{
    uint64_t *got = malloc((size_t)rounds * (size_t)pe->pes * sizeof *got);
    struct kv_model model;
    int wrong = 0;

    if (!got || kv_model_init(&model, &pe->shape, pe->pes, pe->run.seed) != 0) {
        fprintf(stderr, "kv_shuffle: no memory for the serial model of %d PEs\n", pe->pes);
        free(got);
        return 1;
    }
    for (int p = 0; p < pe->pes; p++)
        shmem_getmem(&got[(size_t)p * (size_t)rounds], sums, (size_t)rounds * sizeof *sums, p);
    for (int r = 0; r < rounds && wrong == 0; r++) {
        const char *bad_plan = kv_model_round(&model);

        if (bad_plan) {
            fprintf(stderr, "kv_shuffle: round %d: the plan is wrong: %s\n", r + 1, bad_plan);
            wrong++;
        }
        for (int p = 0; p < pe->pes && !bad_plan; p++)
            if (got[(size_t)p * (size_t)rounds + (size_t)r] !=
                kv_checksum(&model.shape, model.caches[p])) {
                fprintf(stderr, "kv_shuffle: round %d: the cache of PE %d is not the model's\n",
                        r + 1, p);
                wrong++;
            }
    }
    kv_model_fini(&model);
    free(got);
    if (wrong == 0)
        printf("verified         the caches of %d PEs after each of %d rounds\n", pe->pes, rounds);
    return wrong;
}

/* On PE 0: the median over the rounds of what the PEs have in each: the least, or the mean. values:
 * [rounds], this PE's. */
static double median(const struct kv_pe *pe, const double *values, int rounds, int least)
{
    const size_t n = (size_t)rounds;
    double *all = calloc(n, sizeof *all), *one = malloc(n * sizeof *one), result = 0;

    if (all && one) {
        for (int p = 0; p < pe->pes; p++) {
            shmem_getmem(one, values, n * sizeof *one, p);
            for (size_t r = 0; r < n; r++)
                if (!least)
                    all[r] += one[r] / pe->pes;
                else if (p == 0 || one[r] < all[r])
                    all[r] = one[r];
        }
        qsort(all, n, sizeof *all, pool_compare);
        result = all[n / 2];
    }
    free(one);
    free(all);
    return result;
}

struct totals {
    struct kv_times times;
    int64_t moved;
};

/* On PE 0: the times of all PEs, as means over PEs and rounds. */
static void report(const struct kv_pe *pe, const struct totals *mine, const double *waits,
                   int rounds)
{
    const double per = 1e6 / ((double)pe->pes * rounds), mib = 1.0 / (1 << 20);
    const double block = 2.0 * (double)kv_block_bytes(&pe->shape);
    struct totals sum = {.moved = 0}, one;

    for (int p = 0; p < pe->pes; p++) {
        shmem_getmem(&one, mine, sizeof one, p);
        sum.times.barrier += one.times.barrier;
        sum.times.ready += one.times.ready;
        sum.times.copy += one.times.copy;
        sum.times.filled += one.times.filled;
        sum.moved += one.moved;
    }
    printf("kv_shuffle       %d PEs, %d rounds, 2 caches of %.1f MiB per PE\n", pe->pes, rounds,
           (double)kv_cache_bytes(&pe->shape) * mib);
    printf("moved            %lld blocks, %.1f MiB, at %.0f MiB/s per sender\n",
           (long long)sum.moved, (double)sum.moved * block * mib,
           sum.moved > 0 ? (double)sum.moved * block * mib / sum.times.copy : 0.0);
    printf("synchronisation  %.2f us per round: barrier %.2f, ready %.2f, filled %.2f\n",
           (sum.times.barrier + sum.times.ready + sum.times.filled) * per, sum.times.barrier * per,
           sum.times.ready * per, sum.times.filled * per);
    /* Most PEs wait in the barrier for others to finish their work. The last PE waits for the
     * barrier alone, and has the shortest wait. */
    printf("barrier alone    %.2f us: the wait of the PE that comes last, median of the rounds\n",
           1e6 * median(pe, waits, rounds, 1));
}

/* Per round, of this PE: symmetric, [rounds]. */
struct record {
    uint64_t *sums;
    double *waits, *walls; /* seconds in the barrier, and in the whole round */
};

static void run_rounds(struct kv_pe *pe, const struct kv_options *options, struct record *record)
{
    for (int r = 0; r < (int)options->rounds; r++) {
        const double waited = pe->times.barrier, begin = pool_now();
        const char *message = kv_pe_round(pe);

        if (message) {
            fprintf(stderr, "kv_shuffle: PE %d, round %d: %s\n", pe->me, r + 1, message);
            shmem_global_exit(1);
        }
        record->walls[r] = pool_now() - begin;
        record->waits[r] = pe->times.barrier - waited;
        record->sums[r] = options->verify ? kv_checksum(&pe->shape, pe->cache) : 0;
    }
}

/* On PE 0. Returns the number of faults. */
static int conclude(const struct kv_pe *pe, const struct kv_options *options,
                    const struct record *record, const struct totals *totals)
{
    const int rounds = (int)options->rounds;

    report(pe, totals, record->waits, rounds);
    printf("a round          %.2f us, median\n", 1e6 * median(pe, record->walls, rounds, 0));
    return options->verify ? verify(pe, record->sums, rounds) : 0;
}

static void run(struct kv_pe *pe, const struct kv_options *options)
{
    const size_t n = (size_t)options->rounds;
    struct record record = {shmem_malloc(n * sizeof *record.sums),
                            shmem_malloc(n * sizeof *record.waits),
                            shmem_malloc(n * sizeof *record.walls)};
    struct totals *totals = shmem_malloc(sizeof *totals);

    if (!record.sums || !record.waits || !record.walls || !totals) {
        fprintf(stderr, "kv_shuffle: no symmetric memory for %zu rounds\n", n);
        shmem_global_exit(2);
        return;
    }
    shmem_barrier_all(); /* all PEs begin at the same time */
    run_rounds(pe, options, &record);
    *totals = (struct totals){pe->times, pe->moved};
    shmem_barrier_all(); /* before PE 0 reads what the others have written to their own memory */
    if (pe->me == 0 && conclude(pe, options, &record, totals) > 0) {
        fflush(NULL);
        shmem_global_exit(1);
    }
    shmem_barrier_all(); /* before it is freed */
    shmem_free(totals);
    shmem_free(record.walls);
    shmem_free(record.waits);
    shmem_free(record.sums);
}

/* Collective, with valid options. Returns the exit status. */
static int start(const struct kv_options *options, int me, int pes)
{
    const struct kv_run setting = {.shape = {(int)options->blocks, (int)options->heads,
                                             (int)options->tokens, (int)options->dim},
                                   .me = me,
                                   .pes = pes,
                                   .slices = (int)options->slices,
                                   .cores = (int)options->cores,
                                   .seed = (uint64_t)options->seed,
                                   .jitter = (int)options->jitter};
    struct kv_pe pe;
    int status = 2;

    if (options->cores > 1 && options->cores % 2 != 0) {
        if (me == 0)
            fprintf(stderr, "kv_shuffle: --cores %ld: 1 or an even number is allowed\n",
                    options->cores);
        return 2;
    }
    if (options->pes != 0 && options->pes != pes) {
        if (me == 0)
            fprintf(stderr, "kv_shuffle: --pes %ld: there are %d PEs\n", options->pes, pes);
        return 2;
    }
    if (kv_pe_init(&pe, &setting) == 0) {
        run(&pe, options);
        status = 0;
        kv_pe_fini(&pe);
    } else if (me == 0) {
        fprintf(stderr,
                "kv_shuffle: no symmetric memory for 2 caches of %zu bytes per PE: make the caches "
                "smaller or SHMEM_SYMMETRIC_HEAP_SIZE larger\n",
                kv_cache_bytes(&setting.shape));
    }
    return status;
}

int main(int argc, char **argv)
{
    struct kv_options o = {.rounds = 20,
                           .seed = 1,
                           .blocks = 80,
                           .heads = 8,
                           .tokens = 128,
                           .dim = 128,
                           .slices = 4,
                           .cores = 16};
    const struct pool_option rows[] = {
        {"pes", &o.pes, 1, 1 << 20, NULL},
        {"rounds", &o.rounds, 1, 100000, NULL}, /* sequence numbers are 32 bits */
        {"seed", &o.seed, 0, 1L << 30, NULL},
        {"jitter", &o.jitter, 0, 100000, NULL},
        {"blocks", &o.blocks, 1, KV_BLOCKS_MAX, NULL},
        {"heads", &o.heads, 1, 1024, NULL},
        {"tokens", &o.tokens, 1, 65536, NULL},
        {"dim", &o.dim, 1, 65536, NULL},
        {"slices", &o.slices, 1, 1024, NULL},
        {"cores", &o.cores, 1, POOL_CORES_MAX, NULL},
        {.name = "verify", .value = &o.verify},
    };
    int status = 2;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    pool_shmem_init(argc, argv, 16);
    if (pool_options(rows, sizeof rows / sizeof *rows, argc, argv, "kv_shuffle", usage) == 0)
        status = start(&o, shmem_my_pe(), shmem_n_pes());
    shmem_finalize();
    return status;
}
