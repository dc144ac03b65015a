/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of dissemination, radix, central and tree. Each takes the transport's table as an
 * argument. With a table from memory it is the general algorithm (algorithms.c). With a constant
 * table of inline functions (gba/transport/shm.c) the compiler expands them in place, and
 * dissemination among two members becomes one store and one load.
 *
 * algorithm.h documents start and test, their return values and their memory ordering.
 */
#ifndef GBA_ALGO_STEPS_H
#define GBA_ALGO_STEPS_H

#include "gba/algo/algorithm.h"
#include "gba/spec/gba_regs.h"

#define GBA_STEP static inline __attribute__((always_inline))

/*
 * The end of every algorithm's test. All members have arrived; this member leaves when its own
 * signals have left the process. Otherwise the others would wait for its next call of the runtime.
 * Only the end waits for that: a signal that is queued for one peer must not delay the signals to
 * the other peers.
 */
GBA_STEP gba_status_t gba_sent_on(const struct gba_transport_ops *ops,
                                  struct gba_transport *transport)
{
    return ops->sent == NULL ? GBA_OK : ops->sent(transport);
}

/* ---------------------------------------------------------------- dissemination (v1), push --- */

GBA_STEP gba_status_t gba_dissemination_start_on(const struct gba_transport_ops *ops,
                                                 struct gba_algo_state *algo,
                                                 struct gba_transport *transport, uint32_t seq)
{
    algo->seq = seq;
    algo->distance = 1;
    algo->slot = 0;
    if (algo->size == 1)
        return GBA_OK;
    return ops->set(transport, gba_sched_peer(algo->rank, 1, algo->size), 0, seq);
}

GBA_STEP gba_status_t gba_dissemination_test_on(const struct gba_transport_ops *ops,
                                                struct gba_algo_state *algo,
                                                struct gba_transport *transport)
{
    while (algo->distance < algo->size) {
        uint32_t word = ops->load(transport, algo->slot, gba_slot_parity(algo->seq));
        gba_status_t status;

        /* "Reached", not "equals": where one word serves both parities, the peer may be one round
         * ahead. */
        if (!GBA_SEQ_REACHED(word, algo->seq))
            return GBA_INPROGRESS;
        algo->distance *= 2;
        algo->slot++;
        if (algo->distance >= algo->size)
            break;
        /* The acquire above and the release here make this signal vouch for those received. */
        status = ops->set(transport, gba_sched_peer(algo->rank, algo->distance, algo->size),
                          algo->slot, algo->seq);
        if (status != GBA_OK)
            return status;
    }
    return gba_sent_on(ops, transport);
}

static inline uint32_t gba_dissemination_awaited(const struct gba_algo_state *algo)
{
    return algo->slot;
}

/* -------------------------------------------------------- radix-k dissemination (v2), push --- */

/* Send all signals of the next round, if there is one. */
GBA_STEP gba_status_t gba_radix_round_on(const struct gba_transport_ops *ops,
                                         struct gba_algo_state *algo,
                                         struct gba_transport *transport)
{
    uint32_t far = 0;

    algo->seen = 0;
    algo->lanes = gba_sched_lanes(algo->distance, algo->size, algo->radix);
    for (uint32_t lane = 0; lane < algo->lanes; lane++) {
        far += algo->distance;
        gba_status_t status = ops->set(transport, gba_sched_peer(algo->rank, far, algo->size),
                                       algo->slot + lane, algo->seq);

        if (status != GBA_OK)
            return status;
    }
    return GBA_OK;
}

GBA_STEP gba_status_t gba_radix_start_on(const struct gba_transport_ops *ops,
                                         struct gba_algo_state *algo,
                                         struct gba_transport *transport, uint32_t seq)
{
    algo->seq = seq;
    algo->distance = 1;
    algo->slot = 0;
    return gba_radix_round_on(ops, algo, transport);
}

GBA_STEP gba_status_t gba_radix_test_on(const struct gba_transport_ops *ops,
                                        struct gba_algo_state *algo,
                                        struct gba_transport *transport)
{
    while (algo->distance < algo->size) {
        /*
         * All signals of this round come before any signal of the next one, because a signal of the
         * next round vouches for all lanes of this one. If a lane ran ahead, members could leave
         * before all have arrived.
         */
        while (algo->seen < algo->lanes) {
            uint32_t word =
                ops->load(transport, algo->slot + algo->seen, gba_slot_parity(algo->seq));

            if (!GBA_SEQ_REACHED(word, algo->seq))
                return GBA_INPROGRESS;
            algo->seen++;
        }
        algo->distance *= algo->radix;
        algo->slot += algo->lanes;
        gba_status_t status = gba_radix_round_on(ops, algo, transport);
        if (status != GBA_OK)
            return status;
    }
    return gba_sent_on(ops, transport);
}

static inline uint32_t gba_radix_awaited(const struct gba_algo_state *algo)
{
    return algo->slot + algo->seen;
}

/* ---------------------------------------------------------------------- central (v3), pull --- */

GBA_STEP gba_status_t gba_central_start_on(const struct gba_transport_ops *ops,
                                           struct gba_algo_state *algo,
                                           struct gba_transport *transport, uint32_t seq)
{
    algo->seq = seq;
    algo->seen = 1;
    if (algo->size == 1)
        return GBA_OK; /* no member reads the flag */
    /*
     * The store comes before the first read: two members that read first would wait for each other
     * forever. The flag is never reset, because a slow reader would miss it.
     */
    return ops->set(transport, algo->rank, 0, seq);
}

GBA_STEP gba_status_t gba_central_test_on(const struct gba_transport_ops *ops,
                                          struct gba_algo_state *algo,
                                          struct gba_transport *transport)
{
    /* Start at the next rank, so that the members do not all read the same line first. A member
     * once seen is not read again. */
    for (; algo->seen < algo->size; algo->seen++) {
        uint32_t peer = gba_sched_peer(algo->rank, algo->seen, algo->size);
        uint32_t word = ops->peek(transport, peer, 0, gba_slot_parity(algo->seq));

        if (!GBA_SEQ_REACHED(word, algo->seq))
            return GBA_INPROGRESS;
    }
    return gba_sent_on(ops, transport);
}

static inline uint32_t gba_central_awaited(const struct gba_algo_state *algo)
{
    (void)algo;
    return 0;
}

/* ----------------------------------------------------------------------------- tree, push --- */

/* Signal the parent: the subtree of this member has arrived. */
GBA_STEP gba_status_t gba_tree_arrive_on(const struct gba_transport_ops *ops,
                                         struct gba_algo_state *algo,
                                         struct gba_transport *transport)
{
    if (0 == algo->rank)
        return GBA_OK;
    return ops->set(transport, gba_sched_tree_parent(algo->rank, algo->radix),
                    gba_sched_tree_arrival_slot(gba_sched_tree_place(algo->rank, algo->radix)),
                    algo->seq);
}

/* All members have arrived: release the children. */
GBA_STEP gba_status_t gba_tree_release_on(const struct gba_transport_ops *ops,
                                          struct gba_algo_state *algo,
                                          struct gba_transport *transport)
{
    uint32_t width = gba_sched_tree_width(algo->size, algo->radix);

    for (uint32_t place = 0; place < algo->lanes; place++) {
        gba_status_t status =
            ops->set(transport, gba_sched_tree_child(algo->rank, algo->radix, place),
                     gba_sched_tree_release_slot(place, width), algo->seq);

        if (status != GBA_OK)
            return status;
    }
    return GBA_OK;
}

GBA_STEP gba_status_t gba_tree_start_on(const struct gba_transport_ops *ops,
                                        struct gba_algo_state *algo,
                                        struct gba_transport *transport, uint32_t seq)
{
    algo->seq = seq;
    algo->seen = 0;
    algo->lanes = gba_sched_tree_children(algo->rank, algo->size, algo->radix);
    if (0 != algo->rank)
        algo->slot = gba_sched_tree_release_slot(gba_sched_tree_place(algo->rank, algo->radix),
                                                 gba_sched_tree_width(algo->size, algo->radix));
    /* A member with children first waits, so no set announces the barrier to the transport. */
    if (ops->begin != NULL) {
        gba_status_t status = ops->begin(transport, seq);

        if (status != GBA_OK)
            return status;
    }
    return 0 == algo->lanes ? gba_tree_arrive_on(ops, algo, transport) : GBA_OK;
}

GBA_STEP gba_status_t gba_tree_test_on(const struct gba_transport_ops *ops,
                                       struct gba_algo_state *algo, struct gba_transport *transport)
{
    const uint32_t parity = gba_slot_parity(algo->seq);
    gba_status_t status;

    while (algo->seen < algo->lanes) {
        uint32_t word = ops->load(transport, gba_sched_tree_arrival_slot(algo->seen), parity);

        if (!GBA_SEQ_REACHED(word, algo->seq))
            return GBA_INPROGRESS;
        /* The acquire above and the release in set make the signal to the parent vouch for the
         * whole subtree. */
        if (++algo->seen == algo->lanes) {
            status = gba_tree_arrive_on(ops, algo, transport);
            if (status != GBA_OK)
                return status;
        }
    }
    if (algo->seen == algo->lanes) {
        if (0 != algo->rank &&
            !GBA_SEQ_REACHED(ops->load(transport, algo->slot, parity), algo->seq))
            return GBA_INPROGRESS;
        algo->seen++;
        status = gba_tree_release_on(ops, algo, transport);
        if (status != GBA_OK)
            return status;
    }
    return gba_sent_on(ops, transport);
}

static inline uint32_t gba_tree_awaited(const struct gba_algo_state *algo)
{
    return algo->seen < algo->lanes ? gba_sched_tree_arrival_slot(algo->seen) : algo->slot;
}

static inline uint32_t gba_dissemination_slots(uint32_t size, uint32_t radix)
{
    (void)radix;
    return gba_sched_slots(size, 2);
}

static inline struct gba_sched_link gba_dissemination_link(uint32_t rank, uint32_t size,
                                                           uint32_t radix, uint32_t slot)
{
    (void)radix;
    return gba_sched_link(rank, size, 2, slot);
}

static inline uint32_t gba_central_slots(uint32_t size, uint32_t radix)
{
    (void)size;
    (void)radix;
    return 1;
}

/*
 * The algorithms: ROW(choice, steps, properties) for each value of gba_algorithm_choice_t but AUTO.
 * The functions gba_STEPS_start_on, _test_on and _awaited are above.
 *   dissemination  push, ceil(log2 N) signals per member
 *   radix          push, ceil(log_k N) rounds of up to k - 1 signals
 *   central        pull: one store to the own flag, N - 1 reads, no remote write
 *   tree           arrivals gathered along a tree to member 0, releases back along it
 */
#define GBA_SCHEDULE(...) (&(const struct gba_schedule){__VA_ARGS__})
#define GBA_ALGORITHMS(ROW)                                                             \
    ROW(GBA_ALGORITHM_V1, dissemination, .name = "dissemination", .source = " (v1)",    \
        .schedule = GBA_SCHEDULE(gba_dissemination_slots, gba_dissemination_link))      \
    ROW(GBA_ALGORITHM_V2, radix, .name = "radix", .source = " (v2)", .by_radix = true,  \
        .schedule = GBA_SCHEDULE(gba_sched_slots, gba_sched_link))                      \
    ROW(GBA_ALGORITHM_V3, central, .name = "central", .source = " (v3)", .pulls = true, \
        .schedule = GBA_SCHEDULE(gba_central_slots, NULL))                              \
    ROW(GBA_ALGORITHM_TREE, tree, .name = "tree", .source = "", .tree = true,           \
        .schedule = GBA_SCHEDULE(gba_sched_tree_slots, gba_sched_tree_link))

#endif
