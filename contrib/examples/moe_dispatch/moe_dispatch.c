/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moe_dispatch: dispatch tokens to experts and combine the results. See README.md. A plain
 * OpenSHMEM program, independent of barrier plugins.
 */
#include "dispatch.h"

#include <getopt.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: moe_dispatch [--sync barrier|flags|both] [--pes N] [--pairs N] [--steps N] [--seed N]\n"
    "                    [--verify] [--jitter US]\n"
    "                    [--tokens N] [--hidden N] [--experts N] [--top-k N]\n"
    "  --sync WAY   synchronise by shmem_barrier_all, by flags to every PE, or by turns (both)\n"
    "  --pes N      end with an error unless there are N PEs\n"
    "  --pairs N    turns of each way (5)\n"
    "  --steps N    of dispatch and combine in a turn (20)\n"
    "  --seed N     of the tokens and the router (1)\n"
    "  --verify     compare every result of every step with a serial model\n"
    "  --jitter US  random pauses of less than that many microseconds, to provoke races (0)\n"
    "  --tokens N (per PE: 64), --hidden N (values of a token: 256),\n"
    "  --experts N (per PE: 4), --top-k N (experts of a token, 1 to 16: 2)\n";

enum option_id {
    PES,
    PAIRS,
    STEPS,
    SEED,
    JITTER,
    TOKENS,
    HIDDEN,
    EXPERTS,
    TOP_K,
    VERIFY,
    SYNC,
    OPTIONS
};

/* SYNC is a set of ways. */
enum { WAYS = 2, BOTH = 1 << MOE_BARRIER | 1 << MOE_FLAGS };
static const char *const way_name[WAYS] = {[MOE_BARRIER] = "barrier", [MOE_FLAGS] = "flags"};

static const struct {
    const char *name;
    long min, max, value_default;
} limits[OPTIONS] = {
    [PES] = {"pes", 1, 1 << 20, 0},
    [PAIRS] = {"pairs", 1, 10000, 5},
    [STEPS] = {"steps", 1, 1000000, 20},
    [SEED] = {"seed", 0, 1L << 30, 1},
    [JITTER] = {"jitter", 0, 100000, 0},
    /* The product of these and the number of PEs, which counts rows, stays below 2^31. */
    [TOKENS] = {"tokens", 1, 65536, 64},
    [HIDDEN] = {"hidden", 1, 65536, 256},
    [EXPERTS] = {"experts", 1, 256, 4},
    [TOP_K] = {"top-k", 1, MOE_TOP_K_MAX, 2},
    [VERIFY] = {"verify", 0, 1, 0},
    [SYNC] = {"sync", 0, BOTH, BOTH},
};

/* Returns 0, or -1 with the error or the usage in message. */
static int parse_value(int id, const char *text, long *value, char *message, size_t size)
{
    char *end = NULL;

    if (id == VERIFY) {
        *value = 1;
        return 0;
    }
    if (id == SYNC) {
        *value = strcmp(text, "both") == 0 ? BOTH : 0;
        for (int way = 0; way < WAYS; way++)
            if (strcmp(text, way_name[way]) == 0)
                *value = 1 << way;
        snprintf(message, size, "--sync %s: barrier, flags or both is allowed\n", text);
        return *value == 0 ? -1 : 0;
    }
    *value = strtol(text, &end, 10);
    snprintf(message, size, "--%s %s: a number from %ld to %ld is allowed\n", limits[id].name, text,
             limits[id].min, limits[id].max);
    return end == text || *end || *value < limits[id].min || *value > limits[id].max ? -1 : 0;
}

/* Returns 0, or -1 with a message on PE 0. All PEs have the same arguments, so all return the
 * same. */
static int parse_options(int argc, char **argv, int me, int pes, long *value)
{
    struct option options[OPTIONS + 1] = {{NULL, 0, NULL, 0}};
    char message[160] = "";
    int id;

    for (id = 0; id < OPTIONS; id++) {
        value[id] = limits[id].value_default;
        options[id] = (struct option){limits[id].name, id != VERIFY, NULL, id};
    }
    opterr = me == 0;
    while ((id = getopt_long(argc, argv, "", options, NULL)) >= 0 && id < OPTIONS)
        if (parse_value(id, optarg, &value[id], message, sizeof message) != 0)
            break;
    if (id >= OPTIONS || (id < 0 && optind < argc)) {
        if (me == 0)
            fputs(usage, stderr);
        return -1;
    }
    if (id < 0)
        message[0] = '\0';
    if (message[0] == '\0' && value[PES] != 0 && value[PES] != pes)
        snprintf(message, sizeof message, "--pes %ld: there are %d PEs\n", value[PES], pes);
    if (message[0] == '\0' && value[TOP_K] > value[EXPERTS] * pes)
        snprintf(message, sizeof message, "--top-k %ld: there are %ld experts\n", value[TOP_K],
                 value[EXPERTS] * pes);
    if (message[0] == '\0' && (double)value[TOKENS] * (double)value[TOP_K] * pes > INT32_MAX)
        snprintf(message, sizeof message, "--tokens %ld: too many rows for %d PEs\n", value[TOKENS],
                 pes);
    if (message[0] != '\0' && me == 0)
        fprintf(stderr, "moe_dispatch: %s", message);
    return message[0] == '\0' ? 0 : -1;
}

/* Compare this step's results of my tokens, without another PE. Returns the number of wrong
 * results. */
static int verify(const struct moe_pe *pe)
{
    const size_t row = (size_t)pe->shape.hidden * sizeof(uint32_t);
    uint32_t *expected = malloc(row), *space = malloc(row);
    int wrong = 0;

    for (int t = 0; t < pe->shape.tokens && expected && space; t++) {
        moe_serial(&pe->shape, pe->seed, pe->step, pe->me, t, expected, space);
        if (memcmp(expected, &pe->result[(size_t)t * (size_t)pe->shape.hidden], row) == 0)
            continue;
        if (wrong++ == 0)
            fprintf(stderr, "moe_dispatch: PE %d, step %lld: token %d is not the model's\n", pe->me,
                    (long long)pe->step, t);
    }
    if (!expected || !space) {
        fprintf(stderr, "moe_dispatch: no memory for the serial model\n");
        wrong++;
    }
    free(expected);
    free(space);
    return wrong;
}

/* Seconds of one turn. */
struct turn {
    double total, sync;
};

/* The comparison is part of neither time. */
static struct turn run_turn(struct moe_pe *pe, enum moe_sync way, long steps, int want_verify)
{
    struct turn turn = {0, 0};

    pe->sync_time = 0;
    for (long s = 0; s < steps; s++) {
        const double begin = moe_now();
        const char *message = moe_pe_step(pe, way);

        turn.total += moe_now() - begin;
        if (message)
            fprintf(stderr, "moe_dispatch: PE %d, step %lld: %s\n", pe->me, (long long)pe->step,
                    message);
        if (message || (want_verify && verify(pe) > 0))
            shmem_global_exit(1);
    }
    turn.sync = pe->sync_time;
    return turn;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* On PE 0. turns: [pairs][WAYS], of this PE; times are means over the PEs, then over the turns. */
static void report(const struct moe_pe *pe, const struct turn *turns, const long *value)
{
    const long pairs = value[PAIRS];
    const double us = 1e6 / ((double)pe->shape.pes * (double)value[STEPS]);
    double *sync = calloc((size_t)pairs, sizeof *sync);
    double *total = calloc((size_t)pairs, sizeof *total);

    if (!sync || !total) {
        fprintf(stderr, "moe_dispatch: no memory to report %ld turns\n", pairs);
        free(total);
        free(sync);
        shmem_global_exit(2);
        return;
    }
    printf("moe_dispatch  %d PEs, %d experts, %d tokens of %d values per PE, top %d\n",
           pe->shape.pes, moe_experts_all(&pe->shape), pe->shape.tokens, pe->shape.hidden,
           pe->shape.top_k);
    printf("us per step   %12s %12s %12s   (%ld turns of %ld steps)\n", "sync median", "sync least",
           "all median", pairs, value[STEPS]);
    for (int way = 0; way < WAYS; way++) {
        if (!(value[SYNC] & 1 << way))
            continue;
        for (long i = 0; i < pairs; i++) {
            sync[i] = total[i] = 0;
            for (int p = 0; p < pe->shape.pes; p++) {
                struct turn turn;

                shmem_getmem(&turn, &turns[i * WAYS + way], sizeof turn, p);
                sync[i] += turn.sync * us;
                total[i] += turn.total * us;
            }
        }
        qsort(sync, (size_t)pairs, sizeof *sync, compare_doubles);
        qsort(total, (size_t)pairs, sizeof *total, compare_doubles);
        printf("%-12s  %12.2f %12.2f %12.2f\n", way_name[way], sync[pairs / 2], sync[0],
               total[pairs / 2]);
    }
    free(total);
    free(sync);
    if (value[VERIFY])
        printf("verified      every result of %lld steps on %d PEs\n", (long long)pe->step,
               pe->shape.pes);
}

static void run(struct moe_pe *pe, const long *value)
{
    struct turn *turns = shmem_malloc((size_t)value[PAIRS] * WAYS * sizeof *turns);

    if (!turns) {
        fprintf(stderr, "moe_dispatch: no symmetric memory for %ld turns\n", value[PAIRS]);
        shmem_global_exit(2);
        return;
    }
    for (long i = 0; i < value[PAIRS]; i++)
        for (int way = 0; way < WAYS; way++)
            if (value[SYNC] & 1 << way)
                turns[i * WAYS + way] =
                    run_turn(pe, (enum moe_sync)way, value[STEPS], (int)value[VERIFY]);
    shmem_barrier_all(); /* before PE 0 reads what the others have written to their own memory */
    if (pe->me == 0)
        report(pe, turns, value);
    shmem_barrier_all(); /* before it is freed */
    shmem_free(turns);
}

int main(int argc, char **argv)
{
    long value[OPTIONS];
    struct moe_pe pe;
    int me, pes, status = 2;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    if (parse_options(argc, argv, me, pes, value) == 0) {
        const struct moe_shape shape = {pes, (int)value[EXPERTS], (int)value[TOKENS],
                                        (int)value[HIDDEN], (int)value[TOP_K]};

        if (moe_pe_init(&pe, &shape, me, (uint64_t)value[SEED], (int)value[JITTER]) == 0) {
            run(&pe, value);
            moe_pe_fini(&pe);
            status = 0;
        } else if (me == 0) {
            fprintf(
                stderr,
                "moe_dispatch: no symmetric memory for %zu rows of %d values per PE: take fewer "
                "tokens or make SHMEM_SYMMETRIC_SIZE larger\n",
                moe_rows_received_max(&shape) + moe_rows_sent(&shape), shape.hidden);
        }
    }
    shmem_finalize();
    return status;
}
