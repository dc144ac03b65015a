/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stalled barriers: the missing members, and where they are. A process has a status page if its
 * runtime makes one: memory which other processes of its user on the same host can read, and which
 * ends with it. It says in which barriers the process has waited for a tenth of a second. The
 * reports of stalled barriers and gba_info --jobs read these pages.
 */
#ifndef GBA_STALL_H
#define GBA_STALL_H

#include "gba/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBA_WHERE_NAME 64u
#define GBA_WHERE_MOST 20u /* places of a process: the page has 4096 bytes */

/* What a process does at a place. */
typedef enum gba_where_kind {
    GBA_WHERE_NONE = 0,
    GBA_WHERE_BARRIER = 1,     /* it waits in a barrier */
    GBA_WHERE_NONBLOCKING = 2, /* it has begun a barrier, which is not complete */
    GBA_WHERE_CALL = 3, /* it is in another call: name is the call, its communicator and call site;
                           id is a hash of name; number is 0 */
    GBA_WHERE_AGREEMENT = 4 /* it waits in an agreement on the path, before this barrier */
} gba_where_kind_t;

/* A place where a process is. */
typedef struct gba_where {
    uint64_t id;     /* of the communicator, the same on all members in the job; 0: unknown */
    uint64_t number; /* of the barrier, from 1; 0: none */
    uint64_t since;  /* CLOCK_MONOTONIC, ns: when it began; of the last place: when it ended */
    uint64_t kind;   /* gba_where_kind_t */
    char name[GBA_WHERE_NAME]; /* of the communicator */
} gba_where_t;

/* What the status page of a process says. */
typedef struct gba_where_process {
    char job[64];       /* the name that its launcher gave the job, or its end */
    char program[16];   /* the first letters of its name */
    uint32_t rank;      /* in the job; UINT32_MAX: unknown */
    uint32_t pid, user; /* as the reader sees them */
    uint32_t count;     /* of places */
    uint64_t looked;    /* CLOCK_MONOTONIC, ns: when it has looked last at its places */
    gba_where_t last;   /* the last complete barrier or agreement; GBA_WHERE_NONE: none */
    gba_where_t places[GBA_WHERE_MOST]; /* barriers, then other calls */
} gba_where_process_t;

/*
 * Make the status page of this process, unless it has one. Where that is not possible, other
 * processes do not see where this one is; that is no error. job: the same text for all processes of
 * the job, and another one than that of any other job of this user; copied. rank: 0 to UINT32_MAX -
 * 1. Thread-safe. Not collective.
 */
GBA_EXPORT void gba_where_join(const char *job, uint32_t rank);

/* The job and rank on the status page of this process. rank: set, if it has one. Returns the job,
 * which lives as long as the process; NULL: it has no page. Thread-safe. Not collective. */
GBA_EXPORT const char *gba_where_own(uint32_t *rank);

/*
 * Say that this process is at a place. place: copied. Returns the number of the place for
 * gba_where_leave; -1: the process has no page, or GBA_WHERE_MOST places. Thread-safe: each thread
 * may be at several places. Not collective. Takes a lock.
 */
GBA_EXPORT int gba_where_enter(const gba_where_t *place);

/* Say that this process has left a place. number: of gba_where_enter; -1 is allowed. Thread-safe.
 * Not collective. Takes a lock. */
GBA_EXPORT void gba_where_leave(int number);

/*
 * Read the status pages of this host that this process may read: those of its user, or all of them
 * as root. job: those of this job only; NULL: of all jobs. ctx: passed to take. take: called with
 * each process, whose memory ends with the call, until it returns another status than
 * GBA_INPROGRESS. Returns its last status; GBA_INPROGRESS: the end of the list; GBA_ERR_NO_FILES,
 * GBA_ERR_NOMEM or GBA_ERR_IO: the list cannot be read. Thread-safe. Not collective. Makes some
 * system calls for each process.
 */
GBA_EXPORT gba_status_t gba_where_read(const char *job,
                                       gba_status_t (*take)(void *ctx,
                                                            const gba_where_process_t *process),
                                       void *ctx);

/*
 * Say in words where a process is: "waits in barrier 2 of work for 6 s", "is in MPI_Recv on work,
 * s.c+0x11f9 for 6 s", or "waits in no barrier; it has waited last in barrier 17 of MPI_COMM_WORLD,
 * until 61 s ago". process: of gba_where_read. text, len: set, len bytes at most, terminated.
 * Thread-safe. Not collective.
 */
GBA_EXPORT void gba_where_text(const gba_where_process_t *process, char *text, size_t len);

/* A barrier that may stall, as one member sees it; all zero: none. */
typedef struct gba_stall {
    gba_where_t place;
    uint64_t looked; /* the last look, to a tenth of a second, ns */
    uint64_t due;    /* the next report, ns; UINT64_MAX: none */
    uint64_t end;    /* when the job ends, if the barrier has not, ns; UINT64_MAX: never */
    int number;      /* of the place, plus 1; 0: not yet; -1: it has none */
    bool reported;
    bool all; /* at the last due report of gba_stall_watch all members had arrived */
} gba_stall_t;

/*
 * Begin to watch a barrier. stall: set. number: of the barrier, from 1. after: ns from now to the
 * first report; 0: no report. end: ns from now to gba_stall_ends; 0: never. now: CLOCK_MONOTONIC,
 * ns. Thread-safe on different stalls. Not collective.
 */
GBA_EXPORT void gba_stall_begin(gba_stall_t *stall, uint64_t number, uint64_t after, uint64_t end,
                                uint64_t now);

/*
 * Look at a watched barrier, which has not ended. A report is due at gba_stall_t.due, and then each
 * time that it has waited twice as long. Seconds without a look do not count: a process that is
 * stopped does not wait. now: ns. name: called once, when the barrier has become
 * long, to set id, kind and name of the place, which the status page then shows; NULL: the page
 * does not show this barrier. ctx: passed to name. Returns whether a report is due. Thread-safe on
 * different stalls. Not collective.
 */
GBA_EXPORT bool gba_stall_look(gba_stall_t *stall, uint64_t now,
                               void (*name)(void *ctx, gba_where_t *place), void *ctx);

/* Show a watched barrier on the status page now, before it has become long. name, ctx: as for
 * gba_stall_look. Thread-safe on different stalls. Not collective. */
GBA_EXPORT void gba_stall_show(gba_stall_t *stall, void (*name)(void *ctx, gba_where_t *place),
                               void *ctx);

/* Whether the job has to end, because a watched barrier has not. The member that has reported the
 * stall is the first to learn it. now: ns. Returns that. Thread-safe on different stalls. Not
 * collective. */
GBA_EXPORT bool gba_stall_ends(const gba_stall_t *stall, uint64_t now);

/* The barrier has ended, or is not watched any more. Logs it if this member has reported the stall.
 * name: for the message. complete: all members have arrived, as far as this one knows. now: ns.
 * Thread-safe on different stalls. Not collective. */
GBA_EXPORT void gba_stall_end(gba_stall_t *stall, const char *name, bool complete, uint64_t now);

/* Whether a member has arrived in the current round, as far as another member can see. */
typedef enum gba_arrived { GBA_ARRIVED_NO, GBA_ARRIVED_YES, GBA_ARRIVED_UNKNOWN } gba_arrived_t;

/* What a member knows of a stalled barrier. */
typedef struct gba_stall_view {
    const char *name; /* of the team, for the message */
    const char *path; /* "software", or what it waits for */
    const char *of;   /* what its members are: "members", "cores" */
    void *ctx;        /* passed to the functions */
    uint32_t size, rank;
    /* Whether a member has arrived. NULL: only the status pages know. */
    gba_arrived_t (*arrived)(void *ctx, uint32_t member);
    /* Print the name of a member: "rank 3 on hostb". */
    void (*name_member)(void *ctx, uint32_t member, char *text, size_t len);
    /* The job, for the status pages; NULL: the members are no processes of one job. And the rank of
     * a member in it, UINT32_MAX if it is of another job; NULL: the same number. */
    const char *job;
    uint32_t (*process)(void *ctx, uint32_t member);
} gba_stall_view_t;

/* What is seen of a stalled barrier. */
typedef struct gba_stall_seen {
    uint32_t arrived, unknown, missing;
    /* The member that reports, of those that see the same: the lowest that has arrived; if only the
     * status pages know, the one that has waited longest. Its process must not be stopped, as far
     * as its status page shows. The size: none. */
    uint32_t first;
    /* Likewise, of those whose status pages this member can read: it knows where the missing
     * members are that first cannot see. */
    uint32_t local;
    bool next;       /* the next member in the ring is missing */
    char names[640]; /* of missing members; the caller may change it */
} gba_stall_seen_t;

/* Find the missing members. stall: watched. view: its functions are called. seen: set. Thread-safe
 * on different stalls. Not collective. Reads the status pages of the host if there is a job. */
GBA_EXPORT void gba_stall_see(const gba_stall_t *stall, const gba_stall_view_t *view,
                              gba_stall_seen_t *seen);

/*
 * Report a stalled barrier in the log: one line, and one for each place of missing members on this
 * host, for which it reads the status pages. So of the members that see the same, only one calls
 * this. stall: as of gba_stall_see. view, seen: likewise. note: the end of the line, or "". now:
 * ns. Thread-safe on different stalls. Not collective.
 */
GBA_EXPORT void gba_stall_report(gba_stall_t *stall, const gba_stall_view_t *view,
                                 const gba_stall_seen_t *seen, const char *note, uint64_t now);

/*
 * Look at a watched barrier, as gba_stall_look does. Report the stall when that is due, unless
 * another member does it. Only the status pages say which members have arrived. If all have
 * arrived, the barrier may be about to end. The first report then comes a second later.
 * stall: watched. view: its ctx is also passed to name. name: as for gba_stall_look. now: ns.
 * Thread-safe on different stalls. Not collective.
 */
GBA_EXPORT void gba_stall_watch(gba_stall_t *stall, const gba_stall_view_t *view,
                                void (*name)(void *ctx, gba_where_t *place), uint64_t now);

/* Only the lines for the places, on a host whose members cannot be seen by the one that reports;
 * none if there is no job. They are of missing members, or, if none is missing, of those that have
 * arrived and do not look. stall, view: as of gba_stall_see. Thread-safe on different stalls. Not
 * collective. */
GBA_EXPORT void gba_stall_places(const gba_stall_t *stall, const gba_stall_view_t *view);

#ifdef __cplusplus
}
#endif

#endif
