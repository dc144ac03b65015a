/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a software barrier is to the engine: steps over a transport (signal_ops.h).
 *
 * start arrives, test goes on as far as it can. Both return at once. Between them nothing of the
 * barrier is in motion but what the transport carries; a member that does not call test may hold up
 * the others (v1, v2: it passes on what it heard only in test).
 */
#ifndef GBA_SOFT_ALGORITHM_H
#define GBA_SOFT_ALGORITHM_H

#include "gba/gba.h"
#include "gba/signal/signal_ops.h"
#include "gba/soft/sched.h"

/*
 * One member's place in the barrier, kept by the caller; half a line, so that the fast path of a
 * team stays in one or two.
 */
struct gba_soft {
    uint32_t rank, size; /* this member, 0 to size - 1; size 1 to GBA_SCHED_SIZE_MAX */
    uint32_t radix;      /* v2 only: GBA_RADIX_MIN to GBA_RADIX_MAX */
    uint32_t seq;        /* the barrier under way, or the last one */
    uint32_t distance;   /* v1, v2: radix^round; at or above size: complete */
    uint32_t slot;       /* v1, v2: the first slot of the round */
    uint32_t seen;       /* v2: lanes heard in this round; v3: members heard, this one included */
    uint32_t lanes;      /* v2: lanes of this round */
};

struct gba_algorithm {
    const char *name; /* "v1", "v2", "v3" */
    bool pulls;       /* needs signal_ops.peek */

    /* Slots that each member must have, the same for all. Thread-safe. */
    uint32_t (*slots)(uint32_t size, uint32_t radix);

    /*
     * Arrive at round `seq`, which is the last one + 1 (unsigned, wraps). The last one must have
     * been tested to its end.
     * Returns GBA_OK or GBA_ERR_IO. Not thread-safe on one member. Release.
     */
    gba_status_t (*start)(struct gba_soft *soft, struct gba_signals *signals, uint32_t seq);

    /*
     * Returns GBA_OK when all members have arrived (and again if called again), GBA_INPROGRESS, or
     * GBA_ERR_IO. Not thread-safe on one member. Acquire on GBA_OK.
     */
    gba_status_t (*test)(struct gba_soft *soft, struct gba_signals *signals);

    /*
     * start, and then test up to `looks` times (1 or more) with a pause between them: the fast path
     * of a waiter in one call. NULL: not worth one on this transport. Returns as test.
     */
    gba_status_t (*attempt)(struct gba_soft *soft, struct gba_signals *signals, uint32_t seq,
                            uint32_t looks);
};

extern const struct gba_algorithm gba_soft_dissemination; /* v1 */
extern const struct gba_algorithm gba_soft_radix;         /* v2 */
extern const struct gba_algorithm gba_soft_central;       /* v3 */

/* Set up a member before its first barrier. The ranges are the caller's to check. */
static inline void gba_soft_init(struct gba_soft *soft, uint32_t rank, uint32_t size,
                                 uint32_t radix, uint32_t sequence)
{
    *soft = (struct gba_soft){.rank = rank,
                              .size = size,
                              .radix = radix,
                              .seq = sequence,
                              .distance = size,
                              .seen = size};
}

#endif
