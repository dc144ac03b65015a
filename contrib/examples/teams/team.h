/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams similar to those of OpenSHMEM 1.5, for an OpenSHMEM 1.4 library or for MPI: subsets of the
 * PEs, each with its own numbers from 0 and its own synchronisation.
 *
 * As in the standard: results for PEs that are not in a team, errors that all PEs see alike,
 * negative strides, incomplete last rows. Not supported: configurations and contexts of teams, and
 * predefined teams other than the world.
 *
 * Not thread-safe. All PEs of the team concerned make its collective calls, in the same order, with
 * the same arguments.
 */
#ifndef TEAM_H
#define TEAM_H

typedef struct team *team_t;

#define TEAM_INVALID ((team_t)0)

/*
 * All PEs, synchronised by active sets and by MPI. A team split from one of them is of the same
 * kind. Both are TEAM_INVALID before teams_init.
 */
extern team_t team_world;
extern team_t team_world_mpi;

/*
 * Live teams of active sets that a PE can be in, the world included: one bit for each in the half
 * word of a message in which all PEs agree upon a free one.
 */
#define TEAMS_MAX 32

/*
 * Collective over all PEs, after shmem_init and MPI_Init. Returns 0, or nonzero on all PEs: out of
 * memory.
 */
int teams_init(void);

/* Collective over all PEs. Remaining teams are no longer valid. */
void teams_fini(void);

/* The caller's number in the team, and the team's size; -1 for TEAM_INVALID. */
int team_my_pe(team_t team);
int team_n_pes(team_t team);

/*
 * The number in dest of PE src_pe of src; -1 if it is not in both, if a team is TEAM_INVALID, or if
 * one team is of active sets and the other of MPI, because these may number processes differently.
 */
int team_translate_pe(team_t src, int src_pe, team_t dest);

/*
 * A team of `size` PEs of the parent: start, start + stride, ... With a negative stride they are in
 * reverse order; stride 0 goes with size 1. Collective over the parent.
 * Returns 0; *new_team is then TEAM_INVALID on those PEs of the parent that are not in it. Returns
 * nonzero, and TEAM_INVALID, on all PEs of the parent alike, if such PEs are not all in the parent,
 * or if there is no memory, or no place for one more team (TEAMS_MAX).
 */
int team_split_strided(team_t parent, int start, int stride, int size, team_t *new_team);

/*
 * Two teams for each PE. PE pe of the parent has x = pe % xrange and y = pe / xrange. Its *x_team
 * has the PEs with its y, numbered by x, and its *y_team those with its x, numbered by y. The last
 * row may be shorter. Collective over the parent. Returns 0 if both teams were made, else nonzero;
 * a team that was not made is TEAM_INVALID.
 */
int team_split_2d(team_t parent, int xrange, team_t *x_team, team_t *y_team);

/*
 * Wait until all PEs of the team have called this. Their earlier stores to memory are then visible;
 * puts need a shmem_quiet before it, as with shmem_sync. Collective over the team. Does nothing for
 * TEAM_INVALID.
 */
void team_sync(team_t team);

/*
 * End the team. Collective over the team, and synchronises it. Does nothing for TEAM_INVALID; the
 * two worlds must not be destroyed.
 */
void team_destroy(team_t team);

/* The synchronisation of the team, for messages: "shmem_sync", "dissemination" or "MPI_Barrier". */
const char *team_sync_name(team_t team);

#endif
