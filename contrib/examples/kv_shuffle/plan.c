/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

uint64_t kv_hash(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + 1;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

size_t kv_table_bytes(int blocks)
{
    return offsetof(struct kv_table, block) + (size_t)blocks * sizeof(struct kv_block);
}

int kv_table_load(const struct kv_table *table, int blocks)
{
    int load = 0;

    for (int b = 0; b < blocks; b++)
        load += table->block[b].sequence != 0;
    return load;
}

/* Each new sequence takes the free blocks with the lowest numbers, often those that were just
 * freed. */
static void admit(struct kv_table *table, int blocks, int pe, int pes, int length)
{
    const int32_t sequence = (int32_t)(1 + table->admitted++ * pes + pe);
    int index = 0;

    for (int b = 0; b < blocks && index < length; b++)
        if (table->block[b].sequence == 0)
            table->block[b] = (struct kv_block){sequence, index++};
}

void kv_table_step(struct kv_table *table, int blocks, int pe, int pes, uint64_t seed,
                   int64_t round)
{
    const uint64_t dice = kv_hash(kv_hash(seed, (uint64_t)round), (uint64_t)pe);
    const int longest = blocks / 8 + 1;
    int target; /* load that new sequences may bring this PE to */

    /* One sequence in four ends, and one PE in eight is drained. */
    for (int b = 0; b < blocks; b++)
        if (dice % 8 == 0 || kv_hash(dice, (uint64_t)table->block[b].sequence) % 4 == 0)
            table->block[b] = (struct kv_block){0, 0};

    /* One PE in four gets no new sequence, so that loads drift apart. */
    target = dice % 4 == 0 ? 0 : (int)(kv_hash(dice, 1) % (uint64_t)(blocks + 1));
    for (int load = kv_table_load(table, blocks); load < target;) {
        int length = 1 + (int)(kv_hash(dice, 2 + (uint64_t)load) % (uint64_t)longest);

        if (length > target - load)
            length = target - load;
        admit(table, blocks, pe, pes, length);
        load += length;
    }
    table->round = round;
}

int kv_plan_init(struct kv_plan *plan, int pes, int blocks)
{
    /* Each pair moves at most the blocks of one PE. */
    plan->partner = malloc((size_t)pes * sizeof *plan->partner);
    plan->move = malloc(((size_t)pes / 2 * (size_t)blocks + 1) * sizeof *plan->move);
    plan->order = malloc((size_t)pes * sizeof *plan->order);
    plan->count = 0;
    if (plan->partner && plan->move && plan->order)
        return 0;
    kv_plan_fini(plan);
    return -1;
}

void kv_plan_fini(struct kv_plan *plan)
{
    free(plan->partner);
    free(plan->move);
    free(plan->order);
    *plan = (struct kv_plan){.count = 0};
}

static int compare_loads(const void *a, const void *b)
{
    const struct kv_load *x = a, *y = b;

    if (x->load != y->load)
        return x->load < y->load ? -1 : 1;
    return (x->pe > y->pe) - (x->pe < y->pe);
}

/* The largest sequence of at most `limit` blocks, of several the first in the table; 0: none. */
static int32_t largest_sequence(const struct kv_table *table, int blocks, int limit, int *length)
{
    int32_t found = 0;

    *length = 0;
    for (int b = 0; b < blocks; b++) {
        const int32_t sequence = table->block[b].sequence;
        int n = 0;

        if (sequence == 0 || table->block[b].index != 0)
            continue; /* free, or counted where the sequence begins */
        for (int c = 0; c < blocks; c++)
            n += table->block[c].sequence == sequence;
        if (n <= limit && n > *length) {
            found = sequence;
            *length = n;
        }
    }
    return found;
}

/* One sequence: in the order of its blocks, each to the receiver's next free block. */
static void plan_sequence(struct kv_plan *plan, struct kv_table *from, struct kv_table *to,
                          int blocks, struct kv_move move, int length)
{
    int free_block = 0;

    for (move.index = 0; move.index < length; move.index++) {
        for (int b = 0; b < blocks; b++)
            if (from->block[b].sequence == move.sequence && from->block[b].index == move.index)
                move.from = b;
        while (to->block[free_block].sequence != 0)
            free_block++; /* there is one: the receiver stays below the mean, so below `blocks` */
        move.to = free_block;
        from->block[move.from] = (struct kv_block){0, 0};
        to->block[move.to] = (struct kv_block){move.sequence, move.index};
        plan->move[plan->count++] = move;
    }
}

static void plan_pair(struct kv_plan *plan, const struct kv_table *tables, int blocks, int sender,
                      int receiver, int budget)
{
    struct kv_table from = tables[sender], to = tables[receiver];
    struct kv_move move = {.sender = sender, .receiver = receiver};
    int length;

    while ((move.sequence = largest_sequence(&from, blocks, budget, &length)) != 0) {
        plan_sequence(plan, &from, &to, blocks, move, length);
        budget -= length;
    }
}

void kv_plan_make(struct kv_plan *plan, const struct kv_table *tables, int pes, int blocks)
{
    struct kv_load *order = plan->order;
    int total = 0;

    for (int pe = 0; pe < pes; pe++) {
        order[pe] = (struct kv_load){kv_table_load(&tables[pe], blocks), pe};
        total += order[pe].load;
        plan->partner[pe] = -1;
    }
    qsort(order, (size_t)pes, sizeof *order, compare_loads);

    plan->count = 0;
    for (int i = 0; i < pes / 2; i++) {
        const struct kv_load small = order[i], large = order[pes - 1 - i];
        /* In units of 1/pes blocks, the mean is a whole number. */
        const int surplus = (large.load * pes - total) / pes;
        const int deficit = (total - small.load * pes) / pes;

        plan->partner[small.pe] = large.pe;
        plan->partner[large.pe] = small.pe;
        if (surplus > 0 && deficit > 0)
            plan_pair(plan, tables, blocks, large.pe, small.pe,
                      surplus < deficit ? surplus : deficit);
    }
}

void kv_plan_apply(const struct kv_plan *plan, struct kv_table *table, int pe)
{
    for (int i = 0; i < plan->count; i++) {
        const struct kv_move *move = &plan->move[i];

        if (move->sender == pe)
            table->block[move->from] = (struct kv_block){0, 0};
        if (move->receiver == pe)
            table->block[move->to] = (struct kv_block){move->sequence, move->index};
    }
}

static const char *check_move(const struct kv_move *move, struct kv_table *after, int blocks)
{
    struct kv_block *from, *to;

    if (move->from < 0 || move->from >= blocks || move->to < 0 || move->to >= blocks)
        return "a block number is out of range";
    from = &after[move->sender].block[move->from];
    to = &after[move->receiver].block[move->to];
    if (from->sequence != move->sequence || from->index != move->index)
        return "a block is moved that its sender does not hold";
    if (to->sequence != 0)
        return "a block is moved onto one in use";
    *to = *from;
    *from = (struct kv_block){0, 0};
    return NULL;
}

const char *kv_plan_check(const struct kv_plan *plan, const struct kv_table *tables, int pes,
                          int blocks)
{
    struct kv_table *after = malloc((size_t)pes * sizeof *after);
    const char *wrong = after ? NULL : "no memory for the check";
    int total = 0;

    if (!after)
        return wrong;
    memcpy(after, tables, (size_t)pes * sizeof *after);
    for (int i = 0; i < plan->count && !wrong; i++)
        wrong = check_move(&plan->move[i], after, blocks);
    for (int pe = 0; pe < pes; pe++)
        total += kv_table_load(&tables[pe], blocks);
    for (int i = 0; i < plan->count && !wrong; i++) {
        const struct kv_move *move = &plan->move[i];

        if (plan->partner[move->sender] != move->receiver ||
            plan->partner[move->receiver] != move->sender)
            wrong = "a move is not between partners";
        if (kv_table_load(&after[move->sender], blocks) * pes < total ||
            kv_table_load(&after[move->receiver], blocks) * pes > total)
            wrong = "a load crosses the mean";
        for (int b = 0; b < blocks; b++)
            if (after[move->sender].block[b].sequence == move->sequence)
                wrong = "part of a sequence is left behind";
    }
    free(after);
    return wrong;
}
