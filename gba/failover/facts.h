/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a member knows of the rounds of a failed device, and which notifications it owes. Pure: no
 * lock, no clock, no I/O. failover.c decides when a round is in progress; failover.md has the
 * argument.
 *
 * In each round a member sends each neighbour at most one "arrived" and one "completed", and its
 * parent in the tree one more "arrived", for its whole subtree. With d neighbours a round of N
 * members takes at most 2 d N + N - 1 notifications: 1 + 4 ceil(log2 N) for each member.
 * In a round that lasts a member also notifies further members, one at a time (gba_facts_widen).
 */
#ifndef GBA_FAILOVER_FACTS_H
#define GBA_FAILOVER_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "gba/path/path.h"
#include "gba/runtime.h"

/* Of another member: */
struct gba_fact {
    uint64_t arrived; /* the last round at which it is known to have arrived */
    uint64_t sent;    /* the last round for which "completed" was sent to it */
};

struct gba_facts {
    uint32_t rank, size;
    uint64_t first_bypassed; /* UINT64_MAX: none is known */
    uint64_t completed;      /* the last round that a notification states to be complete */
    /* The notifications that are being sent: of which round, of which kind, and how far among the
     * neighbours and the extra peers. */
    uint64_t sending_round;
    bool sending_completed;
    uint32_t neighbour_cursor, extra_cursor;
    uint32_t further_allowed;  /* members behind this one that may be notified, ... */
    uint32_t further_passed;   /* ... of which so many are notified or are neighbours */
    uint64_t subtree_sent;     /* the last round of which the parent knows the whole subtree */
    struct gba_fact members[]; /* [size] */
};

static inline size_t gba_facts_bytes(uint32_t size)
{
    return sizeof(struct gba_facts) + size * sizeof(struct gba_fact);
}

/* Initialise gba_facts_bytes(size) bytes. */
void gba_facts_init(struct gba_facts *facts, uint32_t rank, uint32_t size);

/* This member begins `round` and does not arrive at the device. */
void gba_facts_bypass(struct gba_facts *facts, uint64_t round);

/* Whether notifications state that all other members have arrived at `round`. */
bool gba_facts_complete(const struct gba_facts *facts, uint64_t round);

/* Whether another member has arrived at `round`. UNKNOWN: this member receives no notification from
 * it, because it is no neighbour. */
enum gba_arrived gba_facts_arrived(const struct gba_facts *facts, uint32_t member, uint64_t round);

/* Store a received notification. Returns GBA_OK or GBA_ERR_PARAM. */
gba_status_t gba_facts_take(struct gba_facts *facts, const gba_notification_t *notification);

/* Whether "completed" must be sent to a member that has sent "arrived" for this round, which is
 * complete here. Records it as sent. */
bool gba_facts_answer(struct gba_facts *facts, uint32_t member, uint64_t round);

/* The round lasts: notify one more member, which is not a neighbour. */
void gba_facts_widen(struct gba_facts *facts);

/*
 * The next notification that this member owes: "completed" for `round`, or "arrived", because it is
 * in `round`. extra: more neighbours. Fills in all but the team. Records it as sent. *to: receives
 * the member to send it to. Returns GBA_OK or GBA_ERR_BUSY: none.
 */
gba_status_t gba_facts_next(struct gba_facts *facts, uint64_t round, bool completed,
                            const struct gba_extra_peers *extra, gba_notification_t *notification,
                            uint32_t *to);

#endif
