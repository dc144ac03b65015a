/* SPDX-License-Identifier: BSD-3-Clause */
/* The way to the experts. */
#include "phases.h"
#include "sync.h"

#include <shmem.h>
#include <string.h>

/* Make my tokens, and choose their experts. */
void moe_make_tokens(struct moe_pe *pe)
{
    const struct moe_shape *shape = &pe->config.shape;
    float *x = pe->own.send;

    for (int t = 0; t < shape->tokens; t++) {
        moe_route(shape, pe->step, pe->me, t, &pe->own.choice[t * shape->top_k]);
        for (int i = 0; i < shape->hidden; i++)
            *x++ = (float)moe_token_value(shape, pe->step, pe->me, t, i);
    }
}

/* Put the tokens that have an expert in the group to my forwarder there, each once. */
static void send_to_group(struct moe_pe *pe, int group)
{
    const struct moe_shape *shape = &pe->config.shape;
    const size_t tokens = (size_t)shape->tokens, hidden = (size_t)shape->hidden;
    const size_t top_k = (size_t)shape->top_k, row = hidden * sizeof(float);
    const int to = moe_forwarder(&pe->groups, pe->me, group);
    const size_t slot = (size_t)moe_slot(&pe->groups, pe->me, group);
    struct moe_choice *staged = &pe->own.staged[(size_t)group * tokens * top_k];
    size_t count = 0;

    for (size_t t = 0; t < tokens; t++) {
        const struct moe_choice *choice = &pe->own.choice[t * top_k];
        size_t j = 0;

        while (j < top_k && moe_group_of(pe, choice[j].expert) != group)
            j++;
        if (j == top_k)
            continue;
        memcpy(&staged[count * top_k], choice, top_k * sizeof *choice);
        shmem_putmem_nbi(&pe->shared.across[(slot * tokens + count) * hidden],
                         &pe->own.send[t * hidden], row, to);
        pe->own.sent[(size_t)group * tokens + count++] = (int)t;
    }
    pe->own.sent_count[group] = (int32_t)count;
    if (count > 0)
        shmem_putmem_nbi(&pe->shared.across_choice[slot * tokens * top_k], staged,
                         count * top_k * sizeof *staged, to);
    shmem_putmem_nbi(&pe->shared.across_count[slot], &pe->own.sent_count[group],
                     sizeof *pe->own.sent_count, to);
    if (group != pe->group)
        pe->rows_across += (int64_t)count;
}

/* First level of normal mode. My own group is the last: the longest way first. */
void moe_send_across(struct moe_pe *pe)
{
    const int groups = pe->groups.count;

    for (int i = 1; i <= groups; i++)
        send_to_group(pe, (pe->group + i) % groups);
    moe_sync_quiet(pe);
    for (int i = 1; i <= groups; i++) {
        const int group = (pe->group + i) % groups;

        moe_sync_raise(pe, &pe->shared.across_flag[moe_slot(&pe->groups, pe->me, group)],
                       moe_forwarder(&pe->groups, pe->me, group));
    }
    moe_sync_meet(pe);
}

/* Count the rows of the source for each expert of my group, and find the places of their results:
 * by expert, and for each by token. Returns 0, or -1: no router makes these choices. */
static int plan(struct moe_pe *pe, const struct moe_source *source, struct moe_head *head)
{
    const struct moe_shape *shape = &pe->config.shape;
    const int choices = source->count * shape->top_k;
    int32_t home = 0;

    memset(head, 0, (size_t)pe->reach * sizeof *head);
    if (source->count < 0 || source->count > shape->tokens)
        return -1;
    for (int i = 0; i < choices; i++) {
        const int e = source->choice[i].expert;

        if (e < 0 || e >= moe_experts_all(shape))
            return -1;
        if (moe_group_of(pe, e) == pe->group)
            head[moe_expert_place(pe, e)].count++;
    }
    for (int e = 0; e < pe->reach; e++) {
        if (head[e].count > shape->tokens)
            return -1;
        head[e].home = home;
        home += head[e].count;
    }
    return home <= pe->results ? 0 : -1;
}

/* Put the rows of the source to the PEs of their experts in my group. */
static int deliver_source(struct moe_pe *pe, const struct moe_source *source)
{
    const struct moe_shape *shape = &pe->config.shape;
    const size_t hidden = (size_t)shape->hidden, row = hidden * sizeof(float);
    const size_t experts = (size_t)shape->experts, from = (size_t)source->pe * experts;
    struct moe_head *head = &pe->own.out_head[source->slot * pe->reach];
    int *place = pe->own.place + (size_t)source->slot * (size_t)(shape->tokens * shape->top_k);

    if (plan(pe, source, head) != 0)
        return -1;
    for (int e = 0; e < pe->reach; e++)
        head[e].count = 0; /* now: rows put so far */
    for (int i = 0; i < source->count * shape->top_k; i++) {
        const int e = source->choice[i].expert, to = e / shape->experts;
        const size_t pair = from + (size_t)(e % shape->experts);
        struct moe_head *h;

        place[i] = -1;
        if (moe_group_of(pe, e) != pe->group)
            continue;
        h = &head[moe_expert_place(pe, e)];
        place[i] = h->home + h->count;
        shmem_putmem_nbi(
            &pe->shared.receive[(pair * (size_t)shape->tokens + (size_t)h->count++) * hidden],
            &source->row[(size_t)(i / shape->top_k) * hidden], row, to);
        pe->rows_across += pe->nodes.node[to] != pe->nodes.node[pe->me];
    }
    for (size_t p = 0; p < (size_t)pe->groups.size[pe->group]; p++)
        shmem_putmem_nbi(&pe->shared.heads[from], &head[p * experts], experts * sizeof *head,
                         pe->groups.member[(size_t)pe->groups.first[pe->group] + p]);
    return 0;
}

/* Second level of normal mode, the only one of low-latency mode. */
const char *moe_deliver(struct moe_pe *pe)
{
    const int experts = pe->config.shape.experts, pes = pe->config.shape.pes;
    struct moe_source source;

    for (int slot = 0; slot < pe->slots; slot++) {
        if (pe->config.mode == MOE_NORMAL && moe_slot_source(&pe->groups, pe->me, slot) >= 0)
            moe_sync_await(pe, &pe->shared.across_flag[slot], 1);
        if (moe_find_source(pe, slot, &source) && deliver_source(pe, &source) != 0)
            return "the tokens of a source cannot be those of one step";
    }
    moe_sync_quiet(pe);
    for (int slot = 0; slot < pe->slots; slot++)
        for (int e = 0; e < pe->reach && moe_find_source(pe, slot, &source); e++)
            moe_sync_raise(pe, &pe->shared.deliver_flag[e % experts * pes + source.pe],
                           pe->groups.member[pe->groups.first[pe->group] + e / experts]);
    moe_sync_meet(pe);
    return NULL;
}
