/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of v1, v2 and v3, once. Each takes the transport's table as an argument: with a table
 * from memory it is the general algorithm (dissemination.c, radix.c, central.c); with a constant
 * table whose functions are in sight (signal/shm.c) the compiler puts them in place, and v1 of two
 * members is one store and one load.
 *
 * All are declared in algorithm.h: start, test, their return values and their ordering.
 */
#ifndef GBA_SOFT_STEPS_H
#define GBA_SOFT_STEPS_H

#include "gba/soft/algorithm.h"
#include "gba/spec/gba_regs.h"

#define GBA_STEP static inline __attribute__((always_inline))

/* ------------------------------------------------------------------ v1, dissemination, push --- */

GBA_STEP gba_status_t gba_dissemination_start_on(const struct gba_signal_ops *ops,
                                                 struct gba_soft *soft, struct gba_signals *signals,
                                                 uint32_t seq)
{
    soft->seq = seq;
    soft->distance = 1;
    soft->slot = 0;
    if (soft->size == 1)
        return GBA_OK;
    return ops->set(signals, gba_sched_peer(soft->rank, 1, soft->size), 0, seq);
}

GBA_STEP gba_status_t gba_dissemination_test_on(const struct gba_signal_ops *ops,
                                                struct gba_soft *soft, struct gba_signals *signals)
{
    while (soft->distance < soft->size) {
        uint32_t word = ops->mine(signals, soft->slot, gba_signal_parity(soft->seq));
        gba_status_t status;

        /* "Reached", not "equals": with one word for both parities the peer may be a round ahead.
         */
        if (!GBA_SEQ_REACHED(word, soft->seq))
            return GBA_INPROGRESS;
        soft->distance *= 2;
        soft->slot++;
        if (soft->distance >= soft->size)
            break;
        /* The acquire above and the release here make what others told me part of what I tell. */
        status = ops->set(signals, gba_sched_peer(soft->rank, soft->distance, soft->size),
                          soft->slot, soft->seq);
        if (status != GBA_OK)
            return status;
    }
    return GBA_OK;
}

/* ---------------------------------------------------------- v2, radix-k dissemination, push --- */

/* Send all signals of the round that begins, if there is one. */
GBA_STEP gba_status_t gba_radix_round_on(const struct gba_signal_ops *ops, struct gba_soft *soft,
                                         struct gba_signals *signals)
{
    uint32_t far = 0;

    soft->seen = 0;
    soft->lanes = gba_sched_lanes(soft->distance, soft->size, soft->radix);
    for (uint32_t lane = 0; lane < soft->lanes; lane++) {
        far += soft->distance;
        gba_status_t status = ops->set(signals, gba_sched_peer(soft->rank, far, soft->size),
                                       soft->slot + lane, soft->seq);

        if (status != GBA_OK)
            return status;
    }
    return GBA_OK;
}

GBA_STEP gba_status_t gba_radix_start_on(const struct gba_signal_ops *ops, struct gba_soft *soft,
                                         struct gba_signals *signals, uint32_t seq)
{
    soft->seq = seq;
    soft->distance = 1;
    soft->slot = 0;
    return gba_radix_round_on(ops, soft, signals);
}

GBA_STEP gba_status_t gba_radix_test_on(const struct gba_signal_ops *ops, struct gba_soft *soft,
                                        struct gba_signals *signals)
{
    while (soft->distance < soft->size) {
        /*
         * The whole round, before anything of the next: a signal of the next round vouches for all
         * lanes of this one. A lane that went on by itself would let members out too early.
         */
        while (soft->seen < soft->lanes) {
            uint32_t word =
                ops->mine(signals, soft->slot + soft->seen, gba_signal_parity(soft->seq));

            if (!GBA_SEQ_REACHED(word, soft->seq))
                return GBA_INPROGRESS;
            soft->seen++;
        }
        soft->distance *= soft->radix;
        soft->slot += soft->lanes;
        gba_status_t status = gba_radix_round_on(ops, soft, signals);
        if (status != GBA_OK)
            return status;
    }
    return GBA_OK;
}

/* ---------------------------------------------------------------- v3, centralized, pull ------- */

GBA_STEP gba_status_t gba_central_start_on(const struct gba_signal_ops *ops, struct gba_soft *soft,
                                           struct gba_signals *signals, uint32_t seq)
{
    soft->seq = seq;
    soft->seen = 1;
    if (soft->size == 1)
        return GBA_OK; /* nobody reads it, so nothing would keep its sets apart */
    /*
     * Before the first read, never after: two members that each wait for the other's flag before
     * they set their own wait for ever. The flag is never reset either: a slow reader would miss
     * it.
     */
    return ops->set(signals, soft->rank, 0, seq);
}

GBA_STEP gba_status_t gba_central_test_on(const struct gba_signal_ops *ops, struct gba_soft *soft,
                                          struct gba_signals *signals)
{
    /* From the next member on, so that not all read the same line first; who was seen stays seen.
     */
    for (; soft->seen < soft->size; soft->seen++) {
        uint32_t peer = gba_sched_peer(soft->rank, soft->seen, soft->size);
        uint32_t word = ops->peek(signals, peer, 0, gba_signal_parity(soft->seq));

        if (!GBA_SEQ_REACHED(word, soft->seq))
            return GBA_INPROGRESS;
    }
    return GBA_OK;
}

static inline uint32_t gba_dissemination_slots(uint32_t size, uint32_t radix)
{
    (void)radix;
    return gba_sched_slots(size, 2);
}

static inline uint32_t gba_central_slots(uint32_t size, uint32_t radix)
{
    (void)size;
    (void)radix;
    return 1;
}

#endif
