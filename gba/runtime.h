/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a runtime supplies to teams: one that has processes and messages of its own, as Open MPI and
 * the bootstraps do. In the order in which it needs each:
 *
 * 1. An exchange, gba_oob_t: two collective operations, a minimum and an allgather. With it alone
 *    gba_team_create makes a team on one host, whose barriers are gba_barrier.
 * 2. A transport of signals, gba_remote_t, if the team has software barriers between hosts.
 * 3. A table, gba_runtime_t, of what the runtime does in a barrier that is not fast: `progress`
 *    while a member waits; `fallback` where libgba has no path; `prepare`, if the members are to
 *    agree again, on a path after a failure, on a group that was not free, or in a trial.
 * 4. For barriers that survive their device: `notify`, and the delivery of notifications in every
 *    call of the runtime (gba_notification_t). Without it a barrier whose device dies fails.
 * 5. For barriers that do not block: the steps of gba/team.h, gba_agree_start and gba_agree_test,
 *    with gba_team_due between two barriers.
 *
 * gba_team_attr_t passes all of them. tests/unit/team/test_runtime.c is a whole runtime in 100
 * lines, with 1, 3 and 4.
 */
#ifndef GBA_RUNTIME_H
#define GBA_RUNTIME_H

#include "gba/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gba_team gba_team_t; /* A team that gba_team_create made. */

/*
 * The version of the data that the libgba of one member sends to the libgba of another: through
 * gba_oob_t, as signals, and as failure notifications. Each change of their layout or meaning
 * raises it. Members of different versions cannot form a team. A runtime therefore exchanges
 * gba_wire_version before it calls gba_team_create, and calls that only if all members have the
 * same version.
 */
#define GBA_WIRE_VERSION 30u

/* Get GBA_WIRE_VERSION of the loaded libgba.so. Returns the version, which may differ from that of
 * the header. Thread-safe. Not collective. */
GBA_EXPORT uint32_t gba_wire_version(void);

/* The words of a minimum, at most. */
#define GBA_OOB_WORDS 40u

/*
 * The exchange by which the members of a team agree: collective operations of the runtime that work
 * without libgba. An operation is posted, then tested until it is complete. Members post the same
 * operations in the same order, one at a time. It completes at no member before all members have
 * posted it. A runtime whose calls block completes the operation in the call that posts it.
 *
 * min and allgather return GBA_OK: posted; or GBA_ERR_OOB. The memory that they receive belongs to
 * the runtime until the operation is complete. After GBA_ERR_OOB the runtime does not access it any
 * more, and no further operation follows.
 */
typedef struct gba_oob {
    void *ctx;
    uint32_t rank, size;
    /*
     * Post the minimum, word by word. words: [count] in: those of this member; when the operation
     * is complete: the minima. count: 1 to GBA_OOB_WORDS, the same on all members. A broadcast is a
     * minimum to which the other members contribute all ones.
     */
    gba_status_t (*min)(void *ctx, uint64_t *words, uint32_t count);
    /* Post the allgather of a record. in: bytes of this member; out: size * bytes, by rank. */
    gba_status_t (*allgather)(void *ctx, const void *in, void *out, size_t bytes);
    /*
     * Reserve the memory that allgathers of records of up to `bytes` need besides `out`. Called
     * before the first operation of an agreement, and at its end with 0: free that memory. Returns
     * GBA_OK; GBA_ERR_NOMEM: all members learn of it, and agree without an allgather. Not
     * collective. NULL: an allgather needs no other memory.
     */
    gba_status_t (*reserve)(void *ctx, size_t bytes);
    /* Advance the posted operation. Returns GBA_OK: complete, also if none is posted;
     * GBA_INPROGRESS; GBA_ERR_OOB. Never blocks. */
    gba_status_t (*test)(void *ctx);
    /* Print the name of a member for messages, "rank 3 on hostb" (len bytes at most, terminated).
     * Not collective. Not NULL. */
    void (*name_member)(void *ctx, uint32_t rank, char *text, size_t len);
} gba_oob_t;

struct gba_transport; /* gba/transport/transport.h, for runtimes in this tree */
struct gba_schedule;  /* gba/algo/sched.h, likewise */

/* The members that exchange signals through the runtime's transport. */
typedef struct gba_remote_group {
    const uint32_t *ranks; /* [size] ranks in the team, by number here; NULL: all, in order */
    uint32_t size, rank;   /* number of members of this group; number of this member in it */
    const struct gba_schedule *schedule; /* the source and the target of each signal */
    uint32_t radix;                      /* of the algorithm */
    uint32_t sequence;                   /* the first round is sequence + 1 */
    uint32_t channel; /* 0 or 1: a team can use both at a time, and they are kept apart */
    /* The epoch of the path, the same on all members. A member may close a transport in the middle
     * of a barrier, so signals of a path can arrive after its end. The transport keeps them from
     * every other path: each signal carries the epoch, or its memory is not used again. */
    uint64_t epoch;
} gba_remote_group_t;

/* The transport of signals between hosts: the runtime's messages, or access to memory of other
 * processes. */
typedef struct gba_remote {
    void *ctx;        /* used only during the call that receives it */
    const char *name; /* for messages to the user; NULL: "messages" */
    bool pulls;       /* a member can read the slots of another member */
    /* Open the transport of a group. Returns GBA_OK, GBA_ERR_NOMEM or GBA_ERR_IO. Not collective:
     * sends nothing. Transports of one team with different groups can be open on one channel at a
     * time. One of them then carries signals; all members are in a collective call of gba_oob_t
     * before another one does. */
    gba_status_t (*open)(void *ctx, const gba_remote_group_t *group,
                         struct gba_transport **transport);
} gba_remote_t;

/* What the members of a team have to agree on. */
typedef enum gba_due {
    GBA_DUE_NOTHING = 0,
    GBA_DUE_CREATE = 1,  /* there is no team yet */
    GBA_DUE_RECOVER = 2, /* the device has failed: another path */
    GBA_DUE_REQUEST = 3, /* the team has no group, for a reason that passes: request one again */
    GBA_DUE_TRIAL = 4    /* measure the paths that the team can have, and take the fastest */
} gba_due_t;

struct gba_team_attr; /* gba/team.h */
struct gba_where;     /* gba/stall.h */

/*
 * What a runtime does for a team beside its exchange. The barriers of the team call these
 * functions, in the thread that makes the barrier. Each may be NULL.
 */
typedef struct gba_runtime {
    void *ctx; /* passed to each of them; lives as long as the team */
    /*
     * Serve other processes. Called after the first microseconds of a wait, and then with each look
     * at the barrier. Returns the number of messages and requests that it has completed, so that no
     * thread sleeps that serves others; 0: none; -1: unknown.
     */
    int (*progress)(void *ctx);
    /*
     * Make the runtime's own barrier: on GBA_PATH_FALLBACK, and in trials, unless
     * gba_team_attr_t.notifies_together is set. Returns GBA_OK or an error. Collective, blocks.
     * NULL, on all members: there is none.
     */
    gba_status_t (*fallback)(void *ctx);
    /*
     * The device of the team has failed: deliver notifications (gba_notification_t), those of this
     * member and of others. Called again and again, until the barrier is complete at this member;
     * from then on with `complete`, until it returns GBA_OK. It may block, but not if
     * gba_team_attr_t.nonblocking is set: the steps of barriers call it, too, then. Returns GBA_OK:
     * this member owes no notification any more; GBA_INPROGRESS; or an error, with which the
     * barrier ends. NULL: a barrier whose device fails ends with GBA_ERR_DEAD.
     */
    gba_status_t (*notify)(void *ctx, bool complete);
    /*
     * The members agree next: set attr, whose fields are zero, and oob, as for gba_team_create.
     * Returns GBA_OK, or an error, with which the barrier ends. Collective. NULL: the team keeps
     * its path.
     */
    gba_status_t (*prepare)(void *ctx, gba_due_t due, struct gba_team_attr *attr, gba_oob_t *oob);
    /* The agreement has ended with `status`, or `prepare` has failed with it. */
    void (*agreed)(void *ctx, gba_due_t due, gba_status_t status);
    /* Print the name of a member, as in gba_oob_t. */
    void (*name_member)(void *ctx, uint32_t rank, char *text, size_t len);
    /* Set id and name of a place in a barrier of the team [gba/stall.h], for the report of a stall:
     * the name as the program calls the team now. NULL: no id, and gba_team_attr_t.name. */
    void (*place)(void *ctx, struct gba_where *place);
    /* For that report, see gba/stall.h: the job of gba_where_join, which lives as long as the team;
     * NULL: the report does not say where missing members are. And the rank of a member in that
     * job, UINT32_MAX if it is of another one; NULL: its rank in the team. */
    const char *job;
    uint32_t (*process)(void *ctx, uint32_t rank);
    /* A barrier has stalled for `abort_after` seconds, and has been reported: end the job. NULL:
     * nothing happens. */
    void (*abort)(void *ctx);
    /* gba_team_destroy begins. Not called after gba_team_leave. It may wait for other members,
     * which may be in the last barrier, if the device has failed. */
    void (*leave)(void *ctx);
    /* gba_team_destroy has freed the team: ctx may be freed. */
    void (*freed)(void *ctx);
} gba_runtime_t;

/*
 * A failure notification: the message by which members of a team whose device has failed complete a
 * round. No collective call can complete the round, because some members may have completed it
 * already and be in another call. gba/failover/failover.md has the argument. Notifications are
 * plain bytes between processes of one build. The runtime delivers them in any order.
 *
 * A runtime
 * - sends every notification that gba_team_notification returns, to the member that it returns, in
 *   gba_runtime_t.notify;
 * - receives notifications in every process that is or was in such a team, in any of its calls, and
 *   passes each to gba_notification_take. If `completed` is 0, it calls gba_notification_answer now
 *   and then until that no longer returns GBA_INPROGRESS, and on GBA_OK sends the answer to the
 *   sender.
 */
typedef struct gba_notification {
    uint64_t team;           /* id of the team */
    uint64_t round;          /* counted from 1 */
    uint64_t first_bypassed; /* the first round begun without the device; UINT64_MAX: unknown */
    uint32_t member;         /* the sending member */
    uint32_t members;        /* that have arrived at the round: member, member + 1, and so on */
    uint32_t completed;      /* 1: the round is complete */
    uint32_t unused;         /* 0 */
} gba_notification_t;

/*
 * Get the next notification that this member has to send. Records it as sent. notification: set on
 * GBA_OK. to: set on GBA_OK to the member that receives it. Returns GBA_OK; GBA_ERR_BUSY: there is
 * none now, because all are sent, no round has begun, the device has not failed, or the round uses
 * messages (gba_team_attr_t.nonblocking). Only the thread that runs the team's barrier calls it.
 * Not collective. Never blocks.
 */
GBA_EXPORT gba_status_t gba_team_notification(gba_team_t *team, gba_notification_t *notification,
                                              uint32_t *to);

/* Get the id of a team whose members need notifications. team: may be NULL. Returns the id if the
 * team's device has failed and its members still need notifications, else 0. Only the thread that
 * runs the team's barrier calls it. Not collective. */
GBA_EXPORT uint64_t gba_team_failed_id(const gba_team_t *team);

/*
 * Take another member's notification. notification: as received, from any process of the job.
 * Returns GBA_OK; GBA_ERR_STALE: this process has no such team any more; GBA_ERR_PARAM: not a
 * notification of that team. Thread-safe. Not collective. Never
 * blocks. Release: pairs with gba_barrier_test of the thread that runs the team's barrier.
 */
GBA_EXPORT gba_status_t gba_notification_take(const gba_notification_t *notification);

/*
 * Get the answer to another member's notification. notification: as received. answer: set on
 * GBA_OK. Returns GBA_OK; GBA_INPROGRESS: this member has not completed the round either;
 * GBA_ERR_STALE: this member has sent "completed" already; GBA_ERR_PARAM: not a notification of
 * that team. Thread-safe. Not collective. Never blocks.
 */
GBA_EXPORT gba_status_t gba_notification_answer(const gba_notification_t *notification,
                                                gba_notification_t *answer);

#define GBA_PROCESSOR_WORDS 256u /* Linux has 8192 processors at most */

/* The processors that a process may use, or several together. */
typedef struct gba_processors {
    uint32_t map[GBA_PROCESSOR_WORDS]; /* processor 32 * i + b is bit b of word i */
    uint32_t quota; /* processors' worth of time that cgroups leave; UINT32_MAX: no limit */
} gba_processors_t;

/*
 * Get the processors of this process: those of its affinity, which the kernel keeps within its
 * cpuset, and the quota of its cgroup and of those above. For gba_team_attr_t.oversubscribed: the
 * processes of a job on one host share the union of their maps and the least of their quotas.
 * processors: always set. Thread-safe: the affinity is that of the calling thread. Not collective.
 */
GBA_EXPORT void gba_processors_get(gba_processors_t *processors);

/* Count processors. processors: those of the map count, but not more than the quota. Returns the
 * number. Thread-safe. Not collective. */
GBA_EXPORT uint32_t gba_processors_count(const gba_processors_t *processors);

#ifdef __cplusplus
}
#endif

#endif
