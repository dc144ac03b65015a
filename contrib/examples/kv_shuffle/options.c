/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include "contrib/examples/pool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char kv_usage[] =
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

/* A number from min to max, or a switch. */
struct row {
    const char *name;
    long *number;
    long min, max;
    int *on;
};

static int parse_number(const struct row *row, const char *argument, int me)
{
    char message[200];

    if (pool_number(row->name, argument, row->min, row->max, row->number, message,
                    sizeof message) == 0)
        return 0;
    if (me == 0)
        fprintf(stderr, "kv_shuffle: %s\n", message);
    return -1;
}

int kv_options_parse(struct kv_options *o, int argc, char **argv, int me)
{
    const struct row rows[] = {
        {"pes", &o->pes, 1, 1 << 20, NULL},
        {"rounds", &o->rounds, 1, 100000, NULL}, /* sequence numbers are 32 bits */
        {"seed", &o->seed, 0, 1L << 30, NULL},
        {"jitter", &o->jitter, 0, 100000, NULL},
        {"blocks", &o->blocks, 1, KV_BLOCKS_MAX, NULL},
        {"heads", &o->heads, 1, 1024, NULL},
        {"tokens", &o->tokens, 1, 65536, NULL},
        {"dim", &o->dim, 1, 65536, NULL},
        {"slices", &o->slices, 1, 1024, NULL},
        {"cores", &o->cores, 1, POOL_CORES_MAX, NULL},
        {.name = "verify", .on = &o->verify},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    struct option options[ROWS + 1] = {{NULL, 0, NULL, 0}};
    int id;

    *o = (struct kv_options){.rounds = 20,
                             .seed = 1,
                             .blocks = 80,
                             .heads = 8,
                             .tokens = 128,
                             .dim = 128,
                             .slices = 4,
                             .cores = 16};
    for (id = 0; id < ROWS; id++)
        options[id] = (struct option){rows[id].name, !rows[id].on, NULL, id};
    opterr = me == 0;
    while ((id = getopt_long(argc, argv, "", options, NULL)) >= 0 && id < ROWS) {
        if (rows[id].on)
            *rows[id].on = 1;
        else if (parse_number(&rows[id], optarg, me) != 0)
            return -1;
    }
    if (o->cores > 1 && o->cores % 2 != 0) {
        if (me == 0)
            fprintf(stderr, "kv_shuffle: --cores %ld: 1 or an even number is allowed\n", o->cores);
        return -1;
    }
    if (id < 0 && optind == argc)
        return 0;
    if (me == 0)
        fputs(kv_usage, stderr);
    return -1;
}

struct kv_shape kv_options_shape(const struct kv_options *o)
{
    return (struct kv_shape){(int)o->blocks, (int)o->heads, (int)o->tokens, (int)o->dim};
}
