/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the two kinds of teams. */
#ifndef TEAM_IMPL_H
#define TEAM_IMPL_H

#include <mpi.h>
#include <stdint.h>

#include "team.h"

struct team_ops {
    /*
     * Agree with all PEs of the parent whether the team can be made, and make it. team has its
     * numbers, and is NULL if this PE has no memory for it; color is which of several teams that
     * are made at once this PE is in, or -1 for none. Returns 0 or nonzero, the same on all PEs.
     */
    int (*make)(struct team *parent, struct team *team, int color);
    void (*sync)(struct team *team);
    void (*destroy)(struct team *team);
    const char *(*sync_name)(const struct team *team);
};

struct team {
    const struct team_ops *ops;
    int my_pe, n_pes;
    int start, stride; /* PE i of the team is PE start + i * stride of the world */
    int slot;          /* of active sets: the number of its pSync and words */
    uint32_t sequence; /* of active sets: the number of messages that the team has exchanged */
    MPI_Comm comm;     /* of MPI */
};

/* Collective over all PEs: the worlds, complete. Return 0, or nonzero on all PEs. */
int team_set_init(struct team *world);
void team_set_fini(void);
int team_mpi_init(struct team *world);

#endif
