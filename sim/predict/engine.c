/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processors, the counter of each host, and the life of a barrier: enter, gather, among,
 * release, exit. A rank with a core of its own sees a signal when it comes. Ranks that share cores
 * take turns, see turns.c.
 */
#include "sim/predict/engine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gba/agree/plan.h"
#include "sim/predict/state.h"

void *predict_alloc(struct predict *p, size_t count, size_t bytes)
{
    const size_t head = _Alignof(max_align_t);
    void **memory = calloc(1, head + count * bytes);

    p->memory.bytes += count * bytes;
    if (memory == NULL) {
        p->memory.short_of = true;
        return NULL;
    }
    *memory = p->memory.last;
    p->memory.last = memory;
    return (char *)memory + head;
}

/* -------------------------------------------------------------------------- processors --- */

/* A number that depends on nothing but its arguments. */
static uint64_t mix(const struct predict *p, uint64_t of)
{
    struct predict_random random;

    predict_random_seed(&random, p->setup->seed ^ of * UINT64_C(0xd1342543de82ef95));
    return random.state[0];
}

/* The next interruption of a rank's core at `at` or later. */
static uint64_t interruption(struct predict *p, uint32_t rank, uint64_t at, uint64_t *length)
{
    const struct predict_trace *trace = p->setup->trace;
    const struct gba_cluster *c = p->cluster;
    uint64_t offset, cycle;
    uint32_t low = 0, high;

    if (trace == NULL || 0 == trace->count) {
        *length = predict_random_time(&p->random, c->noise_shape, c->noise_length);
        return at + predict_random_time(&p->random, GBA_TIMES_EXPONENTIAL,
                                        GBA_CLUSTER_SECOND / c->noise_rate);
    }
    offset = mix(p, predict_core_of(p, rank)) % trace->period;
    cycle = (at + offset) / trace->period * trace->period;
    for (high = trace->count; low < high;) {
        const uint32_t middle = (low + high) / 2;

        if (trace->at[2 * middle] < at + offset - cycle)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == trace->count) {
        cycle += trace->period;
        low = 0;
    }
    *length = trace->at[2 * low + 1];
    at = cycle + trace->at[2 * low];
    return at > offset ? at - offset : 0;
}

uint64_t predict_work(struct predict *p, uint32_t rank, uint64_t from, uint64_t work)
{
    struct predict_rank *r = &p->rank[rank];
    uint64_t at = r->free_at, start = from > at ? from : at, end = start + work, length;
    const bool traced = p->setup->trace != NULL && 0 != p->setup->trace->count;

    while (traced || (0 != p->cluster->noise_rate && 0 != p->cluster->noise_length)) {
        const uint64_t begins = interruption(p, rank, at, &length);

        if (begins > end || (begins == end && 0 == work))
            break;
        at = begins + length > at ? begins + length : at + 1;
        if (begins >= start) /* it interrupts the work */
            end += length;
        else if (at > start) { /* the work waits for its end */
            end = at + work;
            start = at;
        }
    }
    return r->free_at = end;
}

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

static uint64_t next_enter(struct predict *p, uint32_t rank, uint32_t round, uint64_t exit)
{
    uint64_t at = exit;

    if (0 != p->cluster->skew)
        at += predict_random_time(&p->random, p->cluster->skew_shape, p->cluster->skew);
    if (0 != p->setup->late && mix(p, (uint64_t)round << 32) % p->ranks == rank)
        at += p->setup->late;
    return at;
}

static void enter_plan(struct predict *p, uint32_t rank, uint32_t round, uint64_t exit)
{
    const uint64_t at = next_enter(p, rank, round, exit);

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
        enter_plan(p, rank, round + 1, at);
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
                                 at + predict_store_time(p, by, rank) + turn++ * p->cluster->reload,
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

/* --------------------------------------------------------------------------------- run --- */

static gba_status_t make(struct predict *p)
{
    const struct predict_setup *setup = p->setup;
    const struct gba_choice *choice = &setup->choice;
    const struct gba_cluster *c = p->cluster;
    const uint64_t together = c->hosts_per_machine < p->hosts ? c->hosts_per_machine : p->hosts;
    uint32_t counters;
    int32_t algorithm = choice->algorithm;
    gba_status_t status = GBA_OK;

    p->nodes = GBA_HIERARCHY_NODE == choice->hierarchy;
    p->turns = setup->busy || together * p->on_host > c->cores;
    p->shared = 1 == p->hosts;
    p->actors = !p->nodes ? p->ranks : p->hosts > 1 || choice->group ? p->hosts : 0;
    if (0 == p->actors && 1 == p->on_host)
        return GBA_ERR_TOO_FEW; /* a counter of one rank */
    p->rank = predict_alloc(p, p->ranks, sizeof *p->rank);
    p->actor = predict_alloc(p, p->actors + 1u, sizeof *p->actor);
    counters = p->nodes && p->on_host > 1 ? p->hosts : 1;
    p->host = predict_alloc(p, counters, sizeof *p->host);
    p->result.slowest = predict_alloc(p, setup->barriers, sizeof *p->result.slowest);
    p->result.after = predict_alloc(p, setup->barriers, sizeof *p->result.after);
    p->result.skew = predict_alloc(p, setup->barriers, sizeof *p->result.skew);
    if (p->memory.short_of)
        return GBA_ERR_NOMEM;
    for (uint32_t i = 0; i < counters; i++)
        p->host[i].gathered_at = PREDICT_NEVER;
    if (choice->group)
        status = predict_groups_init(p);
    if (GBA_OK != status || (p->offload.groups == 1) || 0 == p->actors)
        return status;
    p->algo.members = p->offload.groups > 1 ? p->offload.groups : p->actors;
    if (p->offload.groups > 1 && GBA_ALGORITHM_AUTO == algorithm)
        algorithm = gba_algorithm_auto(p->offload.groups);
    return predict_links_init(p, algorithm);
}

static void run(struct predict *p)
{
    struct predict_event event;

    while (predict_pop(&p->queue, &event))
        switch (event.what >> 28) {
        case PREDICT_ENTER:
            predict_enter(p, event.who, event.time);
            break;
        case PREDICT_TURN:
            predict_core_run(p, event.who, event.time);
            break;
        case PREDICT_STORED:
        case PREDICT_MESSAGE:
        case PREDICT_LOOK:
            predict_signal(p, &event);
            break;
        default:
            predict_group_event(p, &event);
        }
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static struct predict_spread spread_of(uint64_t *values, uint32_t count)
{
    const uint32_t last = count - 1;

    qsort(values, count, sizeof *values, compare);
    return (struct predict_spread){
        .least = values[0],
        .median = values[last / 2],
        .p95 = values[(uint64_t)last * 95 / 100],
        .p99 = values[(uint64_t)last * 99 / 100],
        .most = values[last],
    };
}

static void sim_close(struct predict *p)
{
    if (p == NULL)
        return;
    for (void **memory = p->memory.last, **before; memory != NULL; memory = before) {
        before = *memory;
        free(memory);
    }
    predict_queue_free(&p->queue);
    free(p);
}

static gba_status_t sim_open(const struct predict_setup *setup, struct predict **opened)
{
    struct predict *p = calloc(1, sizeof *p);
    gba_status_t status;

    *opened = p;
    if (p == NULL)
        return GBA_ERR_NOMEM;
    p->setup = setup;
    p->cluster = setup->cluster;
    p->hosts = setup->hosts;
    p->on_host = setup->ranks;
    p->ranks = setup->hosts * setup->ranks;
    p->rounds = setup->warmup + setup->barriers;
    predict_random_seed(&p->random, setup->seed);
    for (uint32_t i = 0; i < 4; i++)
        p->result.round[i].first_exit = PREDICT_NEVER;
    status = setup->choice.fallback ? GBA_ERR_PARAM : make(p);
    if (GBA_OK == status && p->turns)
        predict_turns_init(p);
    return GBA_OK == status && p->memory.short_of ? GBA_ERR_NOMEM : status;
}

static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

gba_status_t predict_run(const struct predict_setup *setup, struct predict_result *result)
{
    const double began = processor_seconds();
    struct predict *p;
    gba_status_t status = sim_open(setup, &p);

    if (GBA_OK == status) {
        for (uint32_t rank = 0; rank < p->ranks; rank++)
            enter_plan(p, rank, 0, 0);
        for (uint32_t core = 0; core < p->cores; core++)
            predict_push(&p->queue, 0, core, PREDICT_WHAT(PREDICT_TURN));
        run(p);
    }
    if (GBA_OK == status && (p->queue.out_of_memory || p->result.done != setup->barriers))
        status = p->queue.out_of_memory ? GBA_ERR_NOMEM : GBA_ERR_PARAM;
    if (GBA_OK == status) {
        const uint64_t fixed = p->offload.devices * sizeof *p->offload.model +
                               (p->offload.effects != NULL) * sizeof *p->offload.effects +
                               setup->barriers * 3 * sizeof *p->result.skew;

        *result = (struct predict_result){
            .mean = (p->result.round[(p->rounds - 1) % 4].last_exit - p->result.warm_exit) /
                    setup->barriers,
            .slowest = spread_of(p->result.slowest, setup->barriers),
            .after = spread_of(p->result.after, setup->barriers),
            .skew = spread_of(p->result.skew, setup->barriers),
            .events = p->queue.taken,
            .drawn = p->random.drawn,
            .bytes = p->memory.bytes + p->queue.most * sizeof(struct predict_event),
            .rank_bytes = (p->memory.bytes - fixed) / setup->hosts / setup->ranks,
            .seconds = processor_seconds() - began};
    }
    sim_close(p);
    return status;
}
