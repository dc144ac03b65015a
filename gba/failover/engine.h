/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The team: the state that the parts of the engine share. The header of each part describes what
 * that part does with a team.
 */
#ifndef GBA_FAILOVER_ENGINE_H
#define GBA_FAILOVER_ENGINE_H

#include <stdio.h>

#include "gba/failover/facts.h"
#include "gba/gba.h"
#include "gba/path/busy.h"
#include "gba/path/message_barrier.h"
#include "gba/path/path.h"
#include "gba/path/retry.h"
#include "gba/path/shape.h"
#include "gba/stall.h"

/* The failover of a team, of failover.c alone. The words of `id` and of the list of registered
 * teams are under its lock. */
struct gba_failover {
    uint64_t id;
    gba_word_t state;       /* gba_failover_state_t; written under the lock, read without it */
    struct gba_team *next;  /* in the list */
    struct gba_team **link; /* the word there that points to this team; NULL: not registered */
    struct gba_facts facts; /* with those of [size] members */
};

/* A team. In one allocation with its failover, so that no later agreement can lack memory. */
struct gba_team {
    /* The fast path, in about one cache line. Arrive on the path, then test up to path->spins
     * times. Set by gba_barrier_init. */
    gba_status_t (*attempt)(struct gba_path_base *path);
    struct gba_path_base *path; /* NULL on GBA_PATH_FALLBACK */
    gba_word_t rounds; /* completed; written by this member, read by other threads (failover) */
    /* Rounds at which the fast path has more to do than to count, see gba_team_attention; 0 once
     * the device has failed, which any thread may store. See gba_failover_attend. */
    gba_word_t attention_at;
    bool under_way; /* a round is started and not counted; not set during an attempt */

    uint32_t size, rank;
    struct {
        gba_word_t holders;   /* see gba_team_hold */
        const void *exchange; /* gba_oob_t.ctx of gba_team_create */
        bool stepped;         /* a barrier has been started by gba_barrier_start */
        bool steps;           /* the current one, if it is long */
        gba_word_t left;      /* 1: this member makes no further barrier */
    } use;
    gba_path_t kind;
    gba_status_t reason; /* why that kind */
    struct {
        int mode; /* gba_wait_t */
        bool oversubscribed;
        struct gba_busy busy; /* of this member's core */
        uint64_t served; /* when the runtime last served another process in a wait, ns; 0: never */
    } waiting;
    gba_runtime_t runtime;
    gba_team_stats_t stats; /* without the rounds */

    struct {
        uint64_t before;       /* barriers of the members before the team */
        uint64_t round;        /* the watched round, counted from 1 */
        gba_stall_t stall;     /* of it, since its first check */
        uint64_t report_after; /* ns; 0: never */
        uint64_t abort_after;  /* likewise, see gba_runtime_t.abort */
        uint64_t widen_due; /* of a failed team: when to notify one more member; 0: not yet set */
        uint64_t deadline;  /* of the barriers of a trial, ns; 0: none */
        struct gba_retry retry; /* when to read the registers */
        bool watched;           /* this round: set at its first check, cleared at its end */
        bool inspect_failed;    /* the failed check has been logged */
        bool died;              /* a member of the group has died */
        bool deaths_fail;       /* a round fails in which a member of the group has died */
    } watchdog;

    struct {               /* see agree/schedule.c */
        uint64_t due;      /* barriers at which members renegotiate; UINT64_MAX: never */
        uint64_t backoff;  /* rank 0: barriers until the next renegotiation */
        bool multi_device; /* rank 0 has several devices */
    } renegotiation;

    struct {
        gba_status_t status; /* why this member gave up the group; GBA_OK: it did not */
        uint64_t round;      /* of that failure, counted from 1 */
    } failure;
    struct gba_message_barrier degraded; /* not opened: there is no degraded mode */

    struct {            /* the measurement of other barriers; see trial_run.c */
        uint64_t due;   /* barriers at which the next trial is due; 0: never */
        uint64_t after; /* rank 0's trial_after; 0: never */
        uint64_t pause; /* barriers from the last trial, or the choice, to the next trial */
        uint64_t began; /* time of the last trial, or of the choice of the path, ns */
        uint64_t began_barriers;  /* barriers at that time */
        uint64_t cost;            /* of the last trial, ns; 0: none yet */
        struct gba_choice choice; /* the current barrier */
        bool is_short;            /* the next trial is one of trial_short.c */
    } trial;

    uint64_t epoch;                  /* of the path that the members try; the same on all */
    uint64_t fallback_barriers;      /* barriers of the members that did not use the team */
    struct gba_agreement *agreement; /* in the allocation of the team, see agree/agree.c */
    uint32_t culprit;                /* the member that caused the reason */
    char name[64];
    struct {                /* for gba_team_why */
        char path[224];     /* the path without a group */
        char no_group[448]; /* why there is no group */
        char measured[448]; /* the figures of the last trial, or "" */
        char why[1152];
    } words;
    struct gba_failover failover; /* the last field: the facts of the members are behind it */
};

/* The name of a member for the user: "rank 3 on hostb", or "member 3". */
static inline void gba_team_member(const struct gba_team *team, uint32_t member, char *text,
                                   size_t len)
{
    if (team->runtime.name_member != NULL)
        team->runtime.name_member(team->runtime.ctx, member, text, len);
    else
        snprintf(text, len, "member %u", member);
}

static inline uint64_t gba_team_rounds(const struct gba_team *team)
{
    return gba_word_load_relaxed(&team->rounds);
}

/* The barriers of the team, the same on all members at the end of a blocking barrier
 * (agree/schedule.c). */
static inline uint64_t gba_team_barriers(const struct gba_team *team)
{
    return gba_team_rounds(team) + team->fallback_barriers;
}

/* Whether a renegotiation or a trial is due. */
static inline bool gba_team_attends(const struct gba_team *team)
{
    const uint64_t barriers = gba_team_barriers(team);

    return barriers >= team->renegotiation.due ||
           (0 != team->trial.due && barriers >= team->trial.due);
}

/* The rounds at which gba_team_attends becomes true, if no barrier takes the fallback; UINT64_MAX:
 * never. */
static inline uint64_t gba_team_attention(const struct gba_team *team)
{
    uint64_t at = team->renegotiation.due;

    if (0 != team->trial.due && team->trial.due < at)
        at = team->trial.due;
    if (UINT64_MAX == at)
        return at;
    return at > team->fallback_barriers ? at - team->fallback_barriers : 0;
}

/* Count one more completed round. Returns the new number. */
static inline uint64_t gba_team_complete(struct gba_team *team)
{
    uint64_t rounds = gba_team_rounds(team) + 1;

    /* Release: pairs with gba_notification_answer in another thread. That thread answers another
     * member that all members have arrived. What the members wrote before their arrivals is visible
     * to this member, and so becomes visible to the receiver of the answer. */
    gba_word_store_release(&team->rounds, rounds);
    return rounds;
}

#endif
