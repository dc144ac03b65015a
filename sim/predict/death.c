/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The death of a device. What a rank knows and sends is that of gba/failover, and when it reads the
 * registers is that of gba/path/retry.h; a notification is a message. Between two barriers a rank
 * receives nothing, because it is outside of the runtime. Not simulated: notifications to further
 * ranks every 10 ms, and the agreement on another path.
 */
#include "gba/failover/failover.h"
#include "sim/predict/state.h"

#define PS_PER_NS  1000u
#define ROUNDS     3u                      /* all ranks are in the agreement after two, or sooner */
#define RANKS_MOST 2048u                   /* each rank has a record of each other one */
#define OWED       (ROUNDS * (1 + 4 * 11)) /* notifications of a rank at most (facts.h) */
#define DEATHS     20u

struct survivor {
    struct gba_path_base path;
    struct gba_team *team;
    uint64_t enter_at;
    bool released, agrees; /* the device has released it; it is in the agreement */
};

struct death {
    struct predict *p;
    struct survivor *rank;
    struct gba_retry retry;  /* what all ranks have learned before */
    uint32_t apart;          /* from a member of the group to the next one: the ranks of a host */
    uint32_t released;       /* ranks that the device releases before it dies ... */
    uint64_t after;          /* ... so long after the last arrival */
    uint32_t arrived, agree; /* ranks */
    uint32_t sends;
    gba_notification_t *sent;
    uint64_t slowest[ROUNDS];
};

static gba_status_t released_test(struct gba_path_base *path)
{
    return ((struct survivor *)(void *)path)->released ? GBA_OK : GBA_INPROGRESS;
}

static void notification_send(struct death *d, uint32_t from, uint32_t to,
                              const gba_notification_t *notification)
{
    d->sent[d->sends] = *notification;
    d->sent[d->sends].team = to + 1; /* that of the receiver, because all are in this process */
    predict_message_send(d->p, from, to, d->sends++);
}

/* A rank tests its barrier, and sends what it owes before it leaves. */
static void go(struct death *d, uint32_t rank)
{
    const struct predict_rank *processor = &d->p->rank[rank];
    struct survivor *self = &d->rank[rank];
    struct gba_team *team = self->team;
    const bool complete = team->under_way && GBA_OK == gba_failover_test(team);
    gba_notification_t notification;
    uint64_t *slowest;
    uint32_t to, round = (uint32_t)gba_team_rounds(team);

    if (complete) {
        team->under_way = false;
        gba_team_complete(team);
    }
    while (GBA_OK == gba_team_notification(team, &notification, &to))
        notification_send(d, rank, to, &notification);
    if (!complete)
        return;
    slowest = &d->slowest[round++];
    if (processor->free_at - processor->entered > *slowest)
        *slowest = processor->free_at - processor->entered;
    self->agrees = gba_failover_leaves(team);
    d->agree += self->agrees;
    if (self->agrees || ROUNDS == round)
        return;
    self->enter_at = predict_next_enter(d->p, rank, round, processor->free_at);
    predict_push(&d->p->queue, self->enter_at, rank, PREDICT_WHAT(PREDICT_ENTER));
}

static void arrive(struct death *d, uint32_t rank)
{
    struct predict *p = d->p;
    uint64_t at = p->rank[rank].free_at;

    if (0 == rank % d->apart) {
        at = predict_work(p, rank, 0, p->cluster->device_issue);
        gba_retry_begin(&d->retry, at / PS_PER_NS, p->ranks / d->apart, 0);
        predict_push(&p->queue, d->retry.due * PS_PER_NS, rank,
                     PREDICT_WHAT(PREDICT_READING) | (uint32_t)gba_team_rounds(d->rank[rank].team));
    }
    if (++d->arrived == p->ranks)
        for (uint32_t i = 0; i < d->released; i++) {
            predict_work(p, i, at + d->after, 0);
            d->rank[i].released = true;
            go(d, i);
        }
}

static void enter(struct death *d, uint32_t rank, uint64_t at)
{
    d->p->rank[rank].entered = predict_work(d->p, rank, at, 0);
    d->rank[rank].team->under_way = true;
    d->rank[rank].released = false;
    if (gba_failover_failed(d->rank[rank].team))
        (void)gba_failover_start(d->rank[rank].team);
    else
        arrive(d, rank);
    go(d, rank);
}

/* A member of the group reads the registers, and the other ranks of its host see what it finds. */
static void registers_read(struct death *d, const struct predict_event *event)
{
    const uint32_t reader = event->who;
    uint64_t at = event->time;

    for (uint32_t rank = reader; rank < reader + d->apart; rank++) {
        struct gba_team *team = d->rank[rank].team;

        if (!team->under_way || gba_failover_failed(team) ||
            gba_team_rounds(team) != (event->what & PREDICT_LOW))
            continue;
        if (rank == reader)
            at = predict_work(d->p, rank, at, d->p->cluster->device_read);
        else
            predict_work(d->p, rank, at + predict_store_time(d->p, reader, rank), 0);
        gba_failover_fail(team);
        go(d, rank);
    }
}

static void receive(struct death *d, const struct predict_event *event)
{
    const struct survivor *self = &d->rank[event->who];
    const gba_notification_t *notification = &d->sent[event->what & PREDICT_LOW >> 1];
    gba_notification_t answer;

    if (!self->team->under_way && !self->agrees && self->enter_at >= event->time) {
        predict_push(&d->p->queue, self->enter_at, event->who, event->what);
        return;
    }
    predict_message_receive(d->p, event);
    (void)gba_notification_take(notification);
    /* A rank that is in that round sends "completed" to all its neighbours when it leaves. */
    if (!notification->completed && GBA_OK == gba_notification_answer(notification, &answer))
        notification_send(d, event->who, notification->member, &answer);
    go(d, event->who);
}

static gba_status_t die(struct death *d)
{
    static const struct gba_path_ops ops = {.test = released_test};
    struct predict *p = d->p;
    const size_t bytes = sizeof(struct gba_team) + gba_failover_bytes(p->ranks);
    char *teams = predict_alloc(p, p->ranks, bytes);
    struct predict_event event;

    d->rank = predict_alloc(p, p->ranks, sizeof *d->rank);
    d->sent = predict_alloc(p, p->ranks, OWED * sizeof *d->sent);
    if (p->memory.short_of)
        return GBA_ERR_NOMEM;
    for (uint32_t rank = 0; rank < p->ranks; rank++) {
        struct survivor *self = &d->rank[rank];

        self->path.ops = &ops;
        self->team = (struct gba_team *)(void *)(teams + rank * bytes);
        self->team->path = &self->path;
        self->team->size = p->ranks;
        self->team->rank = rank;
        gba_failover_register(self->team, rank + 1);
        self->enter_at = predict_next_enter(p, rank, 0, 0);
        predict_push(&p->queue, self->enter_at, rank, PREDICT_WHAT(PREDICT_ENTER));
    }
    while (predict_pop(&p->queue, &event)) {
        p->algo.sent = 0;
        if (PREDICT_ENTER == event.what >> 28)
            enter(d, event.who, event.time);
        else if (PREDICT_MESSAGE == event.what >> 28)
            receive(d, &event);
        else
            registers_read(d, &event);
    }
    for (uint32_t rank = 0; rank < p->ranks; rank++)
        gba_failover_close(d->rank[rank].team);
    return p->queue.out_of_memory ? GBA_ERR_NOMEM : d->agree < p->ranks ? GBA_ERR_PARAM : GBA_OK;
}

gba_status_t predict_death_run(const struct predict_setup *setup,
                               const struct predict_result *alive, uint32_t released,
                               struct predict_death *death)
{
    const uint32_t ranks = setup->hosts * setup->ranks;
    const uint32_t apart = GBA_HIERARCHY_NODE == setup->choice.hierarchy ? setup->ranks : 1;
    const uint32_t deaths = ranks < RANKS_MOST / DEATHS ? DEATHS : RANKS_MOST / ranks;
    struct death start = {
        .apart = apart, .released = released * apart, .after = alive->after.median};
    struct predict_setup flat = *setup;
    struct predict_result degraded;
    uint64_t dies[DEATHS], next[DEATHS];
    gba_status_t status = GBA_OK;

    if (ranks < 2 || ranks > RANKS_MOST || setup->hosts > setup->cluster->device_hosts)
        return GBA_ERR_UNSUPPORTED;
    gba_retry_init(&start.retry, setup->retry_after);
    for (int round = 0; round < 100; round++) {
        gba_retry_begin(&start.retry, 0, ranks / apart, 0);
        gba_retry_end(&start.retry, alive->slowest.median / PS_PER_NS);
    }
    flat.choice = (struct gba_choice){GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V1, false, false};
    flat.messages = true;
    for (uint32_t i = 0; GBA_OK == status && i < deaths; i++, flat.seed++) {
        struct death d = start;

        status = predict_open(&flat, &d.p);
        if (GBA_OK == status)
            status = d.p->turns ? GBA_ERR_UNSUPPORTED : die(&d);
        predict_close(d.p);
        dies[i] = d.slowest[0];
        next[i] = d.slowest[1];
        death->notifications = d.sends;
    }
    flat.seed = setup->seed;
    if (GBA_OK == status)
        status = predict_run(&flat, &degraded);
    if (GBA_OK != status)
        return status;
    death->dies = predict_spread_of(dies, deaths);
    death->next = predict_spread_of(next, deaths);
    death->degraded = degraded.mean;
    return GBA_OK;
}
