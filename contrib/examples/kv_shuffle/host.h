/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The baseline: a host schedules the copies. PE 0 is the host, and a PE like the others beside. PEs
 * report to the host, and the host sends each sender a command for each block.
 */
#ifndef KV_HOST_H
#define KV_HOST_H

#include "transfer.h"

struct kv_command;

struct kv_host {
    int me, pes;
    long *reports;              /* symmetric: [pes], at PE 0: reports of each PE */
    long *commands;             /* symmetric: commands to this PE */
    struct kv_command *command; /* symmetric: the last one */
    struct kv_move *moves; /* symmetric: [blocks], of this PE, with the last command of a round */
    struct kv_move *mine;  /* at PE 0: the same of another PE, before they are sent */
    long *expected, *sent; /* at PE 0: [pes], reports and commands so far */
    long reported, received;
    double waited; /* seconds in waits for commands, and on PE 0 for reports */
};

/* Collective. Returns 0, or -1 on all PEs: no symmetric memory. */
int kv_host_init(struct kv_host *host, int me, int pes, int blocks);
void kv_host_fini(struct kv_host *host);

/* This PE has finished a step, and its puts are in place. */
void kv_host_report(struct kv_host *host);

/* On PE 0: wait until all PEs have reported their steps. */
void kv_host_wait(struct kv_host *host);

/*
 * All PEs: perform the copies of a plan, which only PE 0 has. Returns the moves of this PE in
 * host->moves, and their number. When it returns, all blocks of this PE have arrived.
 */
int kv_host_shuffle(struct kv_host *host, struct kv_transfer *transfer, struct kv_cache cache,
                    const struct kv_plan *plan);

#endif
