/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copy one block; or, with count >= 0: the round has ended, the moves of this PE are in place. */
struct kv_command {
    struct kv_move move;
    int32_t count;
};

int kv_host_init(struct kv_host *host, int me, int pes, int blocks)
{
    const size_t n = (size_t)pes, list = (size_t)blocks * sizeof(struct kv_move);

    *host = (struct kv_host){.me = me, .pes = pes};
    host->reports = shmem_calloc(n, sizeof *host->reports);
    host->commands = shmem_calloc(1, sizeof *host->commands);
    host->command = shmem_calloc(1, sizeof *host->command);
    host->moves = shmem_malloc(list);
    host->mine = shmem_malloc(list);
    host->expected = calloc(n, sizeof *host->expected);
    host->sent = calloc(n, sizeof *host->sent);
    if (!host->expected || !host->sent) {
        /* Other PEs may have their memory, so no collective call is possible here. */
        fprintf(stderr, "kv_shuffle: PE %d: no memory for the host of %d PEs\n", me, pes);
        shmem_global_exit(2);
    }
    if (host->reports && host->commands && host->command && host->moves && host->mine)
        return 0;
    kv_host_fini(host);
    return -1;
}

void kv_host_fini(struct kv_host *host)
{
    void *const symmetric[] = {host->mine, host->moves, host->command, host->commands,
                               host->reports};

    for (size_t i = 0; i < sizeof symmetric / sizeof *symmetric; i++)
        if (symmetric[i])
            shmem_free(symmetric[i]);
    free(host->sent);
    free(host->expected);
    *host = (struct kv_host){.pes = 0};
}

void kv_host_report(struct kv_host *host)
{
    shmem_quiet();
    shmem_long_atomic_set(&host->reports[host->me], ++host->reported, 0);
}

/* On PE 0: until all reports that are expected have come. */
static void wait_reports(struct kv_host *host)
{
    const double begin = pool_now();

    for (int pe = 0; pe < host->pes; pe++)
        shmem_long_wait_until(&host->reports[pe], SHMEM_CMP_GE, host->expected[pe]);
    host->waited += pool_now() - begin;
}

void kv_host_wait(struct kv_host *host)
{
    for (int pe = 0; pe < host->pes; pe++)
        host->expected[pe]++;
    wait_reports(host);
}

/* The command is in place before its count, and the moves before the command. */
static void send_command(struct kv_host *host, int pe, const struct kv_command *command)
{
    shmem_putmem(host->command, command, sizeof *command, pe);
    shmem_fence();
    shmem_long_atomic_set(host->commands, ++host->sent[pe], pe);
}

/*
 * On PE 0. Step i copies the i-th block of each pair, all pairs at once, and ends when all have
 * reported. The host's own block is copied while those of the others are. Returns the number of
 * copies.
 */
static int run_step(struct kv_host *host, struct kv_transfer *transfer, struct kv_cache cache,
                    const struct kv_plan *plan, int step)
{
    const struct kv_move *own = NULL;
    int copies = 0, nth = 0;

    for (int i = 0; i < plan->count; i++) {
        const struct kv_move *move = &plan->move[i];

        nth = i > 0 && plan->move[i - 1].sender == move->sender ? nth + 1 : 0;
        if (nth != step)
            continue;
        copies++;
        if (move->sender == host->me) {
            own = move;
        } else {
            host->expected[move->sender]++;
            send_command(host, move->sender, &(struct kv_command){*move, -1});
        }
    }
    if (own)
        kv_transfer_copy(transfer, cache, own);
    timeline_mark(transfer->timeline, "report wait");
    wait_reports(host);
    return copies;
}

/* On PE 0: each PE gets its moves with its last command. */
static void end_round(struct kv_host *host, const struct kv_plan *plan, int pe)
{
    struct kv_command last = {.count = 0};

    for (int i = 0; i < plan->count; i++)
        if (plan->move[i].sender == pe || plan->move[i].receiver == pe)
            host->mine[last.count++] = plan->move[i];
    if (last.count > 0)
        shmem_putmem(host->moves, host->mine, (size_t)last.count * sizeof *host->mine, pe);
    send_command(host, pe, &last);
}

/* Perform commands until the last one of the round. Returns the number of moves. */
static int obey(struct kv_host *host, struct kv_transfer *transfer, struct kv_cache cache)
{
    for (;;) {
        const double begin = pool_now();

        timeline_mark(transfer->timeline, "command wait");
        shmem_long_wait_until(host->commands, SHMEM_CMP_GE, host->received + 1);
        host->received++;
        host->waited += pool_now() - begin;
        if (host->command->count >= 0)
            return host->command->count;
        kv_transfer_copy(transfer, cache, &host->command->move);
        kv_host_report(host);
    }
}

int kv_host_shuffle(struct kv_host *host, struct kv_transfer *transfer, struct kv_cache cache,
                    const struct kv_plan *plan)
{
    if (host->me == 0) {
        for (int step = 0; run_step(host, transfer, cache, plan, step) > 0; step++)
            ;
        for (int pe = host->pes - 1; pe >= 0; pe--)
            end_round(host, plan, pe);
    }
    return obey(host, transfer, cache);
}
