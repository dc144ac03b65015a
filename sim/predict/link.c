/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport of the algorithms: a signal is a store to shared memory, or a message by LogGP
 * (Alexandrov, Ionescu, Schauser and Scheiman, "LogGP: Incorporating Long Messages into the LogP
 * Model", 1997). The steps that decide who signals whom are those of gba/algo.
 */
#include "gba/spec/gba_regs.h"
#include "sim/predict/state.h"

#define LOCAL (1u << 27) /* in `what`: the message does not pass an adapter */
#define NONE  UINT32_MAX

static struct predict *of(struct gba_transport *transport)
{
    return (struct predict *)(void *)((char *)transport - offsetof(struct predict, algo.transport));
}

/* The actor of a member of the algorithm, and the reverse. */
static uint32_t actor_of(const struct predict *p, uint32_t member)
{
    return p->offload.leaders != NULL ? p->offload.leaders[member] : member;
}

static uint32_t member_of(const struct predict *p, uint32_t actor)
{
    return p->offload.leaders != NULL ? p->offload.group_of[actor] : actor;
}

/* The time of a message on the wire between two hosts, without the gaps of the adapters. */
static uint64_t wire_time(const struct predict *p, uint32_t from, uint32_t to)
{
    const struct gba_cluster *c = p->cluster;
    uint64_t time = p->wire;

    if (from / c->pod != to / c->pod)
        time += c->far_hops * c->hop;
    else if (from / c->leaf != to / c->leaf)
        time += c->pod_hops * c->hop;
    return time;
}

static void message_send(struct predict *p, uint32_t from, uint32_t to, uint32_t what)
{
    const struct gba_cluster *c = p->cluster;
    const uint32_t rank = predict_rank_of(p, from), target = predict_rank_of(p, to);
    const uint32_t host = rank / p->on_host, target_host = target / p->on_host;
    const uint64_t work = host == target_host
                              ? c->o_local
                              : (p->algo.sent++ && 0 != c->o_next ? c->o_next : c->o_send) +
                                    predict_cold(p, rank, c->poll_more);
    uint64_t at = predict_work(p, rank, 0, work);

    what |= PREDICT_WHAT(PREDICT_MESSAGE);
    if (host == target_host) {
        predict_push(&p->queue, at + predict_store_time(p, rank, target), to, what | LOCAL);
        return;
    }
    if (p->adapter != NULL) {
        struct predict_adapter *adapter = &p->adapter[host];

        at = at < adapter->out_free ? adapter->out_free : at;
        adapter->out_free = at + c->g + (GBA_CLUSTER_BYTES - 1) * c->G;
    }
    predict_push(&p->queue, at + wire_time(p, host, target_host), to, what);
}

/* Central: an actor sets its flag, and those that wait for it look again, one after the other. */
static void flag_set(struct predict *p, uint32_t actor, uint32_t parity, uint64_t at)
{
    uint32_t waiter = p->algo.waiter[actor];

    p->algo.set_at[2 * (size_t)actor + parity] = at;
    p->algo.waiter[actor] = NONE;
    for (uint64_t i = 0; waiter != NONE; waiter = p->algo.next[waiter], i++)
        predict_push(&p->queue, at + predict_store_time(p, actor, waiter) + i * GBA_CLUSTER_RELOAD,
                     waiter, PREDICT_WHAT(PREDICT_LOOK));
}

static gba_status_t set(struct gba_transport *transport, uint32_t peer, uint32_t slot, uint32_t seq)
{
    struct predict *p = of(transport);
    const uint32_t to = actor_of(p, peer), parity = gba_slot_parity(seq);
    const uint32_t what = slot << 1 | parity;
    uint64_t at;

    if (!p->shared) {
        message_send(p, p->algo.running, to, what);
        return GBA_OK;
    }
    at = predict_store(p);
    if (p->algo.pulls)
        flag_set(p, to, parity, at);
    else
        predict_push(&p->queue, at + predict_store_time(p, p->algo.running, to), to,
                     PREDICT_WHAT(PREDICT_STORED) | what);
    return GBA_OK;
}

static uint64_t *slot_word(const struct predict *p, uint32_t actor, uint32_t slot, uint32_t parity)
{
    return &p->algo.slots[((size_t)actor * 2 + parity) * p->algo.words + slot / 64];
}

static uint32_t load(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    struct predict *p = of(transport);
    const uint32_t seq = p->actor[p->algo.running].seq;
    const bool found = 0 != (*slot_word(p, p->algo.running, slot, parity) >> slot % 64 & 1);

    if (p->shared)
        predict_load(p, slot, found, 0, false);
    return found ? seq : seq - 1;
}

static uint32_t peek(struct gba_transport *transport, uint32_t peer, uint32_t slot, uint32_t parity)
{
    struct predict *p = of(transport);
    const uint32_t seq = p->actor[p->algo.running].seq;
    const bool found = GBA_SEQ_REACHED(p->actor[peer].seq, seq);

    (void)slot;
    predict_load(p, peer, found,
                 p->algo.set_at[2 * (size_t)peer + parity] +
                     predict_store_time(p, peer, p->algo.running),
                 true);
    if (!found && !p->turns) {
        p->algo.next[p->algo.running] = p->algo.waiter[peer];
        p->algo.waiter[peer] = p->algo.running;
    }
    return found ? seq : seq - 1;
}

static const struct gba_transport_ops transport_ops = {
    .name = "predict", .set = set, .load = load, .peek = peek};

gba_status_t predict_links_init(struct predict *p, int32_t algorithm)
{
    const struct gba_cluster *c = p->cluster;

    p->algo.table = p->setup->choice.fallback ? &predict_tuned : &gba_algorithms[algorithm];
    p->algo.pulls = p->algo.table->pulls;
    if (p->algo.pulls && !p->shared)
        return GBA_ERR_PARAM; /* messages cannot read */
    p->algo.transport.ops = &transport_ops;
    p->wire = c->L + (GBA_CLUSTER_BYTES - 1) * c->G;
    if (p->shared) {
        p->algo.accesses = predict_alloc(p, p->actors, sizeof *p->algo.accesses);
        for (uint32_t i = 0; i < p->actors && p->algo.accesses != NULL; i++)
            p->algo.accesses[i].polled = PREDICT_NO_LINE;
    }
    if (p->algo.pulls) {
        p->algo.set_at = predict_alloc(p, p->actors, 2 * sizeof *p->algo.set_at);
        p->algo.waiter = predict_alloc(p, p->actors, sizeof *p->algo.waiter);
        p->algo.next = predict_alloc(p, p->actors, sizeof *p->algo.next);
        for (uint32_t i = 0; i < p->actors && p->algo.waiter != NULL; i++)
            p->algo.waiter[i] = NONE;
    } else {
        p->algo.words =
            (p->algo.table->schedule->slots(p->algo.members, p->setup->radix) + 63) / 64;
        p->algo.slots =
            predict_alloc(p, (size_t)p->actors * 2, p->algo.words * sizeof *p->algo.slots);
    }
    /* One rank of a host, slower than its adapter: the gaps never matter. */
    if (!p->shared && (p->actors > p->hosts || c->g + (GBA_CLUSTER_BYTES - 1) * c->G > c->o_send ||
                       c->g > c->o_recv))
        p->adapter = predict_alloc(p, p->hosts, sizeof *p->adapter);
    return GBA_OK;
}

/* ------------------------------------------------------------------------------- steps --- */

static struct gba_algo_state state_of(const struct predict *p, uint32_t actor)
{
    const struct predict_actor *a = &p->actor[actor];

    return (struct gba_algo_state){.rank = member_of(p, actor),
                                   .size = p->algo.members,
                                   .radix = p->setup->radix,
                                   .seq = a->seq,
                                   .distance = a->distance,
                                   .slot = a->slot,
                                   .seen = a->seen,
                                   .lanes = a->lanes};
}

static void state_keep(struct predict_actor *a, const struct gba_algo_state *state)
{
    a->distance = state->distance;
    a->seen = state->seen;
    a->slot = (uint16_t)state->slot;
    a->lanes = (uint8_t)state->lanes;
}

gba_status_t predict_algo_start(struct predict *p, uint32_t actor)
{
    struct gba_algo_state state = state_of(p, actor);
    gba_status_t status;

    p->algo.running = actor;
    p->algo.sent = 0;
    status = p->algo.table->start(&state, &p->algo.transport, state.seq);
    state_keep(&p->actor[actor], &state);
    return status;
}

gba_status_t predict_algo_test(struct predict *p, uint32_t actor)
{
    struct gba_algo_state state = state_of(p, actor);
    gba_status_t status;

    p->algo.running = actor;
    p->algo.sent = 0;
    status = p->algo.table->test(&state, &p->algo.transport);
    state_keep(&p->actor[actor], &state);
    return status;
}

/* A member leaves a barrier only when it has received all of its signals, so the words of this
 * parity are free for the barrier after the next one. */
void predict_links_left(struct predict *p, uint32_t actor)
{
    const uint32_t parity = gba_slot_parity(p->actor[actor].seq);

    for (uint32_t i = 0; i < p->algo.words; i++)
        *slot_word(p, actor, 64 * i, parity) = 0;
}

static void message_receive(struct predict *p, const struct predict_event *event)
{
    const uint32_t rank = predict_rank_of(p, event->who);
    const bool local = 0 != (event->what & LOCAL);
    uint64_t at = event->time;

    if (p->adapter != NULL && !local) {
        struct predict_adapter *adapter = &p->adapter[rank / p->on_host];

        at = at < adapter->in_free ? adapter->in_free : at;
        adapter->in_free = at + p->cluster->g;
    }
    predict_work(p, rank, at, local ? p->cluster->o_local : p->cluster->o_recv);
}

bool predict_signal(struct predict *p, const struct predict_event *event)
{
    const uint32_t kind = event->what >> 28, slot = event->what >> 1 & 0x7fff;
    const uint32_t actor = event->who, rank = predict_rank_of(p, actor);
    const bool local = 0 != (event->what & LOCAL);

    if (PREDICT_LOOK != kind)
        *slot_word(p, actor, slot, event->what & 1) |= UINT64_C(1) << slot % 64;
    if (p->turns) {
        p->turn[rank].remote += PREDICT_MESSAGE == kind && !local;
        p->turn[rank].local += PREDICT_MESSAGE == kind && local;
        return false;
    }
    if (PREDICT_MESSAGE == kind)
        message_receive(p, event);
    else
        predict_work(p, rank, event->time, 0);
    return PREDICT_AMONG == p->actor[actor].phase || PREDICT_UPPER == p->actor[actor].phase;
}
