/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The failover of a team: the interface of failover.c to the other parts of the engine. failover.c
 * has the states and the transitions between them; failover.md has the argument for both.
 */
#ifndef GBA_FAILOVER_H
#define GBA_FAILOVER_H

#include "gba/failover/engine.h"

typedef enum gba_failover_state {
    GBA_FAILOVER_NONE,      /* the team has no device */
    GBA_FAILOVER_RUNNING,   /* the device completes the rounds */
    GBA_FAILOVER_FAILED,    /* the device has failed; the last round began before that was known */
    GBA_FAILOVER_BYPASSING, /* rounds begin without an arrival at the failed device */
    GBA_FAILOVER_DEGRADED,  /* rounds run over messages, until the members agree on another path */
    GBA_FAILOVER_STATES
} gba_failover_state_t;

/* Bytes of a team with `size` members. */
static inline size_t gba_team_bytes(uint32_t size)
{
    return sizeof(struct gba_team) + size * sizeof(struct gba_fact);
}

/*
 * Accept notifications for this team from now on. Called before the members exchange handles of a
 * group. So when a member has a device path and finds the device failed, the team of every other
 * member is registered, or has ended. A registration ends an earlier one of the team. id: of rank
 * 0's terms, another one in each agreement. By one thread of the team; thread-safe on different
 * teams.
 */
void gba_failover_register(struct gba_team *team, uint64_t id);

/* The team leaves its device, or ends. Does nothing if the team has no device. By the thread that
 * runs the team's barrier; thread-safe on different teams. */
void gba_failover_close(struct gba_team *team);

/*
 * Set the bound of the fast path, team->attention_at, to `rounds`, or to 0 if the device has failed
 * for this team. A failure from then on sets it to 0. Orders nothing. By the thread that runs the
 * team's barrier; thread-safe on different teams.
 */
void gba_failover_attend(struct gba_team *team, uint64_t rounds);

/* The current state. Another thread may change RUNNING to FAILED at any time. Orders nothing. */
gba_failover_state_t gba_failover_state(const struct gba_team *team);

/*
 * Degraded mode: the barriers of a team whose device has failed, by dissemination over messages,
 * until its members agree on another path. They do so at the end of a blocking barrier, or, if the
 * runtime can, before a nonblocking one. A round by notifications costs several times the messages
 * of a barrier (facts.h), so it is for the rounds of the failure only.
 * open: prepare it, if attr requests it (`nonblocking`) and it is not ready. Not collective; sends
 * nothing. Returns GBA_OK, or as gba_message_barrier_open. On an error of one member no member may
 * take the device.
 * ready: whether it is, the same on all members.
 */
gba_status_t gba_degraded_open(struct gba_team *team, const gba_team_attr_t *attr);
static inline bool gba_degraded_ready(const struct gba_team *team)
{
    return team->degraded.transport != NULL;
}
static inline void gba_degraded_close(struct gba_team *team)
{
    gba_message_barrier_close(&team->degraded);
}

/* Whether the device has failed for this team. Orders nothing. */
static inline bool gba_failover_failed(const struct gba_team *team)
{
    return gba_failover_state(team) >= GBA_FAILOVER_FAILED;
}

/* Whether all members know that they leave the failed device: they agree on another path between
 * the barrier that has just completed and the next one. The same on all members. By the thread that
 * runs the team's barrier. */
bool gba_failover_leaves(const struct gba_team *team);

/*
 * By the thread that runs the team's barrier, of a team with a device:
 * fail: this member has found that the device has failed.
 * start, test: as gba_barrier_start and gba_barrier_test, of a team whose device has failed.
 * Acquire on GBA_OK of test. GBA_ERR_IO: the runtime lost a connection.
 */
void gba_failover_fail(struct gba_team *team);
gba_status_t gba_failover_start(struct gba_team *team);
gba_status_t gba_failover_test(struct gba_team *team);

/* The round of a failed team lasts: notify one more member. By the thread that runs the team's
 * barrier. */
void gba_failover_widen(struct gba_team *team);

/* Whether a member of a failed team has arrived in the current round, as far as notifications show
 * this member. UNKNOWN: it would not have notified this member. By the thread that runs the team's
 * barrier. */
enum gba_arrived gba_failover_arrived(const struct gba_team *team, uint32_t member);

#endif
