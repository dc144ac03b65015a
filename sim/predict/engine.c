/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulation from its setup to its figures. */
#include "sim/predict/engine.h"

#include <stdlib.h>

#include "gba/agree/plan.h"
#include "sim/predict/state.h"

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
    p->turns = together * p->on_host > c->cores;
    p->shared = 1 == p->hosts && !choice->fallback;
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
            if (predict_signal(p, &event))
                predict_actor_go(p, event.who);
            break;
        default:
            if (predict_group_event(p, &event))
                predict_actor_go(p, event.who);
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
    status = make(p);
    if (GBA_OK == status && p->turns)
        predict_turns_init(p);
    return GBA_OK == status && p->memory.short_of ? GBA_ERR_NOMEM : status;
}

gba_status_t predict_run(const struct predict_setup *setup, struct predict_result *result)
{
    struct predict *p;
    gba_status_t status = sim_open(setup, &p);

    if (GBA_OK == status) {
        for (uint32_t rank = 0; rank < p->ranks; rank++)
            predict_enter_plan(p, rank, 0, 0);
        for (uint32_t core = 0; core < p->cores; core++)
            predict_push(&p->queue, 0, core, PREDICT_WHAT(PREDICT_TURN));
        run(p);
    }
    if (GBA_OK == status && (p->queue.out_of_memory || p->result.done != setup->barriers))
        status = p->queue.out_of_memory ? GBA_ERR_NOMEM : GBA_ERR_PARAM;
    if (GBA_OK == status)
        *result = (struct predict_result){
            .mean = (p->result.round[(p->rounds - 1) % 4].last_exit - p->result.warm_exit) /
                    setup->barriers,
            .slowest = spread_of(p->result.slowest, setup->barriers),
            .after = spread_of(p->result.after, setup->barriers),
            .skew = spread_of(p->result.skew, setup->barriers),
            .bytes = p->memory.bytes};
    sim_close(p);
    return status;
}
