/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that share cores take turns: a rank sees what has come when its turn comes. */
#include "gba/path/busy.h"
#include "sim/predict/state.h"

/* The rank after `rank` on its core. */
static uint32_t neighbour(const struct predict *p, uint32_t rank)
{
    const uint32_t cores = (uint32_t)p->cluster->cores, many = predict_on_machine(p);
    const uint32_t first = rank / many * many, next = rank + cores;

    return next < first + many && next < p->ranks ? next : first + (rank - first) % cores;
}

/* The runtime receives what has come. After a look that finds messages it looks again, and o_recv
 * has both looks. */
static void receive(struct predict *p, uint32_t rank)
{
    const struct gba_cluster *c = p->cluster;
    struct predict_turn *turn = &p->turn[rank];
    const uint64_t next = c->o_recv > 2 * c->poll ? c->o_recv - 2 * c->poll : 0;
    const uint64_t remote = 0 == turn->remote ? c->poll : c->o_recv + (turn->remote - 1) * next;

    predict_work(p, rank, 0,
                 remote + turn->local * c->o_local +
                     turn->remote * predict_cold(p, rank, c->poll_more));
    turn->remote = turn->local = turn->looks = 0;
}

/* A rank that is inside tests its barrier. Returns whether it has left. */
static bool test(struct predict *p, uint32_t rank)
{
    const struct predict_turn *turn = &p->turn[rank];
    const uint32_t number = rank / p->on_host;
    struct predict_host *host = &p->host[number];

    if (!p->nodes || 1 == p->on_host) {
        /* Messages that the runtime has not received do not show. */
        if (0 == turn->remote + turn->local)
            predict_actor_go(p, rank);
    } else if (host->round >= turn->round) {
        if (p->rank[rank].free_at >= host->released_at)
            predict_leave(p, rank, turn->round - 1, p->rank[rank].free_at);
    } else if (rank % p->on_host == 0 && p->actors > 0) {
        if (PREDICT_OUT != p->actor[number].phase) {
            if (0 == turn->remote)
                predict_actor_go(p, number);
        } else if (host->gathered_at <= p->rank[rank].free_at) {
            host->gathered_at = PREDICT_NEVER;
            predict_actor_start(p, number);
        }
    }
    return !turn->inside;
}

/* Whether only progress of the runtime delivers what the rank waits for. */
static bool listens(const struct predict *p, uint32_t rank)
{
    const uint32_t actor = p->nodes ? rank / p->on_host : rank;

    if (p->shared || p->actors == 0 || (p->nodes && rank % p->on_host != 0))
        return false;
    return PREDICT_AMONG == p->actor[actor].phase || PREDICT_UPPER == p->actor[actor].phase;
}

/* The steps of a turn, as in gba/team/barrier.c: a test, progress if it is due, a test. Returns
 * whether the rank has left. */
static bool look(struct predict *p, uint32_t rank)
{
    if (test(p, rank))
        return true;
    if (++p->turn[rank].looks < GBA_WAIT_YIELDS && !listens(p, rank))
        return false;
    receive(p, rank);
    return test(p, rank);
}

/* The next rank of a core that can run at `now`. Sets *at to the time at which one can, if none can
 * now; NEVER: all have done their barriers. */
static uint32_t runnable(const struct predict *p, uint32_t core, uint64_t now, uint64_t *at)
{
    uint32_t rank = p->core[core].next;

    *at = PREDICT_NEVER;
    for (uint32_t i = 0; i < p->core[core].ranks; i++, rank = neighbour(p, rank)) {
        const struct predict_turn *turn = &p->turn[rank];

        if (turn->inside || (turn->round < p->rounds && turn->enter_at <= now)) {
            *at = now;
            return rank;
        }
        if (turn->round < p->rounds && turn->enter_at < *at)
            *at = turn->enter_at;
    }
    return rank;
}

void predict_core_run(struct predict *p, uint32_t core, uint64_t now)
{
    const struct predict_turn *turn;
    uint64_t at;
    const uint32_t rank = runnable(p, core, now, &at);

    if (at > now) {
        if (PREDICT_NEVER != at)
            predict_push(&p->queue, at, core, PREDICT_WHAT(PREDICT_TURN));
        return;
    }
    turn = &p->turn[rank];
    p->rank[rank].free_at = now;
    if (!turn->inside || look(p, rank))
        do {
            if (turn->round == p->rounds || turn->enter_at > p->rank[rank].free_at)
                break;
            predict_enter(p, rank, turn->enter_at);
        } while (test(p, rank));
    p->core[core].next = neighbour(p, rank);
    predict_push(
        &p->queue,
        predict_work(p, rank, 0, p->cluster->turn + predict_cold(p, rank, p->cluster->turn_more)),
        core, PREDICT_WHAT(PREDICT_TURN));
}

void predict_turns_init(struct predict *p)
{
    const uint32_t cores = (uint32_t)p->cluster->cores, many = predict_on_machine(p);
    const uint32_t machines = (p->ranks - 1) / many + 1;

    p->turn = predict_alloc(p, p->ranks, sizeof *p->turn);
    p->cores = machines * cores;
    p->core = predict_alloc(p, p->cores, sizeof *p->core);
    if (p->memory.short_of)
        return;
    for (uint32_t rank = 0; rank < p->ranks; rank++) {
        struct predict_core *core = &p->core[predict_core_of(p, rank)];

        if (0 == core->ranks++)
            core->next = rank;
    }
}
