/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cores of a member share the signals of radix (v2), or the reads of central (v3), over shared
 * memory. Core c of n takes every n-th of them.
 *
 * Core 0 opens a step, which is a round of radix, or all reads of central, by a release of the
 * cores (node_barrier.h). Each core sends its signals, waits for those that it receives, and
 * gathers with the others. Core 0 opens the next step, or leaves, when all have gathered: a signal
 * of a round vouches for all signals of the round before, whichever core received them. If a core
 * ran ahead, members could leave before all have arrived.
 *
 * No function blocks. Other transports allow one thread only.
 */
#ifndef GBA_PATH_CREW_H
#define GBA_PATH_CREW_H

#include "gba/transport/node_barrier.h"
#include "gba/transport/shm.h"

/* The cores of a member. Core 0 changes it between a gathering and a release. */
struct gba_crew {
    struct gba_node_barrier *node; /* of core 0 */
    uint32_t cores;
    bool open; /* the last release began a step; otherwise it ended the barrier */
    struct gba_shm *shm;
    const struct gba_algorithm *algorithm;
    struct gba_algo_state step; /* the open step; of central the radix is the size: one step */
    struct gba_algo_state part; /* that of core 0, for gba_crew_send and gba_crew_await */
};

/* Send the signals of a core in the open step. part: set. Release. */
static inline void gba_crew_send(const struct gba_crew *crew, uint32_t core,
                                 struct gba_algo_state *part)
{
    struct gba_transport *transport = &crew->shm->base;

    *part = crew->step;
    if (crew->algorithm->pulls) {
        part->lanes = part->size;
        part->seen = core + 1;
        if (0 == core)
            (void)transport->ops->set(transport, part->rank, 0, part->seq);
        return;
    }
    /* Core 0 sends the signal of slot 0, by which the other members see that this one has arrived.
     * By slots, not lanes: so all cores work although the last step has few lanes. */
    part->seen = (core + crew->cores - part->slot % crew->cores) % crew->cores;
    for (uint32_t lane = part->seen; lane < part->lanes; lane += crew->cores)
        (void)transport->ops->set(
            transport, gba_sched_peer(part->rank, (lane + 1) * part->distance, part->size),
            part->slot + lane, part->seq);
}

/* Whether a core has received its signals, or seen its members: GBA_OK or GBA_INPROGRESS. Acquire
 * on GBA_OK. */
static inline gba_status_t gba_crew_await(const struct gba_crew *crew, struct gba_algo_state *part)
{
    struct gba_transport *transport = &crew->shm->base;
    const uint32_t parity = gba_slot_parity(part->seq);

    for (; part->seen < part->lanes; part->seen += crew->cores) {
        uint32_t word =
            crew->algorithm->pulls
                ? transport->ops->peek(
                      transport, gba_sched_peer(part->rank, part->seen, part->size), 0, parity)
                : transport->ops->mine(transport, part->slot + part->seen, parity);

        if (!GBA_SEQ_REACHED(word, part->seq))
            return GBA_INPROGRESS;
    }
    return GBA_OK;
}

/* The word that a core awaits after gba_crew_await has returned GBA_INPROGRESS. */
static inline gba_word_t *gba_crew_awaited(const struct gba_crew *crew,
                                           const struct gba_algo_state *part)
{
    return gba_shm_awaited(crew->shm, crew->algorithm, part);
}

/* Open the step at step.distance, if there is one. Release. */
static inline void gba_crew_open(struct gba_crew *crew)
{
    struct gba_algo_state *step = &crew->step;

    crew->open = step->distance < step->size;
    if (!crew->open)
        return; /* the caller releases the cores */
    step->lanes = gba_sched_lanes(step->distance, step->size, step->radix);
    gba_node_barrier_release(crew->node);
    gba_crew_send(crew, 0, &crew->part);
}

/* As the start of an algorithm, by core 0, when all cores have arrived. */
static inline void gba_crew_start(struct gba_crew *crew, uint32_t seq)
{
    crew->step.seq = seq;
    crew->step.distance = 1;
    crew->step.slot = 0;
    gba_crew_open(crew);
}

/* As the test of an algorithm, by core 0. On GBA_OK the caller releases the cores. */
static inline gba_status_t gba_crew_test(struct gba_crew *crew)
{
    struct gba_algo_state *step = &crew->step, *part = &crew->part;

    while (crew->open) {
        if (part->lanes > 0) { /* core 0 has not gathered */
            if (GBA_OK != gba_crew_await(crew, part))
                return GBA_INPROGRESS;
            part->lanes = 0;
            (void)gba_node_barrier_gather(crew->node, crew->node->seq + 1);
        }
        if (!gba_node_barrier_gathered(crew->node))
            return GBA_INPROGRESS;
        step->distance *= step->radix;
        step->slot += step->lanes;
        gba_crew_open(crew);
    }
    return GBA_OK;
}

#endif
