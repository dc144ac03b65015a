/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables.h"

#include <stdlib.h>

void kv_tables_fini(struct kv_tables *tables)
{
    free(tables->move);
    free(tables->first);
    *tables = (struct kv_tables){.rounds = 0};
}

void kv_tables_plan(struct kv_plan *plan, const struct kv_move *move, int count, int pes)
{
    for (int pe = 0; pe < pes; pe++)
        plan->partner[pe] = -1;
    for (int i = 0; i < count; i++) {
        plan->move[i] = move[i];
        plan->partner[move[i].sender] = move[i].receiver;
        plan->partner[move[i].receiver] = move[i].sender;
    }
    plan->count = count;
}

void kv_tables_write_head(FILE *file, int pes, int blocks, uint64_t seed)
{
    fprintf(file, "tables 1 pes %d blocks %d seed %llu\n", pes, blocks, (unsigned long long)seed);
}

/* The block tables of a sender and its partner. */
static void write_pair(FILE *file, const struct kv_plan *plan, int sender)
{
    for (int target = 0; target < 2; target++) {
        int count = 0;

        for (int i = 0; i < plan->count; i++) {
            const struct kv_move *move = &plan->move[i];

            if (move->sender != sender)
                continue;
            if (count++ == 0)
                fprintf(file, "%s %d", target ? "destination" : "source",
                        target ? move->receiver : sender);
            fprintf(file, " %d", target ? move->to : move->from);
        }
        if (count > 0)
            fprintf(file, "\n");
    }
}

void kv_tables_write(FILE *file, const struct kv_plan *plan, int pes, int64_t round)
{
    fprintf(file, "round %lld\n", (long long)round);
    for (int pe = 0; pe < pes; pe++) {
        const struct kv_move *mine = NULL;

        for (int i = 0; i < plan->count && !mine; i++)
            if (plan->move[i].sender == pe || plan->move[i].receiver == pe)
                mine = &plan->move[i];
        if (!mine)
            fprintf(file, "pe %d none\n", pe);
        else if (mine->sender == pe)
            fprintf(file, "pe %d sender %d\n", pe, mine->receiver);
        else
            fprintf(file, "pe %d receiver %d\n", pe, mine->sender);
    }
    for (int pe = 0; pe < pes; pe++)
        write_pair(file, plan, pe);
}
