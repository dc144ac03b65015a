/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams over MPI: a communicator each. */
#include "team_impl.h"

static int mpi_make(struct team *parent, struct team *team, int color)
{
    int able = team != NULL, all_able, rank, size, right;

    MPI_Allreduce(&able, &all_able, 1, MPI_INT, MPI_MIN, parent->comm);
    if (!team || !all_able)
        return -1;
    MPI_Comm_split(parent->comm, color >= 0 ? color : MPI_UNDEFINED, team->my_pe, &team->comm);
    /* The communicator must number its ranks as we number the PEs. */
    right = 1;
    if (color >= 0) {
        MPI_Comm_rank(team->comm, &rank);
        MPI_Comm_size(team->comm, &size);
        right = rank == team->my_pe && size == team->n_pes;
    }
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, parent->comm);
    if (right)
        return 0;
    if (color >= 0)
        MPI_Comm_free(&team->comm);
    return -1;
}

static void mpi_sync(struct team *team)
{
    MPI_Barrier(team->comm);
}

static void mpi_destroy(struct team *team)
{
    /* MPI_Comm_free need not wait for other ranks, but team_destroy synchronises. */
    MPI_Barrier(team->comm);
    MPI_Comm_free(&team->comm);
}

static const char *mpi_sync_name(const struct team *team)
{
    (void)team;
    return "MPI_Barrier";
}

static const struct team_ops mpi_ops = {mpi_make, mpi_sync, mpi_destroy, mpi_sync_name};

int team_mpi_init(struct team *world)
{
    *world = (struct team){.ops = &mpi_ops, .stride = 1, .comm = MPI_COMM_WORLD};
    MPI_Comm_rank(world->comm, &world->my_pe);
    MPI_Comm_size(world->comm, &world->n_pes);
    return 0;
}
