/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder of gba_perf: a library that is preloaded into a program. It times the barriers of
 * this process. At the end of the program rank 0 writes records, which records.h explains.
 *
 * A barrier is timed depending on its number only, so all its members time the same ones. Where a
 * communicator has many barriers, a part of them is timed, which halves when the memory is full.
 */
#ifndef CONTRIB_PERF_RECORDER_H
#define CONTRIB_PERF_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "gba/base/clock.h"

#define RECORDER_NAME_BYTES 64
#define RECORDER_COMMS      256  /* at once; the barriers of further ones are counted only */
#define RECORDER_TIMED      4096 /* barriers of a communicator that are kept, at most */

/* The calls, in the order of recorder_call_names. */
enum recorder_call {
    RECORDER_BARRIER,
    RECORDER_BARRIER_ALL,
    RECORDER_SYNC_ALL,
    RECORDER_SET_BARRIER,
    RECORDER_SET_SYNC,
    RECORDER_CALLS,
};
extern const char *const recorder_call_names[RECORDER_CALLS];

/* Calls of this rank that are counted only, also where RECORDER_COMMS is exceeded. Threads: any
 * number. */
extern uint64_t recorder_counted[RECORDER_CALLS];
static inline void recorder_count(enum recorder_call call)
{
    __atomic_fetch_add(&recorder_counted[call], 1, __ATOMIC_RELAXED);
}

/* Declare `next`, the function that this one replaces. NULL: there is none. */
#define RECORDER_NEXT(function)        \
    static __typeof__(function) *next; \
                                       \
    if (next == NULL)                  \
    *(void **)&next = dlsym(RTLD_NEXT, #function)

/* A barrier of this rank. */
struct recorder_time {
    int64_t entered, spent; /* ns, by gba_clock_ns */
    int64_t charged;        /* of spent, if n threads are in barriers at once each gets an n-th */
    uint64_t round;
    const void *site; /* the return address */
};

/* The barriers of one call on a communicator, or an active set of OpenSHMEM. */
struct recorder_comm {
    /* All members have the same id, and the communicators of a call have different ones. The rank
     * RECORDER_RANK(id) compares the times of the members. 0: no rank compares them. */
    uint64_t id;
    enum recorder_call call;
    int size;      /* members */
    void *members; /* an MPI_Group, on the rank that numbers the communicator */
    bool live;     /* a communicator uses it; else it waits for another one of the same members */
    bool torn;     /* this rank did not record all barriers */
    char name[RECORDER_NAME_BYTES]; /* "": none */
    uint64_t rounds;
    unsigned int shift; /* one of 2^shift rounds is timed */
    struct recorder_time *times;
    uint32_t count, room; /* of times */
};
#define RECORDER_RANK(id) ((int)((id) >> 32) - 1)

/* Whether a round is timed where one of 2^shift is. Multiples of the golden ratio: also of every
 * second or third round the same part is timed. */
static inline bool recorder_timed(uint64_t round, unsigned int shift)
{
    return (round * UINT64_C(0x9E3779B97F4A7C15) >> 1) >> (63 - shift) == 0;
}

/* A round begins. Returns whether to time it. For the threads that the barriers themselves order.
 */
static inline bool recorder_enter(struct recorder_comm *comm)
{
    return recorder_timed(comm->rounds++, comm->shift);
}

/* The threads that have called barriers, and whether this one is counted. */
extern uint32_t recorder_threads;
extern _Thread_local bool recorder_thread_known;
void recorder_thread_add(void);

/* A clock, in ns, that advances by 1/n of the time while n threads are in barriers. change: of the
 * threads that are. Threads: any number. */
int64_t recorder_clock(int change);

/* A thread enters a barrier, and leaves it. timed: read the clock. Threads: any number. */
struct recorder_visit {
    struct recorder_time time;
    int64_t clock; /* recorder_clock; -1: there is one thread */
};
static inline void recorder_visit_begin(struct recorder_visit *visit, bool timed)
{
    if (!recorder_thread_known)
        recorder_thread_add();
    visit->clock =
        __atomic_load_n(&recorder_threads, __ATOMIC_RELAXED) > 1 ? recorder_clock(1) : -1;
    if (timed)
        visit->time = (struct recorder_time){.entered = (int64_t)gba_clock_ns()};
}

static inline void recorder_visit_end(struct recorder_visit *visit, bool timed)
{
    if (timed)
        visit->time.charged = visit->time.spent = (int64_t)gba_clock_ns() - visit->time.entered;
    if (visit->clock >= 0)
        visit->time.charged = recorder_clock(-1) - visit->clock;
}

/* Keep the times of the last round that began. Out of memory: the round is not timed. */
void recorder_leave(struct recorder_comm *comm, struct recorder_time time, const void *site);

/* Time one of 2^shift rounds from now on, and forget the others; shift: not below the present one.
 */
void recorder_thin(struct recorder_comm *comm, unsigned int shift);

/*
 * The place for the barriers of a communicator with this id; an id other than 0 has one place.
 * Returns NULL if there is no room, or if the place is in use; then its barriers are not all
 * recorded. Threads: any number.
 */
struct recorder_comm *recorder_comm_get(enum recorder_call call, uint64_t id, int size,
                                        const char *name);

/*
 * The same for one rank of a communicator of MPI, the rank that numbers it: the place of a
 * communicator that was freed and has the same members, or one with a new id. same: compares two
 * members. rank: this rank. Threads: any number.
 */
struct recorder_comm *recorder_comm_number(void *members, bool (*same)(void *, void *), int rank,
                                           int size, const char *name);

/* The communicator was freed. comm: NULL is allowed. Threads: any number. */
void recorder_comm_release(struct recorder_comm *comm);

/* All communicators that had a barrier, and their number. */
struct recorder_comm *const *recorder_comms(uint32_t *count);

/* Make a communicator for the recorder's own messages, which no receive of the program can get, and
 * read the clocks. Collective over MPI_COMM_WORLD. */
void recorder_begin(void);

/* Divide the times of all ranks, and write the records. Collective over MPI_COMM_WORLD. */
void recorder_end(void);

/* MPI or OpenSHMEM has begun, or is about to end. The second one to begin changes nothing. */
void recorder_start(void);
void recorder_stop(void);
extern bool recorder_active; /* between the two */

#endif
