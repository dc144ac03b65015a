/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counter of each host, and the life of a barrier: enter, gather, among, release, exit. A rank
 * with a core of its own sees a signal when it comes. Ranks that share cores take turns, see
 * turns.c.
 */
#include "sim/predict/state.h"

/* ------------------------------------------------------------------------------ figures --- */

static void round_end(struct predict *p, uint32_t round)
{
    const struct predict_setup *setup = p->setup;
    struct predict_round *window = &p->result.round[round % 4];

    if (round + 1 == setup->warmup)
        p->result.warm_exit = window->last_exit;
    if (round >= setup->warmup) {
        p->result.slowest[p->result.done] = window->slowest;
        p->result.skew[p->result.done] = window->last_exit - window->first_exit;
        p->result.after[p->result.done++] =
            window->last_exit > window->last_enter ? window->last_exit - window->last_enter : 0;
    }
    if (round + 1 < p->rounds)
        *window = (struct predict_round){.first_exit = PREDICT_NEVER};
}

void predict_enter_plan(struct predict *p, uint32_t rank, uint32_t round, uint64_t exit)
{
    uint64_t at = exit;

    if (0 != p->setup->late && predict_mix(p, (uint64_t)round << 32) % p->ranks == rank)
        at += p->setup->late;
    if (p->turns)
        p->turn[rank].enter_at = at;
    else
        predict_push(&p->queue, at, rank, PREDICT_WHAT(PREDICT_ENTER));
}

void predict_leave(struct predict *p, uint32_t rank, uint32_t round, uint64_t at)
{
    struct predict_round *window = &p->result.round[round % 4];
    const uint64_t took = at - p->rank[rank].entered;

    window->slowest = took > window->slowest ? took : window->slowest;
    window->last_exit = at > window->last_exit ? at : window->last_exit;
    window->first_exit = at < window->first_exit ? at : window->first_exit;
    if (++window->exits == p->ranks)
        round_end(p, round);
    p->rank[rank].free_at = at;
    if (p->turns)
        p->turn[rank].inside = false;
    if (round + 1 < p->rounds)
        predict_enter_plan(p, rank, round + 1, at);
}

/* ------------------------------------------------------------------ the counter of a host --- */

/* `by` releases the host: the ranks that poll the line load it one after the other. */
static void host_release(struct predict *p, uint32_t host, uint32_t by)
{
    const uint64_t at = predict_work(p, by, 0, p->cluster->store_issue);
    const uint32_t first = host * p->on_host, round = p->host[host].round++;
    uint64_t turn = 0;

    if (p->turns)
        p->host[host].released_at = at + p->cluster->store;
    else
        for (uint32_t rank = first; rank < first + p->on_host; rank++)
            if (rank != by)
                predict_leave(
                    p, rank, round,
                    predict_work(p, rank,
                                 at + predict_store_time(p, by, rank) + turn++ * GBA_CLUSTER_RELOAD,
                                 0));
    predict_leave(p, by, round, at);
}

static void host_gather(struct predict *p, uint32_t rank)
{
    const uint32_t number = rank / p->on_host, leader = number * p->on_host;
    struct predict_host *host = &p->host[number];
    uint64_t at = predict_work(p, rank, host->line_free, p->cluster->atomic);

    host->line_free = at;
    if (++host->arrived < p->on_host)
        return;
    host->arrived = 0;
    if (0 == p->actors) {
        host_release(p, number, rank);
        return;
    }
    at += rank == leader ? 0 : predict_store_time(p, rank, leader);
    host->gathered_at = at;
    if (p->turns)
        return;
    predict_work(p, leader, at, 0);
    predict_actor_start(p, number);
}

/* ---------------------------------------------------------------------------- barriers --- */

void predict_enter(struct predict *p, uint32_t rank, uint64_t at)
{
    const bool counter = p->nodes && p->on_host > 1;
    const uint32_t round = counter ? p->host[rank / p->on_host].round : p->actor[rank].seq;
    struct predict_round *window = &p->result.round[round % 4];

    /* What the core did in the meantime delays the arrival. */
    p->rank[rank].entered = predict_work(p, rank, at, 0);
    if (p->rank[rank].entered > window->last_enter)
        window->last_enter = p->rank[rank].entered;
    if (p->turns) {
        p->turn[rank].inside = true;
        p->turn[rank].looks = 0;
        p->turn[rank].round++;
    }
    if (counter)
        host_gather(p, rank);
    else
        predict_actor_start(p, rank);
}

static void finish(struct predict *p, uint32_t actor)
{
    const uint32_t rank = predict_rank_of(p, actor);

    p->actor[actor].phase = PREDICT_OUT;
    predict_links_left(p, actor);
    if (p->nodes && p->on_host > 1)
        host_release(p, actor, rank);
    else
        predict_leave(p, rank, p->actor[actor].seq - 1, p->rank[rank].free_at);
}

static void upper_start(struct predict *p, uint32_t actor)
{
    p->actor[actor].phase = PREDICT_UPPER;
    predict_algo_start(p, actor);
}

void predict_actor_start(struct predict *p, uint32_t actor)
{
    struct predict_actor *a = &p->actor[actor];

    a->seq++;
    if (p->offload.groups > 0 && predict_group_serves(p, actor)) {
        a->phase = p->offload.groups > 1 ? PREDICT_FIRST : PREDICT_LAST;
        predict_group_arrive(p, actor);
        return;
    }
    if (p->offload.groups > 0)
        upper_start(p, actor);
    else {
        a->phase = PREDICT_AMONG;
        predict_algo_start(p, actor);
    }
    predict_actor_go(p, actor);
}

/* The phases of gba/path/path_hybrid.c. */
void predict_actor_go(struct predict *p, uint32_t actor)
{
    struct predict_actor *a = &p->actor[actor];

    if (PREDICT_FIRST == a->phase) {
        if (!predict_group_released(p, actor))
            return;
        if (p->offload.leaders[p->offload.group_of[actor]] == actor)
            upper_start(p, actor);
        else {
            a->phase = PREDICT_LAST;
            predict_group_arrive(p, actor);
        }
    }
    if (PREDICT_UPPER == a->phase) {
        if (GBA_OK != predict_algo_test(p, actor))
            return;
        if (predict_group_serves(p, actor)) {
            a->phase = PREDICT_LAST;
            predict_group_arrive(p, actor);
        } else
            finish(p, actor);
        return;
    }
    if (PREDICT_AMONG == a->phase ? GBA_OK == predict_algo_test(p, actor)
                                  : PREDICT_LAST == a->phase && predict_group_released(p, actor))
        finish(p, actor);
}
