/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char moe_usage[] =
    "usage: moe_dispatch [--mode normal|low-latency] [--nodes N] [--sync WAY] [--cores N]\n"
    "                    [--pes N] [--pairs N] [--steps N] [--seed N] [--verify] [--jitter US]\n"
    "                    [--tokens N] [--hidden N] [--experts N] [--top-k N]\n"
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
    "  --experts N (per PE: 4), --top-k N (experts of a token, 1 to 16: 2)\n";

const char *const moe_sync_name[MOE_WAYS] = {
    [MOE_BARRIER] = "barrier", [MOE_FLAGS] = "flags", [MOE_CORES] = "cores"};
const char *const moe_mode_name[] = {[MOE_NORMAL] = "normal", [MOE_LOW_LATENCY] = "low-latency"};

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
    NODES,
    CORES,
    VERIFY,
    MODE,
    SYNC,
    OPTIONS
};

static const struct {
    const char *name;
    long min, max, value_default;
} limits[OPTIONS] = {
    [PES] = {"pes", 1, 1 << 20, 0},
    [PAIRS] = {"pairs", 1, 10000, 5},
    [STEPS] = {"steps", 1, 1000000, 20},
    [SEED] = {"seed", 0, 1L << 30, 1},
    [JITTER] = {"jitter", 0, 100000, 0},
    [TOKENS] = {"tokens", 1, 65536, 64},
    [HIDDEN] = {"hidden", 1, 16384, 128},
    [EXPERTS] = {"experts", 1, 256, 4},
    [TOP_K] = {"top-k", 1, MOE_TOP_K_MAX, 2},
    [NODES] = {"nodes", 0, 1 << 20, 0},
    [CORES] = {"cores", 1, POOL_CORES_MAX, 1},
    [VERIFY] = {"verify", 0, 1, 0},
    [MODE] = {"mode", 0, 1, MOE_NORMAL},
    [SYNC] = {"sync", 0, MOE_ALL, MOE_BOTH},
};

struct message {
    char text[240];
};

static int parse_sync(const char *text, long *value, struct message *message)
{
    *value = strcmp(text, "both") == 0 ? MOE_BOTH : strcmp(text, "all") == 0 ? MOE_ALL : 0;
    for (int way = 0; way < MOE_WAYS; way++)
        if (strcmp(text, moe_sync_name[way]) == 0)
            *value = 1 << way;
    snprintf(message->text, sizeof message->text,
             "--sync %.80s: barrier, flags, cores, both or all is allowed", text);
    return *value == 0 ? -1 : 0;
}

static int parse_mode(const char *text, long *value, struct message *message)
{
    for (long mode = MOE_NORMAL; mode <= MOE_LOW_LATENCY; mode++)
        if (strcmp(text, moe_mode_name[mode]) == 0) {
            *value = mode;
            return 0;
        }
    snprintf(message->text, sizeof message->text, "--mode %.80s: normal or low-latency is allowed",
             text);
    return -1;
}

/* Returns 0, or -1 with the error in message. */
static int parse_value(int id, const char *text, long *value, struct message *message)
{
    if (id == VERIFY) {
        *value = 1;
        return 0;
    }
    if (id == SYNC)
        return parse_sync(text, value, message);
    if (id == MODE)
        return parse_mode(text, value, message);
    return pool_number(limits[id].name, text, limits[id].min, limits[id].max, value, message->text,
                       sizeof message->text);
}

/* What one option alone does not show. Returns 0, or -1 with the error in message. */
static int check_values(const long *value, const struct moe_shape *shape, struct message *message)
{
    char *const text = message->text;
    const size_t size = sizeof message->text;
    const long term = (long)(moe_sum_max(shape) / (shape->top_k * shape->hidden));

    if (value[PES] != 0 && value[PES] != shape->pes)
        snprintf(text, size, "--pes %ld: there are %d PEs", value[PES], shape->pes);
    else if (value[NODES] > shape->pes)
        snprintf(text, size, "--nodes %ld: there are %d PEs", value[NODES], shape->pes);
    else if (value[TOP_K] > (long)shape->experts * shape->pes)
        snprintf(text, size, "--top-k %ld: there are %ld experts", value[TOP_K],
                 (long)shape->experts * shape->pes);
    else if ((long)shape->tokens * shape->pes > INT_MAX)
        snprintf(text, size, "--tokens %ld: too many rows for %d PEs", value[TOKENS], shape->pes);
    else if (moe_sum_max(shape) > MOE_EXACT_MAX)
        snprintf(
            text, size,
            "--hidden %ld --top-k %ld: sums of up to %lld are possible, and floats are exact up "
            "to %d; hidden times top-k may be %ld",
            value[HIDDEN], value[TOP_K], (long long)moe_sum_max(shape), MOE_EXACT_MAX,
            MOE_EXACT_MAX / term);
    else
        return 0;
    return -1;
}

int moe_options_parse(struct moe_options *result, int argc, char **argv, int me, int pes)
{
    struct option options[OPTIONS + 1] = {{NULL, 0, NULL, 0}};
    struct message message;
    long value[OPTIONS];
    int id, status = 0;

    for (id = 0; id < OPTIONS; id++) {
        value[id] = limits[id].value_default;
        options[id] = (struct option){limits[id].name, id != VERIFY, NULL, id};
    }
    opterr = me == 0;
    while (status == 0 && (id = getopt_long(argc, argv, "", options, NULL)) >= 0 && id < OPTIONS)
        status = parse_value(id, optarg, &value[id], &message);
    if (status == 0 && (id >= OPTIONS || optind < argc)) {
        if (me == 0)
            fputs(moe_usage, stderr);
        return -1;
    }
    *result = (struct moe_options){
        .config = {.shape = {pes, (int)value[EXPERTS], (int)value[TOKENS], (int)value[HIDDEN],
                             (int)value[TOP_K], (uint64_t)value[SEED]},
                   .mode = (enum moe_mode)value[MODE],
                   .emulated_nodes = (int)value[NODES],
                   .cores = (int)value[CORES],
                   .jitter = (int)value[JITTER]},
        .ways = value[SYNC],
        .turns = value[PAIRS],
        .steps = value[STEPS],
        .verify = value[VERIFY],
    };
    if (status == 0)
        status = check_values(value, &result->config.shape, &message);
    if (status != 0 && me == 0)
        fprintf(stderr, "moe_dispatch: %s\n", message.text);
    return status;
}
