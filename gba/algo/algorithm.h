/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A software barrier algorithm: a table of steps over a transport (gba/transport/transport.h).
 *
 * start sends the arrival. test advances as far as the received signals allow. Neither blocks.
 * Between two calls only the transport moves data. A member that does not call test can delay the
 * other members: dissemination, radix and tree send later signals from test.
 */
#ifndef GBA_ALGO_ALGORITHM_H
#define GBA_ALGO_ALGORITHM_H

#include "gba/gba.h"
#include "gba/transport/transport.h"
#include "gba/algo/sched.h"

/*
 * The state of one member, owned by the caller. It fills half a cache line, so that the fast path
 * of a team touches one or two lines.
 */
struct gba_algo_state {
    uint32_t rank, size; /* this member, 0 to size - 1; size 1 to GBA_SCHED_SIZE_MAX */
    uint32_t radix;      /* radix, tree (its degree): GBA_RADIX_MIN to GBA_RADIX_MAX */
    uint32_t seq;        /* the sequence of the current barrier, or of the last one */
    uint32_t distance;   /* dissemination, radix: radix^round; at or above size: complete */
    uint32_t slot;       /* dissemination, radix: the first slot of the current round; tree: the
                            release slot of this member */
    uint32_t seen;  /* radix: signals received in this round; central: members seen, own included;
                       tree: children that have signalled; above lanes: complete */
    uint32_t lanes; /* radix: signals to receive in this round; tree: number of children */
};

struct gba_algorithm {
    const char *name;   /* "dissemination" */
    const char *source; /* its name in the source library: " (v1)"; "": it has none */
    bool by_radix;      /* each radix is a barrier of its own, with the radix in its name */
    bool pulls;         /* needs gba_transport_ops.peek */
    bool tree;          /* a member signals only after its subtree */

    const struct gba_schedule *schedule; /* never NULL */

    /*
     * Arrive at the barrier `seq`: the last sequence + 1 (unsigned, wraps). test must have returned
     * GBA_OK for the last one.
     * Returns GBA_OK or GBA_ERR_IO. Not thread-safe on one member. Release.
     */
    gba_status_t (*start)(struct gba_algo_state *algo, struct gba_transport *transport,
                          uint32_t seq);

    /*
     * Returns GBA_OK when all members have arrived and all signals of this member have left its
     * process, and again on every further call; GBA_INPROGRESS; or GBA_ERR_IO. Not thread-safe on
     * one member. Acquire on GBA_OK.
     */
    gba_status_t (*test)(struct gba_algo_state *algo, struct gba_transport *transport);

    /*
     * The slot that test reads next while it returns GBA_INPROGRESS: of this member, or, of an
     * algorithm that pulls, of member gba_sched_peer(rank, seen, size).
     */
    uint32_t (*awaited)(const struct gba_algo_state *algo);

    /*
     * start, then test up to `spins` times (1 or more) with a pause between two tests: the fast
     * path of a blocking caller in one call. NULL: the transport gains nothing from it. Returns as
     * test.
     */
    gba_status_t (*attempt)(struct gba_algo_state *algo, struct gba_transport *transport,
                            uint32_t seq, uint32_t spins);
};

/* The algorithms over any transport, by gba_algorithm_choice_t; AUTO has none. steps.h has a row
 * for each. */
extern const struct gba_algorithm gba_algorithms[];

/* Initialise a member before its first barrier. The caller checks the ranges. */
static inline void gba_algo_init(struct gba_algo_state *algo, uint32_t rank, uint32_t size,
                                 uint32_t radix, uint32_t sequence)
{
    *algo = (struct gba_algo_state){.rank = rank,
                                    .size = size,
                                    .radix = radix,
                                    .seq = sequence,
                                    .distance = size,
                                    .seen = size};
}

#endif
