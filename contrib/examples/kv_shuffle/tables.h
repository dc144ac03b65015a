/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shuffle tables in a file: for each round the global shuffle table, which has the role and the
 * partner of each PE, and for each pair a source and a destination block table. Plain C. The format
 * is described in README.md.
 */
#ifndef KV_TABLES_H
#define KV_TABLES_H

#include "plan.h"

#include <stdio.h>

#define KV_MESSAGE_BYTES 256

struct kv_tables {
    int rounds;
    int *first;           /* [rounds + 1]: index of the first move of a round */
    struct kv_move *move; /* of all rounds; in a pair in the order of the block tables */
};

/*
 * Read the tables of exactly that many rounds, and simulate the sequences of `seed` to prove that
 * each move takes a block in use to a free one. Returns 0, or -1 with one line in message, which
 * names the file, the line, the value and what is allowed.
 */
int kv_tables_read(struct kv_tables *tables, FILE *file, const char *name, int pes, int blocks,
                   int rounds, uint64_t seed, char message[KV_MESSAGE_BYTES]);
void kv_tables_fini(struct kv_tables *tables);

/* Make the plan of a round (from 1) from count moves of the tables. */
void kv_tables_plan(struct kv_plan *plan, const struct kv_move *move, int count, int pes);

/* Write the first lines of a file, and the tables of a round. Errors are those of the file. */
void kv_tables_write_head(FILE *file, int pes, int blocks, uint64_t seed);
void kv_tables_write(FILE *file, const struct kv_plan *plan, int pes, int64_t round);

#endif
