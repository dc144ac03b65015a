/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a simulation. A rank is a process. An actor is a rank that takes part in the barrier
 * among hosts or ranks: each rank (flat), or the leader of each host. All times are ps.
 */
#ifndef GBA_PREDICT_STATE_H
#define GBA_PREDICT_STATE_H

#include "gba/algo/algorithm.h"
#include "sim/model/model.h"
#include "sim/predict/engine.h"
#include "sim/predict/queue.h"
#include "sim/predict/random.h"

#define PREDICT_NEVER   UINT64_MAX
#define PREDICT_NO_LINE UINT32_MAX

/* The kinds of events, in the upper four bits of `what`. */
enum predict_kind {
    PREDICT_ENTER,   /* a rank arrives at its next barrier */
    PREDICT_STORED,  /* an actor's slot has a signal, through shared memory */
    PREDICT_MESSAGE, /* an actor's host has received a signal */
    PREDICT_LOOK,    /* an actor reads a flag that has changed */
    PREDICT_ARRIVAL, /* a member's arrival is at the device */
    PREDICT_FLAG,    /* a member's release flag shows the sequence in the lower bits */
    PREDICT_TURN     /* a core runs its next rank */
};

#define PREDICT_WHAT(kind) ((uint32_t)(kind) << 28)
#define PREDICT_LOW        0x0fffffffu

enum predict_phase {
    PREDICT_OUT,   /* between two barriers */
    PREDICT_AMONG, /* the algorithm */
    PREDICT_FIRST, /* the first of two rounds of a domain's group */
    PREDICT_UPPER, /* the algorithm among domain leaders */
    PREDICT_LAST   /* the last round of a group */
};

struct predict_rank {
    uint64_t free_at; /* its processor works until then */
    uint64_t entered;
};

/* The changing part of gba_algo_state, and the phase. */
struct predict_actor {
    uint32_t seq, distance, seen;
    uint16_t slot;
    uint8_t lanes, phase;
};

/* A member of a barrier group: an actor of the same number. */
struct predict_member {
    uint32_t seq;  /* the round of the group */
    uint32_t flag; /* what the device stored */
};

/* A host whose ranks share a counter. */
struct predict_host {
    uint64_t line_free;   /* the counter's line serves the next add then */
    uint64_t gathered_at; /* the leader can see the last add; NEVER: not yet */
    uint64_t released_at; /* turns: the release of the last round can be seen */
    uint32_t arrived, round;
};

/* The accesses of an actor to shared memory. */
struct predict_accesses {
    uint64_t next_store; /* the next store can leave its core then */
    uint64_t loaded;     /* the line that it polls is in its cache then */
    uint32_t polled;     /* that line */
};

struct predict_adapter {
    uint64_t out_free, in_free;
};

/* A group of one domain, and the device that has it. */
struct predict_group {
    struct gba_model *model;
    uint32_t id, first, members; /* the actors are first, first + 1, ... */
    uint64_t free_at;            /* the device takes the next arrival then */
};

/* A rank that takes turns. */
struct predict_turn {
    uint64_t enter_at;
    uint32_t round;         /* barriers begun */
    uint16_t remote, local; /* messages that it has not received yet */
    uint8_t looks;          /* since it let the runtime receive */
    bool inside;
};

struct predict_core {
    uint32_t next, ranks; /* the rank in turn; the number of its ranks */
};

/* Figures of a barrier that is under way. */
struct predict_round {
    uint64_t last_enter, first_exit, last_exit, slowest;
    uint32_t exits;
};

struct predict {
    const struct predict_setup *setup;
    const struct gba_cluster *cluster;
    uint32_t ranks, hosts, actors, rounds;
    uint32_t on_host;   /* ranks of a host */
    bool nodes, shared; /* a counter on each host; the algorithm is over shared memory */
    bool turns;
    uint64_t wire; /* of a message within a leaf */
    struct predict_queue queue;
    struct predict_random random;
    struct predict_rank *rank;
    struct predict_actor *actor;
    struct predict_host *host;
    struct predict_adapter *adapter; /* NULL: gaps never matter */
    struct predict_turn *turn;
    struct predict_core *core;
    uint32_t cores;
    struct {
        const struct gba_algorithm *table; /* NULL: none */
        uint32_t members;
        uint32_t words;          /* 64-bit words of slots, for each parity */
        bool pulls;              /* it reads flags */
        uint64_t *slots;         /* [actors][parity][words] a bit for each signal received */
        uint64_t *set_at;        /* pulls: [actors][parity] the time of the own flag */
        uint32_t *waiter, *next; /* pulls: who waits for an actor's flag */
        struct predict_accesses *accesses; /* shared memory: [actors] */
        struct gba_transport transport;    /* for the actor that runs */
        uint32_t running, sent;            /* that actor, and its messages of this step */
    } algo;
    struct {
        struct predict_group *group;
        struct predict_member *member;
        struct gba_model_effects *effects;
        uint32_t *group_of; /* [actors]; NULL: all are in group 0 */
        uint32_t *leaders;  /* [groups] the actors of domain leaders; NULL: one domain */
        uint32_t groups, devices;
        struct gba_model *model;
    } offload;
    struct {
        struct predict_round round[4]; /* members differ by one barrier at most */
        uint32_t done;
        uint64_t warm_exit; /* the last exit of the barriers that do not count */
        uint64_t *slowest, *after, *skew;
    } result;
    struct {
        void **last; /* each allocation begins with a pointer to the one before */
        uint64_t bytes;
        bool short_of; /* an allocation has failed */
    } memory;
};

static inline uint32_t predict_rank_of(const struct predict *p, uint32_t actor)
{
    return p->nodes ? actor * p->on_host : actor;
}

/* The files, lowest first: none calls a later one. */

/* --- work.c */

/* Allocate zeroed memory, which is counted, until the end of the simulation. Sets
 * memory.short_of. */
void *predict_alloc(struct predict *p, size_t count, size_t bytes);

/* A number that depends on nothing but its arguments. */
uint64_t predict_mix(const struct predict *p, uint64_t of);

/* The ranks of a machine. */
uint32_t predict_on_machine(const struct predict *p);

/* The core of a rank, whose interruptions it has; without turns the rank has one of its own. */
uint32_t predict_core_of(const struct predict *p, uint32_t rank);

/* What caches lack costs more, the more ranks take turns on a core: `more` for each after two. Of
 * eight none has anything left (measured with 2, 4, 8 and 16 on cores of 2 MiB). */
uint64_t predict_cold(const struct predict *p, uint32_t rank, uint64_t more);

/* The processor of a rank works for a time, from `from` or from when it is free, and longer by the
 * interruptions of its core. Returns the end. */
uint64_t predict_work(struct predict *p, uint32_t rank, uint64_t from, uint64_t work);

/* --- memory.c: shared memory */

/* The time from a store by one rank until another rank of its host, which polls the line, has it.
 */
uint64_t predict_store_time(const struct predict *p, uint32_t from, uint32_t to);

/* The actor that runs stores to a line that another one polls. Returns when the store leaves its
 * core. */
uint64_t predict_store(struct predict *p);

/* The actor that runs has loaded a line. found: it holds what the actor waits for, from `from` on.
 * line: its number, below PREDICT_NO_LINE. shared: others load the line, too. */
void predict_load(struct predict *p, uint32_t line, bool found, uint64_t from, bool shared);

/* --- tuned.c: Open MPI's own barrier */

extern const struct gba_algorithm predict_tuned;

/* --- link.c: the algorithm, by messages or stores */

gba_status_t predict_links_init(struct predict *p, int32_t algorithm);
gba_status_t predict_algo_start(struct predict *p, uint32_t actor);
gba_status_t predict_algo_test(struct predict *p, uint32_t actor);
bool predict_signal(struct predict *p, const struct predict_event *event); /* the actor goes on */
void predict_links_left(struct predict *p, uint32_t actor); /* it leaves its barrier */

/* --- groups.c: the groups */

gba_status_t predict_groups_init(struct predict *p);
bool predict_group_serves(const struct predict *p, uint32_t actor); /* its domain has a group */
void predict_group_arrive(struct predict *p, uint32_t actor);
bool predict_group_released(struct predict *p, uint32_t actor);
bool predict_group_event(struct predict *p, const struct predict_event *event); /* as _signal */

/* --- barrier.c */

/* A rank is to arrive at the barrier of that number, from 0 on, after it has left one at `exit`;
 * arrives at its next barrier; leaves the barrier of that number. */
void predict_enter_plan(struct predict *p, uint32_t rank, uint32_t round, uint64_t exit);
void predict_enter(struct predict *p, uint32_t rank, uint64_t at);
void predict_leave(struct predict *p, uint32_t rank, uint32_t round, uint64_t at);

/* An actor's part among the hosts or ranks begins, or goes on as far as it can. */
void predict_actor_start(struct predict *p, uint32_t actor);
void predict_actor_go(struct predict *p, uint32_t actor);

/* --- turns.c: the cores and their ranks; a core runs its next rank. */

void predict_turns_init(struct predict *p);
void predict_core_run(struct predict *p, uint32_t core, uint64_t now);

#endif
