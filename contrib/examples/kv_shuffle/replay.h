/* SPDX-License-Identifier: BSD-3-Clause */
/* Shuffle tables of a file on all PEs. */
#ifndef KV_REPLAY_H
#define KV_REPLAY_H

#include "tables.h"

/*
 * Collective: PE 0 reads and checks the file, and all PEs get the tables in symmetric memory, or
 * none does. Returns 0, or -1 on all PEs with a message on PE 0.
 */
int kv_replay_read(struct kv_tables *tables, const char *path, int pes, int blocks, int rounds,
                   uint64_t seed);
void kv_replay_fini(struct kv_tables *tables); /* collective */

/*
 * Collective: open the file on PE 0. Returns 0, or -1 on all PEs with a message on PE 0. *file is
 * NULL on the other PEs.
 */
int kv_replay_create(FILE **file, const char *path);

#endif
