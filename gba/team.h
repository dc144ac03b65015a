/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams: the members of a communicator or active set, which agree on the path of their barriers.
 * A program makes a team, its barriers, and reads how they are made. What a runtime does for a team
 * is behind that, and in gba/runtime.h.
 */
#ifndef GBA_TEAM_H
#define GBA_TEAM_H

#include "gba/device.h"
#include "gba/params.h"
#include "gba/runtime.h"
#include "gba/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The path of a team's barriers, best first. */
typedef enum gba_path {
    GBA_PATH_DEVICE = 0,   /* a barrier group of a switch */
    GBA_PATH_SWITCH = 1,   /* a barrier group of a gba-switchd, which simulates a switch */
    GBA_PATH_SIM = 2,      /* a barrier group of a device simulated in the processes */
    GBA_PATH_SOFTWARE = 3, /* a software barrier of libgba */
    GBA_PATH_FALLBACK = 4  /* none of libgba: the caller has its own barrier */
} gba_path_t;

/* Name a path. Returns "device", "switch", "sim", "software" or "fallback"; never NULL.
 * Thread-safe. Not collective. */
GBA_EXPORT const char *gba_path_name(gba_path_t path);

/*
 * Make a team: all members agree on the path of their barriers. If one member cannot use a path, no
 * member uses it, and all members get the reason (gba_team_why).
 * attr: the members' values may differ, except where a field requires the same; copied with its
 * params; what it points to besides lives until the call has returned, but for the runtime. oob:
 * the exchange; no other operation is posted meanwhile. team: set on GBA_OK. Returns GBA_OK (the
 * path may be GBA_PATH_FALLBACK), GBA_ERR_NOMEM or GBA_ERR_OOB. Thread-safe on different teams.
 * Collective over oob. Blocks.
 */
GBA_EXPORT gba_status_t gba_team_create(const struct gba_team_attr *attr, const gba_oob_t *oob,
                                        gba_team_t **team);

/*
 * Make a whole barrier: gba_barrier_wait, and gba_barrier_end if that does not return GBA_OK.
 * Returns as gba_barrier_end. After an error the team can only be destroyed: it is left, see
 * gba_team_leave. One thread at a time on a team. Collective. Blocks. Release on entry, acquire on
 * return.
 */
GBA_EXPORT gba_status_t gba_barrier(gba_team_t *team);

/*
 * Leave the team and free it. No barrier may be in progress. team: may be NULL. A team that GPU
 * members or another holder use is not freed (logged). Thread-safe on different teams. Not
 * collective, never blocks, and sends nothing, but for gba_runtime_t.leave.
 */
GBA_EXPORT void gba_team_destroy(gba_team_t *team);

/* Get the current path of the team. Returns the path, the same on all members. One thread at a time
 * on a team. Not collective. */
GBA_EXPORT gba_path_t gba_team_path(const gba_team_t *team);

/*
 * Get the reason for the path, in one line. It begins with the name of the path. Examples: "sim:
 * group 3 of 32, 4 members", "sim: group 3 of 32 among the leaders of 4 hosts, 9 members", "device:
 * group 0 of 32, 4 members; not at /dev/gba0 (no barrier group is free)", "device: groups among the
 * leaders of 900 hosts, dissemination (v1) among 3 switch domains, 7200 members", "fallback: no
 * software barrier: sw_enable is 0 (rank 0 on hosta); no device: no barrier group is free (rank 0
 * on hosta)" or, after a device failure, "software: counter in shared memory, 4 members on one
 * host, from barrier 8 on; the device stopped answering in barrier 6 (rank 2 on hosta)". Returns
 * the text, never NULL. The pointer is valid while the team lives; the text changes with the path.
 * One thread at a time on a team. Not collective.
 */
GBA_EXPORT const char *gba_team_why(const gba_team_t *team);

/* Get the status that led to this path. Returns GBA_OK for a barrier group, else the reason why the
 * team has none (also on a software barrier), the same on all members. One thread at a time on a
 * team. Not collective. */
GBA_EXPORT gba_status_t gba_team_reason(const gba_team_t *team);

/* Get the member that has the reason of gba_team_reason. Returns the lowest of several; 0 if the
 * reason is GBA_OK. The same on all members. One thread at a time on a team. Not collective. */
GBA_EXPORT uint32_t gba_team_culprit(const gba_team_t *team);

/* Counts of a member of a team since gba_team_create. */
typedef struct gba_team_stats {
    uint64_t rounds;          /* barriers that this member completed on a path of libgba */
    uint64_t retries_arrival; /* lost arrivals that were resent */
    uint64_t retries_release; /* lost releases that were requested again */
    uint64_t failovers;       /* device failures after which the team continued on another path */
    uint64_t renegotiations;  /* renegotiations: the team requested a group again */
    uint64_t trials;          /* trials: the team measured other barriers */
} gba_team_stats_t;

/* Get the counts of this member. stats: set. Only the thread that runs the team's barrier calls it.
 * Not collective. */
GBA_EXPORT void gba_team_stats(const gba_team_t *team, gba_team_stats_t *stats);

/* -------------------------------------------------------------------------- for a runtime --- */

/* What a member knows about a team to make, and its device. */
typedef struct gba_team_attr {
    const char *name;           /* for messages: the communicator's name; copied */
    const gba_params_t *params; /* read only during the call */
    gba_device_t *device;       /* NULL: this member has no device */
    gba_status_t device_status; /* the reason, if there is no device */
    /* For messages, instead of the text of that status; the same on all members; NULL: none. */
    const char *device_text;
    /*
     * The devices of a member that has several; NULL: it has `device` alone. If the members'
     * devices are at different switches, each uses that at the switch of the team, without regard
     * to which one `device` is. If that switch has no group for the team, the members try the next
     * one at which all have a device. list: set to the usable devices, `device` among them, which
     * live longer than the team. max: the length of the list. Returns their number, at most max.
     * Called if `device` is not at the switch of the team, so it may open the other devices first.
     */
    uint32_t (*devices)(void *ctx, gba_device_t **list, uint32_t max);
    void *devices_ctx;
    const gba_remote_t *remote; /* NULL: software barriers on one host only */
    gba_runtime_t runtime;      /* of the first agreement; copied */
    /* The job has more processes on this host than it has cores. A process that serves the device
     * counts, see gba_device_served_here. */
    bool oversubscribed;
    /* Barriers of the team may start without blocking. After a device failure, those before
     * GBA_DUE_RECOVER use `remote`, which all members must then have. The same on all members. */
    bool nonblocking;
    /* The runtime delivers failure notifications only in calls that all members make together. So a
     * member that waits for another one whose connection to the device has ended gets GBA_ERR_DEAD,
     * as that one does, and both make such a call. The same on all members. */
    bool notifies_together;
    /* The barriers of these members before the team, for reports. The same on all members. */
    uint64_t barriers;
    /* The id of the team. Rank 0's value is used: not 0, different from that of any other team of
     * any process of the job, and different in each call. */
    uint64_t id;
} gba_team_attr_t;

/*
 * Find out what the members agree on between the barrier that has just completed and the next one.
 * may_block: at the end of a barrier that may block; false: before a barrier that may not. team:
 * NULL: there is none. Returns the same on all members between two barriers, if all have completed
 * the same ones: GBA_DUE_CREATE if team is NULL; GBA_DUE_TRIAL only if may_block. To a member that
 * has left the team it returns GBA_DUE_NOTHING. Only the thread that runs the team's barrier calls
 * it. Not collective. Never blocks.
 */
GBA_EXPORT gba_due_t gba_team_due(const gba_team_t *team, bool may_block);

/*
 * Agree with all members, as gba_barrier_end does at the end of a blocking barrier. After an error
 * the members may be on different paths, so the team must not be used any more.
 *
 * GBA_DUE_RECOVER: on another path after a device failure, a software barrier or the fallback. It
 * lasts until GBA_DUE_REQUEST if rank 0 has other devices; else it is permanent.
 *
 * GBA_DUE_REQUEST: on a group. A team without one requests it again from time to time, if the
 * reason was that no group was free, that the job held `max_groups` groups, the administrator's
 * quota, or `offload_after`; or if its device died, and rank 0 has others. Until then the team
 * stays on its path, for any number of barriers.
 *
 * GBA_DUE_TRIAL: on the fastest barrier. A team with a software barrier, or any team with `offload`
 * fastest, makes trials, if the parameters leave a choice: after `trial_after` barriers, and rarely
 * from then on, its members measure other software barriers, that of the runtime, and with
 * `offload` fastest those of the device, for some tens of barriers each, three times with
 * `trial_after` barriers between them. The call returns at once if a trial would cost more than a
 * hundredth of the time so far.
 *
 * team: in: NULL for GBA_DUE_CREATE; set on GBA_OK, the same team or the new one. due: of
 * gba_team_due. attr, oob: as for gba_team_create. Returns GBA_OK; GBA_ERR_NOMEM; GBA_ERR_OOB;
 * GBA_ERR_IO: a barrier of the trial failed; or any error of gba_runtime_t.fallback. One thread at
 * a time on a team. Collective over oob. Blocks.
 */
GBA_EXPORT gba_status_t gba_team_agree(gba_team_t **team, gba_due_t due,
                                       const gba_team_attr_t *attr, const gba_oob_t *oob);

/*
 * Count a barrier of the members that did not use the team, such as one on GBA_PATH_FALLBACK. All
 * members call it for each such barrier: for a blocking one before gba_barrier_end; for a
 * nonblocking one when it starts, or, if the runtime starts such barriers one after the other, when
 * it is complete. team: may be NULL. Only the thread that runs the team's barrier calls it. Not
 * collective. Never blocks. Sends nothing.
 */
GBA_EXPORT void gba_team_count(gba_team_t *team);

/*
 * Make the part of a blocking barrier that is fast: start, then wait. Returns GBA_OK: the barrier
 * is complete, and nothing is due; another status: gba_barrier_end completes the barrier, if that
 * is possible. One thread at a time on a team. Collective. Blocks. Release on entry, acquire on
 * return for GBA_OK.
 */
GBA_EXPORT gba_status_t gba_barrier_wait(gba_team_t *team);

/*
 * End a blocking barrier, by the functions of gba_runtime_t: make it on GBA_PATH_FALLBACK; if the
 * device has failed, notify the other members until the barrier is complete; agree on what is due
 * (gba_team_agree).
 * team: NULL: nothing is due. status: of gba_barrier_wait, or of a step. GBA_OK: the barrier is
 * complete. Returns GBA_OK; GBA_ERR_DEAD: the device has failed and `notify` is NULL;
 * GBA_ERR_UNSUPPORTED: the path is GBA_PATH_FALLBACK and `fallback` is NULL; GBA_ERR_IO: the
 * runtime lost a connection that a software barrier needs, or a function returned no status of
 * libgba; or any error of these functions or of the agreement. After an error this member makes no
 * further barrier of the team, see gba_team_leave. One thread at a time on a team. Collective:
 * members in the same barrier. Blocks. Acquire on GBA_OK.
 */
GBA_EXPORT gba_status_t gba_barrier_end(gba_team_t *team, gba_status_t status);

/*
 * Start a barrier in steps: arrive. For a team whose path is not GBA_PATH_FALLBACK. One barrier at
 * a time on a team; different teams are independent. gba_barrier_test and gba_barrier_progress
 * complete the barrier.
 * Returns GBA_OK; GBA_ERR_IO: as gba_barrier_progress. One thread at a time on a team. Collective:
 * all members take part in each barrier. Never blocks. Release, as gba_send_arrival.
 */
GBA_EXPORT gba_status_t gba_barrier_start(gba_team_t *team);

/*
 * Find out whether the barrier that gba_barrier_start began is complete.
 * Returns GBA_OK: all members have arrived, and again until the next start; GBA_INPROGRESS: call
 * gba_barrier_progress, then again; GBA_ERR_IO: as gba_barrier_progress. One thread at a time on a
 * team. Not collective: each member calls it at any time. Never blocks, and makes no system call,
 * unless the device has failed. Acquire on GBA_OK, as gba_poll_release.
 */
GBA_EXPORT gba_status_t gba_barrier_test(gba_team_t *team);

/*
 * Do what is too slow for gba_barrier_test. Call it every few microseconds, or less often, while
 * that returns GBA_INPROGRESS. It reads the clock, now and then (parameter `retry_after`) the
 * registers of the device, and repairs a lost arrival or release.
 * Returns GBA_INPROGRESS; GBA_OK: the barrier is complete; GBA_ERR_DEAD: the device has died, and
 * the team has no nonblocking barriers (gba_team_attr_t): gba_barrier_end completes the barrier;
 * GBA_ERR_IO: the runtime lost a connection that a software barrier needs. One thread at a time on
 * a team. Not collective. Never blocks. Acquire on GBA_OK, as gba_poll_release.
 */
GBA_EXPORT gba_status_t gba_barrier_progress(gba_team_t *team);

/* An agreement in progress. */
typedef struct gba_agreement gba_agreement_t;

/*
 * Start an agreement that does not block.
 * team: NULL for GBA_DUE_CREATE. due: GBA_DUE_CREATE, GBA_DUE_RECOVER or GBA_DUE_REQUEST, the same
 * on all members. attr, oob: as for gba_team_create, but they and oob->ctx live until the agreement
 * has ended. agreement: set on GBA_OK, for gba_agree_test, which posts the first exchange.
 * Returns GBA_OK or GBA_ERR_NOMEM. Thread-safe on different teams. Collective over oob. Never
 * blocks.
 */
GBA_EXPORT gba_status_t gba_agree_start(gba_team_t *team, gba_due_t due,
                                        const gba_team_attr_t *attr, const gba_oob_t *oob,
                                        gba_agreement_t **agreement);

/*
 * Advance an agreement. Call it until it does not return GBA_INPROGRESS; the agreement is freed
 * then. No barrier of the team is in progress.
 * team: set on GBA_OK, to the team of gba_agree_start or to the new one.
 * Returns GBA_OK (the path may be GBA_PATH_FALLBACK); GBA_INPROGRESS; GBA_ERR_OOB; GBA_ERR_NOMEM.
 * After an error the members may be on different paths: the team must not be used any more, and a
 * new one is not made. One thread at a time on an agreement. Collective over oob. Never blocks, if
 * the operations of oob do not.
 */
GBA_EXPORT gba_status_t gba_agree_test(gba_agreement_t *agreement, gba_team_t **team);

/* ---------------------------------------------------------------------------- predictions --- */

/* The most candidates of a prediction. */
#define GBA_PREDICTED_MAX 80

/* A path that a team could take. */
typedef struct gba_predicted {
    gba_path_t path;
    bool taken;          /* the team takes it: one of each prediction */
    gba_status_t reason; /* why the team cannot take it; GBA_OK: taken, or not tried */
    uint32_t culprit;    /* the rank that causes the reason, else 0 */
    uint64_t cost;       /* the expected time of a barrier, ns; 0: not known */
    char text[256];      /* one line: "sim: a group of 32, 8 members" */
    char words[128];     /* the reason and the culprit, one line; "" for GBA_OK */
} gba_predicted_t;

/* The path of a team, and the candidates in the order in which the members try them. */
typedef struct gba_prediction {
    gba_path_t path;
    char why[1152]; /* one line, as gba_team_why with other numbers of groups */
    uint32_t cores; /* of a host, by the description of the parameter cluster; 0: there is none */
    uint32_t count;
    gba_predicted_t candidates[GBA_PREDICTED_MAX];
} gba_prediction_t;

/*
 * Predict the path of a team without making it: the same decision as in gba_team_create, for equal
 * hosts with equal members, whose ranks are in blocks.
 * attr: of each member; `id` and the names are not used. Its device, if any, stands for that of
 * each host: a simulated device is another one on each host, and all hosts reach one real device.
 * If a description of the cluster is set, `oversubscribed` follows from its cores.
 * hosts, members: of the team, and on each host; at least 1, and at most 2^24 members altogether.
 * prediction: set on GBA_OK. The devices of attr->devices are candidates only if the first device
 * is not taken. Returns GBA_OK; GBA_ERR_PARAM: invalid hosts or members; GBA_ERR_NOMEM.
 * Thread-safe. Not collective. Requests no group.
 */
GBA_EXPORT gba_status_t gba_team_predict(const gba_team_attr_t *attr, uint32_t hosts,
                                         uint32_t members, gba_prediction_t *prediction);

/* --------------------------------- for hardware and threads that make a member's barriers --- */

/* What a library that makes the barriers of a member needs to know of it, see gba_team_own. */
typedef struct gba_team_own {
    char name[192];       /* for messages: "all: rank 3 on hosta" */
    uint64_t stuck_after; /* ns; 0: never */
    bool yields;          /* a thread that waits yields its CPU between two tests */
    uint64_t sleep_after; /* ns until it sleeps; 0: never */
    /* Why hardware beside the CPU cannot use the group of the team: a word about the path, or a
     * sentence; "": it can, with the next fields. */
    const char *indirect;
    void *doorbell;               /* as mapped here: a 64-bit register of the device */
    const void *flag;             /* the release flag, 64 bits in the byte order of the device */
    uint32_t member;              /* the low half of an arrival */
    uint32_t sequence;            /* of the last round */
    bool under_way;               /* that round has not ended, as far as gba_team_watch knows */
    const gba_runtime_t *runtime; /* of the team */
    const void *exchange;         /* gba_oob_t.ctx: the same for teams that share an exchange */
} gba_team_own_t;

/* Get what is known of this member. own: set; its pointers are valid until the path changes. Only
 * the thread that runs the team's barrier calls it. Not collective. Never blocks. */
GBA_EXPORT void gba_team_own(const gba_team_t *team, gba_team_own_t *own);

/* Hold a team for hardware or a thread that makes its barriers: gba_team_destroy then refuses. by:
 * 1: one holder more; -1: one less; 0: none. Returns the holders. Thread-safe. Not collective. */
GBA_EXPORT uint32_t gba_team_hold(gba_team_t *team, int by);

/* Make no further barrier of a team, such as after giving up in one, which the other members count:
 * gba_barrier_start and gba_barrier_wait return GBA_ERR_STALE. Only the thread that runs the team's
 * barrier calls it. Not collective. */
GBA_EXPORT void gba_team_leave(gba_team_t *team);

/* Whether this member has left the team (gba_team_leave). Returns that. Thread-safe. Not
 * collective. */
GBA_EXPORT bool gba_team_has_left(const gba_team_t *team);

/*
 * Watch a member whose hardware makes the barriers, of a team with gba_team_own_t.doorbell: count
 * its rounds, and report a stalled round, as barriers of the CPU do. The hardware repeats an
 * arrival that may be lost. Call it some times in a second. Returns GBA_OK; GBA_INPROGRESS: the
 * registers cannot be read now; GBA_ERR_DEAD: no further round ends; GBA_ERR_STALE. Only the thread
 * that runs the team's barrier calls it. Not collective. Makes a system call.
 */
GBA_EXPORT gba_status_t gba_team_watch(gba_team_t *team);

#ifdef __cplusplus
}
#endif

#endif
