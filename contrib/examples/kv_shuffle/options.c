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
    "                  [--schedule device|host|both] [--tables FILE] [--save-tables FILE]\n"
    "                  [--timeline FILE]\n"
    "  --pes N      end with an error unless there are N PEs\n"
    "  --rounds N   shuffles, 1 to 100000 (20)\n"
    "  --seed N     of the sequences (1)\n"
    "  --verify     compare all caches after every round with a serial model\n"
    "  --jitter US  random pauses of less than that many microseconds, to provoke races (0)\n"
    "  --blocks N, --heads N, --tokens N, --dim N\n"
    "               each of the two caches of a PE is int8 [80][8][128][128]\n"
    "  --cores N    threads of a PE, 1 or an even number up to 64 (16): half of them move K, and\n"
    "               half V, each a part of every block; 1: one moves both\n"
    "  --slices N   copies that each such part is divided into, 1 to 1024 (4)\n"
    "  --schedule   who starts the copies: the PEs (device), PE 0 by commands (host), or\n"
    "               both interleaved, compared; (device)\n"
    "  --tables FILE\n"
    "               take the shuffle tables of the file instead of planning\n"
    "  --save-tables FILE\n"
    "               write the shuffle tables of this run, for --tables\n"
    "  --timeline FILE\n"
    "               write the phases of all PEs, for plot-timeline\n";

/* A number from min to max, or, if text is set, a text; if neither, a switch. */
struct row {
    const char *name;
    long *number;
    long min, max;
    const char **text;
    int *on;
};

static int parse_number(const struct row *row, const char *argument, int me)
{
    char *end;

    *row->number = strtol(argument, &end, 10);
    if (end != argument && !*end && *row->number >= row->min && *row->number <= row->max)
        return 0;
    if (me == 0)
        fprintf(stderr, "kv_shuffle: --%s %s: a number from %ld to %ld is allowed\n", row->name,
                argument, row->min, row->max);
    return -1;
}

static int parse_schedule(struct kv_options *o, int me)
{
    static const char *const names[] = {
        [KV_ALL_DEVICE] = "device", [KV_ALL_HOST] = "host", [KV_INTERLEAVED] = "both"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(o->schedule_name, names[i]) == 0) {
            o->schedule = (enum kv_order)i;
            return 0;
        }
    if (me == 0)
        fprintf(stderr, "kv_shuffle: --schedule %s: device, host or both is allowed\n",
                o->schedule_name);
    return -1;
}

int kv_options_parse(struct kv_options *o, int argc, char **argv, int me)
{
    const struct row rows[] = {
        {"pes", &o->pes, 1, 1 << 20, NULL, NULL},
        {"rounds", &o->rounds, 1, 100000, NULL, NULL}, /* sequence numbers are 32 bits */
        {"seed", &o->seed, 0, 1L << 30, NULL, NULL},
        {"jitter", &o->jitter, 0, 100000, NULL, NULL},
        {"blocks", &o->blocks, 1, KV_BLOCKS_MAX, NULL, NULL},
        {"heads", &o->heads, 1, 1024, NULL, NULL},
        {"tokens", &o->tokens, 1, 65536, NULL, NULL},
        {"dim", &o->dim, 1, 65536, NULL, NULL},
        {"slices", &o->slices, 1, 1024, NULL, NULL},
        {"cores", &o->cores, 1, POOL_CORES_MAX, NULL, NULL},
        {.name = "schedule", .text = &o->schedule_name},
        {.name = "tables", .text = &o->tables},
        {.name = "save-tables", .text = &o->save_tables},
        {.name = "timeline", .text = &o->timeline},
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
                             .cores = 16,
                             .schedule_name = "device"};
    for (id = 0; id < ROWS; id++)
        options[id] = (struct option){rows[id].name, !rows[id].on, NULL, id};
    opterr = me == 0;
    while ((id = getopt_long(argc, argv, "", options, NULL)) >= 0 && id < ROWS) {
        if (rows[id].on)
            *rows[id].on = 1;
        else if (rows[id].text)
            *rows[id].text = optarg;
        else if (parse_number(&rows[id], optarg, me) != 0)
            return -1;
    }
    if (o->cores > 1 && o->cores % 2 != 0) {
        if (me == 0)
            fprintf(stderr, "kv_shuffle: --cores %ld: 1 or an even number is allowed\n", o->cores);
        return -1;
    }
    if (id < 0 && optind == argc)
        return parse_schedule(o, me);
    if (me == 0)
        fputs(kv_usage, stderr);
    return -1;
}

struct kv_shape kv_options_shape(const struct kv_options *o)
{
    return (struct kv_shape){(int)o->blocks, (int)o->heads, (int)o->tokens, (int)o->dim};
}
