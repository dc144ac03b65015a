/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU members of this rank in a team are a group. Each has a doorbell and a flag in memory that
 * the GPU and the serving thread (proxy.c) share. The thread polls the doorbells of a group in turn
 * (GATHER), makes the team's barrier in steps (CROSS), so that groups do not wait for each other,
 * and stores the flags. gba_barrier_end, which may block, is called by a thread of the
 * group (HELPED).
 *
 * A wait of the GPU always ends, also one that begins late: when a member is destroyed, and when
 * the group fails, the flag gets a status for all rounds from the next one on.
 */
#ifndef GBA_GPU_GROUP_H
#define GBA_GPU_GROUP_H

#include <pthread.h>
#include <semaphore.h>

#include "gba/base/order.h"
#include "gba/gpu.h"
#include "gba/stall.h"

/* A word in a cache line of its own. */
struct gba_gpu_line {
    _Alignas(64) gba_word_t word;
};

enum gba_gpu_state {
    GBA_GPU_GATHER,
    GBA_GPU_CROSS,
    GBA_GPU_HELPED,
    GBA_GPU_DIRECT, /* a device serves the one member; the thread watches */
    GBA_GPU_FAILED
};

struct gba_gpu_group {
    struct gba_gpu_group *next;
    gba_team_t *team;
    gba_team_own_t own;
    uint32_t members;
    uint64_t made; /* members that exist; the doorbells of all are polled in any case */
    struct gba_gpu_line *doors; /* [members], registered with CUDA together with the flags */
    struct gba_gpu_line *flags; /* [members]; of a direct member its fate */
    size_t bytes;               /* of both */
    bool registered;            /* with CUDA */
    gba_word_t fate;            /* 0, or the negated status with which the group has failed */
    /* Of the serving thread: */
    enum gba_gpu_state state;
    uint32_t sequence; /* the last round */
    uint32_t first;    /* that before the first round of the members */
    uint32_t gathered; /* members from 0 on that have arrived at the next round */
    uint32_t looks;
    uint64_t watched;  /* ns: the last look at the clock */
    gba_stall_t stall; /* since the first arrival was seen; number 0: none was */
    /* The helper, which lives from its first work on: */
    gba_status_t status; /* for it, and later its result */
    pthread_t helper;
    bool has_helper, ends;
    sem_t work;
    gba_word_t helped;
};

/* The number of the next barrier, for messages. */
static inline uint32_t gba_gpu_next(const struct gba_gpu_group *group)
{
    return group->sequence - group->first + 1;
}

/* The last round at which a proxied member has arrived. */
static inline uint32_t gba_gpu_count(const struct gba_gpu_group *group, uint32_t member)
{
    return (uint32_t)(gba_word_load_acquire(&group->doors[member].word) >> 32);
}

/* This thread makes or destroys a member, or is in gba_barrier_end: a call of this library comes
 * from a function of the program, such as that for log lines. */
extern _Thread_local bool gba_gpu_inside;

/* A group without members; NULL: out of memory. */
struct gba_gpu_group *gba_gpu_group_new(gba_team_t *team, uint32_t members);
void gba_gpu_group_free(struct gba_gpu_group *group);

/* A turn for a group. now: ns. napped: the serving thread, which calls it, has slept just before.
 * Returns whether something has happened. */
bool gba_gpu_serve(struct gba_gpu_group *group, uint64_t now, bool napped);

/* The caller of the next four has called gba_gpu_pause. A member is about to leave: no further
 * round ends for it. After the last one the group is not served any more. If a member has given up
 * in a barrier, this rank makes no further one. */
void gba_gpu_quit(struct gba_gpu_group *group, uint32_t member);

/* Let the group fail. Nothing if it has. */
void gba_gpu_abort(struct gba_gpu_group *group);

/* Learn from the registers which rounds a direct member has made. With its device the group fails:
 * the rank does not know then how many. now: ns. Returns false if the registers cannot be read now.
 */
bool gba_gpu_watch(struct gba_gpu_group *group, uint64_t now);

/* The kernels of a direct member that is destroyed have ended: count the rounds that they have made
 * since. In the middle of one this rank makes no further one. */
void gba_gpu_settle(struct gba_gpu_group *group);

/* --- proxy.c: the thread that serves the groups of this process, and the list of these */

/* Whether this thread of this process may make and destroy members. Returns GBA_OK;
 * GBA_ERR_UNSUPPORTED: the process has been forked from that of the members (logged); GBA_ERR_BUSY,
 * not logged, because a function for log lines may call: the thread has called gba_gpu_pause, or is
 * gba_gpu_inside. */
gba_status_t gba_gpu_may(void);

/* Find the group of a team, or make it and start the thread, with one member more. attr: members is
 * not 0. group: set on GBA_OK; why: set on an error, to NULL if the status says it. Returns GBA_OK;
 * GBA_ERR_NOMEM; GBA_ERR_BUSY: it has that member, or another team of the same exchange has
 * members; GBA_ERR_PARAM: another number of members; GBA_ERR_STALE: the rank has left the team; or
 * the status of a group that has failed. The caller has called gba_gpu_pause. */
gba_status_t gba_gpu_join(gba_team_t *team, const gba_gpu_attr_t *attr,
                          struct gba_gpu_group **group, const char **why);

/* A member has left. The last one frees the group, whose memory CUDA does not use any more, and the
 * last group ends the thread. The caller has not called gba_gpu_pause. */
void gba_gpu_leave(struct gba_gpu_group *group);

/* Between the two the thread serves nobody, so the caller waits for no kernel. A thread that is
 * between them, as the serving thread always is, may call them again. */
void gba_gpu_pause(void);
void gba_gpu_resume(void);

#endif
