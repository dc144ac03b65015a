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
    RECORDER_IBARRIER, /* is counted only */
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

/* A barrier of this rank that was timed. */
struct recorder_time {
    int64_t entered, left; /* ns, by perf_now */
    uint64_t round;
    const void *site; /* the return address */
};

/* The barriers of one call on a communicator, or an active set of OpenSHMEM. */
struct recorder_comm {
    uint64_t id;    /* the same on all members, and different from those of others */
    uint64_t group; /* a hash of the members */
    enum recorder_call call;
    int size;  /* members */
    bool live; /* a communicator uses it; else it waits for another one of the same group */
    char name[RECORDER_NAME_BYTES]; /* "": none */
    uint64_t rounds;
    unsigned int shift; /* one of 2^shift rounds is timed */
    struct recorder_time *times;
    uint32_t count, room; /* of times */
};

/* A round begins. Returns whether to time it. For the threads that the barriers themselves order.
 */
static inline bool recorder_enter(struct recorder_comm *comm)
{
    /* Multiples of the golden ratio: also of every second or third round the same part is timed. */
    return (comm->rounds++ * UINT64_C(0x9E3779B97F4A7C15) >> 1) >> (63 - comm->shift) == 0;
}

/* Keep the times of the last round that began. Out of memory: the round is not timed. */
void recorder_leave(struct recorder_comm *comm, int64_t entered, int64_t left, const void *site);

/* Time one of 2^shift rounds from now on, and forget the others; shift: not below the present one.
 */
void recorder_thin(struct recorder_comm *comm, unsigned int shift);

/*
 * The place for the barriers of a communicator. That of a communicator that was freed is used again
 * for one with the same members. group: a hash of the members. Returns NULL if there is no room.
 * Threads: any number.
 */
struct recorder_comm *recorder_comm_get(enum recorder_call call, uint64_t group, int size,
                                        const char *name);

/* The communicator was freed. comm: NULL is allowed. Threads: any number. */
void recorder_comm_release(struct recorder_comm *comm);

/* All communicators that had a barrier, in the order of their id, and their number. */
struct recorder_comm *const *recorder_comms(uint32_t *count);

/* Add a word to a hash, which begins as 0. */
static inline uint64_t recorder_hash(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0xBF58476D1CE4E5B9) + 1;
    return hash ^ (hash >> 29);
}

/* Read the clocks. Collective over MPI_COMM_WORLD. */
void recorder_begin(void);

/* Divide the times of all ranks, and write the records. Collective over MPI_COMM_WORLD. */
void recorder_end(void);

/* MPI or OpenSHMEM has begun, or is about to end. The second one to begin changes nothing. */
void recorder_start(void);
void recorder_stop(void);
extern bool recorder_active; /* between the two */

#endif
