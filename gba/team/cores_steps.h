/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of a barrier of cores (cores.c), which a test makes one by one.
 *
 * A core arrives at a round only after it has seen the release of the one before, which follows all
 * arrivals. So core 0 has the team, and the status of the barrier, to itself from the gathering to
 * the release.
 */
#ifndef GBA_TEAM_CORES_STEPS_H
#define GBA_TEAM_CORES_STEPS_H

#include "gba/cores.h"
#include "gba/team/barrier.h"
#include "gba/transport/node_barrier.h"

#define GBA_CORES_LINE GBA_SEGMENT_STRIDE

struct core {
    _Alignas(GBA_CORES_LINE)
        gba_word_t mark; /* the round at which this core has arrived, for the reports */
    struct gba_node_barrier node;
};

struct gba_cores {
    uint32_t count;
    bool yields;
    bool joined;                        /* with other processes, by core 0 */
    uint64_t sleep_after, report_after; /* ns; 0: never */
    gba_team_t *team;
    gba_cores_attr_t attr;
    char name[192];
    gba_status_t status; /* of all cores; core 0 stores an error before it releases the others */
    _Alignas(GBA_CORES_LINE) gba_word_t sleepers;
    _Alignas(GBA_CORES_LINE) gba_word_t arrived;
    _Alignas(GBA_CORES_LINE) gba_word_t release;
    struct core core[];
};

/* Release: pairs with the other cores' last arrival, or with core 0's look at the counter. */
static inline void core_arrive(struct gba_cores *cores, struct core *core)
{
    gba_word_store_relaxed(&core->mark, gba_word_load_relaxed(&core->mark) + 1);
    if (gba_node_barrier_gather(&core->node, core->node.seq + 1) && !cores->joined)
        gba_node_barrier_release(&core->node);
}

/* The barrier of the processes, by core 0. */
static inline gba_status_t cores_cross(struct gba_cores *cores)
{
    gba_status_t status;

    if (cores->team != NULL)
        return gba_barrier(cores->team);
    status = cores->attr.barrier(cores->attr.ctx);
    return status > GBA_OK ? GBA_ERR_IO : status; /* the program's, no status of libgba */
}

/*
 * Whether the round has ended for this core: its result, or GBA_INPROGRESS. Core 0 crosses in here.
 * Acquire, and for core 0 release: what all cores wrote before their arrivals is visible to the
 * core, and core 0 passes that on to the other processes.
 */
static inline gba_status_t core_look(struct gba_cores *cores, struct core *core)
{
    gba_status_t status;

    if (!cores->joined || core != cores->core) {
        status = gba_node_barrier_test(&core->node);
        return GBA_OK == status ? cores->status : status;
    }
    if (!gba_node_barrier_gathered(&core->node))
        return GBA_INPROGRESS;
    status = cores_cross(cores);
    if (status < GBA_OK)
        cores->status = status;
    gba_node_barrier_release(&core->node);
    return status;
}

#endif
